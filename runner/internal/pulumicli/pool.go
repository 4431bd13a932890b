package pulumicli

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/blang/semver"
	"github.com/pulumi/pulumi/sdk/v3"
	"github.com/pulumi/pulumi/sdk/v3/go/auto"

	"mara/runner/internal/pulumicli/wire"
)

// ErrClosed says that a command was asked for after Close.
var ErrClosed = errors.New("the engine is closed")

// Pool runs Pulumi commands in mara-engine workers. A worker does one command
// at a time and is kept warm for the next: an idle worker is used before a new
// one is started, so there are as many as commands ever ran at once.
type Pool struct {
	path string

	mu      sync.Mutex // guards what follows
	idle    []*worker
	busy    map[*worker]bool
	started int
	closed  bool
}

var _ auto.PulumiCommand = (*Pool)(nil)

// NewPool makes a pool of workers of the mara-engine at path.
func NewPool(path string) *Pool {
	return &Pool{path: path, busy: map[*worker]bool{}}
}

// Version is the version of the Pulumi inside mara-engine. Runner and engine
// are built from one go.mod; a worker of another version is refused.
func (p *Pool) Version() semver.Version { return sdk.Version }

// Started is the number of worker processes started so far.
func (p *Pool) Started() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.started
}

// Warm starts a worker in the background, so that it is ready when the first
// command comes. A failure shows at that command.
func (p *Pool) Warm() {
	go func() {
		w, err := p.take()
		if err == nil {
			p.giveBack(w)
		}
	}()
}

// Run runs one Pulumi command as auto.PulumiCommand demands. When ctx is
// cancelled the operation is interrupted once, as by one Ctrl-C, and Run waits
// until Pulumi has put its state in order; Kill does not wait.
func (p *Pool) Run(ctx context.Context, dir string, stdin io.Reader, stdout, stderr []io.Writer,
	env []string, args ...string,
) (string, string, int, error) {
	request, err := newRequest(dir, stdin, env, args)
	if err != nil {
		return "", "", unknownExit, err
	}
	if err := ctx.Err(); err != nil {
		return "", "", unknownExit, context.Cause(ctx)
	}
	w, err := p.take()
	if err != nil {
		return "", "", unknownExit, err
	}
	out, errs := newSinks(stdout), newSinks(stderr)
	code, err := w.do(ctx, request, out, errs)
	if err != nil {
		p.drop(w)
		return out.String(), errs.String(), unknownExit, err
	}
	p.giveBack(w)
	if code != 0 {
		err = &ExitError{Code: code}
	}
	return out.String(), errs.String(), code, err
}

// Kill ends all workers at once, whatever they do. Locks may be left behind.
func (p *Pool) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for w := range p.busy {
		w.kill()
	}
}

// Close ends idle workers. Busy ones are interrupted, and end when their
// operation has.
func (p *Pool) Close() error {
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

// take gets an idle worker, or starts one.
func (p *Pool) take() (*worker, error) {
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

func (p *Pool) giveBack(w *worker) {
	p.mu.Lock()
	delete(p.busy, w)
	if !p.closed {
		p.idle = append(p.idle, w)
		p.mu.Unlock()
		return
	}
	p.mu.Unlock()
	_ = w.close()
}

// drop forgets a worker that failed; its process is gone or useless.
func (p *Pool) drop(w *worker) {
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
