package statefiles

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

// TestLayouts: states of old lie beside the directories of the projects.
func TestLayouts(t *testing.T) {
	t.Parallel()
	if !(Directory{}).HasLegacy() {
		t.Error("nothing is known of a bucket")
	}
	f := Directory{Path: t.TempDir(), Stack: "dev"}
	for _, step := range []struct {
		file, content string
		legacy        bool
		broken        bool // sidecar of network
	}{
		{"README", "", false, false},
		{".pulumi/stacks/network/dev.json", "{}", false, false},
		{".pulumi/stacks/network/dev.json.attrs", "{}", false, false},
		{".pulumi/stacks/network/prod.json.attrs", "", false, false}, // of another environment
		{".pulumi/stacks/network/dev.json.attrs", "", false, true},
		{".pulumi/stacks/old.json", "{}", true, true},
	} {
		path := filepath.Join(f.Path, step.file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(step.content), 0o600); err != nil {
			t.Fatal(err)
		}
		broken, err := f.BrokenSidecars([]string{"network", "database"})
		if err != nil || f.HasLegacy() != step.legacy || (len(broken) > 0) != step.broken {
			t.Errorf("with %s: legacy %v, broken sidecars %v, %v", step.file, f.HasLegacy(), broken, err)
		}
	}
}

// TestCompressed reads states as Pulumi writes them with PULUMI_DIY_BACKEND_GZIP and
// PULUMI_DIY_BACKEND_ZSTD; of several for one stack, the newest counts.
func TestCompressed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := Directory{Path: dir, Stack: "dev"}
	stacks := filepath.Join(dir, ".pulumi/stacks")
	state := func(salt string) string {
		return `{"checkpoint":{"latest":{"secrets_providers":{"state":{"salt":"` + salt + `"}}}}}`
	}
	put(t, filepath.Join(stacks, "a/dev.json.gz"), gzipped(t, state("a")))
	put(t, filepath.Join(stacks, "b/dev.json.zst"), zstdOf(t, state("b")))
	put(t, filepath.Join(stacks, "c/dev.json"), state("old"))
	put(t, filepath.Join(stacks, "c/dev.json.gz"), gzipped(t, state("c")))
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(stacks, "c/dev.json"), old, old); err != nil {
		t.Fatal(err)
	}
	all, err := f.ReadAll(func(_ string, projects []string) []string { return projects })
	if err != nil || len(all["dev"]) != 3 {
		t.Errorf("%v, %v", all, err)
	}
	for _, project := range []string{"a", "b", "c"} {
		if salt, err := f.Salt([]string{project}); salt != project || err != nil {
			t.Errorf("the salt of %s is %q, %v", project, salt, err)
		}
	}
	if broken := brokenIn(t, f, "a", "b", "c"); len(broken) > 0 {
		t.Errorf("broken: %v", broken)
	}
	put(t, filepath.Join(stacks, "a/dev.json.gz.bak"), gzipped(t, state("before")))
	put(t, filepath.Join(stacks, "a/dev.json.gz"), gzipped(t, state("a"))[:20])
	if _, err := f.Read("a"); err == nil || !strings.Contains(err.Error(), "dev.json.gz.bak is the state before it") {
		t.Errorf("a state that was cut off: %v", err)
	}
	broken := brokenIn(t, f, "a", "b", "c")
	if len(broken) != 1 {
		t.Fatalf("broken: %v", broken)
	}
	if err := f.Restore(io.Discard, broken, filepath.Join(dir, "backups")); err != nil {
		t.Fatal(err)
	}
	if salt, err := f.Salt([]string{"a"}); salt != "before" || err != nil {
		t.Errorf("restored: %q, %v", salt, err)
	}
}

// TestSaltOfStrangers: other projects in the backend have stacks of the same name.
func TestSaltOfStrangers(t *testing.T) {
	t.Parallel()
	f := Directory{Path: t.TempDir(), Stack: "dev"}
	put(t, filepath.Join(f.Path, ".pulumi/stacks/another/dev.json"), `{"checkpoint":{"latest":{"secrets_providers":{"state":{"salt":"theirs"}}}}}`)
	if salt, err := f.Salt([]string{"ours"}); salt != "" || err != nil {
		t.Errorf("got %q, %v", salt, err)
	}
	put(t, filepath.Join(f.Path, ".pulumi/stacks/ours/dev.json"), `{"checkpoint":{"la`)
	if salt, err := f.Salt([]string{"ours"}); salt != "" || err != nil {
		t.Errorf("of a state that was cut off: %q, %v", salt, err)
	}
}

// TestUnreadable: a directory or a state that cannot be read is an error, and never
// nothing.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	everything := func(_ string, projects []string) []string { return projects }
	for name, file := range map[string]string{
		"a file in the place of the directory":              ".pulumi/stacks",
		"a file in the place of the directory of a backend": ".pulumi",
	} {
		f := Directory{Path: t.TempDir(), Stack: "dev"}
		put(t, filepath.Join(f.Path, file), "")
		if !f.MayHaveStates() {
			t.Errorf("%s: there are no states", name)
		}
		if states, err := f.ReadAll(everything); err == nil {
			t.Errorf("%s: ReadAll: %v", name, states)
		}
		if state, err := f.Read("vpc"); err == nil {
			t.Errorf("%s: Read: %s", name, state)
		}
		if salt, err := f.Salt([]string{"vpc"}); err == nil {
			t.Errorf("%s: Salt: %q", name, salt)
		}
	}
	f := Directory{Path: t.TempDir(), Stack: "dev"}
	if err := os.MkdirAll(filepath.Join(f.Path, ".pulumi/stacks/vpc/dev.json"), 0o700); err != nil { // a directory cannot be read, even by root
		t.Fatal(err)
	}
	if states, err := f.ReadAll(everything); err == nil {
		t.Errorf("ReadAll: %v", states)
	}
	if broken, err := f.Broken([]string{"vpc"}); err == nil || len(broken) > 0 {
		t.Errorf("what cannot be read passes for cut off: %v", broken)
	}
}

func gzipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func zstdOf(t *testing.T, text string) string {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	return string(w.EncodeAll([]byte(text), nil))
}

// TestHasJournal: a journal counts, a copy of one that was dropped does not, and nothing is known of a bucket.
func TestHasJournal(t *testing.T) {
	t.Parallel()
	f := Directory{Path: filepath.Join(t.TempDir(), "states [of us]"), Stack: "dev"}
	for _, step := range []struct {
		file string
		want bool
	}{
		{".pulumi/stacks/network/dev.json", false},
		{".pulumi/mara-journal/network/dev/dropped-1/journal.txt", false},
		{".pulumi/mara-journal/network/prod/1/journal", false},
		{".pulumi/mara-journal/other/dev/1/journal", false},
		{".pulumi/mara-journal/network/dev/1/journal", true},
	} {
		path := filepath.Join(f.Path, step.file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := f.HasJournal("network"); got != step.want {
			t.Errorf("with %s: %v", step.file, got)
		}
	}
	if (Directory{}).HasJournal("network") {
		t.Error("a bucket has a journal")
	}
}
