package cli_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/wire"
)

// TestVersionCheck asks a place of releases, and only when asked to.
func TestVersionCheck(t *testing.T) {
	t.Parallel()
	const own = "runner 1.2.3\npulumi 3.250.0\n"
	tests := []struct {
		name, args, answer, version string
		code                        int
		stdout, stderr              string
	}{
		{"not asked", "version", "", "1.2.3", 0, own, ""},
		{"newer", "version --check", "1.10.0\n", "1.2.3", 0, own + "newest release 1.10.0; update with the installer or your package manager\n", ""},
		{"the same", "version --check", "v1.2.3\n", "1.2.3", 0, own + "this is the newest release\n", ""},
		{"ahead", "version --check", "1.2.2", "1.2.3", 0, own + "this is the newest release\n", ""},
		{"before a release", "version --check", "1.2.3", "1.2.3-rc.1", 0, "runner 1.2.3-rc.1\npulumi 3.250.0\nnewest release 1.2.3; update with the installer or your package manager\n", ""},
		{"no release", "version --check", "1.2.3", "development", 0, "runner development\npulumi 3.250.0\nnewest release 1.2.3; this version is not a release\n", ""},
		{"JSON", "version --check -o json", "1.2.4", "1.2.3", 0, "{\n  \"runner\": \"1.2.3\",\n  \"pulumi\": \"3.250.0\",\n  \"newest\": \"1.2.4\",\n  \"outdated\": true\n}\n", ""},
		{"no version there", "version --check", "<html>", "1.2.3", 1, own, "error: looking for the newest release: http://127.0.0.1"},
		{"nothing there", "version --check", "", "1.2.3", 1, own, "/latest/download/VERSION answers 404 Not Found\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			asked := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked++
				if tt.answer == "" || r.URL.Path != "/o/r/releases/latest/download/VERSION" {
					http.NotFound(w, r)
					return
				}
				_, _ = w.Write([]byte(tt.answer))
			}))
			defer server.Close()
			d, stdout, stderr := cmdtest.Deps(t)
			d.Version, d.Releases = tt.version, server.URL+"/o/r/releases"
			if code := wire.Run(context.Background(), d, strings.Fields(tt.args)); code != tt.code {
				t.Errorf("exit code %d, want %d: %s", code, tt.code, stderr)
			}
			if diff := cmp.Diff(tt.stdout, stdout.String()); diff != "" {
				t.Error(diff)
			}
			if !strings.Contains(stderr.String(), tt.stderr) {
				t.Errorf("stderr %q, want %q", stderr, tt.stderr)
			}
			if want := strings.Contains(tt.args, "--check"); (asked > 0) != want {
				t.Errorf("asked %d times", asked)
			}
		})
	}
}

// TestVersionCheckOfOwnBuild names a place to ask, because the build knows none.
func TestVersionCheckOfOwnBuild(t *testing.T) {
	t.Parallel()
	d, _, stderr := cmdtest.Deps(t)
	if code := wire.Run(context.Background(), d, []string{"version", "--check"}); code != cmd.ExitConfig || !strings.Contains(stderr.String(), "--releases") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}
