package leftovers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/blang/semver"
	"github.com/pulumi/pulumi/sdk/v3"

	"mara/projects"
	"mara/providers/operation"
	"mara/runner/internal/plan"
	"mara/runner/internal/stacks"
	"mara/runner/internal/statefiles"
)

// pulumi is a Pulumi with one stack, which takes states back.
type pulumi struct{ imported *int }

func (pulumi) Version() semver.Version { return sdk.Version }

func (p pulumi) Run(_ context.Context, _ string, _ io.Reader, _, _ []io.Writer, _ []string, args ...string) (string, string, int, error) {
	switch line := strings.Join(args, " "); {
	case strings.HasPrefix(line, "stack ls"):
		return `[{"name":"organization/certmgr/dev","resourceCount":1}]`, "", 0, nil
	case strings.HasPrefix(line, "stack export"):
		return fmt.Sprintf(`{"version":3,"deployment":%s}`, deployment), "", 0, nil
	case strings.HasPrefix(line, "stack import"):
		*p.imported++
		return "", "", 0, nil
	default:
		return "", "error: unexpected " + line, 255, errors.New("unexpected command")
	}
}

// deployment has a provider whose creation was cut off, which happens in the
// engine alone.
const deployment = `{"resources":[],"pending_operations":[{"type":"creating","resource":{"urn":"urn:pulumi:dev::certmgr::pulumi:providers:kubernetes::cluster","type":"pulumi:providers:kubernetes"}}]}`

// TestFindChangesNothing: locks and creations that were cut off stay as they are
// until the user has agreed, and Clear is called.
func TestFindChangesNothing(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	dead := filepath.Join(folder, ".pulumi/locks/organization/certmgr/dev/a.json")
	put(t, dead, "") // cut off while it was written
	put(t, filepath.Join(folder, ".pulumi/stacks/certmgr/dev.json"), fmt.Sprintf(`{"version":3,"checkpoint":{"latest":%s}}`, deployment))
	imported := 0
	deployed, err := stacks.Open(t.Context(), stacks.Options{
		Command: pulumi{&imported}, Stack: "dev", Organization: "organization", WorkDir: t.TempDir(),
	})
	if err != nil {
		t.Fatal(err)
	}
	f := Finder{
		Stacks: deployed, States: statefiles.Folder{Path: folder, Stack: "dev"},
		Command: func(name string) string { return "runner " + name + " -s dev" },
	}
	p := plan.Plan{Steps: []plan.Step{{Project: projects.Project{Name: "certmgr"}}}}

	var locked *LockedError
	if _, err := f.Find(t.Context(), operation.Up, p, false, true); !errors.As(err, &locked) || !strings.Contains(locked.NextStep(), "runner unlock -s dev") {
		t.Errorf("without --resume: %v", err)
	}
	found, err := f.Find(t.Context(), operation.Up, p, true, true)
	if err != nil || len(found.Warnings) != 2 {
		t.Fatalf("with --resume: %v, %v", found.Warnings, err)
	}
	if _, err := os.Stat(dead); err != nil || imported > 0 {
		t.Fatalf("looking has changed something: %v, %d imports", err, imported)
	}
	if err := f.Clear(t.Context(), found); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dead); err == nil || imported != 1 {
		t.Errorf("clearing has left something: %v, %d imports", err, imported)
	}
	if found, err := f.Find(t.Context(), operation.Preview, p, false, true); err != nil || len(found.Warnings) > 0 {
		t.Errorf("a preview minds: %v, %v", found, err)
	}
}

// TestFindWaits: a process that works on a stack is waited for.
func TestFindWaits(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file := filepath.Join(folder, ".pulumi/locks/organization/certmgr/dev/a.json")
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	put(t, file, fmt.Sprintf(`{"pid":%d,"username":"me","hostname":%q,"timestamp":"2026-01-02T03:04:05Z"}`, os.Getpid(), host))
	f := Finder{States: statefiles.Folder{Path: folder, Stack: "dev"}, Command: func(name string) string { return name }}
	p := plan.Plan{Steps: []plan.Step{{Project: projects.Project{Name: "certmgr"}}}}
	var locked *LockedError
	if err := f.RefuseLocked(p); !errors.As(err, &locked) {
		t.Fatalf("without a wait: %v", err)
	}
	f.Wait = time.Minute
	time.AfterFunc(2*lockInterval, func() { _ = os.Remove(file) })
	if locks, err := f.awaitLocks(t.Context(), p); err != nil || len(locks) > 0 {
		t.Errorf("after a wait: %v, %v", locks, err)
	}
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
		t.Fatal(err)
	}
}
