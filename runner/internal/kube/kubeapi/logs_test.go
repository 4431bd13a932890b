package kubeapi

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestLogs reads the last lines of a Pod's container.
func TestLogs(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/v1/namespaces/shop/pods/shop-a/log" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		fmt.Fprintln(w, r.URL.RawQuery)
	}))
	t.Cleanup(server.Close)
	c, err := Connect(fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Config","current-context":"c","clusters":[{"name":"c","cluster":{"server":%q}}],`+
		`"contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}],"users":[{"name":"u","user":{}}]}`, server.URL), nil)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := c.Logs(t.Context(), "shop", "shop-a", "shop", Log{Lines: 100, Follow: true})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	if got, err := io.ReadAll(stream); err != nil || string(got) != "container=shop&follow=true&tailLines=100\n" {
		t.Errorf("asked for %q, %v", got, err)
	}
	if _, err := c.Logs(t.Context(), "shop", "gone", "shop", Log{}); err == nil {
		t.Error("the log of a Pod that is not there was read")
	}
}
