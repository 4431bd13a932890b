package mirror

import (
	"bytes"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// seed puts an image for several platforms into a registry.
func seed(t *testing.T, at string) v1.Hash {
	t.Helper()
	index, err := random.Index(1024, 2, 2)
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.WriteIndex(reference(t, at), index); err != nil {
		t.Fatal(err)
	}
	digest, err := index.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return digest
}

// writes are the requests that have changed a registry.
type writes struct {
	atomic.Int64

	mu    sync.Mutex
	blobs map[string]int // how often each one was stored, by its digest
}

// store counts the requests that store blobs, once the registry has answered.
func (w *writes) store(r *http.Request) {
	if digest := r.URL.Query().Get("digest"); digest != "" && r.Method == http.MethodPut {
		w.mu.Lock()
		w.blobs[digest]++
		w.mu.Unlock()
	}
}

// stored returns how often each blob was stored.
func (w *writes) stored() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.blobs)
}

// copier copies into a registry in memory that counts what is written, and that
// refuses manifests while it is broken.
func copier(t *testing.T) (c Copier, written *writes, broken *atomic.Bool) {
	t.Helper()
	written, broken = &writes{blobs: map[string]int{}}, new(atomic.Bool)
	inner := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut || r.Method == http.MethodPatch || r.Method == http.MethodPost {
			written.Add(1)
			if broken.Load() && strings.Contains(r.URL.Path, "/manifests/") {
				http.Error(w, "the disk is full", http.StatusInsufficientStorage)
				return
			}
		}
		inner.ServeHTTP(w, r)
		written.store(r)
	}))
	t.Cleanup(server.Close)
	to := Copier{Address: strings.TrimPrefix(server.URL, "http://") + "/mirror", Network: network(t, "")}
	return to, written, broken
}

// has asks a registry for a digest; "" if there is nothing.
func has(t *testing.T, at string) string {
	t.Helper()
	found, err := remote.Head(reference(t, at))
	if err != nil {
		return ""
	}
	return found.Digest.String()
}

func TestCopyImage(t *testing.T) {
	t.Parallel()
	host := serve(t, nil)
	digest := seed(t, host+"/shop/web:v1").String()
	for _, test := range []struct{ name, image, target string }{
		{"a tag", host + "/shop/web:v1", "shop/web:v1"},
		{"a digest", host + "/shop/web@" + digest, "shop/web@" + digest},
		{"both", host + "/shop/web:v1@" + digest, "shop/web:v1@" + digest},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c, written, _ := copier(t)
			image := Image{Name: test.image, Target: targetOf(test.image)}
			if image.Target != test.target {
				t.Fatalf("target %s", image.Target)
			}
			var complete int64
			c.Progress = func(so, _ int64) { complete = so }
			at := c.Address + "/" + image.Target
			c.DryRun = true
			if got, err := c.Image(t.Context(), image); err != nil || got != (Copied{Digest: digest}) || written.Load() > 0 || has(t, at) != "" {
				t.Fatalf("dry run: %+v, error %v, %d writes", got, err, written.Load())
			}
			c.DryRun = false
			if got, err := c.Image(t.Context(), image); err != nil || got != (Copied{Digest: digest}) || has(t, at) != digest || complete == 0 {
				t.Fatalf("copied %+v, error %v, there is %q, %d bytes", got, err, has(t, at), complete)
			}
			if test.name == "both" && has(t, strings.TrimSuffix(at, "@"+digest)) != digest {
				t.Error("the tag is not there")
			}
			written.Store(0)
			if got, err := c.Image(t.Context(), image); err != nil || got != (Copied{There: true, Digest: digest}) || written.Load() > 0 {
				t.Errorf("again: %+v, error %v, %d writes", got, err, written.Load())
			}
		})
	}
}

// TestNothingHalfDone has the registry fail at the manifests: nothing can be
// pulled, and what was stored is not sent again. How much was stored by then differs:
// the first refusal cancels the other uploads.
func TestNothingHalfDone(t *testing.T) {
	t.Parallel()
	host := serve(t, nil)
	digest := seed(t, host+"/shop/web:v1").String()
	c, written, broken := copier(t)
	broken.Store(true)
	image := Image{Name: host + "/shop/web:v1", Target: "shop/web:v1"}
	_, err := c.Image(t.Context(), image)
	if err == nil || !strings.Contains(err.Error(), "copying into the mirror: ") || has(t, c.Address+"/shop/web:v1") != "" {
		t.Fatalf("error %v, there is %q", err, has(t, c.Address+"/shop/web:v1"))
	}
	first := written.stored()
	if len(first) == 0 {
		t.Fatal("the registry refused a manifest before any of its layers was stored")
	}
	broken.Store(false)
	if _, err := c.Image(t.Context(), image); err != nil || has(t, c.Address+"/shop/web:v1") != digest {
		t.Fatalf("error %v", err)
	}
	second := written.stored()
	for blob, times := range first {
		if second[blob] != times {
			t.Errorf("%s was sent again", blob)
		}
	}
	if len(second) < 6 { // two layers and the configuration of each platform
		t.Errorf("%d blobs are stored", len(second))
	}
}

// TestCopyOldManifest: an image that cannot be copied is an error, whether progress is shown or not. It hung with progress.
func TestCopyOldManifest(t *testing.T) {
	t.Parallel()
	old := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/manifests/") {
			w.Header().Set("Content-Type", "application/vnd.docker.distribution.manifest.v1+json")
			_, _ = io.WriteString(w, `{"schemaVersion":1}`)
		}
	}))
	t.Cleanup(old.Close)
	image := Image{Name: strings.TrimPrefix(old.URL, "http://") + "/shop/web:v1", Target: "shop/web:v1"}
	for name, progress := range map[string]func(complete, total int64){"shown": func(int64, int64) {}, "hidden": nil} {
		c, _, _ := copier(t)
		c.Progress = progress
		ended := make(chan error, 1)
		go func() {
			_, err := c.Image(t.Context(), image)
			ended <- err
		}()
		select {
		case err := <-ended:
			if err == nil || !strings.Contains(err.Error(), "manifest.v1") {
				t.Errorf("progress %s: %v", name, err)
			}
		case <-time.After(30 * time.Second):
			t.Errorf("progress %s: it hangs", name)
		}
	}
}

func TestCopyChart(t *testing.T) {
	t.Parallel()
	archive := shop(t)
	host := serve(t, map[string][]byte{"/index.yaml": []byte("entries: {shop: [{version: 1.2.0+build, urls: [shop.tgz]}]}"), "/shop.tgz": archive})
	c, written, _ := copier(t)
	chart := Chart{Name: "shop", Version: "1.2.0+build", Repository: "http://" + host, Target: "charts/shop:1.2.0_build"}
	first, err := c.Chart(t.Context(), chart)
	if err != nil || first.There || first.Local || has(t, c.Address+"/charts/shop:1.2.0_build") != first.Digest {
		t.Fatalf("copied %+v, error %v", first, err)
	}
	got, err := c.Network.Fetch(t.Context(), Chart{Name: "shop", Version: "1.2.0+build", Repository: "oci://" + c.Address + "/charts"})
	if err != nil || !bytes.Equal(got, archive) {
		t.Errorf("the mirror has %d bytes, error %v", len(got), err)
	}
	written.Store(0)
	if again, err := c.Chart(t.Context(), chart); err != nil || !again.There || written.Load() > 0 {
		t.Errorf("again: %+v, error %v", again, err)
	}
}

func TestCheckAddress(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"", "https://registry.example.com", "registry.example.com/UPPER", "a b", "mirror"} {
		if err := CheckAddress(address); err == nil {
			t.Errorf("%q is taken for a registry", address)
		}
	}
	for _, address := range []string{"localhost", "localhost:5001", "registry:5000/a/b", "registry.example.com", "10.0.0.1:5000/m"} {
		if err := CheckAddress(address); err != nil {
			t.Error(err)
		}
	}
}

func TestLoginIsAskedFor(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusForbidden) }))
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	_, err := network(t, "").Digest(t.Context(), host+"/shop:1")
	if err == nil || !strings.Contains(err.Error(), "docker login "+host) {
		t.Errorf("error %v", err)
	}
}
