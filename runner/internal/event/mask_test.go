package event_test

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"reflect"
	"strings"
	"sync"
	"testing"

	"mara/runner/internal/event"
)

func TestMask(t *testing.T) {
	t.Parallel()
	const password = `s3cr"et&pass`
	auth := base64.StdEncoding.EncodeToString([]byte("admin:hunter2hunter2:x"))
	key := "-----BEGIN KEY-----\n" + strings.Repeat("Ab3/", 12) + "\n-----END KEY-----\n"
	kubeconfig := "server: https://127.0.0.1:6443/with/a/very/long/path\ntoken: " + strings.Repeat("tok", 15) + "\n"
	tests := map[string]struct {
		secrets  []string
		in, want string
	}{
		"nothing known":         {in: "hello", want: "hello"},
		"plain":                 {secrets: []string{"hunter2hunter2"}, in: "password=hunter2hunter2!", want: "password=[secret]!"},
		"every time":            {secrets: []string{"hunter2"}, in: "hunter2 hunter2", want: "[secret] [secret]"},
		"too short":             {secrets: []string{"true", "", "dev12"}, in: "true dev12", want: "true dev12"},
		"longest first":         {secrets: []string{"hunter2", "hunter2hunter3"}, in: "hunter2hunter3 hunter2", want: "[secret] [secret]"},
		"surrounding space":     {secrets: []string{" hunter2\n"}, in: "<hunter2>", want: "<[secret]>"},
		"in JSON":               {secrets: []string{password}, in: fmt.Sprintf("%q", password), want: `"[secret]"`},
		"in a query":            {secrets: []string{password}, in: "https://x?p=" + url.QueryEscape(password), want: "https://x?p=[secret]"},
		"base64":                {secrets: []string{"hunter2"}, in: base64.StdEncoding.EncodeToString([]byte("hunter2")), want: "[secret]"},
		"base64 without filler": {secrets: []string{"hunter2"}, in: base64.RawURLEncoding.EncodeToString([]byte("hunter2")), want: "[secret]"},
		"base64 with a name":    {secrets: []string{"hunter2hunter2"}, in: auth, want: "YWRtaW46[secret]6eA=="},
		"line of a key":         {secrets: []string{key}, in: "bad line " + strings.Repeat("Ab3/", 12) + ".", want: "bad line [secret]."},
		"words of a key stay":   {secrets: []string{key}, in: "-----BEGIN KEY-----", want: "-----BEGIN KEY-----"},
		"token of a kubeconfig": {secrets: []string{kubeconfig}, in: "Bearer " + strings.Repeat("tok", 15), want: "Bearer [secret]"},
		"its address stays":     {secrets: []string{kubeconfig}, in: "dial https://127.0.0.1:6443/with/a/very/long/path", want: "dial https://127.0.0.1:6443/with/a/very/long/path"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := event.NewMasker(tt.secrets...).Mask(tt.in); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestMaskBase64AtEveryOffset(t *testing.T) {
	t.Parallel()
	const secret = "correct horse battery"
	m := event.NewMasker(secret)
	for before := range 7 {
		for after := range 4 {
			text := strings.Repeat("b", before) + secret + strings.Repeat("a", after)
			in := base64.StdEncoding.EncodeToString([]byte(text))
			got := m.Mask(in)
			if !strings.Contains(got, event.Masked) || len(got)-len(event.Masked) > len(in)-24 {
				t.Errorf("%d before, %d after: %q stays %q", before, after, in, got)
			}
		}
	}
}

func TestMaskEventCoversEveryFreeText(t *testing.T) {
	t.Parallel()
	const secret = "hunter2hunter2"
	// Names of the catalogue and words of closed sets are what a stream is read by.
	names := map[string]bool{
		"Run": true, "Type": true, "Project": true, "Title": true, "Operation": true, "Provider": true, "Stack": true,
		"Action": true, "Status": true, "Severity": true, "Hook": true, "Result": true,
	}
	var e event.Event
	e.Resource = event.Resource{Type: secret, Name: secret}
	v := reflect.ValueOf(&e).Elem()
	for i := range v.NumField() {
		if v.Field(i).Kind() == reflect.String && !names[v.Type().Field(i).Name] {
			v.Field(i).SetString("has " + secret)
		}
	}
	line, err := event.Marshal(event.NewMasker(secret).Event(e))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(line), secret) {
		t.Errorf("a field is not masked: %s", line)
	}
}

func TestNilMasker(t *testing.T) {
	t.Parallel()
	var m *event.Masker
	if got := m.Event(event.Event{Message: m.Mask("hello")}).Message; got != "hello" {
		t.Errorf("got %q", got)
	}
}

func TestMaskerIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	var m event.Masker
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			secret := fmt.Sprintf("secret-number-%d", i)
			m.Add(secret)
			if got := m.Mask(secret); got != event.Masked {
				t.Errorf("got %q", got)
			}
		})
	}
	wg.Wait()
}

func BenchmarkMask(b *testing.B) {
	m := event.NewMasker("hunter2hunter2", "correct horse battery", strings.Repeat("k", 64))
	text := strings.Repeat("creating kubernetes:core/v1:Secret something long; ", 20)
	for b.Loop() {
		m.Mask(text)
	}
}
