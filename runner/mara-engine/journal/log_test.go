package journal

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pulumi/pulumi/pkg/v3/engine"
	pkgresource "github.com/pulumi/pulumi/pkg/v3/resource"
	"github.com/pulumi/pulumi/pkg/v3/secrets/b64"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"golang.org/x/sync/errgroup"

	"mara/runner/internal/core/lock"
)

// errPower is the error of everything after the power has gone.
var errPower = errors.New("the power is gone")

// disk is a state with its journals, which loses its power after some writes. The last of them may be half done.
type disk struct {
	mu     sync.Mutex
	left   int  // writes until the power is gone; below 0 it stays
	torn   bool // the last write is half done
	dead   bool
	writes int
	slow   time.Duration
	state  []byte
	states [][]byte // all that were written
	epochs map[string]*stored
}

// write does a write, or half of it.
func (d *disk) write(whole, half func()) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.writes++
	switch {
	case d.dead:
		return errPower
	case d.left == 0:
		d.dead = true
		if d.torn && half != nil {
			half()
		}
		return errPower
	}
	d.left--
	whole()
	return nil
}

func (d *disk) epoch(name string) *stored {
	if d.epochs == nil {
		d.epochs = map[string]*stored{}
	}
	if d.epochs[name] == nil {
		d.epochs[name] = &stored{epoch: name, others: map[string][]byte{}}
	}
	return d.epochs[name]
}

func (d *disk) save(ctx context.Context, c content) error { return d.replace(ctx, c) }

func (d *disk) replace(_ context.Context, c content) error {
	time.Sleep(d.slow)
	text, err := compact(c.versioned)
	if err != nil {
		return err
	}
	return d.write(func() { d.state, d.states = text, append(d.states, text) }, nil)
}

func (d *disk) settle(context.Context) error { return nil }

func (d *disk) list(context.Context) ([]stored, error) {
	var all []stored
	for _, name := range slices.Sorted(maps.Keys(d.epochs)) {
		all = append(all, *d.epochs[name])
	}
	return all, nil
}

func (d *disk) put(_ context.Context, epoch, name string, content []byte) error {
	return d.write(func() { d.epoch(epoch).others[name] = content }, nil)
}

func (d *disk) append(_ context.Context, epoch string, n int, line []byte) error {
	set := func(line []byte) func() {
		return func() { e := d.epoch(epoch); e.records = append(e.records[:n-1], line) }
	}
	return d.write(set(line), set(line[:len(line)/2]))
}

func (d *disk) drop(_ context.Context, epoch string) error {
	if err := d.write(func() { d.epoch(epoch).records = nil }, nil); err != nil {
		return err
	}
	return d.write(func() { delete(d.epochs, epoch) }, nil)
}

const testStack = "organization/p/dev"

func urnOf(name string) resource.URN {
	return resource.NewURN("dev", "p", "", "test:index:Thing", name)
}

// thing returns a resource with a secret.
func thing(name, size string) *pkgresource.State {
	return &pkgresource.State{
		Type: "test:index:Thing", URN: urnOf(name), Custom: true, ID: resource.ID("id-" + name),
		Inputs:  resource.PropertyMap{"size": resource.NewProperty(size)},
		Outputs: resource.PropertyMap{"key": resource.MakeSecret(resource.NewProperty("hidden-" + name))},
	}
}

// before returns a state with resources.
func before(t *testing.T, names ...string) content {
	t.Helper()
	d := &apitype.DeploymentV3{}
	d.Manifest.Magic = d.Manifest.NewMagic()
	for _, name := range names {
		d.Resources = append(d.Resources, apitype.ResourceV3{
			Type: "test:index:Thing", URN: urnOf(name), Custom: true, ID: resource.ID("id-" + name),
			Inputs: map[string]any{"size": "old"},
		})
	}
	c, err := encodeDeployment(testStack, apitype.TypedDeployment{Deployment: d, Version: 3})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// operation is an operation on a log, and what it has been told of.
type operation struct {
	*log
	mu       sync.Mutex
	sequence int64
	id       int64
	begun    map[string]bool   // names of things whose steps were begun
	sizes    map[string]string // of things, as far as that was answered
	gone     map[string]bool
}

func newOperation(d *disk, c content, p pace) *operation {
	l := (&log{
		ctx: context.Background(), name: testStack, before: c, states: d, place: d, owner: lock.Self("update", "", time.Now()),
		manager: b64.NewBase64SecretsManager(), pace: p, warn: func(string) {}, pause: time.Nanosecond,
	}).start()
	return &operation{log: l, begun: map[string]bool{}, sizes: map[string]string{}, gone: map[string]bool{}}
}

func (o *operation) entry(kind engine.JournalEntryKind, id int64) engine.JournalEntry {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sequence++
	return engine.JournalEntry{Kind: kind, OperationID: id, SequenceID: o.sequence}
}

func (o *operation) next() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.id++
	return o.id
}

// step does a step on a thing. old is its index in the state before; size "" deletes it.
func (o *operation) step(name, size string, old *int64) error {
	id := o.next()
	kind := pkgresource.OperationTypeCreating
	switch {
	case size == "":
		kind = pkgresource.OperationTypeDeleting
	case old != nil:
		kind = pkgresource.OperationTypeUpdating
	}
	state := thing(name, size)
	begin := o.entry(engine.JournalEntryBegin, id)
	pending := pkgresource.NewOperation(state, kind)
	begin.Operation = &pending
	if err := o.AddJournalEntry(begin); err != nil {
		return err
	}
	o.note(func() { o.begun[name] = true })
	end := o.entry(engine.JournalEntrySuccess, id)
	end.RemoveOld = old
	if size != "" {
		end.State = state
	}
	if err := o.AddJournalEntry(end); err != nil {
		return err
	}
	o.note(func() {
		if size == "" {
			o.gone[name] = true
		} else {
			o.sizes[name] = size
		}
	})
	return nil
}

func (o *operation) note(note func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	note()
}

// run updates a and b, deletes c, and creates ten things, some of them at once.
func (o *operation) run() error {
	first := o.entry(engine.JournalEntrySecretsManager, 0)
	first.SecretsManager, first.ElideWrite = b64.NewBase64SecretsManager(), true
	if err := o.AddJournalEntry(first); err != nil {
		return err
	}
	for i, name := range []string{"a", "b"} {
		if err := o.step(name, "new", new(int64(i))); err != nil {
			return err
		}
	}
	var group errgroup.Group
	group.SetLimit(3)
	for i := range 10 {
		group.Go(func() error { return o.step(fmt.Sprint("t", i), "small", nil) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return o.step("c", "", new(int64(2)))
}

// result returns what the next operation finds: it takes over a journal, if there is one.
func (d *disk) result(t *testing.T) *apitype.DeploymentV3 {
	t.Helper()
	d.left, d.dead = -1, false
	now, err := decodeContent(d.state)
	if err != nil {
		t.Fatal(err)
	}
	journals, err := d.list(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found, err := judge(testStack, journals, now)
	if err != nil {
		t.Fatal(err)
	}
	if found.replay == nil {
		if now.fencedBy() != "" {
			t.Fatal("the state is fenced, and nothing is replayed")
		}
		return now.checkpoint.Latest
	}
	result, err := replay(*found.replay)
	if err != nil {
		t.Fatal(err)
	}
	return result.Deployment
}

// check compares what the next operation finds with what this one was told of.
func (o *operation) check(t *testing.T, found *apitype.DeploymentV3) {
	t.Helper()
	sizes, pending := map[string]string{"c": "gone"}, map[string]bool{}
	for _, r := range found.Resources {
		name := r.URN.Name()
		if _, twice := sizes[name]; twice && name != "c" {
			t.Errorf("%s is there twice", name)
		}
		sizes[name], _ = r.Inputs["size"].(string)
	}
	for _, p := range found.PendingOperations {
		pending[p.Resource.URN.Name()] = true
	}
	for name, size := range o.sizes {
		if sizes[name] != size {
			t.Errorf("%s is %q, and was %q when its step ended", name, sizes[name], size)
		}
	}
	if o.gone["c"] && sizes["c"] != "gone" {
		t.Error("c was deleted, and is there")
	}
	for name := range o.begun {
		if strings.HasPrefix(name, "t") && sizes[name] == "" && !pending[name] {
			t.Errorf("the creation of %s has begun, and is forgotten", name)
		}
	}
	for name, size := range sizes {
		if size == "small" && !o.begun[name] {
			t.Errorf("%s was never begun", name)
		}
	}
}

// checkEarlier checks that with a journal nothing is lost whichever earlier state of the operation is put back, as may be done
// where one is torn.
func (o *operation) checkEarlier(t *testing.T, d *disk) {
	t.Helper()
	journals, _ := d.list(t.Context())
	if len(journals) == 0 {
		return
	}
	if _, begun, _ := parse(journals[0]); !begun {
		return
	}
	for i, earlier := range d.states {
		d.state = earlier
		if o.check(t, d.result(t)); t.Failed() {
			t.Fatalf("with state %d of %d in its place", i, len(d.states))
		}
	}
}

// paces are those of states in buckets and in files, and two extremes.
var paces = map[string]pace{
	"buckets":           {atOnce: true, apart: time.Hour},
	"files":             {free: 5 * time.Millisecond},
	"files, journal":    {},
	"files, no journal": {free: time.Hour},
}

// TestPower: whenever the power goes, the next operation finds what this one was told of, and nothing else.
func TestPower(t *testing.T) {
	t.Parallel()
	for name, p := range paces {
		for _, torn := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", torn ", torn), func(t *testing.T) {
				t.Parallel()
				for left, ended := 0, false; !ended; left++ {
					c := before(t, "a", "b", "c")
					d := &disk{left: left, torn: torn, slow: time.Millisecond}
					d.state, _ = compact(c.versioned)
					o := newOperation(d, c, p)
					err := errors.Join(o.run(), o.Close())
					ended = !d.dead
					if ended && err != nil {
						t.Fatalf("with power: %v", err)
					}
					o.check(t, d.result(t))
					if t.Failed() {
						t.Fatalf("after %d writes, with %d journals", left, len(d.epochs))
					}
					if ended && len(d.epochs) > 0 {
						t.Errorf("an operation that has ended leaves %d journals", len(d.epochs))
					}
					o.checkEarlier(t, d)
				}
			})
		}
	}
}

// TestSecrets: secrets are not in a journal.
func TestSecrets(t *testing.T) {
	t.Parallel()
	c := before(t, "a", "b", "c")
	d := &disk{left: 12}
	d.state, _ = compact(c.versioned)
	o := newOperation(d, c, pace{atOnce: true})
	_ = errors.Join(o.run(), o.Close())
	all, _ := d.list(t.Context())
	var text strings.Builder
	for _, j := range all {
		for _, line := range j.records {
			text.Write(line)
		}
	}
	if !strings.Contains(text.String(), "id-a") || strings.Contains(text.String(), "hidden") {
		t.Errorf("the journal:\n%s", text.String())
	}
}

// TestFewWrites: an operation writes as many states as its pace allows.
func TestFewWrites(t *testing.T) {
	t.Parallel()
	for name, most := range map[string]int{"buckets": 2 + 26 + 5, "files, no journal": 27} {
		c := before(t, "a", "b", "c")
		d := &disk{left: -1}
		d.state, _ = compact(c.versioned)
		o := newOperation(d, c, paces[name])
		if err := errors.Join(o.run(), o.Close()); err != nil {
			t.Fatal(err)
		}
		if d.writes > most {
			t.Errorf("%s: %d writes, at most %d are needed", name, d.writes, most)
		}
	}
}

// TestFullDisk: what an operation could not write while the disk was full is written at its end if there is room.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	for name, p := range paces {
		c := before(t, "a", "b", "c")
		d := &disk{left: 9}
		d.state, _ = compact(c.versioned)
		o := newOperation(d, c, p)
		if err := o.run(); !errors.Is(err, errPower) {
			t.Fatalf("%s: %v", name, err)
		}
		d.mu.Lock()
		d.dead, d.left = false, -1
		d.mu.Unlock()
		if err := o.Close(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		o.check(t, d.result(t))
		if len(d.epochs) > 0 {
			t.Errorf("%s: %d journals are left", name, len(d.epochs))
		}
	}
}

// TestClosed: an entry that comes too late is an error, and waits for nothing.
func TestClosed(t *testing.T) {
	t.Parallel()
	c := before(t, "a", "b", "c")
	d := &disk{left: -1}
	o := newOperation(d, c, pace{})
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	if err := o.step("late", "small", nil); !errors.Is(err, errClosed) {
		t.Error(err)
	}
}
