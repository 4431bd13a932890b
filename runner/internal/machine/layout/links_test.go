package layout

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheckLinks: links that stay below the root are fine, those out of it are not.
func TestCheckLinks(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, link, to, want string // to is below the root, unless it is ""
	}{
		{"none", "", "", ""},
		{"of the records", ".runner", "", ".runner is a link to "},
		{"of the configuration", "config/pulumi", "", "config/pulumi is a link to "},
		{"inside", "config/pulumi", "elsewhere", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			root, outside := t.TempDir(), t.TempDir()
			if err := os.MkdirAll(filepath.Join(root, "config"), 0o755); err != nil {
				t.Fatal(err)
			}
			if test.to != "" {
				if outside = filepath.Join(root, test.to); os.Mkdir(outside, 0o755) != nil {
					t.Fatal("no directory")
				}
			}
			if test.link != "" {
				if err := os.Symlink(outside, filepath.Join(root, test.link)); err != nil {
					t.Skip(err)
				}
			}
			err := CheckLinks(root)
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v", err)
			}
		})
	}
	within, alias := t.TempDir(), filepath.Join(t.TempDir(), "alias")
	if err := os.Mkdir(filepath.Join(within, ".runner"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(within, alias); err == nil {
		if err := CheckLinks(alias); err != nil {
			t.Errorf("a root that is a link itself: %v", err)
		}
	}
}
