package inventory

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/config"
	"mara/providers"
	"mara/runner/internal/core/request"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/vault"
)

// root has two environments in its own backend, prod in another one, and broken
// without a valid description. Another one's backend has a stack dev, too.
func root(t *testing.T) (session.Deps, session.Options) {
	t.Helper()
	root, elsewhere := t.TempDir(), t.TempDir()
	for file, content := range map[string]string{
		filepath.Join(root, config.EnvironmentsDir, "prod.yaml"):                             "values: {runner: {backend: \"file://" + elsewhere + "\"}}\n",
		filepath.Join(root, config.EnvironmentsDir, "broken.yaml"):                           "values: [\n",
		filepath.Join(root, ".runner", "state", ".pulumi", "stacks", "aws-vpc", "dev.json"):  state("dev here"),
		filepath.Join(root, ".runner", "state", ".pulumi", "stacks", "aws-vpc", "test.json"): state("test here"),
		filepath.Join(root, ".runner", "state", ".pulumi", "stacks", "aws-vpc", "prod.json"): state("an old one"),
		filepath.Join(root, ".runner", "state", ".pulumi", "stacks", "unknown", "dev.json"):  state("of no project"),
		filepath.Join(elsewhere, ".pulumi", "stacks", "aws-vpc", "prod.json"):                state("prod elsewhere"),
		filepath.Join(elsewhere, ".pulumi", "stacks", "aws-vpc", "dev.json"):                 state("of another repository"),
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	sources := config.Sources{Process: []string{"PULUMI_HOME=" + elsewhere}}
	// Without an engine, whatever asked for one would fail: files are read without.
	return session.Deps{Console: vault.Console{Stderr: io.Discard}}, session.Options{Request: request.Request{Root: root, BuiltIn: providers.Catalogue(), Sources: sources}}
}

// state returns a state as the file backend keeps it.
func state(text string) string { return fmt.Sprintf(`{"checkpoint": {"latest": %q}}`, text) }

// every chooses all projects.
func every(_ string, projects []string) []string { return projects }

func TestStatesOfARoot(t *testing.T) {
	t.Parallel()
	d, o := root(t)
	s, err := session.ResolveRoot(d, o)
	if err != nil {
		t.Fatal(err)
	}
	got, err := States(t.Context(), s, every)
	var incomplete *IncompleteError // broken may have its state in any backend
	if !errors.As(err, &incomplete) || !strings.Contains(err.Error(), "broken: ") {
		t.Fatal(err)
	}
	want := map[string]map[string]string{
		"dev": {"aws-vpc": `"dev here"`, "unknown": `"of no project"`}, "test": {"aws-vpc": `"test here"`}, "prod": {"aws-vpc": `"prod elsewhere"`},
	}
	if diff := cmp.Diff(want, texts(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// One environment's session looks nowhere but in its own backend.
func TestStatesOfAnEnvironment(t *testing.T) {
	t.Parallel()
	d, o := root(t)
	o.Request = o.Of("prod")
	s, err := session.ResolveStack(d, o)
	if err != nil {
		t.Fatal(err)
	}
	got, err := States(t.Context(), s, every)
	want := map[string]map[string]string{"prod": {"aws-vpc": `"prod elsewhere"`}, "dev": {"aws-vpc": `"of another repository"`}}
	if diff := cmp.Diff(want, texts(got)); err != nil || diff != "" {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
}

func TestStatesOf(t *testing.T) {
	t.Parallel()
	d, o := root(t)
	got, err := StatesOf(t.Context(), d, o, []string{"dev", "prod"})
	want := map[string]map[string]string{"dev": {"aws-vpc": `"dev here"`}, "prod": {"aws-vpc": `"prod elsewhere"`}}
	if diff := cmp.Diff(want, texts(got)); err != nil || diff != "" {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
	if _, err := StatesOf(t.Context(), d, o, []string{"dev", "broken"}); err == nil {
		t.Error("the states of an environment whose description is broken")
	}
}

// TestOfEnvironment leaves the stacks of other repositories alone.
func TestOfEnvironment(t *testing.T) {
	t.Parallel()
	d, o := root(t)
	for stack, want := range map[string]map[string]string{"dev": {"aws-vpc": `"dev here"`}, "prod": {"aws-vpc": `"prod elsewhere"`}, "new": {}} {
		o.Request = o.Of(stack)
		s, err := session.ResolveStack(d, o)
		if err != nil {
			t.Fatal(err)
		}
		got, err := OfEnvironment(t.Context(), s)
		if diff := cmp.Diff(want, texts(map[string]map[string]json.RawMessage{stack: got})[stack]); err != nil || diff != "" {
			t.Errorf("%s: error %v (-want +got):\n%s", stack, err, diff)
		}
	}
}

// TestUnreadableStates: nothing that cannot be read passes for nothing.
func TestUnreadableStates(t *testing.T) {
	t.Parallel()
	d, o := root(t)
	dir := filepath.Join(o.Root, ".runner", "state", ".pulumi", "stacks")
	// A file in the place of the directory cannot be listed, even by root.
	if err := errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	o.Request = o.Of("dev")
	s, err := session.ResolveStack(d, o)
	if err != nil {
		t.Fatal(err)
	}
	if states, err := States(t.Context(), s, every); err == nil {
		t.Errorf("States: %v, and no error", states)
	}
	if states, err := OfEnvironment(t.Context(), s); err == nil {
		t.Errorf("OfEnvironment: %v, and no error", states)
	}
	if states, err := StatesOf(t.Context(), d, o, []string{"dev"}); err == nil {
		t.Errorf("StatesOf: %v, and no error", states)
	}
}

// Nothing is asked where nothing can have been deployed.
func TestStacksOfANewRoot(t *testing.T) {
	t.Parallel()
	o := session.Options{Request: request.Request{Root: t.TempDir(), BuiltIn: providers.Catalogue(), Sources: config.Sources{Process: []string{"PULUMI_HOME=" + t.TempDir()}}}}
	s, err := session.ResolveRoot(session.Deps{Console: vault.Console{Stderr: io.Discard}}, o)
	if err != nil {
		t.Fatal(err)
	}
	if found, err := Stacks(t.Context(), s); err != nil || len(found) > 0 {
		t.Errorf("%v, %v", slices.Collect(maps.Keys(found)), err)
	}
}

// texts returns states as texts.
func texts[S ~[]byte](all map[string]map[string]S) map[string]map[string]string {
	converted := map[string]map[string]string{}
	for environment, states := range all {
		converted[environment] = map[string]string{}
		for project, state := range states {
			converted[environment][project] = string(state)
		}
	}
	return converted
}
