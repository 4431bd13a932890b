package upgrade

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// Probe asks an address again and again, to say how often it did not answer.
type Probe struct {
	URL      string
	Interval time.Duration     // between two questions
	Patience time.Duration     // with one of them
	Client   http.RoundTripper // nil for the usual

	mu   sync.Mutex // holds what follows
	seen Result
}

// atOnce is how many questions may wait for an answer.
const atOnce = 100

// Run asks until the context ends, and waits for the last answers. Each question has a connection of its own, so that
// one that is open to a Pod hides nothing.
func (p *Probe) Run(ctx context.Context) {
	transport := p.Client
	if transport == nil {
		own := http.DefaultTransport.(*http.Transport).Clone()
		own.DisableKeepAlives = true
		transport = own
	}
	client := &http.Client{Transport: transport, Timeout: p.Patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	room := make(chan struct{}, atOnce)
	var work sync.WaitGroup
	defer work.Wait()
	for every := time.NewTicker(p.Interval); ; {
		select {
		case room <- struct{}{}:
			work.Go(func() {
				p.note(p.ask(context.WithoutCancel(ctx), client), time.Now())
				<-room
			})
		default:
			p.note(fmt.Errorf("%d questions wait for an answer", atOnce), time.Now())
		}
		select {
		case <-ctx.Done():
			every.Stop()
			return
		case <-every.C:
		}
	}
}

// ask asks once. An answer below 500 is one: what is asked for may need a login.
func (p *Probe) ask(ctx context.Context, client *http.Client) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.URL, nil)
	if err != nil {
		return err
	}
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		return err
	}
	if answer.StatusCode >= http.StatusInternalServerError {
		return fmt.Errorf("it answered %s", answer.Status)
	}
	return nil
}

func (p *Probe) note(err error, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.seen.Asked++; err == nil {
		return
	}
	if p.seen.Failed++; p.seen.Failed == 1 {
		p.seen.First, p.seen.At = err.Error(), &now
	}
}

// Result is what a probe has seen, and its JSON form.
type Result struct {
	URL    string     `json:"url"`
	Asked  int        `json:"asked"`
	Failed int        `json:"failed"`
	First  string     `json:"first,omitempty"`    // why the first failure failed
	At     *time.Time `json:"first_at,omitempty"` // when
}

// Result returns what was seen until now.
func (p *Probe) Result() Result {
	p.mu.Lock()
	defer p.mu.Unlock()
	seen := p.seen
	seen.URL = p.URL
	return seen
}

// String says how many answers failed.
func (r Result) String() string {
	text := fmt.Sprintf("%s was asked %d times; %d answers failed", r.URL, r.Asked, r.Failed)
	if r.At != nil {
		text += fmt.Sprintf(", the first at %s: %s", r.At.UTC().Format("15:04:05.0 UTC"), r.First)
	}
	return text
}
