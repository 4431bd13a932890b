package preflight_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/feature/doctor/preflight"
)

// TestLanguages: what is missing is reported with the projects that need it.
func TestLanguages(t *testing.T) {
	t.Parallel()
	tools, beside, home := t.TempDir(), t.TempDir(), t.TempDir()
	for _, file := range []string{
		tools + "/node", tools + "/pulumi-language-java", beside + "/pulumi-language-go", beside + "/pulumi-language-yaml", home + "/plugins/language-ruby-v1.0.0/pulumi-language-ruby",
	} {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	check := preflight.Languages(preflight.LanguageOptions{
		Programs: []preflight.Program{
			{Project: "a", Runtime: "nodejs"}, {Project: "b", Runtime: "yaml"}, {Project: "c", Runtime: "java"}, {Project: "d", Runtime: "nodejs"},
			{Project: "e", Runtime: "go", Built: true}, {Project: "f", Runtime: "ruby"},
			{Project: "g"}, {Project: "h", Runtime: "pyhton"},
		},
		Env: map[string]string{"PATH": tools}, Beside: []string{beside}, Home: home,
	})
	want := []preflight.Finding{
		{Status: preflight.Problem, Text: "g: there is no runtime in its Pulumi.yaml", Remedy: "write the language of the program, such as  runtime: yaml"},
		{Status: preflight.OK, Text: "go: e"},
		{Status: preflight.Problem, Text: "c: there is no java on the PATH", Remedy: "install a JDK, and Maven or Gradle"},
		{Status: preflight.Problem, Text: "a, d: there is no pulumi-language-nodejs, which runs programs in nodejs", Remedy: "install Pulumi (https://www.pulumi.com/docs/install), which brings it, and have its directory on the PATH"},
		{Status: preflight.Problem, Text: `h: runtime is "pyhton", and there is no such language; did you mean "python"?`, Remedy: "correct it in its Pulumi.yaml"},
		{Status: preflight.OK, Text: "ruby: f"},
		{Status: preflight.OK, Text: "yaml: b"},
	}
	if diff := cmp.Diff(want, check.Look(t.Context())); diff != "" {
		t.Error(diff)
	}
	// Pulumi's own language that needs no tool is one, too.
	alone := preflight.Languages(preflight.LanguageOptions{Programs: []preflight.Program{{Project: "b", Runtime: "yaml"}}, Home: t.TempDir()})
	if got := alone.Look(t.Context()); len(got) != 1 || got[0].Text != "b: there is no pulumi-language-yaml, which runs programs in yaml" {
		t.Errorf("without a host: %+v", got)
	}
}
