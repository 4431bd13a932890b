package reach_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mara/runner/internal/machine/reach"
)

func TestUntil(t *testing.T) {
	t.Parallel()
	refused := errors.New("connection refused")
	tests := []struct {
		name  string
		after time.Duration // it answers
		want  string
		took  time.Duration
	}{
		{name: "at once"},
		{name: "after a while", after: 7 * time.Second, took: 8 * time.Second},
		{name: "never", after: time.Hour, took: time.Minute, want: "http://x has not answered within 1m0s: connection refused"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				ask := func(context.Context, string) error {
					if time.Since(began) < test.after {
						return refused
					}
					return nil
				}
				err := reach.Until(t.Context(), "http://x", reach.Options{Ask: ask, Every: 2 * time.Second, Limit: time.Minute})
				if (err == nil) != (test.want == "") || err != nil && err.Error() != test.want {
					t.Errorf("error %v, want %q", err, test.want)
				}
				if took := time.Since(began); took != test.took {
					t.Errorf("it took %s, want %s", took, test.took)
				}
			})
		})
	}
}

// TestUntilUnknown: a name that the DNS does not know ends the waiting early, but
// neither a DNS that fails nor a name that appears in time does.
func TestUntilUnknown(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		answer func(after time.Duration) error
		want   string
		took   time.Duration
	}{
		{"it never appears", func(time.Duration) error { return &net.DNSError{Name: "shop.example", IsNotFound: true} },
			"https://shop.example: host shop.example not found in the DNS after 20s", 20 * time.Second},
		{"it appears", func(after time.Duration) error {
			if after < 18*time.Second {
				return &net.DNSError{Name: "shop.example", IsNotFound: true}
			}
			return nil
		}, "", 18 * time.Second},
		{"it comes and goes", func(after time.Duration) error {
			if after%(10*time.Second) == 8*time.Second {
				return errors.New("connection refused")
			}
			return &net.DNSError{Name: "shop.example", IsNotFound: true}
		}, "https://shop.example has not answered within 59s: connection refused", 59 * time.Second},
		{"the DNS fails", func(time.Duration) error {
			return &net.DNSError{Err: "server misbehaving", Name: "shop.example", IsTemporary: true}
		},
			"https://shop.example has not answered within 59s: lookup shop.example: server misbehaving", 59 * time.Second},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				ask := func(context.Context, string) error { return test.answer(time.Since(began)) }
				err := reach.Until(t.Context(), "https://shop.example", reach.Options{Ask: ask, Every: 2 * time.Second, Limit: 59 * time.Second, Unknown: 20 * time.Second})
				if (err == nil) != (test.want == "") || err != nil && err.Error() != test.want {
					t.Errorf("error %v, want %q", err, test.want)
				}
				if took := time.Since(began); took != test.took {
					t.Errorf("it took %s, want %s", took, test.took)
				}
			})
		})
	}
}

func TestUntilIsCancelled(t *testing.T) {
	t.Parallel()
	cause := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(t.Context())
	ask := func(ctx context.Context, _ string) error {
		cancel(cause)
		return ctx.Err()
	}
	if err := reach.Until(ctx, "http://x", reach.Options{Ask: ask, Every: time.Hour, Limit: time.Hour}); !errors.Is(err, cause) {
		t.Errorf("error %v, want the cause", err)
	}
}

func TestThrough(t *testing.T) {
	t.Parallel()
	answer := func(code int) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/login")
			w.WriteHeader(code)
		})
	}
	tests := []struct {
		name string
		code int
		want string
	}{
		{"here it is", 200, ""},
		{"it leads to the login", 302, ""},
		{"it wants a login", 401, ""},
		{"the path is unknown", 404, "HTTP 404 Not Found"},
		{"it does not run", 502, "HTTP 502 Bad Gateway"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewTLSServer(answer(test.code)) // self-signed
			defer server.Close()
			err := reach.Through(nil)(t.Context(), server.URL)
			if (err == nil) != (test.want == "") || err != nil && err.Error() != test.want {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
	server := httptest.NewServer(answer(200))
	server.Close()
	if err := reach.Through(nil)(t.Context(), server.URL); err == nil || !strings.Contains(err.Error(), "connection refused") || strings.Contains(err.Error(), "Get") {
		t.Errorf("error %v", err)
	}
}

func TestThroughProxy(t *testing.T) {
	t.Parallel()
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Host != "shop.example" {
			w.WriteHeader(http.StatusBadGateway)
		}
	}))
	defer proxy.Close()
	through := func(*http.Request) (*url.URL, error) { return url.Parse(proxy.URL) }
	if err := reach.Through(through)(t.Context(), "http://shop.example/"); err != nil {
		t.Errorf("error %v", err)
	}
}
