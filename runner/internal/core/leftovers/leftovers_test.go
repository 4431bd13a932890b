package leftovers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/blang/semver"
	"github.com/pulumi/pulumi/sdk/v3"

	"mara/projects/model"
	"mara/projects/model/operation"
	"mara/runner/internal/core/lock"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/pulumicli/wire"
	"mara/runner/internal/core/stacks"
	"mara/runner/internal/core/statefiles"
)

// pulumi is a Pulumi with one stack, which takes states back.
type pulumi struct {
	imported *int
	state    string // "" for deployment
}

func (pulumi) Version() semver.Version { return sdk.Version }

func (p pulumi) Run(_ context.Context, _ string, _ io.Reader, _, _ []io.Writer, _ []string, args ...string) (string, string, int, error) {
	switch line := strings.Join(args, " "); {
	case strings.HasPrefix(line, "stack ls"):
		return `[{"name":"organization/certmgr/dev","resourceCount":1}]`, "", 0, nil
	case strings.HasPrefix(line, "stack export"):
		return fmt.Sprintf(`{"version":3,"deployment":%s}`, cmp.Or(p.state, deployment)), "", 0, nil
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
	dir := t.TempDir()
	dead := filepath.Join(dir, ".pulumi/locks/organization/certmgr/dev/a.json")
	put(t, dead, "") // cut off while it was written
	put(t, filepath.Join(dir, ".pulumi/stacks/certmgr/dev.json"), fmt.Sprintf(`{"version":3,"checkpoint":{"latest":%s}}`, deployment))
	imported := 0
	deployed, err := stacks.Open(t.Context(), stacks.Options{
		Command: pulumi{imported: &imported}, Stack: "dev", Organization: "organization", WorkDir: t.TempDir(),
	})
	if err != nil {
		t.Fatal(err)
	}
	states := statefiles.Directory{Path: dir, Stack: "dev"}
	f := Finder{
		Stacks: deployed, States: states, LockStore: keeps(states.LockFiles()),
		Command: func(name string) string { return "runner " + name + " -s dev" },
	}
	p := plan.Plan{Steps: []plan.Step{{Project: model.Project{Name: "certmgr"}}}}

	var locked *LockedError
	if _, err := f.Find(t.Context(), operation.Up, p, false, true); !errors.As(err, &locked) || !strings.Contains(locked.NextStep(), "runner unlock -s dev") {
		t.Errorf("without --resume: %v", err)
	}
	// The writer of an unfinished lock is unknown: it may be in another container.
	if _, err := f.Find(t.Context(), operation.Up, p, true, true); !errors.As(err, &locked) || !strings.Contains(locked.NextStep(), "runner unlock -s dev") {
		t.Errorf("with --resume, without a record: %v", err)
	}
	f.Terms = lock.Terms(filepath.Join(dir, "terms.json"))
	if err := f.Terms.Begin(lock.Self("up", "run", time.Now().Add(-time.Minute))); err != nil {
		t.Fatal(err)
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

// withState opens a stack with a state.
func withState(t *testing.T, state string) *stacks.Set {
	t.Helper()
	deployed, err := stacks.Open(t.Context(), stacks.Options{
		Command: pulumi{imported: new(int), state: state}, Stack: "dev", Organization: "organization", WorkDir: t.TempDir(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return deployed
}

// keeps returns a function that opens a store of locks.
func keeps(store statefiles.LockStore) func(context.Context) (statefiles.LockStore, error) {
	return func(context.Context) (statefiles.LockStore, error) { return store, nil }
}

// bucket is a store of locks in memory; until says how often it is looked at before
// they are given back.
type bucket struct {
	objects map[string][]byte
	until   int
}

func (b *bucket) ListIn(_ context.Context, dirs []string) (map[string][]byte, error) {
	if b.until--; b.until < 0 {
		b.objects = nil
	}
	found := map[string][]byte{}
	for key, content := range b.objects {
		if slices.Contains(dirs, path.Dir(key)) {
			found[key] = content
		}
	}
	return found, nil
}

func (b *bucket) Delete(_ context.Context, key string) error {
	delete(b.objects, key)
	return nil
}

// lister is a Pulumi that only lists stacks. An update is in progress the first times.
type lister struct {
	pulumi
	updating, asked *int
}

func (l lister) Run(context.Context, string, io.Reader, []io.Writer, []io.Writer, []string, ...string) (string, string, int, error) {
	*l.asked++
	return fmt.Sprintf(`[{"name":"organization/certmgr/dev","updateInProgress":%t}]`, *l.asked <= *l.updating), "", 0, nil
}

// waiting returns a finder for an environment, its messages, and how often its
// stacks were listed.
func waiting(t *testing.T, updating int) (f Finder, messages *strings.Builder, asked *int) {
	t.Helper()
	messages, asked = &strings.Builder{}, new(int)
	deployed, err := stacks.Open(t.Context(), stacks.Options{
		Command: lister{updating: &updating, asked: asked}, Stack: "dev", Organization: "organization", WorkDir: t.TempDir(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return Finder{
		Stacks: deployed, States: statefiles.Directory{Stack: "dev"}, LockStore: keeps(nil),
		Command: func(name string) string { return name }, Waiting: func(text string) { messages.WriteString(text) },
	}, messages, asked
}

// TestFindWaits: who works on a stack is waited for, wherever the backend keeps
// locks. Afterwards there may be other stacks.
func TestFindWaits(t *testing.T) {
	t.Parallel()
	p := plan.Plan{Steps: []plan.Step{{Project: model.Project{Name: "certmgr"}}}}
	self := lock.Self("up", "", time.Now())
	held := fmt.Sprintf(`{"pid":%d,"username":%q,"hostname":%q,"timestamp":"2026-01-02T03:04:05Z"}`, self.PID, self.User, self.Host)
	for _, test := range []struct {
		name     string
		updating int
		store    func(t *testing.T, f *Finder)
		who      string
		asked    int
	}{
		{"files", 0, func(t *testing.T, f *Finder) {
			f.States.Path = t.TempDir()
			file := filepath.Join(f.States.Path, ".pulumi/locks/organization/certmgr/dev/a.json")
			put(t, file, held)
			f.LockStore = keeps(f.States.LockFiles())
			time.AfterFunc(2*lockInterval, func() { _ = os.Remove(file) })
		}, self.User + "@" + self.Host, 2},
		{"a bucket", 0, func(_ *testing.T, f *Finder) {
			f.LockStore = keeps(&bucket{map[string][]byte{"certmgr/dev/a.json": []byte(held), "certmgr/prod/b.json": nil}, 2})
		}, self.User + "@" + self.Host, 2},
		{"a service", 2, func(*testing.T, *Finder) {}, "an update, says the backend", 4},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f, messages, asked := waiting(t, test.updating)
			test.store(t, &f)
			var locked *LockedError
			if err := f.RefuseLocked(t.Context(), p.Names()); !errors.As(err, &locked) || !strings.Contains(err.Error(), "certmgr is locked by "+test.who) {
				t.Fatalf("without a wait: %v", err)
			}
			f.Wait = time.Minute
			if locks, err := f.awaitLocks(t.Context(), p, false); err != nil || len(locks) > 0 {
				t.Errorf("after a wait: %v, %v", locks, err)
			}
			if want := "waiting up to 1m0s: certmgr is locked by " + test.who; !strings.HasPrefix(messages.String(), want) || strings.Count(messages.String(), "waiting") != 1 {
				t.Errorf("printed %q, want %q", messages, want)
			}
			if *asked != test.asked {
				t.Errorf("the stacks were listed %d times, want %d", *asked, test.asked)
			}
		})
	}
}

// TestResumeWaitsForEngines: the engines of a killed run still hold locks for a moment.
func TestResumeWaitsForEngines(t *testing.T) {
	t.Parallel()
	f, messages, _ := waiting(t, 0)
	f.States.Path = t.TempDir()
	f.LockStore, f.Terms = keeps(f.States.LockFiles()), lock.Terms(filepath.Join(t.TempDir(), "terms.json"))
	killed := lock.Self("up", "killed", time.Now().Add(-time.Minute))
	killed.PID = 1 << 30 // no process has this number
	if err := f.Terms.Begin(killed); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(f.States.Path, ".pulumi/locks/organization/certmgr/dev/a.json")
	put(t, file, fmt.Sprintf(`{"pid":%d,"username":%q,"hostname":%q,"timestamp":%q}`, os.Getpid(), killed.User, killed.Host, time.Now().Format(time.RFC3339)))
	p := plan.Plan{Steps: []plan.Step{{Project: model.Project{Name: "certmgr"}}}}
	if locks, err := f.awaitLocks(t.Context(), p, false); err != nil || len(locks) != 1 || messages.Len() > 0 {
		t.Errorf("without --resume: %v, %v; printed %q", locks, err, messages)
	}
	time.AfterFunc(2*lockInterval, func() { _ = os.Remove(file) })
	if locks, err := f.awaitLocks(t.Context(), p, true); err != nil || len(locks) > 0 || !strings.HasPrefix(messages.String(), "waiting up to 10s: certmgr is locked by ") {
		t.Errorf("with --resume: %v, %v; printed %q", locks, err, messages)
	}
}

// TestDeadInBucket: several machines may have the name of this one.
func TestDeadInBucket(t *testing.T) {
	t.Parallel()
	self := lock.Self("up", "", time.Now())
	const gone = 1 << 30 // no process has this number
	content := func(user, host string) []byte {
		return fmt.Appendf(nil, `{"pid":%d,"username":%q,"hostname":%q,"timestamp":%q}`, gone, user, host, time.Now().Format(time.RFC3339))
	}
	store := &bucket{map[string][]byte{
		"certmgr/dev/another.json": content("another "+self.User, self.Host),
		"certmgr/dev/broken.json":  nil,
		"certmgr/dev/mine.json":    content(self.User, self.Host),
		"certmgr/dev/there.json":   content(self.User, "another "+self.Host),
	}, 99}
	f, _, _ := waiting(t, 0)
	f.LockStore, f.Terms = keeps(store), lock.Terms(filepath.Join(t.TempDir(), "terms.json"))
	if err := f.Terms.Begin(lock.Self("up", "run", time.Now().Add(-time.Minute))); err != nil {
		t.Fatal(err)
	}
	p := plan.Plan{Steps: []plan.Step{{Project: model.Project{Name: "certmgr"}}}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // by an interruption
	if err := f.RemoveDeadLocks(ctx, p); err != nil {
		t.Fatal(err)
	}
	if left, want := slices.Sorted(maps.Keys(store.objects)), []string{"certmgr/dev/another.json", "certmgr/dev/broken.json", "certmgr/dev/there.json"}; !slices.Equal(left, want) {
		t.Errorf("left %q, want %q", left, want)
	}
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// service is Pulumi Cloud with an update that holds the stack of certmgr.
type service struct{ cancelled *[]string }

func (s service) Read(context.Context, wire.ReadStacks) (map[string]wire.ServiceStack, error) {
	if len(*s.cancelled) > 0 {
		return map[string]wire.ServiceStack{"organization/certmgr/dev": {}}, nil
	}
	return map[string]wire.ServiceStack{"organization/certmgr/dev": {Update: &wire.ServiceUpdate{ID: "u1", Kind: "update", Author: "alice"}}}, nil
}

func (service) Seal(context.Context, wire.SealValues) (wire.SealedValues, error) { return nil, nil }

func (s service) Cancel(_ context.Context, question wire.CancelUpdate) (bool, error) {
	*s.cancelled = append(*s.cancelled, question.Stack+" "+question.Update)
	return true, nil
}

// TestUpdatesAtPulumiCloud: an update is dead if a process of this machine has begun it, as it has written down, and is
// gone. Another one may be anybody's.
func TestUpdatesAtPulumiCloud(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		update string // that is written down
		pid    int
		dead   bool
	}{
		"of a process that is gone":            {"u1", gonePID(t), true},
		"of a process that lives":              {"u1", os.Getpid(), false},
		"another one than what was begun":      {"u0", gonePID(t), false},
		"of nobody who has written down which": {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			updates, cancelled := t.TempDir(), []string{}
			imported := 0
			deployed, err := stacks.Open(t.Context(), stacks.Options{Command: pulumi{imported: &imported}, Stack: "dev", Organization: "organization",
				WorkDir: t.TempDir(), Service: service{&cancelled}, UpdatesDir: updates})
			if err != nil {
				t.Fatal(err)
			}
			terms := lock.Terms(filepath.Join(t.TempDir(), "terms.json"))
			owner := lock.Self("up", "run", time.Now().Add(-time.Minute))
			if err := terms.Begin(owner); err != nil {
				t.Fatal(err)
			}
			if test.update != "" {
				put(t, filepath.Join(updates, "certmgr.json"), fmt.Sprintf(`{"update": %q, "host": %q, "pid": %d, "started": %d}`, test.update,
					owner.Host, test.pid, time.Now().UnixMilli()))
			}
			f := Finder{Stacks: deployed, Terms: terms, Projects: []string{"certmgr"}, Command: func(name string) string { return name },
				LockStore: func(context.Context) (statefiles.LockStore, error) { return nil, nil }}
			locks, err := f.Locks(t.Context(), []string{"certmgr"})
			if err != nil || len(locks) != 1 || locks[0].Dead != test.dead || !strings.Contains(locks[0].String(), "the update of alice") {
				t.Fatalf("locks %+v, %v", locks, err)
			}
			if err := f.RemoveDeadLocks(t.Context(), plan.Plan{Steps: []plan.Step{{Project: model.Project{Name: "certmgr"}}}}); err != nil {
				t.Fatal(err)
			}
			if got := len(cancelled) > 0; got != test.dead {
				t.Errorf("cancelled %v", cancelled)
			}
			if unlocked, err := f.Unlock(t.Context(), locks); err != nil || len(unlocked) != 1 || cancelled[len(cancelled)-1] != "organization/certmgr/dev u1" {
				t.Errorf("unlocked %v by %v, %v", unlocked, cancelled, err)
			}
		})
	}
}

// gonePID returns the number of a process that has ended.
func gonePID(t *testing.T) int {
	t.Helper()
	cmd := exec.Command("true")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	return cmd.Process.Pid
}
