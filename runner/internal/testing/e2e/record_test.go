package e2e

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// realRun is what is written down of a test that was not simulated: docs/tested.md
// is made of it.
type realRun struct {
	Command  string            `json:"command"`
	Date     string            `json:"date"`
	Provider string            `json:"provider"`
	Kind     string            `json:"kind,omitempty"` // "" for a run for real
	Projects []string          `json:"projects"`
	Parts    []string          `json:"parts"`
	Versions map[string]string `json:"versions"`
}

func (r *realKind) record(t *testing.T, run realRun) {
	t.Helper()
	run.Provider = "kind"
	record(t, run)
}

// recording is held by the test that writes the file.
var recording sync.Mutex

// record writes a test that has passed into the file that E2E_RECORD names, if it
// does.
func record(t *testing.T, run realRun) {
	t.Helper()
	file := os.Getenv("E2E_RECORD")
	if file == "" || t.Failed() {
		return
	}
	recording.Lock()
	defer recording.Unlock()
	runs := map[string]realRun{}
	if content, err := os.ReadFile(file); err == nil {
		if err := json.Unmarshal(content, &runs); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
	run.Date = time.Now().UTC().Format(time.DateOnly)
	runs[t.Name()] = run
	content, err := json.MarshalIndent(runs, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(content, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

// versions returns the versions of the software of a cluster, as it reports them.
func (r *realKind) versions() map[string]string {
	r.t.Helper()
	all := map[string]string{}
	for line := range strings.Lines(r.onNode("sh", "-c", "cat /kind/packages 2>/dev/null || true")) {
		if name, version, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			all[name] = version
		}
	}
	info, err := r.docker.Info(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	maps.Copy(all, map[string]string{
		"Kubernetes": r.onNode("cat", "/kind/version"),
		"docker":     info.Version,
		"cgroup":     "v" + info.CgroupVersion,
	})
	return all
}

// recordBackend writes down a test at a backend that has passed.
func recordBackend(t *testing.T, command string, versions map[string]string, parts ...string) {
	t.Helper()
	record(t, realRun{Command: command, Provider: "own", Projects: []string{}, Parts: parts, Versions: versions})
}

// s3Versions returns the version of the server that speaks S3's protocol.
func s3Versions(t *testing.T) map[string]string {
	t.Helper()
	return map[string]string{"gofakes3, a server that speaks S3's protocol,": moduleVersion(t, "github.com/johannesboyne/gofakes3")}
}

// serviceVersions returns the version of Pulumi's client whose types our own server for Pulumi Cloud's protocol has.
func serviceVersions(t *testing.T) map[string]string {
	t.Helper()
	return map[string]string{"a server of our own for the protocol of Pulumi Cloud, with the types of Pulumi's client": moduleVersion(t, "github.com/pulumi/pulumi/pkg/v3")}
}

func moduleVersion(t *testing.T, module string) string {
	t.Helper()
	version, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}", module).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(version))
}
