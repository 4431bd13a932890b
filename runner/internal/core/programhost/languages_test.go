package programhost

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestLanguageHost: the PATH comes before Pulumi's plugins, of which the newest counts.
func TestLanguageHost(t *testing.T) {
	t.Parallel()
	tools, home := t.TempDir(), t.TempDir()
	put := func(path string) {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	find := func() string {
		path, ok := LanguageHost("ruby", home, map[string]string{"PATH": tools})
		if ok != (path != "") {
			t.Errorf("found is %v of %q", ok, path)
		}
		return path
	}
	if path := find(); path != "" {
		t.Errorf("found %s where there is nothing", path)
	}
	for _, dir := range []string{"language-ruby-v1.10.0", "language-ruby-v1.9.0", "language-ruby-vnext", "resource-ruby-v3.0.0"} {
		put(filepath.Join(home, "plugins", dir, "pulumi-language-ruby"))
	}
	put(filepath.Join(home, "plugins", "language-ruby-v2.0.0", "half")) // a download that was cut off
	if path := find(); path != filepath.Join(home, "plugins", "language-ruby-v1.10.0", "pulumi-language-ruby") {
		t.Errorf("of the plugins it is %s", path)
	}
	put(filepath.Join(tools, "pulumi-language-ruby"))
	if path := find(); path != filepath.Join(tools, "pulumi-language-ruby") {
		t.Errorf("with one on the PATH it is %s", path)
	}
}
