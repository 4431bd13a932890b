package mirror

import (
	"encoding/base64"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"mara/runner/internal/testing/mirrortest"
	"mara/runner/internal/testing/scripttest"
)

const (
	user     = "filler"
	password = "Op3n-sesame!"
)

// private starts a registry in memory that requires a login, itself or by the token of
// another host.
func private(t *testing.T, tokens bool) (host string) {
	t.Helper()
	inner := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	if !tokens {
		server := httptest.NewServer(mirrortest.Private(inner, user, password))
		t.Cleanup(server.Close)
		return strings.TrimPrefix(server.URL, "http://")
	}
	const token = "a-token-of-the-service"
	service := httptest.NewServer(mirrortest.Private(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"token": %q}`, token)
	}), user, password))
	t.Cleanup(service.Close)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+token {
			w.Header().Set("WWW-Authenticate", `Bearer realm="`+service.URL+`/token",service="mirror"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// loggedIn writes what `docker login` would, and returns the directory.
func loggedIn(t *testing.T, config string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("DOCKER_CONFIG", dir)
	t.Setenv("XDG_RUNTIME_DIR", dir)
	t.Setenv("REGISTRY_AUTH_FILE", "")
}

// plainLogin returns Docker's configuration with a login.
func plainLogin(host, password string) string {
	return fmt.Sprintf(`{"auths": {%q: {"auth": %q}}}`, host, base64.StdEncoding.EncodeToString([]byte(user+":"+password)))
}

func TestLogins(t *testing.T) {
	helpers := t.TempDir()
	scripttest.Write(t, filepath.Join(helpers, "docker-credential-marakeeps"), `echo '{"Username": "`+user+`", "Secret": "`+password+`"}'`)
	scripttest.Write(t, filepath.Join(helpers, "docker-credential-marabreaks"), "echo '"+password+"'; exit 1")
	t.Setenv("PATH", helpers+string(os.PathListSeparator)+os.Getenv("PATH"))
	for _, test := range []struct {
		name   string
		config func(host string) string
		want   string // of the error, with HOST for the registry
	}{
		{"anonymous", func(string) string { return "{}" }, "HOST requires a login: use `docker login HOST`"},
		{"another registry's", func(string) string { return plainLogin("registry.invalid", password) }, "HOST requires a login: use `docker login HOST`"},
		{"a wrong password", func(host string) string { return plainLogin(host, "Guess3d-wrongly!") }, "HOST refuses the stored login: use `docker login HOST` again"},
		{"in a file", func(host string) string { return plainLogin(host, password) }, ""},
		{"with a helper", func(host string) string { return fmt.Sprintf(`{"credHelpers": {%q: "marakeeps"}}`, host) }, ""},
		{"with a helper that fails", func(host string) string { return fmt.Sprintf(`{"credHelpers": {%q: "marabreaks"}}`, host) }, "reading the login of `docker login HOST`: error getting credentials - err: exit status 1"},
		{"with a helper that is not there", func(host string) string { return fmt.Sprintf(`{"credHelpers": {%q: "maralacks"}}`, host) }, "docker-credential-maralacks"},
	} {
		for _, tokens := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, tokens %t", test.name, tokens), func(t *testing.T) {
				host, from := private(t, tokens), serve(t, nil)
				loggedIn(t, test.config(host))
				image := Image{Name: from + "/shop/web:v1", Target: "shop/web:v1"}
				digest := seed(t, image.Name).String()
				to := Copier{Address: host + "/mirror", Network: network(t, "")}
				got, err := to.Image(t.Context(), image)
				if test.want != "" {
					if err == nil || !strings.Contains(err.Error(), strings.ReplaceAll(test.want, "HOST", host)) || strings.Contains(err.Error(), "Op3n") || strings.Contains(err.Error(), "Guess3d") {
						t.Errorf("error %v, want %s", err, test.want)
					}
					return
				}
				if err != nil || got.Digest != digest {
					t.Fatalf("copied %+v, error %v, want %s", got, err, digest)
				}
				if found, err := to.Network.Digest(t.Context(), host+"/mirror/shop/web:v1"); err != nil || found != digest {
					t.Errorf("the mirror has %q, error %v", found, err)
				}
			})
		}
	}
}

// TestSourceRefuses names the registry that does not give what is to be copied,
// also where only the layers are refused.
func TestSourceRefuses(t *testing.T) {
	loggedIn(t, "{}")
	inner := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/blobs/") {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(source.Close)
	host := strings.TrimPrefix(source.URL, "http://")
	image, err := random.Image(1024, 1)
	if err == nil {
		err = remote.Write(reference(t, host+"/shop/web:v1"), image)
	}
	if err != nil {
		t.Fatal(err)
	}
	c, _, _ := copier(t)
	_, err = c.Image(t.Context(), Image{Name: host + "/shop/web:v1", Target: "shop/web:v1"})
	if want := "copying into the mirror: " + host + " requires a login: use `docker login " + host + "`"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestCheckAddressShowsNoLogin(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"me:Op3n-sesame!@registry.example.com:5000/mirror", "https://me:Op3n-sesame!@registry.example.com:5000", "me:Op3n@sesame!@registry.example.com:5000/m"} {
		err := CheckAddress(address)
		if err == nil || strings.Contains(err.Error(), "sesame") || strings.Contains(err.Error(), "Op3n") || !strings.Contains(err.Error(), "docker login registry.example.com:5000`") {
			t.Errorf("%v", err)
		}
	}
}

// TestNotAllowed: a valid login of a user without write access.
func TestNotAllowed(t *testing.T) {
	server := httptest.NewServer(mirrortest.Private(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v2/" {
			w.WriteHeader(http.StatusForbidden)
		}
	}), user, password))
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	loggedIn(t, plainLogin(host, password))
	_, err := network(t, "").Digest(t.Context(), host+"/shop/web:v1")
	if want := host + " denies access: use `docker login " + host + "` with an account that has it"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
