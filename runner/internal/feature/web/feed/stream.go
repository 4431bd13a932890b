package feed

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"sync"
	"time"

	"mara/runner/internal/machine/interrupt"
)

const (
	tick  = time.Second // durations on pages count seconds
	pause = often       // between two messages to a page
	// usualPatience is how long a reader may take for a message.
	usualPatience = 10 * time.Second
	// most is how many streams a browser may have: it opens six connections to a host at the most.
	most = 5
	// mostOfAll is how many streams there may be.
	mostOfAll = 200
)

// Page is the state of a page.
type Page struct {
	Title string `json:"title"`
	Main  string `json:"main"` // HTML
}

// Render renders the page of an address as it is now.
type Render func(ctx context.Context, address string) (Page, error)

// Streams sends the state of pages to the browsers that show them, as server-sent events.
type Streams struct {
	watcher    *Watcher
	render     Render
	generation string          // of the server: a page of another one loads itself again
	stop       <-chan struct{} // ends all streams
	patience   time.Duration   // with a reader that does not take a message

	mu   sync.Mutex     // holds what follows
	open map[string]int // by cookie
	all  int
}

// NewStreams returns the streams of a watcher. They end with the channel.
func NewStreams(w *Watcher, render Render, generation string, stop <-chan struct{}) *Streams {
	return &Streams{watcher: w, render: render, generation: generation, stop: stop,
		patience: usualPatience, open: map[string]int{}}
}

// enter counts a stream until leave is called; ok is false if there are too many.
func (s *Streams) enter(cookie string) (leave func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[cookie] >= most || s.all >= mostOfAll {
		return func() {}, false
	}
	s.open[cookie]++
	s.all++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.all--
		if s.open[cookie]--; s.open[cookie] == 0 {
			delete(s.open, cookie)
		}
	}, true
}

// Serve sends the states of the page that the query names until the browser leaves. With poll=1, or if the browser has
// too many streams, it sends the state once.
func (s *Streams) Serve(w http.ResponseWriter, r *http.Request, cookie string) {
	address := r.URL.Query().Get("page")
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	out := s.newStream(w)
	leave, ok := s.enter(cookie)
	defer leave()
	once := r.URL.Query().Get("poll") != "" || !ok
	if err := out.send("hello", map[string]any{"generation": s.generation, "poll": once}); err != nil {
		return
	}
	s.watcher.Visit()
	if once {
		_ = s.update(r.Context(), out, address) // the browser asks again
		return
	}
	s.follow(r.Context(), out, address)
}

// follow sends every new state.
func (s *Streams) follow(ctx context.Context, out *stream, address string) {
	count := time.NewTicker(tick)
	defer count.Stop()
	for {
		_, news := s.watcher.Version()
		s.watcher.Visit()
		if s.update(ctx, out, address) != nil || s.beat(out) != nil {
			return
		}
		if interrupt.Sleep(ctx, pause) != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-s.stop:
			return
		case <-news:
		case <-count.C:
		}
	}
}

// beat tells a page once a second how old it is: what is known may be older than what was sent last. It keeps the connection
// alive, too, and notices that it is dead.
func (s *Streams) beat(out *stream) error {
	now := time.Now()
	if now.Sub(out.beaten) < tick {
		return nil
	}
	out.beaten = now
	age := 0.0 // of nothing
	if looked := s.watcher.Looked(); !looked.IsZero() {
		age = max(0, s.watcher.now().Sub(looked).Seconds())
	}
	return out.send("beat", map[string]float64{"age": age})
}

// update sends the state of the page, unless it is as it was.
func (s *Streams) update(ctx context.Context, out *stream, address string) error {
	page, err := s.render(ctx, address)
	if err != nil {
		return err
	}
	content, err := json.Marshal(page)
	if err != nil {
		return err
	}
	hash := fnv.New64a()
	_, _ = hash.Write(content)
	if sum := hash.Sum64(); sum != out.last {
		out.last = sum
		return out.write(fmt.Sprintf("event: page\ndata: %s\n\n", content)) // JSON has no line breaks
	}
	return nil
}

// stream is one connection.
type stream struct {
	w        http.ResponseWriter
	control  *http.ResponseController
	patience time.Duration
	last     uint64 // digest of the last state
	beaten   time.Time
}

func (s *Streams) newStream(w http.ResponseWriter) *stream {
	return &stream{w: w, control: http.NewResponseController(w), patience: s.patience}
}

func (s *stream) send(event string, data any) error {
	content, err := json.Marshal(data)
	if err != nil {
		return err
	}
	return s.write(fmt.Sprintf("retry: 2000\nevent: %s\ndata: %s\n\n", event, content))
}

// write writes a message, and gives a reader that does not take it a moment.
func (s *stream) write(text string) error {
	_ = s.control.SetWriteDeadline(time.Now().Add(s.patience)) // a recorder in a test has none
	if _, err := s.w.Write([]byte(text)); err != nil {
		return err
	}
	return s.control.Flush()
}
