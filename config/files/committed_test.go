package files_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mara/config/files"
)

// TestReadCommitted: a link is followed inside of its repository, and where the user's own machine allows it.
func TestReadCommitted(t *testing.T) {
	put := func(path, content string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link := func(to, from string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(from), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, from); err != nil {
			t.Fatal(err)
		}
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(base, filepath.FromSlash(name)) }
	t.Setenv("HOME", at("home"))
	put(at("home/.ssh/id_rsa"), "secret")
	put(at("home/kept/values.yaml"), "kept")
	for _, repository := range []string{"home/repo", "home/repo/nested", "home/archive", "home/plain", "home"} {
		put(at(repository+"/shared/values.yaml"), "shared")
	}
	for _, mark := range []string{"home/repo/.git/HEAD", "home/repo/nested/.git", "home/archive/mara.yaml", "home/.git/HEAD"} {
		put(at(mark), "x")
	}
	link(at("home/repo"), at("way"))
	link(at("home/.ssh"), at("home/repo/keys"))
	link("../.ssh/id_rsa", at("home/repo/out.yaml"))
	link("out.yaml", at("home/repo/again.yaml"))
	link("shared/values.yaml", at("home/repo/in.yaml"))
	link("../shared/values.yaml", at("home/repo/nested/up.yaml"))
	link(at("home/.ssh/id_rsa"), at("home/archive/out.yaml"))
	link(at("home/kept/values.yaml"), at("home/archive/kept.yaml"))
	link(at("home/.ssh/id_rsa"), at("home/plain/out.yaml"))
	link(at("home/none"), at("home/repo/dangling.yaml"))
	for _, c := range []struct{ name, allowed, want string }{
		{"home/repo/shared/values.yaml", "", "shared"},
		{"home/repo/in.yaml", "", "shared"},
		{"way/in.yaml", "", "shared"},
		{"way/shared/values.yaml", "", "shared"},
		{"home/repo/nested/up.yaml", "", "shared"}, // a module of git in the repository
		{"home/repo/out.yaml", "", ""},
		{"home/repo/again.yaml", "", ""},
		{"home/repo/keys/id_rsa", "", ""},
		{"way/out.yaml", "", ""},
		{"home/archive/out.yaml", "", ""},
		{"home/archive/kept.yaml", "", ""},
		{"home/archive/kept.yaml", "/elsewhere" + string(filepath.ListSeparator) + at("home/kept"), "kept"},
		{"home/archive/kept.yaml", "kept", ""}, // which a repository could have
		{"home/archive/out.yaml", at("home/kept"), ""},
		{"home/plain/out.yaml", "", "secret"}, // no repository, in a home that is one
	} {
		t.Setenv(files.LinksVariable, c.allowed)
		content, err := files.ReadCommitted(at(c.name), files.Text)
		if string(content) != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s, allowed %q: %q, %v", c.name, c.allowed, content, err)
		}
		if err != nil && !strings.Contains(err.Error(), files.LinksVariable+"="+at("home")) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, err := files.ReadCommitted(at("home/repo/dangling.yaml"), files.Text); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Error(err)
	}
}
