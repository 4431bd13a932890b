package pulumicli

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/blang/semver"
	"github.com/pulumi/pulumi/sdk/v3"
	"github.com/pulumi/pulumi/sdk/v3/go/auto"

	"mara/runner/internal/core/pulumicli/wire"
)

// ErrClosed is the error of a command after Close.
var ErrClosed = errors.New("the engine is closed")

// Pool runs Pulumi commands in mara-engine workers. A worker runs one command at a time and
// stays warm for the next: idle workers are used before new ones start.
//
// A new worker needs half a second to start and to derive the passphrase key, while a warm
// worker runs a command that changes nothing in some hundredths of a second. So a command
// waits a little for a busy worker before it starts a new one. Long commands still get a
// worker each.
//
// Pools made with Beside share their workers, but have separate keys.
type Pool struct {
	*workers
	own       *keyring
	foresight *Foresight // of previews; nil for none
}

// keyring has the keys of passphrases for the commands.
type keyring struct {
	mu   sync.Mutex // guards keys
	keys []wire.Key
}

// workers are the workers of one pool, or of several.
type workers struct {
	path     string
	patience time.Duration
	grace    time.Duration
	most     int // maximum number of commands of a worker

	mu       sync.Mutex    // guards the following fields
	database chan struct{} // has room for the commands that connect to a database; nil until there is one
	idle     []*worker
	busy     map[*worker]bool
	ahead    map[*Ahead]bool // programs that wait, or run for a command
	coming   int             // number of workers that Warm is starting
	waiting  []chan *worker  // commands that wait for a worker, in order
	started  int
	closed   bool
	known    []wire.Known // answers of Pulumi Cloud that any worker got
}

// patience is how long a command waits for a busy worker.
const patience = 300 * time.Millisecond

// mostCommands is how many commands a worker runs. Pulumi leaks about 0.1 MB for every
// deployment, which lets the heap grow by five times that. Starting a new worker takes about as
// long as two commands.
const mostCommands = 60

var _ auto.PulumiCommand = (*Pool)(nil)

// NewPool makes a pool of workers of the mara-engine at path.
func NewPool(path string) *Pool {
	shared := &workers{path: path, patience: patience, grace: grace, most: mostCommands, busy: map[*worker]bool{},
		ahead: map[*Ahead]bool{}}
	return &Pool{workers: shared, own: &keyring{}}
}

// Beside returns a pool with the same workers, but without keys.
func (p *Pool) Beside() *Pool { return &Pool{workers: p.workers, own: &keyring{}} }

// WithForesight returns the pool as a command whose previews have foresight. An installed
// Pulumi has no such method: its previews only read states.
func (p *Pool) WithForesight(f *Foresight) auto.PulumiCommand { return &Pool{p.workers, p.own, f} }

// Unlock adds the key of a passphrase for commands, so that workers need not derive it.
func (p *Pool) Unlock(salt string, key []byte) {
	p.own.mu.Lock()
	defer p.own.mu.Unlock()
	others := slices.DeleteFunc(slices.Clone(p.own.keys), func(k wire.Key) bool { return k.Salt == salt })
	p.own.keys = append(others, wire.Key{Salt: salt, Raw: key})
}

func (p *Pool) ownKeys() []wire.Key {
	p.own.mu.Lock()
	defer p.own.mu.Unlock()
	return p.own.keys
}

// Version returns the version of the embedded Pulumi. Runner and engine are built from one
// go.mod; a worker of another version is refused.
func (p *workers) Version() semver.Version { return sdk.Version }

// Started returns the number of workers started so far.
func (p *workers) Started() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.started
}

// Warm starts workers in the background. The first command reports a failure.
func (p *workers) Warm(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for range n {
		p.coming++
		go func() {
			w, err := p.start()
			p.mu.Lock()
			p.coming--
			p.mu.Unlock()
			if err == nil {
				p.giveBack(w)
			}
		}()
	}
}

// Run implements auto.PulumiCommand. If ctx is cancelled, Run interrupts an operation once, as
// one Ctrl-C does, and waits until Pulumi has saved its state; if ctx has exceeded its deadline,
// it waits for a limited time. It kills a command that only reads. Kill does not wait.
func (p *Pool) Run(ctx context.Context, dir string, stdin io.Reader, stdout, stderr []io.Writer,
	env []string, args ...string,
) (string, string, int, error) {
	request, err := newRequest(dir, stdin, env, args)
	if err != nil {
		return "", "", unknownExit, err
	}
	p.foresight.giveTo(&request)
	if err := ctx.Err(); err != nil {
		return "", "", unknownExit, context.Cause(ctx)
	}
	leave, err := p.enterDatabase(ctx, request)
	if err != nil {
		return "", "", unknownExit, err
	}
	defer leave()
	w, err := p.take()
	if err != nil {
		return "", "", unknownExit, err
	}
	request.Keys = w.lacks(p.ownKeys())
	request.Known = p.news(w)
	out, errs := newSinks(stdout), newSinks(stderr)
	stop := cancelWith(ctx, w.process.Process.Pid, args, p.grace)
	last, err := w.do(request, out, errs)
	stop()
	if err != nil {
		p.drop(w)
		return out.String(), errs.String(), unknownExit, err
	}
	p.foresight.take(last.Found)
	p.learn(last.Known)
	code := *last.Exit
	if w.commands++; w.commands < p.most {
		p.giveBack(w)
	} else {
		p.retire(w)
	}
	if code != 0 {
		err = &ExitError{Code: code}
	}
	return out.String(), errs.String(), code, err
}

// learn keeps answers of Pulumi Cloud for the other workers.
func (p *workers) learn(known []wire.Known) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known = append(p.known, known...)
}

// news returns the answers that a worker was not sent yet.
func (p *workers) news(w *worker) []wire.Known {
	p.mu.Lock()
	defer p.mu.Unlock()
	news := p.known[w.known:]
	w.known = len(p.known)
	return news
}

// Kill kills all workers. Their locks may remain.
func (p *workers) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for w := range p.busy {
		w.kill()
	}
	for a := range p.ahead {
		a.kill()
	}
}

// Close ends idle workers, and every busy one as soon as its command has ended.
func (p *workers) Close() error {
	p.mu.Lock()
	p.closed = true
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	var errs []error
	for _, w := range idle {
		errs = append(errs, w.close())
	}
	return errors.Join(errs...)
}

// take returns an idle worker, waits a little for a busy or starting worker, or starts one.
func (p *workers) take() (*worker, error) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, ErrClosed
	}
	if n := len(p.idle); n > 0 {
		w := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.busy[w] = true
		p.mu.Unlock()
		return w, nil
	}
	if len(p.busy)+p.coming == 0 {
		p.mu.Unlock()
		return p.start()
	}
	turn := make(chan *worker, 1)
	p.waiting = append(p.waiting, turn)
	p.mu.Unlock()
	return p.await(turn)
}

// await waits for a worker that another command returns.
func (p *workers) await(turn chan *worker) (*worker, error) {
	timer := time.NewTimer(p.patience)
	defer timer.Stop()
	select {
	case w := <-turn:
		return w, nil
	case <-timer.C:
	}
	p.mu.Lock()
	i := slices.Index(p.waiting, turn)
	if i >= 0 {
		p.waiting = slices.Delete(p.waiting, i, i+1)
	}
	p.mu.Unlock()
	if i < 0 { // giveBack has just removed the turn from the list
		return <-turn, nil
	}
	return p.start()
}

// start starts a worker for a command.
func (p *workers) start() (*worker, error) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, ErrClosed
	}
	p.started++
	p.mu.Unlock()
	w, err := startWorker(p.path)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.busy[w] = true
	return w, nil
}

// giveBack gives a worker to the command that has waited longest, or makes it idle.
func (p *workers) giveBack(w *worker) {
	p.mu.Lock()
	if !p.closed && len(p.waiting) > 0 {
		turn := p.waiting[0]
		p.waiting = p.waiting[1:]
		p.mu.Unlock()
		turn <- w // the worker stays busy
		return
	}
	delete(p.busy, w)
	if !p.closed {
		p.idle = append(p.idle, w)
		p.mu.Unlock()
		return
	}
	p.mu.Unlock()
	_ = w.close()
}

// retire ends a worker that has run enough commands. If a command waits, it starts another
// worker.
func (p *workers) retire(w *worker) {
	p.mu.Lock()
	delete(p.busy, w)
	wanted := len(p.waiting) > 0 && !p.closed
	p.mu.Unlock()
	if wanted {
		p.Warm(1)
	}
	_ = w.close()
}

// drop kills a worker that has failed.
func (p *workers) drop(w *worker) {
	p.mu.Lock()
	delete(p.busy, w)
	p.mu.Unlock()
	w.kill()
	_ = w.close()
}

func newRequest(dir string, stdin io.Reader, env, args []string) (wire.Request, error) {
	request := wire.Request{Dir: dir, Env: commandEnv(env), Args: nonInteractive(args)}
	var err error
	if stdin != nil {
		request.Stdin, err = io.ReadAll(stdin)
	}
	return request, err
}

// Foresight gives a preview the outputs of earlier previews, and takes its own.
type Foresight struct {
	Foreseen map[string]wire.Values // outputs of earlier previews, by full stack name
	Found    *wire.Found            // nil until the preview has succeeded
}

// giveTo adds the foreseen outputs to the request for a preview.
func (f *Foresight) giveTo(request *wire.Request) {
	if f != nil && slices.Contains(request.Args, "preview") {
		request.Preview = &wire.Preview{Foreseen: f.Foreseen}
	}
}

// take stores the outputs of a preview.
func (f *Foresight) take(found *wire.Found) {
	if f != nil && found != nil {
		f.Found = found
	}
}
