package journal

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/pulumi/pulumi/pkg/v3/backend"
	"github.com/pulumi/pulumi/pkg/v3/engine"
	"github.com/pulumi/pulumi/pkg/v3/resource/stack"
	"github.com/pulumi/pulumi/pkg/v3/secrets"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/config"
	"github.com/pulumi/pulumi/sdk/v3/go/common/tokens"

	"mara/runner/internal/core/lock"
)

// states is where the state of a stack is written.
type states interface {
	// save writes the state as Pulumi does, with a copy of the one before.
	save(ctx context.Context, c content) error
	// replace writes the state over the one that save has written.
	replace(ctx context.Context, c content) error
	// settle makes the state last that was written.
	settle(ctx context.Context) error
}

// pace says when whole states are written.
type pace struct {
	// atOnce begins the journal with the first step, for states that are not to be written again and again.
	atOnce bool
	// free is how long writing states may take without a journal, whatever its share of the time.
	free time.Duration
	// apart is the shortest time between two states in the middle of an operation.
	apart time.Duration
	// last is the shortest time between the last two.
	last time.Duration
}

// share is the part of the time of an operation that writing states in the middle of it may take.
const share = 10

// perByte is about how long it takes to make and write a byte of a state, before that was measured.
const perByte = 20 * time.Nanosecond

// log is the journal of an operation: what the engine wants to be remembered of its steps. While that is cheap it
// writes whole states, as Pulumi does. From then on it writes entries to a journal, and now and then a state, which is
// fenced because it lags behind. All of it happens in one goroutine, which writes what has come meanwhile at once.
type log struct {
	ctx     context.Context
	name    tokens.QName // of the stack
	before  content      // the state when the operation began
	states  states
	place   place
	owner   lock.Owner
	manager secrets.Manager
	pace    pace
	warn    func(text string)
	pause   time.Duration // between the first two attempts to write

	requests chan request
	closing  chan struct{}
	ended    chan struct{}
	err      error // of the end

	// The rest belongs to the goroutine.
	began     time.Time
	replayer  *backend.JournalReplayer
	all       []apitype.JournalEntry // before there is a journal
	pending   []apitype.JournalEntry // not yet in the journal
	elided    bool                   // the last state lacks entries
	epoch     string                 // of the journal; "" before there is one
	records   int
	refused   bool     // no journal can be written here, so that all states are whole
	failed    error    // a write failed, and nothing counts as written since
	told      bool     // somebody knows why
	unsound   error    // the state in memory is not right, and must not be written
	broken    error    // of the last state, which Pulumi would refuse
	written   []string // digests of the states until there is a journal
	wrote     time.Time
	spent     time.Duration      // for states
	cost      time.Duration      // of the last one
	uploading chan time.Duration // a state is being written meanwhile, which took so long
	result    apitype.TypedDeployment
}

// request asks to remember an entry.
type request struct {
	entry    apitype.JournalEntry
	answered chan error // nil if nobody waits
}

// mostRequests is how many entries may wait for the goroutine.
const mostRequests = 256

// start starts the goroutine of a log.
func (l *log) start() *log {
	l.requests, l.closing, l.ended = make(chan request, mostRequests), make(chan struct{}), make(chan struct{})
	l.began, l.written, l.elided = time.Now(), []string{l.before.digest}, true
	l.cost = time.Duration(len(l.before.versioned.Checkpoint)) * perByte
	go func() {
		defer close(l.ended)
		l.err = l.run()
	}()
	return l
}

// AddJournalEntry implements engine.Journal. It returns once the entry is safe, if a step relies on that: what can be
// found out again is written with what follows.
func (l *log) AddJournalEntry(entry engine.JournalEntry) error {
	if entry.NewSnapshot != nil && entry.NewSnapshot.SecretsManager == nil {
		entry.NewSnapshot.SecretsManager = l.manager
	}
	encoded, err := stack.BatchEncrypt(l.ctx, l.manager,
		func(ctx context.Context, encrypter config.Encrypter) (apitype.JournalEntry, error) {
			return backend.SerializeJournalEntry(ctx, entry, encrypter)
		})
	if err != nil {
		return fmt.Errorf("encoding a step for the state: %w", err)
	}
	r := request{entry: encoded}
	waits := !entry.ElideWrite && (entry.Kind != engine.JournalEntryBegin || entry.Operation != nil)
	if waits {
		r.answered = make(chan error, 1)
	}
	select {
	case l.requests <- r:
	case <-l.closing:
		return errClosed
	}
	if !waits {
		return nil
	}
	select {
	case err := <-r.answered:
		return err
	case <-l.ended:
		return errClosed
	}
}

var errClosed = errors.New("the state is closed already")

// Close implements engine.Journal: it writes the whole state, and removes the journal.
func (l *log) Close() error {
	close(l.closing)
	<-l.ended
	return l.err
}

// run handles requests until the log is closed.
func (l *log) run() error {
	base, err := l.before.deployment()
	if err != nil {
		l.unsound, base = err, &apitype.DeploymentV3{}
	}
	l.replayer = backend.NewJournalReplayer(base)
	for {
		select {
		case r := <-l.requests:
			l.handle(l.drain(r))
		case <-l.closing:
			select {
			case r := <-l.requests: // its sender may have been faster
				l.handle(l.drain(r))
			default:
				return l.finish()
			}
		}
	}
}

// drain returns a request and those that have come meanwhile.
func (l *log) drain(first request) []request {
	requests := []request{first}
	for {
		select {
		case r := <-l.requests:
			requests = append(requests, r)
		default:
			return requests
		}
	}
}

// handle adds requests, and answers those that wait when they are safe.
func (l *log) handle(requests []request) {
	waits := false
	for _, r := range requests {
		l.add(r.entry)
		waits = waits || r.answered != nil
	}
	if !waits {
		return
	}
	if l.failed == nil && l.unsound == nil {
		l.failed = l.persist()
	}
	for _, r := range requests {
		if r.answered != nil {
			r.answered <- l.answer()
		}
	}
}

// answer returns what is told a step that waits. Only the first is told why nothing can be written any more: what many steps
// at once say of it hides what else there is.
func (l *log) answer() error {
	err := cmp.Or(l.unsound, l.failed)
	switch {
	case err != nil && l.told:
		return toldError{err}
	case err != nil:
		l.told = true
		return err
	case backend.DisableIntegrityChecking:
		return nil
	default:
		return l.broken
	}
}

// toldError is an error that another step has been told in full.
type toldError struct{ error }

func (toldError) Error() string { return "the state cannot be written any more" }

func (e toldError) Unwrap() error { return e.error }

// add adds an entry: to the state in memory, or, once there is a journal, to what is to be committed to it.
func (l *log) add(entry apitype.JournalEntry) {
	l.elided = true
	if l.epoch != "" {
		l.pending = append(l.pending, entry)
		return
	}
	l.all = append(l.all, entry)
	l.apply(entry)
}

// apply adds an entry to the state in memory.
func (l *log) apply(entry apitype.JournalEntry) {
	if err := l.replayer.Add(entry); err != nil && l.unsound == nil {
		l.unsound = fmt.Errorf("adding a step to the state: %w", err)
	}
}

// persist makes all entries safe.
func (l *log) persist() error {
	switch {
	case l.epoch == "" && !l.refused && (l.pace.atOnce || !l.isCheap()):
		return l.begin()
	case l.epoch == "":
		return l.checkpoint()
	}
	if err := l.commit(record{}); err != nil {
		return err
	}
	if l.isCheap() {
		return l.overtake()
	}
	return nil
}

// isCheap reports whether there is time to write a state.
func (l *log) isCheap() bool {
	budget := time.Since(l.began) / share
	if l.epoch == "" {
		budget = max(budget, l.pace.free)
	}
	return !l.isUploading() && l.spent+l.cost < budget && (l.wrote.IsZero() || time.Since(l.wrote) >= l.pace.apart)
}

// isUploading reports whether a state is still being written.
func (l *log) isUploading() bool {
	select {
	case took := <-l.uploading:
		l.uploaded(took)
	default:
	}
	return l.uploading != nil
}

// uploaded counts the time for a state that was written meanwhile.
func (l *log) uploaded(took time.Duration) {
	l.uploading, l.wrote = nil, time.Now()
	l.spent += took
	l.cost += took
}

// generate returns the whole state. What is wrong with it is an error of all steps that follow, as in Pulumi.
func (l *log) generate() (apitype.TypedDeployment, error) {
	d, integrity, err := generate(l.replayer)
	l.broken = nil
	if integrity != nil {
		l.broken = fmt.Errorf("verifying the state: %w", integrity)
	}
	return d, err
}

// checkpoint writes the whole state, as Pulumi does after each step.
func (l *log) checkpoint() error {
	began := time.Now()
	d, err := l.generate()
	if err != nil {
		return err
	}
	whole, err := encodeDeployment(l.name, d)
	if err != nil {
		return err
	}
	l.written = append(l.written, whole.digest)
	if err := l.states.save(l.ctx, whole); err != nil {
		return err
	}
	l.result, l.elided = d, false
	l.measure(began)
	return nil
}

func (l *log) measure(began time.Time) {
	l.wrote = time.Now()
	l.cost = time.Since(began)
	l.spent += l.cost
}

// begin begins the journal: with the state that the operation began with, then with all entries so far, and last with
// a fence on the state. Where the journal cannot be written, states stay whole.
func (l *log) begin() error {
	began, epoch := time.Now(), newEpoch()
	base, sum, err := l.before.asBase()
	if err != nil {
		return err
	}
	lagging, err := l.lagging(epoch)
	if err != nil {
		return err
	}
	line, err := record{
		Header:  &header{Version: formatVersion, Epoch: epoch, Stack: string(l.name), Owner: l.owner, Base: sum, States: l.written},
		Entries: l.all, Checkpoint: lagging.digest,
	}.encode()
	if err != nil {
		return err
	}
	if err = l.place.put(l.ctx, epoch, baseName, base); err == nil {
		err = l.place.append(l.ctx, epoch, 1, line)
	}
	if err != nil {
		_ = l.place.drop(l.ctx, epoch)
		l.refused = true
		l.warn(fmt.Sprintf("whole states are written after each step, because the journal of the state cannot be: %v", err))
		return l.checkpoint()
	}
	l.epoch, l.records, l.all = epoch, 1, nil
	if err := l.states.save(l.ctx, lagging); err != nil {
		return err
	}
	l.measure(began)
	return nil
}

// newEpoch returns a name for a journal.
func newEpoch() string {
	epoch := make([]byte, 8)
	_, _ = rand.Read(epoch) // it never fails
	return hex.EncodeToString(epoch)
}

// lagging returns the state so far with a fence.
func (l *log) lagging(epoch string) (content, error) {
	d, err := l.generate()
	if err != nil {
		return content{}, err
	}
	fence(l.name, d.Deployment, epoch)
	return encodeDeployment(l.name, d)
}

// commit appends the entries that are not in the journal yet, and what else the record has.
func (l *log) commit(r record) error {
	r.Entries = l.pending
	line, err := r.encode()
	if err != nil {
		return err
	}
	if err := attempt(l.ctx, l.pause, func() error { return l.place.append(l.ctx, l.epoch, l.records+1, line) }); err != nil {
		return err
	}
	l.records++
	l.applyPending()
	return l.unsound
}

// applyPending adds what is in the journal, or about to be, to the state in memory.
func (l *log) applyPending() {
	for _, entry := range l.pending {
		l.apply(entry)
	}
	l.pending = nil
}

// How often writing is tried, and by how much the pause after each attempt grows: as Pulumi does for states.
const (
	mostAttempts = 10
	growth       = 1.2
)

// FirstPause is the pause after the first attempt to write something. Tests make it shorter.
var FirstPause = time.Second

// attempt writes something until it works.
func attempt(ctx context.Context, pause time.Duration, write func() error) error {
	for attempt := 1; ; attempt++ {
		err := write()
		if err == nil || attempt > mostAttempts {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return errors.Join(err, context.Cause(ctx))
		}
		pause = time.Duration(float64(pause) * growth)
	}
}

// overtake writes the state so far with a fence, so that it does not lag far behind. The journal names it before. It
// is written while the next steps are added; that it fails changes nothing, because the journal has all of it.
func (l *log) overtake() error {
	began := time.Now()
	lagging, err := l.lagging(l.epoch)
	if err != nil {
		return err
	}
	if err := l.commit(record{Checkpoint: lagging.digest}); err != nil {
		return err
	}
	l.measure(began)
	uploading := make(chan time.Duration, 1)
	l.uploading = uploading
	go func() {
		began := time.Now()
		_ = l.states.replace(l.ctx, lagging)
		uploading <- time.Since(began)
	}()
	return nil
}

// finish writes the whole state, and removes the journal.
func (l *log) finish() error {
	if l.uploading != nil {
		l.uploaded(<-l.uploading)
	}
	var err error
	switch {
	case l.epoch != "":
		err = l.complete()
	case l.unsound != nil:
		err = l.unsound
	case l.elided:
		err = l.checkpoint()
	}
	if err == nil && l.broken != nil && !backend.DisableIntegrityChecking {
		return l.broken
	}
	return err
}

// complete writes the last state of an operation that has a journal. If it cannot, what is safe stays in the journal.
func (l *log) complete() error {
	err := l.conclude()
	if err == nil {
		return nil
	}
	_ = l.place.put(l.ctx, l.epoch, overName, nil)
	return fmt.Errorf("%w; what was done is in the journal of the state, which the next operation takes over", err)
}

func (l *log) conclude() error {
	last := record{Entries: l.pending, Last: true}
	if l.applyPending(); l.unsound != nil {
		l.pending = last.Entries
		return l.unsound
	}
	d, err := l.generate()
	if err != nil {
		return err
	}
	whole, err := encodeDeployment(l.name, d)
	if err != nil {
		return err
	}
	last.Checkpoint = whole.digest
	line, err := last.encode()
	if err != nil {
		return err
	}
	add := func() error { return l.place.append(l.ctx, l.epoch, l.records+1, line) }
	if l.failed != nil { // which was tried for long enough
		err = add()
	} else {
		err = attempt(l.ctx, l.pause, add)
	}
	if err != nil {
		return err
	}
	time.Sleep(l.pace.last - time.Since(l.wrote))
	if err := l.states.replace(l.ctx, whole); err != nil {
		return err
	}
	if err := l.states.settle(l.ctx); err != nil {
		return err
	}
	l.result = d
	if err := l.place.drop(l.ctx, l.epoch); err != nil {
		l.warn(fmt.Sprintf("the state is whole; its journal is removed by the next operation: %v", err))
	}
	return nil
}
