package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func touch(t *testing.T, root string, names ...string) {
	t.Helper()
	for _, name := range names {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestUnread(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		file, name string
		missed     bool
	}{
		{"policies/policies.yml", "policies/policies.yaml", true},
		{"policies/Policies.yaml", "policies/policies.yaml", true},
		{"policies/policy.yaml", "policies/policies.yaml", true},
		{"policies/polices.yaml", "policies/policies.yaml", true},
		{"policies/policies.yaml", "policies/policies.yaml", false},
		{"policies/README.md", "policies/policies.yaml", false},
		{"prices.yml", "prices.yaml", true},
		{"price.yaml", "prices.yaml", true},
		{"prices.json", "prices.yaml", false},
		{"maria.yaml", "mara.yaml", false},
		{"MARA.yaml", "mara.yaml", true},
		{"policy/a.jq", "policies/", true},
		{"Policies/deep/a.jq", "policies/", true},
		{"policy/README.md", "policies/", false},
		{"policies/a.jq", "policies/", false},
	} {
		root := t.TempDir()
		touch(t, root, test.file)
		if got := Unread(root, []string{test.name}, ".jq"); (len(got) > 0) != test.missed {
			t.Errorf("%s for %s: got %v", test.file, test.name, got)
		}
	}
}

func TestUnreadIn(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	touch(t, root, "policies/a.jq", "policies/b.JQ", "policies/sub/c.jq", "policies/README.md", "policies/.x.JQ")
	want := []Problem{
		{File: "policies/b.JQ", Text: "is not read: only policies/*.jq is; rename it to policies/b.jq"},
		{File: "policies/sub/c.jq", Text: "is not read: only policies/*.jq is; rename it to policies/c.jq"},
	}
	if diff := cmp.Diff(want, UnreadIn(root, "policies", ".jq")); diff != "" {
		t.Error(diff)
	}
	if err := os.Symlink("nowhere", filepath.Join(root, "queries")); err != nil {
		t.Skip(err)
	}
	want = []Problem{{File: "queries", Text: "is a link to nowhere, which does not exist"}}
	if diff := cmp.Diff(want, UnreadIn(root, "queries", ".jq")); diff != "" {
		t.Error(diff)
	}
	if got := UnreadIn(root, "missing", ".jq"); got != nil {
		t.Errorf("got %v", got)
	}
}
