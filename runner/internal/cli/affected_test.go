package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mara/runner/internal/testing/cmdtest"
)

// TestAffectedSinceACommit: what a commit changes affects the environments whose projects consist of it, as the
// fingerprints of an up have it.
func TestAffectedSinceACommit(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	const none = "none of 1 environment is affected\n"
	for name, test := range map[string]struct {
		change func(root string) error
		ref    string
		want   string
	}{
		"nothing":                 {func(string) error { return nil }, "HEAD", none},
		"a plain name":            {write("shop/plain.txt"), "HEAD", "dev: program of shop\n"},
		"a name with an umlaut":   {write("shop/größe.txt"), "HEAD", "dev: program of shop\n"},
		"a new name with spaces":  {write("shop/a new\tname"), "HEAD", "dev: program of shop\n"},
		"a declared input":        {write("notes.txt"), "HEAD", "dev: program of shop-network\n"},
		"a declared input, gone":  {remove("notes.txt"), "HEAD", "dev: program of shop-network, which cannot be compared: inputs: there is no notes.txt\n"},
		"a file that is gone":     {remove("shop/plain.txt"), "HEAD", "dev: program of shop\n"},
		"a file that moved away":  {move("shop/plain.txt", "plain.txt"), "HEAD", "dev: program of shop\n"},
		"a file of no project":    {write("README.md"), "HEAD", none},
		"a file that a value has": {write("values/dev.txt"), "HEAD", "dev: files of shop-network; files of shop-database; files of shop\n"},
		"a value":                 {write("config/environments/dev.yaml", "values:\n  pulumiConfig: {\"any:size\": small}\n"), "HEAD", "dev: any:file; any:size\n"},
		"an option":               {write("shop/plain.txt"), "--output=written", ""},
		"no commit":               {write("shop/plain.txt"), "nowhere", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			if err := os.CopyFS(root, os.DirFS(filepath.Join("..", "..", "..", "examples", "own"))); err != nil {
				t.Fatal(err)
			}
			for file, content := range map[string]string{
				"config/environments/dev.yaml": "values:\n  pulumiConfig: {\"any:size\": large, \"any:file\": values/dev.txt}\n",
				"shop/größe.txt":               "1", "shop/plain.txt": "1", "notes.txt": "1", "values/dev.txt": "1",
			} {
				cmdtest.WriteFile(t, filepath.Join(root, filepath.FromSlash(file)), content)
			}
			mara, err := os.ReadFile(filepath.Join(root, "mara.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			text := strings.Replace(string(mara), "  - path: network\n", "  - path: network\n    inputs: [notes.txt]\n", 1)
			cmdtest.WriteFile(t, filepath.Join(root, "mara.yaml"), text)
			for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "first"}} {
				command := exec.Command("git", args...)
				command.Dir = root
				if out, err := command.CombinedOutput(); err != nil {
					t.Fatalf("git %v: %v\n%s", args, err, out)
				}
			}
			if err := test.change(root); err != nil {
				t.Fatal(err)
			}
			stdout, stderr, code := runFleet(t, root, "fleet plan --why --affected="+test.ref)
			switch {
			case test.want == "":
				if code != 2 || !strings.Contains(stderr, "name a commit of the repository") {
					t.Errorf("exit code %d: %s%s", code, stdout, stderr)
				}
			case code != 0 || !strings.Contains(stdout+stderr, test.want):
				t.Errorf("exit code %d, want %q: %s%s", code, test.want, stdout, stderr)
			}
			if _, err := os.Stat(filepath.Join(root, "written")); err == nil {
				t.Error("git has taken the commit for an option")
			}
		})
	}
}

// write returns a change of a file.
func write(name string, content ...string) func(root string) error {
	return func(root string) error {
		return os.WriteFile(filepath.Join(root, filepath.FromSlash(name)), []byte(strings.Join(append(content, "# 2\n"), "")), 0o644)
	}
}

func remove(name string) func(root string) error {
	return func(root string) error { return os.Remove(filepath.Join(root, filepath.FromSlash(name))) }
}

func move(from, to string) func(root string) error {
	return func(root string) error { return os.Rename(filepath.Join(root, from), filepath.Join(root, to)) }
}
