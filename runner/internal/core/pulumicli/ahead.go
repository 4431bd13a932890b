package pulumicli

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"mara/runner/internal/core/pulumicli/wire"
)

// Ahead is a program that was started before its turn, by a process of its own. It is held at the first thing that it
// asks of an engine.
type Ahead struct {
	peer
	pool *workers

	served  chan struct{} // closed when the next two fields are set
	serves  *wire.AheadServes
	refused error

	answers chan bool // to the question whether it still waits; closed at the end of the process

	mu    sync.Mutex // guards what follows
	ready bool
	anew  string
}

// StartAhead starts the program of a command. It returns before the program runs.
func (p *Pool) StartAhead(dir string, env, args []string) (*Ahead, error) {
	p.mu.Lock()
	closed := p.closed
	p.mu.Unlock()
	if closed {
		return nil, ErrClosed
	}
	started, err := startPeer(p.path, wire.AheadFlag)
	if err != nil {
		return nil, err
	}
	a := &Ahead{peer: started, pool: p.workers, served: make(chan struct{}), answers: make(chan bool, 1)}
	p.mu.Lock()
	p.ahead[a] = true
	p.mu.Unlock()
	request := wire.Ahead{Dir: dir, Env: commandEnv(env), Args: nonInteractive(args), Keys: p.ownKeys()}
	if err := a.requests.Encode(request); err != nil {
		a.Close()
		return nil, err
	}
	go a.listen()
	return a, nil
}

// listen takes the news of the program until its process ends.
func (a *Ahead) listen() {
	defer close(a.answers)
	var first wire.AheadNews
	switch err := a.replies.Decode(&first); {
	case err != nil:
		a.refused = fmt.Errorf("the process that starts it has ended: %w%s", err, a.crash.Note())
	case first.Serves == nil:
		a.refused = errors.New(first.Refused)
	default:
		a.serves = first.Serves
	}
	close(a.served)
	for a.refused == nil {
		var news wire.AheadNews
		if a.replies.Decode(&news) != nil {
			return
		}
		switch {
		case news.Waits != nil:
			a.answers <- *news.Waits
		case news.Ready, news.Ended:
			a.mu.Lock()
			a.ready = news.Ready
			a.mu.Unlock()
		case news.Anew != "":
			a.mu.Lock()
			a.anew = news.Anew
			a.mu.Unlock()
		}
	}
}

// Started waits until the program runs. It returns an error if it cannot be started ahead.
func (a *Ahead) Started(ctx context.Context) error {
	select {
	case <-a.served:
		return a.refused
	case <-ctx.Done():
		a.kill()
		return context.Cause(ctx)
	}
}

// Ready reports whether the program is held.
func (a *Ahead) Ready() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.ready
}

// Anew returns why the program was started again when its engine came; "" if it was not.
func (a *Ahead) Anew() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.anew
}

// answerTime is how long the process of a program may take to say that the program still waits.
const answerTime = 2 * time.Second

// Attach returns what the variable of language hosts says to an engine that is to take the program over. It asks
// whether the program still waits: an engine cannot do without a language host that it was told of.
func (a *Ahead) Attach() (entry string, ok bool) {
	select {
	case <-a.served:
	default:
		return "", false // it has only just begun to start
	}
	if a.refused != nil || a.requests.Encode(wire.AheadOrder{Ask: true}) != nil {
		return "", false
	}
	select {
	case waits := <-a.answers: // false at the end of the process
		return fmt.Sprintf("%s:%d", a.serves.Runtime, a.serves.Port), waits
	case <-time.After(answerTime):
		return "", false
	}
}

// Close ends the program, unless a command runs it that has not ended yet.
func (a *Ahead) Close() {
	_ = a.close()
	a.pool.mu.Lock()
	defer a.pool.mu.Unlock()
	delete(a.pool.ahead, a)
}
