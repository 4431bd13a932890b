package pulumicli

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/slice"

	"github.com/blang/semver"
	"github.com/pulumi/pulumi/sdk/v3"
	"github.com/pulumi/pulumi/sdk/v3/go/auto"

	"mara/runner/internal/pulumicli/wire"
)

// ErrClosed is the error of a command after Close.
var ErrClosed = errors.New("the engine is closed")

// Pool runs Pulumi commands in mara-engine workers. A worker does one command
// at a time and is kept warm for the next: an idle worker is used before a new
// one is started.
//
// A new worker needs half a second to start and to derive the passphrase key,
// while a warm one runs a command that changes nothing in some hundredths of a
// second. So a command waits a little for a busy worker before it starts a new
// one. Commands that take long still get a worker each.
//
// Pools that were made with Beside have their workers in common, and each has keys
// of its own.
type Pool struct {
	*workers
	own  sync.Mutex // guards keys
	keys []wire.Key // of passphrases, for the commands
}

// workers are the workers of one pool, or of several.
type workers struct {
	path     string
	patience time.Duration
	grace    time.Duration
	most     int // commands of one worker

	mu      sync.Mutex // guards what follows
	idle    []*worker
	busy    map[*worker]bool
	coming  int            // workers that Warm is starting
	waiting []chan *worker // commands that wait for a worker, in order
	started int
	closed  bool
}

// patience is how long a command waits for a busy worker.
const patience = 300 * time.Millisecond

// mostCommands is how many commands a worker runs. Pulumi keeps in memory what it
// knew of every deployment, about 0.1 MB for each, which lets the heap grow by five
// times that; a new worker takes about as much time as two commands.
const mostCommands = 60

var _ auto.PulumiCommand = (*Pool)(nil)

// NewPool makes a pool of workers of the mara-engine at path.
func NewPool(path string) *Pool {
	return &Pool{workers: &workers{path: path, patience: patience, grace: grace, most: mostCommands, busy: map[*worker]bool{}}}
}

// Beside returns a pool with the same workers, and no keys yet.
func (p *Pool) Beside() *Pool { return &Pool{workers: p.workers} }

// Unlock has commands use the key of a passphrase, so that no worker has to derive
// it.
func (p *Pool) Unlock(salt string, key []byte) {
	p.own.Lock()
	defer p.own.Unlock()
	p.keys = append(slices.DeleteFunc(slices.Clone(p.keys), func(k wire.Key) bool { return k.Salt == salt }), wire.Key{Salt: salt, Raw: key})
}

func (p *Pool) ownKeys() []wire.Key {
	p.own.Lock()
	defer p.own.Unlock()
	return p.keys
}

// Version returns the version of the Pulumi inside mara-engine. Runner and engine
// are built from one go.mod; a worker of another version is refused.
func (p *workers) Version() semver.Version { return sdk.Version }

// Started returns the number of workers started so far.
func (p *workers) Started() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.started
}

// Warm starts workers in the background, so that they are ready when commands
// come. A failure shows at the first command.
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

// Run runs one Pulumi command as auto.PulumiCommand demands. When ctx is
// cancelled an operation is interrupted once, as by one Ctrl-C, and Run waits
// until Pulumi has put its state in order, for a time only if ctx has passed its
// deadline. A command that only reads is killed. Kill does not wait.
func (p *Pool) Run(ctx context.Context, dir string, stdin io.Reader, stdout, stderr []io.Writer,
	env []string, args ...string,
) (string, string, int, error) {
	return p.run(ctx, nil, dir, stdin, stdout, stderr, env, args)
}

// run returns Run for a command that may be a preview with foresight.
func (p *Pool) run(ctx context.Context, foresight *Foresight, dir string, stdin io.Reader, stdout, stderr []io.Writer,
	env, args []string,
) (string, string, int, error) {
	request, err := newRequest(dir, stdin, env, args)
	if err != nil {
		return "", "", unknownExit, err
	}
	foresight.giveTo(&request)
	if err := ctx.Err(); err != nil {
		return "", "", unknownExit, context.Cause(ctx)
	}
	w, err := p.take()
	if err != nil {
		return "", "", unknownExit, err
	}
	request.Keys = w.lacks(p.ownKeys())
	out, errs := newSinks(stdout), newSinks(stderr)
	stop := cancelWith(ctx, w.process.Process.Pid, args, p.grace)
	code, found, err := w.do(request, out, errs)
	stop()
	foresight.take(found)
	if err != nil {
		p.drop(w)
		return out.String(), errs.String(), unknownExit, err
	}
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

// Kill ends all workers at once, whatever they do. Locks may be left behind.
func (p *workers) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for w := range p.busy {
		w.kill()
	}
}

// Close ends idle workers, and every busy one as soon as its command has ended.
func (p *workers) Close() error {
	p.mu.Lock()
	p.closed = true
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	return errors.Join(slice.Map(idle, (*worker).close)...)
}

// take returns an idle worker, waits a little for one that is busy or being
// started, or starts one.
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

// await waits for a worker that another command gives back.
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
	if i < 0 { // giveBack has just taken the turn off the list
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

// giveBack hands a worker to the command that has waited longest, or keeps it.
func (p *workers) giveBack(w *worker) {
	p.mu.Lock()
	if !p.closed && len(p.waiting) > 0 {
		turn := p.waiting[0]
		p.waiting = p.waiting[1:]
		p.mu.Unlock()
		turn <- w // which stays busy
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

// retire ends a worker that has run enough commands. If somebody waits for one,
// another takes its place.
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
	if stdin == nil {
		return request, nil
	}
	input, err := io.ReadAll(stdin)
	request.Stdin = input
	return request, err
}
