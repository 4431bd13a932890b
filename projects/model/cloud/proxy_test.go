package cloud_test

import (
	"net/http/httptest"
	"testing"

	"mara/projects/model/cloud"
)

func TestProxy(t *testing.T) {
	t.Setenv("HTTPS_PROXY", "http://process.example.com") // is not looked at: it is in the environment if it counts
	for _, tt := range []struct {
		name   string
		env    map[string]string
		target string
		want   string
	}{
		{"none", nil, "https://sts.amazonaws.com", ""},
		{"https", map[string]string{"HTTPS_PROXY": "http://proxy.example.com:3128"}, "https://sts.amazonaws.com", "http://proxy.example.com:3128"},
		{"lower case", map[string]string{"https_proxy": "http://proxy.example.com"}, "https://sts.amazonaws.com", "http://proxy.example.com"},
		{"http", map[string]string{"HTTP_PROXY": "http://proxy.example.com"}, "http://a.example.com", "http://proxy.example.com"},
		{"of the other kind", map[string]string{"HTTP_PROXY": "http://proxy.example.com"}, "https://a.example.com", ""},
		{"exception", map[string]string{"HTTPS_PROXY": "http://proxy.example.com", "NO_PROXY": ".amazonaws.com"}, "https://sts.amazonaws.com", ""},
		{"this machine", map[string]string{"HTTP_PROXY": "http://proxy.example.com"}, "http://127.0.0.1:1", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			proxy, err := cloud.Proxy(tt.env)(httptest.NewRequest("GET", tt.target, nil))
			if proxy != nil {
				got = proxy.String()
			}
			if err != nil || got != tt.want {
				t.Errorf("proxy %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}
