package main

import (
	"debug/buildinfo"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/constant"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/protobuf/types/known/structpb"
)

// module writes a module with a program that prints "one".
func module(t *testing.T) string {
	t.Helper()
	directory := t.TempDir()
	put(t, filepath.Join(directory, "go.mod"), "module example.com/program\n\ngo 1.24\n")
	put(t, filepath.Join(directory, "main.go"), "package main\n\nfunc main() { print(\"one\") }\n")
	return directory
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// says runs a built program.
func says(t *testing.T, program string) string {
	t.Helper()
	output, err := exec.Command(program).CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	return string(output)
}

// TestBuildOnce: Go is asked when the sources have changed, and only then.
func TestBuildOnce(t *testing.T) {
	t.Setenv("GOFLAGS", "") // with flags of their own, Go is asked each time
	b, source := builder{t.TempDir()}, module(t)
	first, err := b.build(t.Context(), source)
	if err != nil || says(t, first) != "one" {
		t.Fatalf("%s: %v", first, err)
	}
	path := os.Getenv("PATH")
	t.Setenv("PATH", t.TempDir())
	if again, err := b.build(t.Context(), source); err != nil || again != first {
		t.Errorf("without Go and with the same sources: %s, %v", again, err)
	}
	put(t, filepath.Join(source, "main.go"), "package main\n\nfunc main() { print(\"another\") }\n")
	if _, err := b.build(t.Context(), source); err == nil || !strings.Contains(err.Error(), "there is no go on PATH") {
		t.Errorf("without Go and with other sources: %v", err)
	}
	t.Setenv("PATH", path)
	if changed, err := b.build(t.Context(), filepath.Join(source, ".")); err != nil || says(t, changed) != "another" {
		t.Errorf("%s: %v", changed, err)
	}
}

// TestSettings: what `go env -w` and the environment say of a build counts as the sources do.
func TestSettings(t *testing.T) {
	source, file := module(t), filepath.Join(t.TempDir(), "env")
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOENV", file)
	seen := map[string]bool{}
	for _, change := range []func(){
		func() {}, func() { t.Setenv("CGO_ENABLED", "0") }, func() { t.Setenv("GOOS", "plan9") }, func() { put(t, file, "GOFLAGS=-tags=some\n") },
	} {
		change()
		got, err := fingerprint(source)
		if err != nil || got == "" || seen[got] {
			t.Errorf("fingerprint %q, %v, after %d others", got, err, len(seen))
		}
		seen[got] = true
	}
}

// TestPrune: programs unused for long are deleted, unless they are being built.
func TestPrune(t *testing.T) {
	t.Parallel()
	directory, now := t.TempDir(), time.Now()
	for name, age := range map[string]time.Duration{"old": 2 * time.Hour, "building": 2 * time.Hour, "new": 0} {
		put(t, filepath.Join(directory, name, builtName), "program")
		put(t, filepath.Join(directory, name, stampName), "stamp")
		if err := os.Chtimes(filepath.Join(directory, name, stampName), now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	release, err := lock(filepath.Join(directory, "building"))
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	prune(directory, now.Add(-time.Hour))
	for name, want := range map[string]bool{"old": false, "building": true, "new": true} {
		if _, err := os.Stat(filepath.Join(directory, name, builtName)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestBuildOfAFile(t *testing.T) {
	t.Parallel()
	b, source := builder{t.TempDir()}, module(t)
	if program, err := b.build(t.Context(), filepath.Join(source, "main.go")); err != nil || says(t, program) != "one" {
		t.Errorf("%s: %v", program, err)
	}
}

// TestBuildFlags: programs are linked without the tables of debuggers, but for users who
// want them.
func TestBuildFlags(t *testing.T) {
	for _, test := range []struct{ own, want string }{{"", "-w"}, {"-tags=some", "-w"}, {"-ldflags=-w=0", "-w=0"}} {
		t.Setenv("GOFLAGS", test.own)
		program, err := builder{t.TempDir()}.build(t.Context(), module(t))
		if err != nil || says(t, program) != "one" {
			t.Fatalf("GOFLAGS=%s: %s: %v", test.own, program, err)
		}
		info, err := buildinfo.ReadFile(program)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(info.Settings, debug.BuildSetting{Key: "-ldflags", Value: test.want}) {
			t.Errorf("GOFLAGS=%s: built with %v, want -ldflags %s", test.own, info.Settings, test.want)
		}
	}
}

func TestBuildFails(t *testing.T) {
	t.Parallel()
	source := module(t)
	put(t, filepath.Join(source, "main.go"), "package main\n\nfunc main() { nonsense }\n")
	_, err := builder{t.TempDir()}.build(t.Context(), source)
	if err == nil || !strings.Contains(err.Error(), "building the program in "+source) || !strings.Contains(err.Error(), "undefined: nonsense") {
		t.Errorf("got %v", err)
	}
}

// TestFingerprint changes with the sources, and is none where others are used.
func TestFingerprint(t *testing.T) {
	t.Setenv("GOFLAGS", "")
	source := module(t)
	if first, err := fingerprint(source); err != nil || first == "" {
		t.Fatalf("%q, %v", first, err)
	}
	for name, test := range map[string]struct {
		change func()
		same   bool
	}{
		"nothing":            {func() {}, true},
		"a hidden directory": {func() { put(t, filepath.Join(source, ".git", "index"), "x") }, true},
		"a new file":         {func() { put(t, filepath.Join(source, "embedded", "text"), "x") }, false},
		"another time": {func() {
			later := time.Now().Add(time.Hour)
			if err := os.Chtimes(filepath.Join(source, "go.mod"), later, later); err != nil {
				t.Fatal(err)
			}
		}, false},
	} {
		before, _ := fingerprint(source)
		test.change()
		if after, err := fingerprint(source); err != nil || (after == before) != test.same {
			t.Errorf("%s: %v, the same: %t", name, err, after == before)
		}
	}
	put(t, filepath.Join(source, "go.mod"), "module example.com/program\n\ngo 1.24\n\nreplace a.example => ../a\n")
	if got, err := fingerprint(source); got != "" || err != nil {
		t.Errorf("with a module from elsewhere: %q, %v", got, err)
	}
}

// TestBinary: whoever names a built program needs no Go.
func TestBinary(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	put(t, filepath.Join(directory, "bin", "program"), "")
	h := &host{}
	for _, test := range []struct {
		binary      any
		want, wrong string
	}{
		{"bin/program", filepath.Join(directory, "bin", "program"), ""},
		{filepath.Join(directory, "bin", "program"), filepath.Join(directory, "bin", "program"), ""},
		{"bin/other", "", "the option binary in Pulumi.yaml: stat "},
		{true, "", "is the path of a built program"},
	} {
		options, err := structpb.NewStruct(map[string]any{"binary": test.binary})
		if err != nil {
			t.Fatal(err)
		}
		got, err := h.program(t.Context(), &pulumirpc.ProgramInfo{ProgramDirectory: directory, EntryPoint: ".", Options: options})
		if got != test.want || test.wrong == "" && err != nil || test.wrong != "" && (err == nil || !strings.Contains(err.Error(), test.wrong)) {
			t.Errorf("%v: got %q, %v", test.binary, got, err)
		}
	}
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	ended := func(code string) error { return exec.Command("sh", "-c", "exit "+code).Run() }
	if got := answer(nil, ""); got.GetError() != "" || got.GetBail() {
		t.Errorf("a good end: %v", got)
	}
	if got := answer(ended("3"), ""); got.GetError() != "the program ended with exit status 3" || got.GetBail() {
		t.Errorf("a bad end: %v", got)
	}
	if got := answer(ended("2"), "no token"); got.GetError() != "the program panicked: no token" {
		t.Errorf("a panic: %v", got)
	}
	if got := answer(ended("32"), ""); constant.ExitStatusLoggedError != 32 || got.GetError() != "" || !got.GetBail() {
		t.Errorf("a reported error: %v", got)
	}
}

func TestLastWords(t *testing.T) {
	t.Parallel()
	var words lastWords
	for _, piece := range []string{"hello\npan", "ic: no token\n\tset it\ngoroutine 1 [running]:\n", "panic: another\n", strings.Repeat("x", 5000)} {
		if n, err := words.Write([]byte(piece)); n != len(piece) || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	}
	if words.panic != "no token" || len(words.line) > maxLine {
		t.Errorf("got %q, %d", words.panic, len(words.line))
	}
}
