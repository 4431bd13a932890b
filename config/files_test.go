package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFindRoot(t *testing.T) {
	t.Parallel()
	root := newRoot(t, nil)
	deep := filepath.Join(root, "a", "b")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{root, deep, filepath.Join(root, Directory)} {
		if got, err := FindRoot(dir, Value{}); err != nil || got != root {
			t.Errorf("from %s: got %s, %v", dir, got, err)
		}
	}
	for _, named := range []string{root, "..", "../a/.."} {
		got, err := FindRoot(filepath.Join(root, "a"), flagValue("--root", named))
		if err != nil || got != root {
			t.Errorf("named %s: got %s, %v", named, got, err)
		}
	}
}

func TestFindRootRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := FindRoot(dir, Value{})
	var noRoot *NoRootError
	if !errors.As(err, &noRoot) || !strings.Contains(noRoot.NextStep(), "runner init") || !strings.Contains(err.Error(), dir) {
		t.Errorf("got %v", err)
	}
	_, err = FindRoot(dir, flagValue("--root", "nowhere"))
	checkError(t, err, true, "--root: the directory "+filepath.Join(dir, "nowhere")+" does not exist", "")
	_, err = FindRoot(dir, flagValue("--root", dir))
	checkError(t, err, true, "--root: "+dir+" has neither a directory config/pulumi nor a file mara.yaml", "runner init "+dir)
	_, err = FindRoot(dir, flagValue("--root", "a\x00b"))
	checkError(t, err, true, "--root: invalid argument", "")
	_, err = FindRoot(dir, Value{Text: dir, Origin: Origin{Source: FromProcess, Name: "RUNNER_ROOT"}})
	checkError(t, err, false, "RUNNER_ROOT in the process environment: ", "")
}

// TestExamples holds the embedded files against their readers.
func TestExamples(t *testing.T) {
	t.Parallel()
	files, err := Examples()
	if err != nil {
		t.Fatal(err)
	}
	contents := map[string][]byte{}
	for _, file := range files {
		contents[file.Path] = file.Data
	}
	environment, err := ParseEnvironment("example", contents["config/pulumi/environment.example"])
	if err != nil {
		t.Fatal(err)
	}
	if stack, ok := environment.Lookup(StackVariable); !ok || CheckStackName(stack.Text) != nil {
		t.Errorf("the example names no stack: %v", stack)
	}
	stack, err := ParseStack("example", contents["config/pulumi/Pulumi.stackname.yaml.example"])
	if err != nil || !stack.Text(InfraType).IsSet() {
		t.Errorf("got %v, %v", stack.Entries, err)
	}
	if ignored := string(contents["config/pulumi/.gitignore"]); !strings.Contains(ignored, "/environment\n") || strings.Contains(ignored, "\nsecrets") {
		t.Errorf("got %s", ignored)
	}
}
