package event_test

import (
	"strings"
	"testing"

	"mara/runner/internal/core/event"
)

func TestMaskURLs(t *testing.T) {
	t.Parallel()
	const token = "ghp_0123456789abcdefghij"
	for _, tt := range []struct{ name, in, want string }{
		{"no URL", "user:password@host", "user:password@host"},
		{"no credentials", "s3://bucket?region=eu&profile=me", "s3://bucket?region=eu&profile=me"},
		{"a port", "https://host:8080/a@b", "https://host:8080/a@b"},
		{"an address of IPv6", "http://[::1]:80/x@y", "http://[::1]:80/x@y"},
		{"a user only", "ssh://git@host/path", "ssh://git@host/path"},
		{"a password", "postgres://user:password@host/db", "postgres://user:***@host/db"},
		{"a short password", "redis://:x@host", "redis://:***@host"},
		{"no password", "redis://user:@host", "redis://user:@host"},
		{"an at sign in it", "http://user:p@ss@proxy:3128", "http://user:***@proxy:3128"},
		{"a colon in it", "http://user:p:ss@proxy", "http://user:***@proxy"},
		{"a percent sign in it", "http://user:pa%ss@proxy", "http://user:***@proxy"},
		{"a slash in it", "postgres://user:pa/ss@host/db", "postgres://user:***@host/db"},
		{"a token for a user", "https://" + token + "@github.com/x", "https://***@github.com/x"},
		{"a token and a word", "https://" + token + ":x-oauth-basic@github.com", "https://***:***@github.com"},
		{"an email address as a query", "https://host/?mail=me@host", "https://host/?mail=me@host"},
		{"parameters", "https://h/p?password=a&x=1&access_token=b&sig=c%3D#d", "https://h/p?password=***&x=1&access_token=***&sig=***#d"},
		{"of Azure and AWS", "https://h/?sv=1&sig=abc&X-Amz-Signature=def&AccessKey=g", "https://h/?sv=1&sig=***&X-Amz-Signature=***&AccessKey=***"},
		{"the same parameter twice", "http://h?a=token&token=token", "http://h?a=token&token=***"},
		{"in a sentence", `cannot open "postgres://me:hunter2@db/x": no route (http://me:hunter3@proxy)`, `cannot open "postgres://me:***@db/x": no route (http://me:***@proxy)`},
		{"in a list", "[http://a:b@c?token=d, http://e]", "[http://a:***@c?token=***, http://e]"},
		{"one in another", "https://h/?to=postgres://a:b@c", "https://h/?to=postgres://a:***@c"},
		{"cut off", "postgres://", "postgres://"},
		{"masked already", "postgres://user:***@host", "postgres://user:***@host"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := event.MaskURLs(tt.in); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if got := event.NewMasker().Mask(tt.in); got != tt.want {
				t.Errorf("a masker makes %q of it, want %q", got, tt.want)
			}
		})
	}
}

// TestAddURLs: what was in a URL is hidden wherever it stands.
func TestAddURLs(t *testing.T) {
	t.Parallel()
	m := event.NewMasker()
	m.AddURLs("postgres://user:hunter%2F22@host/db", "https://h?sig=signed%3Dtext", "no URL", "postgres://postgres:postgres@localhost")
	got := m.Mask("hunter%2F22 hunter/22 signed=text signed%3Dtext user host postgres")
	if want := strings.Repeat("[secret] ", 4) + "user host postgres"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzMaskURLs(f *testing.F) {
	f.Add("postgres://a:b@c?token=d://e:f@g")
	f.Add("://:@?&;#=://")
	f.Fuzz(func(t *testing.T, text string) {
		masked := event.MaskURLs(text)
		if again := event.MaskURLs(masked); strings.Count(again, "***") < strings.Count(masked, "***") {
			t.Errorf("%q became %q and then %q", text, masked, again)
		}
	})
}
