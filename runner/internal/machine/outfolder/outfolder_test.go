package outfolder_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/outfolder"
)

// contents reads the files of a folder, without the marker.
func contents(t *testing.T, folder string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() == outfolder.Marker {
			return err
		}
		content, err := os.ReadFile(path)
		name, _ := filepath.Rel(folder, path)
		found[filepath.ToSlash(name)] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func files(pairs ...string) map[string][]byte {
	made := map[string][]byte{}
	for i := 0; i < len(pairs); i += 2 {
		made[pairs[i]] = []byte(pairs[i+1])
	}
	return made
}

func refused(t *testing.T, err error, want string) {
	t.Helper()
	var environment *failure.Environment
	if !errors.As(err, &environment) || !strings.Contains(err.Error(), want) || !strings.Contains(environment.NextStep(), "nothing was written") {
		t.Errorf("error %v, want one that says %q", err, want)
	}
}

func TestWrite(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "a", "out")
	for _, step := range []map[string][]byte{files("x.yaml", "one", "sub/y.yaml", "two"), files("x.yaml", "three"), files("z/z.yaml", "")} {
		if err := outfolder.Write(folder, "runner test", step); err != nil {
			t.Fatal(err)
		}
		want := map[string]string{}
		for name, content := range step {
			want[name] = string(content)
		}
		if diff := cmp.Diff(want, contents(t, folder)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	if entries, err := os.ReadDir(filepath.Dir(folder)); err != nil || len(entries) != 1 {
		t.Errorf("beside the folder is left %v, error %v", entries, err)
	}
}

func TestWriteRefuses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, file, content, command, want string
	}{
		{"a foreign file", "mine.txt", "mine", "runner test", "has files that `runner test` did not write: mine.txt"},
		{"a file that was changed", "x.yaml", "changed", "runner test", "has files that were changed by hand: x.yaml"},
		{"a folder of another command", "x.yaml", "one", "runner other", "is not a folder of `runner other`"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			folder := filepath.Join(t.TempDir(), "out")
			if err := outfolder.Write(folder, "runner test", files("x.yaml", "one")); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(folder, test.file), []byte(test.content), 0o600); err != nil {
				t.Fatal(err)
			}
			before := contents(t, folder)
			refused(t, outfolder.Write(folder, test.command, files("x.yaml", "two")), test.want)
			if diff := cmp.Diff(before, contents(t, folder)); diff != "" {
				t.Errorf("something was written: %s", diff)
			}
		})
	}
}

func TestWriteIntoAnEmptyFolderOrALink(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(folder, link); err != nil {
		t.Skip(err)
	}
	if err := outfolder.Write(link, "runner test", files("x.yaml", "one")); err != nil || contents(t, folder)["x.yaml"] != "one" {
		t.Errorf("error %v, files %v", err, contents(t, folder))
	}
}

func TestWriteFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a", "b.yml")
	for _, content := range []string{"one\n", "two\n"} {
		if err := outfolder.WriteFile(path, "runner test", []byte(content)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || !strings.HasSuffix(string(got), "\n"+content) || !strings.HasPrefix(string(got), "# Written by `runner test`") {
			t.Errorf("got %q, %v", got, err)
		}
	}
	refused(t, outfolder.WriteFile(path, "runner other", nil), "was not written by `runner other`")
	got, _ := os.ReadFile(path)
	if err := os.WriteFile(path, append(got, "more\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, outfolder.WriteFile(path, "runner test", []byte("three\n")), "or was changed since")
}
