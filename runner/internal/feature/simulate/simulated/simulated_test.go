package simulated

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mara/runner/internal/core/event"
	"mara/runner/internal/core/request"
	"mara/runner/internal/feature/simulate"
)

// options simulate one cloud, and hand what ends it to stop.
func options(t *testing.T, flags request.Simulation, stop *[]func() error) Options {
	t.Helper()
	return Options{
		Flags: flags, Dir: t.TempDir(), Directory: t.TempDir(), Home: t.TempDir(), Masker: event.NewMasker(),
		BuiltIn: []simulate.Package{{Name: "tiny"}},
		OnClose: func(closer func() error) { *stop = append(*stop, closer) },
		Warn:    func(text string) { t.Errorf("warning: %s", text) },
	}
}

func TestServe(t *testing.T) {
	t.Parallel()
	var stop []func() error
	env, warnings, err := Serve(t.Context(), options(t, request.Simulation{On: true}, &stop))
	if err != nil || len(warnings) > 0 {
		t.Fatalf("warnings %v, error %v", warnings, err)
	}
	if !strings.HasPrefix(env["PULUMI_DEBUG_PROVIDERS"], "tiny:") {
		t.Errorf("the environment of Pulumi is %v", env)
	}
	if len(stop) != 1 {
		t.Fatalf("%d things to stop", len(stop))
	}
	if err := stop[0](); err != nil {
		t.Error(err)
	}
}

// TestServeRefuses: errors name the flag, and nothing is left running.
func TestServeRefuses(t *testing.T) {
	t.Parallel()
	broken := filepath.Join(t.TempDir(), "schema.json")
	if err := os.WriteFile(broken, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for flag, flags := range map[string]request.Simulation{
		"--simulate-fail":    {Fail: []string{"=quota"}},
		"--simulate-slow":    {Slow: []string{"tiny:index:Thing=soon"}},
		"--simulate-schema":  {Schemas: []string{broken}},
		"--simulate-cluster": {Cluster: "missing"},
	} {
		var stop []func() error
		_, _, err := Serve(t.Context(), options(t, flags, &stop))
		if err == nil || !strings.Contains(err.Error(), flag) || len(stop) > 0 {
			t.Errorf("%s: error %v, and %d things to stop", flag, err, len(stop))
		}
	}
}
