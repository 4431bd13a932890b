package mirror

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/remote"
)

func TestChoose(t *testing.T) {
	t.Parallel()
	available := []string{"1.0.0", "v1.2.0", "1.10.0", "2.0.0-rc.1", "odd"}
	for wanted, want := range map[string]string{
		"": "1.10.0", "*": "1.10.0", "^1.0.0": "1.10.0", "~1.2.0": "v1.2.0", "1.x": "1.10.0", ">=2": "", "<1.2": "1.0.0", ">0.0.0-0": "2.0.0-rc.1",
		"1.0.0": "1.0.0", "v1.2.0": "v1.2.0", "2.0.0-rc.1": "2.0.0-rc.1", "9.9.9": "9.9.9", "odd": "odd", "1.2": "v1.2.0",
	} {
		if got := choose(wanted, available); got != want {
			t.Errorf("%q: got %q, want %q", wanted, got, want)
		}
	}
}

// TestFetchRange: Helm takes ranges of versions, and "" for the newest. What a range means changes, so it is not kept.
func TestFetchRange(t *testing.T) {
	t.Parallel()
	archive := shop(t)
	index := "entries:\n  shop:\n  - {version: 1.2.0+build, urls: [shop.tgz]}\n  - {version: 1.1.0, urls: [away.tgz]}\n"
	host := serve(t, map[string][]byte{"/stable/index.yaml": []byte(index), "/stable/shop.tgz": archive})
	pushed, err := newArtifact(archive)
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(reference(t, host+"/charts/shop:1.2.0_build"), pushed); err != nil {
		t.Fatal(err)
	}
	cache := t.TempDir()
	n := network(t, cache)
	for _, repository := range []string{"http://" + host + "/stable", "oci://" + host + "/charts"} {
		for _, version := range []string{"", "^1.0.0", "1.2.x"} {
			got, err := n.Fetch(t.Context(), Chart{Name: "shop", Version: version, Repository: repository})
			if err != nil || string(got) != string(archive) {
				t.Errorf("%s %q: %d bytes, %v", repository, version, len(got), err)
			}
		}
		if _, err := n.Fetch(t.Context(), Chart{Name: "shop", Version: "^2.0.0", Repository: repository}); err == nil {
			t.Errorf("%s has a version in ^2.0.0", repository)
		}
	}
	if kept, err := os.ReadDir(cache); err != nil || len(kept) > 0 {
		t.Errorf("kept: %v, %v", kept, err)
	}
}

// TestReadAll: what is too large is an error, and never cut.
func TestReadAll(t *testing.T) {
	t.Parallel()
	for size, fails := range map[int]bool{3: false, 4: false, 5: true} {
		content, err := readAll(strings.NewReader(strings.Repeat("x", size)), 4)
		if (err != nil) != fails || fails && len(content) > 0 || !fails && len(content) != size {
			t.Errorf("%s: %d bytes, %v", fmt.Sprint(size), len(content), err)
		}
	}
}
