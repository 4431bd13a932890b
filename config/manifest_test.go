package config

import (
	"strings"
	"testing"
)

// TestProjectNames: names that Pulumi refuses are refused with their line.
func TestProjectNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"net": "", "net_2.x-y": "", "a b": "net/Pulumi.yaml:1: name is \"a b\", which Pulumi refuses", "größe": "which Pulumi refuses",
		"nginx/": "which Pulumi refuses", strings.Repeat("n", 101): "up to 100 letters",
	} {
		_, err := ParseManifest("net/Pulumi.yaml", []byte("name: "+name+"\nruntime: yaml\n"))
		if got := errorText(err); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

// TestRuntimes: a runtime is a name, or a map with one.
func TestRuntimes(t *testing.T) {
	t.Parallel()
	for runtime, want := range map[string]struct{ name, binary, refused string }{
		"go":                               {name: "go"},
		"{name: go}":                       {name: "go"},
		"{name: go, options: {binary: x}}": {name: "go", binary: "x"},
		"[name, go]":                       {refused: "net/Pulumi.yaml:2: runtime must be a name, or a map with a name, not a list"},
	} {
		m, err := ParseManifest("net/Pulumi.yaml", []byte("name: net\nruntime: "+runtime+"\n"))
		if m.Runtime != want.name || m.Binary != want.binary || errorText(err) != want.refused {
			t.Errorf("%s: got %q, %q and %q", runtime, m.Runtime, m.Binary, errorText(err))
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
