// Package cmdtest gives tests the dependencies of commands.
package cmdtest

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pulumi/pulumi/sdk/v3"

	"mara/projects/model/operation"
	"mara/projects/model/wire"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/journal"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/vault"
	"mara/runner/internal/testing/scripttest"
	"mara/runner/internal/testing/worldtest"
)

// Deps returns dependencies of commands with an empty directory and without a terminal.
func Deps(t *testing.T) (d cmd.Deps, stdout, stderr *bytes.Buffer) {
	t.Helper()
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	return cmd.Deps{
		Deps: session.Deps{
			Version: "1.2.3",
			World:   worldtest.World(),
			Console: vault.Console{
				Stdin: strings.NewReader(""), Stderr: stderr, Dir: t.TempDir(), Now: Now,
			},
			Probes: session.Probes{
				Listen: func(string, int) error { return nil },
				Read:   func(string) ([]byte, error) { return []byte("1048576\n"), nil },
			},
			PluginDirs: []string{ProgramHost(t)},
		},
		Stdout: stdout, PulumiVersion: "3.250.0",
	}, stdout, stderr
}

// ProgramHost makes a directory with a fake program host that serves no programs.
func ProgramHost(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	hello, err := json.Marshal(wire.Hello{Protocol: wire.Version, Pulumi: sdk.Version.String(), Port: 4242})
	if err != nil {
		t.Fatal(err)
	}
	scripttest.Write(t, filepath.Join(dir, "pulumi-language-mara"), "echo '"+string(hello)+"'\ncat >/dev/null")
	return dir
}

// Root creates a root with these files below config/pulumi.
func Root(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "config/pulumi"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		WriteFile(t, filepath.Join(root, "config/pulumi", name), content)
	}
	return root
}

// Now returns the time at which tests run commands.
func Now() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

// WriteFile writes a file, and creates the directories above it.
func WriteFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// WriteUp records an up with these results.
func WriteUp(t *testing.T, dir string, meta journal.Meta, p plan.Plan, results map[string]event.Result) {
	t.Helper()
	j, err := journal.Create(journal.Options{Dir: dir, ID: journal.NewID(Now()), Meta: meta})
	if err != nil {
		t.Fatal(err)
	}
	head := event.Event{Type: event.RunStarted, Operation: operation.Up, Provider: meta.Provider, Stack: meta.Stack}
	var rest []event.Event
	end := event.Succeeded
	for _, name := range p.Names() {
		result, ran := results[name]
		if !ran {
			continue
		}
		head.Projects = append(head.Projects, event.Project{Name: name})
		if result == event.Failed {
			end = event.Failed
		}
		if result != "" {
			rest = append(rest, event.Event{Type: event.StepStarted, Project: name},
				event.Event{Type: event.StepFinished, Project: name, Result: result})
		}
	}
	for _, e := range append(append([]event.Event{head}, rest...), event.Event{Type: event.RunFinished, Result: end}) {
		e.Time = Now()
		j.Emit(e)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}
