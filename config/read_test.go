package config

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestReadWhatIsNoFile: a dangling link, a cycle of links, a pipe and a directory are not
// the same as a missing file.
func TestReadWhatIsNoFile(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		make func(path string) error
		want string
	}{
		{"a link to nowhere", func(path string) error { return os.Symlink("../nowhere", path) }, "is a link to ../nowhere, which does not exist"},
		{"a link to itself", func(path string) error { return os.Symlink(filepath.Base(path), path) }, "too many levels of symbolic links"},
		{"a pipe", func(path string) error { return syscall.Mkfifo(path, 0o600) }, "is a pipe, not a file"},
		{"a directory", func(path string) error { return os.Mkdir(path, 0o700) }, "is a directory"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			if err := os.MkdirAll(filepath.Join(root, Directory, "secrets"), 0o700); err != nil {
				t.Fatal(err)
			}
			for _, file := range []struct {
				name string
				read func() error
			}{
				{EnvironmentFile, func() error { _, err := ReadEnvironment(root); return err }},
				{StackPath("dev"), func() error { _, err := ReadStack(root, "dev"); return err }},
				{SecretsPath("dev"), func() error { _, err := ReadSecrets(root, "dev"); return err }},
			} {
				if err := test.make(filepath.Join(root, file.name)); err != nil {
					t.Fatal(err)
				}
				if err := file.read(); err == nil || err.Error() != file.name+": "+test.want {
					t.Errorf("%s: got %v", file.name, err)
				}
			}
		})
	}
}
