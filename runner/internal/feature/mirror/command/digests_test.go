package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDigests: what is written is read again, images that were copied before stay, and a moved tag is told.
func TestDigests(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "mirror.txt")
	none, err := readDigests(file)
	if err != nil || len(none) > 0 {
		t.Fatalf("of no file: %v, %v", none, err)
	}
	none["library/registry:3"] = "sha256:one"
	if err := none.write(file); err != nil {
		t.Fatal(err)
	}
	again, err := readDigests(file)
	if err != nil {
		t.Fatal(err)
	}
	again["tools/jq:1"] = "sha256:two"
	if err := again.write(file); err != nil {
		t.Fatal(err)
	}
	known, err := readDigests(file)
	if err != nil || len(known) != 2 {
		t.Fatalf("read %v, %v", known, err)
	}
	for _, test := range []struct{ image, digest, want string }{
		{"library/registry:3", "sha256:one", ""},
		{"library/registry:3@sha256:one", "sha256:one", ""},
		{"library/registry:3", "sha256:other", "its tag was moved"},
		{"library/redis:8", "sha256:one", "image library/redis:8 is not in mirror.txt"},
	} {
		got := known.compare(test.image, test.digest, "mirror.txt")
		if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s as %s: %q, want %q", test.image, test.digest, got, test.want)
		}
	}
	for _, wrong := range []string{"sha256:one\n", "one  library/registry:3\n", "sha256:one  \n"} {
		if err := os.WriteFile(file, []byte("# by hand\n"+wrong), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readDigests(file); err == nil || !strings.Contains(err.Error(), file+":2: not a digest") {
			t.Errorf("%q: error %v", wrong, err)
		}
	}
}
