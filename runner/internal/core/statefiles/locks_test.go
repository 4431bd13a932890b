package statefiles

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestLocks(t *testing.T) {
	t.Parallel()
	// The directory has a name that a pattern would misread.
	backend := filepath.Join(t.TempDir(), "state [1]*")
	states := Directory{Path: backend, Stack: "dev"}
	dir := filepath.Join(backend, ".pulumi", "locks", "organization", "vpc", "dev")
	of := func(project string) ([]Lock, error) {
		return states.Locks(t.Context(), states.LockFiles(), []string{project})
	}
	if locks, err := of("vpc"); len(locks) > 0 || err != nil {
		t.Errorf("without a directory: %v, %v", locks, err)
	}
	files := map[string]string{
		"one.json":       `{"pid":12,"username":"jane","hostname":"laptop","timestamp":"2026-11-20T10:00:00Z"}`,
		"one.json.attrs": "not JSON",
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	locks, err := of("vpc")
	want := []Lock{{User: "jane", Host: "laptop", PID: 12, Created: at, Project: "vpc", Key: "vpc/dev/one.json"}}
	if diff := cmp.Diff(want, locks); diff != "" || err != nil {
		t.Errorf("%v: %s", err, diff)
	}
	if got, want := locks[0].String(), "jane@laptop (pid 12) since "+at.Local().Format(time.DateTime); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if locks, err := of("eks"); len(locks) > 0 || err != nil {
		t.Errorf("of another project: %v, %v", locks, err)
	}
	for _, name := range []string{"two.json", "three.json.18ea.tmp"} { // Pulumi stumbles over both
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	locks, err = of("vpc")
	if err != nil || len(locks) != 3 || !locks[1].Broken || !locks[2].Broken || !strings.Contains(locks[2].String(), "two.json") {
		t.Errorf("broken locks: %v, %v", locks, err)
	}
}

// asked is a store of locks that remembers what it was asked.
type asked struct {
	objects map[string][]byte
	dirs    [][]string
	deleted []string
}

func (a *asked) ListIn(_ context.Context, dirs []string) (map[string][]byte, error) {
	a.dirs = append(a.dirs, dirs)
	return a.objects, nil
}

func (a *asked) Delete(_ context.Context, key string) error {
	a.deleted = append(a.deleted, key)
	return nil
}

// TestLocksInSeveralBackends: each backend is asked once, for its own projects, and a lock is deleted where it is.
func TestLocksInSeveralBackends(t *testing.T) {
	t.Parallel()
	most, other := &asked{objects: map[string][]byte{"a/dev/1.json": []byte("{}")}}, &asked{objects: map[string][]byte{"c/dev/2.json": []byte("{}")}}
	stores := LockStores{Of: map[string]LockStore{"": most, "s3://two": other}, Elsewhere: map[string]string{"c": "s3://two", "d": "s3://two"}}
	locks, err := Directory{Stack: "dev"}.Locks(t.Context(), stores, []string{"a", "b", "c", "d"})
	if len(locks) != 2 || locks[0].Project != "a" || locks[1].Project != "c" || err != nil {
		t.Errorf("%+v, %v", locks, err)
	}
	for _, lock := range locks {
		if err := stores.Delete(t.Context(), lock.Key); err != nil {
			t.Error(err)
		}
	}
	if diff := cmp.Diff([][]string{{"a/dev", "b/dev"}}, most.dirs) + cmp.Diff([][]string{{"c/dev", "d/dev"}}, other.dirs) +
		cmp.Diff([]string{"a/dev/1.json"}, most.deleted) + cmp.Diff([]string{"c/dev/2.json"}, other.deleted); diff != "" {
		t.Error(diff)
	}
}
