package feed

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"mara/config"
	"mara/providers"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/journal"
	"mara/runner/internal/core/request"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/view"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/testing/eventtest"
)

// TestMain fails when a goroutine outlives the tests: a stream whose browser has left, above all.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m, goleak.IgnoreCurrent()) }

// newReader returns a reader of a root with one environment.
func newReader(t *testing.T) (reader *view.Reader, runs string) {
	t.Helper()
	root := cmdtest.Root(t, map[string]string{"Pulumi.dev.yaml": "config:\n  kubernetes:infra_type: kind\n"})
	d, _, _ := cmdtest.Deps(t)
	d.Now = time.Now
	o := session.Options{Request: request.Request{Root: root, BuiltIn: providers.Catalogue(), Sources: config.Sources{}}}
	reader = view.NewReader(d.Deps, o)
	t.Cleanup(func() {
		if err := reader.Close(); err != nil {
			t.Error(err)
		}
	})
	return reader, filepath.Join(root, ".runner", "runs")
}

// write records a run.
func write(t *testing.T, runs string, events []event.Event) {
	t.Helper()
	j, err := journal.Create(journal.Options{Dir: runs, ID: journal.NewID(time.Now())})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		j.Emit(e)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestWatcherRests: it reads only while a page is looked at, and notices what is new then.
func TestWatcherRests(t *testing.T) {
	t.Parallel()
	reader, runs := newReader(t)
	w := NewWatcher(reader)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { w.Run(ctx); close(done) }()
	defer func() { cancel(); <-done }()
	time.Sleep(50 * time.Millisecond)
	if version, _ := w.Version(); version != 0 {
		t.Errorf("without a visitor it has looked: version %d", version)
	}
	_, news := w.Version()
	w.Visit()
	await(t, news, "the first look")
	for fleet := reader.Fleet(); len(fleet.Environments) != 1 || fleet.Compared.IsZero(); fleet = reader.Fleet() {
		time.Sleep(10 * time.Millisecond)
	}
	before, news := w.Version()
	write(t, runs, eventtest.Failure())
	await(t, news, "a run that is new")
	if after, _ := w.Version(); after <= before || len(reader.Runs.Runs()) != 1 {
		t.Errorf("version %d after %d, %d runs", after, before, len(reader.Runs.Runs()))
	}
	if err := w.Failure(); err != nil {
		t.Error(err)
	}
	cmdtest.WriteFile(t, filepath.Join(filepath.Dir(filepath.Dir(runs)), "config/pulumi/Pulumi.new.yaml"), "config:\n  kubernetes:infra_type: kind\n")
	for deadline := time.Now().Add(patience); len(reader.Fleet().Environments) != 2; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("an environment that is new is not noticed")
		}
		w.Visit()
	}
}

// TestFresh: after hours without a visitor, an answer has what happened a moment ago, and a look that does not end is waited
// for no longer than said: then the age tells how old the rest is.
func TestFresh(t *testing.T) {
	t.Parallel()
	reader, runs := newReader(t)
	w := NewWatcher(reader)
	var later atomic.Int64 // hours
	w.now = func() time.Time { return time.Now().Add(time.Duration(later.Load()) * time.Hour) }
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { w.Run(ctx); close(done) }()
	w.Fresh(t.Context(), patience)
	if w.Looked().IsZero() || len(reader.Fleet().Environments) != 1 {
		t.Fatalf("the first answer knows nothing: %v", reader.Fleet())
	}
	for hours := range int64(3) {
		time.Sleep(2 * seldom) // until the look that runs is over
		write(t, runs, eventtest.Failure())
		later.Store(hours + 1)
		w.Fresh(t.Context(), patience)
		if got := len(reader.Runs.Runs()); got != int(hours)+1 {
			t.Errorf("after %d hours: %d runs", hours+1, got)
		}
		if age := w.now().Sub(w.Looked()); age > time.Minute {
			t.Errorf("what is known is %s old", age)
		}
	}
	cancel()
	<-done
	later.Add(1)
	began := time.Now()
	w.Fresh(t.Context(), 50*time.Millisecond)
	if waited, age := time.Since(began), w.now().Sub(w.Looked()); waited < 50*time.Millisecond || waited > patience/2 || age < time.Hour {
		t.Errorf("while nothing looks it waited %s, and what is known is %s old", waited, age)
	}
}

// TestBeat: an open page is told every second how old it is, also when nothing changes.
func TestBeat(t *testing.T) {
	t.Parallel()
	reader, _ := newReader(t)
	w := NewWatcher(reader)
	w.ended(time.Now().Add(-time.Minute), nil)
	stop := make(chan struct{})
	s := NewStreams(w, func(context.Context, string) (Page, error) { return Page{Title: "t"}, nil }, "gen", stop)
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { s.Serve(rw, r, "cookie") }))
	defer server.Close()
	answer, err := server.Client().Get(server.URL + "/live?page=/x")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	beats := 0
	for lines := bufio.NewScanner(answer.Body); beats < 2 && lines.Scan(); {
		var beat struct{ Age float64 }
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok && strings.HasPrefix(data, `{"age":`) {
			if err := json.Unmarshal([]byte(data), &beat); err != nil || beat.Age < 60 || beat.Age > 60+patience.Seconds() {
				t.Errorf("%s, %v", data, err)
			}
			beats++
		}
	}
	if beats < 2 {
		t.Errorf("%d beats", beats)
	}
	close(stop)
}

// patience is what something gets that happens at once on a machine with nothing else to do.
const patience = 2 * time.Minute

func await(t *testing.T, news <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-news:
	case <-time.After(patience):
		t.Fatalf("%s is not noticed", what)
	}
}

// TestStreams: a state is sent when it changes, and only then; the newest, whatever was missed. A browser has a few
// streams, and is asked to come again for more.
func TestStreams(t *testing.T) {
	t.Parallel()
	reader, _ := newReader(t)
	w := NewWatcher(reader)
	stop := make(chan struct{})
	var state atomic.Int64
	s := NewStreams(w, func(_ context.Context, address string) (Page, error) {
		if strings.HasPrefix(address, "/wrong") {
			return Page{}, fmt.Errorf("no page")
		}
		return Page{Title: "t", Main: fmt.Sprintf("%s: %d\nsecond line", address, state.Load())}, nil
	}, "gen", stop)
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { s.Serve(rw, r, "cookie") }))
	defer server.Close()
	client := server.Client()
	open := func(query string) (*bufio.Scanner, func()) {
		ctx, cancel := context.WithCancel(t.Context())
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/live?"+query, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		return bufio.NewScanner(answer.Body), func() { cancel(); answer.Body.Close() }
	}
	next := func(lines *bufio.Scanner) string {
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok && !strings.HasPrefix(data, `{"age":`) {
				return data
			}
		}
		return "end"
	}
	first, leave := open("page=/x")
	if hello := next(first); hello != `{"generation":"gen","poll":false}` {
		t.Errorf("hello %s", hello)
	}
	if data := next(first); data != `{"title":"t","main":"/x: 0\nsecond line"}` {
		t.Errorf("the first state: %s", data)
	}
	for range 3 { // the same state again is no message
		w.publish(nil)
	}
	state.Store(7)
	w.publish(nil)
	if data := next(first); !strings.Contains(data, "/x: 7") {
		t.Errorf("the next state: %s", data)
	}
	var leaves []func()
	for range most - 1 {
		lines, leave := open("page=/y")
		next(lines)
		leaves = append(leaves, leave)
	}
	sixth, done := open("page=/z")
	if hello := next(sixth); !strings.Contains(hello, `"poll":true`) {
		t.Errorf("the sixth: %s", hello)
	}
	if data := next(sixth); !strings.Contains(data, "/z: 7") || next(sixth) != "end" {
		t.Errorf("the sixth gets %s, and not once", data)
	}
	done()
	for _, l := range leaves {
		l()
	}
	leave()
	deadline := time.Now().Add(10 * time.Second)
	for s.count() > 0 && time.Now().Before(deadline) {
		w.publish(nil)
		time.Sleep(20 * time.Millisecond)
	}
	if n := s.count(); n > 0 {
		t.Errorf("%d streams stay after their browsers have left", n)
	}
	polled, done := open("page=/x&poll=1")
	if next(polled); !strings.Contains(next(polled), "/x: 7") || next(polled) != "end" {
		t.Error("poll=1 does not send the state once")
	}
	done()
	wrong, done := open("page=/wrong")
	if next(wrong); next(wrong) != "end" {
		t.Error("a page that there is not is streamed")
	}
	done()
	last, done := open("page=/x")
	next(last)
	next(last)
	close(stop)
	w.publish(nil)
	if got := next(last); got != "end" {
		t.Errorf("after the end of the server: %s", got)
	}
	done()
}

func (s *Streams) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all
}

// TestLines: lines come once and in order, a connection that was lost begins where it ended, and the end is said.
func TestLines(t *testing.T) {
	t.Parallel()
	reader, _ := newReader(t)
	s := NewStreams(NewWatcher(reader), nil, "gen", nil)
	text := strings.Split("zero one two three four", " ")
	var over atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.ServeLines(w, r, "cookie", func(at Place) (string, Place, string, error) {
			if at.Line < len(text) {
				return "<li>" + text[at.Line], Place{at.Offset + 10, at.Line + 1}, "", nil
			}
			if over.Load() {
				return "", at, "succeeded", nil
			}
			return "", at, "", nil
		})
	}))
	defer server.Close()
	open := func(query, last string) (*bufio.Scanner, func()) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+query, nil)
		if err != nil {
			t.Fatal(err)
		}
		if last != "" {
			r.Header.Set("Last-Event-ID", last)
		}
		answer, err := server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		return bufio.NewScanner(answer.Body), func() { answer.Body.Close() }
	}
	read := func(lines *bufio.Scanner, until string) (got []string) {
		for lines.Scan() {
			for _, prefix := range []string{"id: ", "data: "} {
				if data, ok := strings.CutPrefix(lines.Text(), prefix); ok && !strings.HasPrefix(data, `{"age":`) {
					got = append(got, data)
				}
			}
			if strings.Contains(lines.Text(), until) {
				break
			}
		}
		return got
	}
	first, leave := open("/?from=10-1", "")
	got := read(first, "four")
	if want := `20-2 {"html":"\u003cli\u003eone"} 30-3`; !strings.HasPrefix(strings.Join(got[1:], " "), want) {
		t.Errorf("from the second line: %q", got)
	}
	leave()
	again, leave := open("/?from=10-1", "40-4")
	over.Store(true)
	if got := strings.Join(read(again, "succeeded"), " "); strings.Contains(got, "three") || !strings.Contains(got, "four") || !strings.HasSuffix(got, `{"result":"succeeded"}`) {
		t.Errorf("after the connection was lost: %s", got)
	}
	leave()
	for _, odd := range []string{"", "x", "-1-2", "1", "1-", "99999999999999999999-1", "1--2"} {
		if p := parsePlace(odd); p != (Place{}) {
			t.Errorf("%q is the place %v", odd, p)
		}
	}
}

// TestSlowReader: a browser that takes nothing is left, holds up no other, and nothing is made for it meanwhile.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	reader, _ := newReader(t)
	stop := make(chan struct{})
	w := NewWatcher(reader)
	var rendered atomic.Int64
	s := NewStreams(w, func(_ context.Context, address string) (Page, error) {
		if address != "/slow" {
			return Page{Main: fmt.Sprint(rendered.Load())}, nil
		}
		return Page{Main: fmt.Sprint(rendered.Add(1)) + strings.Repeat("x", 6<<20)}, nil // more than the kernel's buffers take
	}, "gen", stop)
	s.patience = 500 * time.Millisecond
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { s.Serve(rw, r, r.URL.Query().Get("cookie")) }))
	defer server.Close()
	const many = 20
	for i := range many {
		connection, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer connection.Close()
		if err := connection.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(connection, "GET /live?page=/slow&cookie=%d HTTP/1.1\r\nHost: x\r\n\r\n", i)
	}
	for deadline := time.Now().Add(patience); rendered.Load() < many; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the streams do not begin")
		}
	}
	began := time.Now()
	answer, err := server.Client().Get(server.URL + "/live?page=/quick&poll=1&cookie=quick")
	if err != nil {
		t.Fatal(err)
	}
	if body, err := io.ReadAll(answer.Body); err != nil || !strings.Contains(string(body), "event: page") || time.Since(began) > 5*time.Second {
		t.Errorf("another browser waits: %v, %s", time.Since(began), body)
	}
	answer.Body.Close()
	for deadline := time.Now().Add(patience); s.count() > 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d streams wait for browsers that take nothing", s.count())
		}
		w.publish(nil)
	}
	if n := rendered.Load(); n > 2*many {
		t.Errorf("%d states were made for %d browsers that took none", n, many)
	}
	close(stop)
}

// TestThousandStreams: of a thousand browsers, the server serves as many as it may have streams, and asks the others to
// come again. When all have left, no stream and no count of a browser stays.
func TestThousandStreams(t *testing.T) {
	t.Parallel()
	reader, _ := newReader(t)
	w := NewWatcher(reader)
	s := NewStreams(w, func(context.Context, string) (Page, error) { return Page{Title: "t"}, nil }, "gen", nil)
	ctx, leave := context.WithCancel(t.Context())
	var work sync.WaitGroup
	var polls, streams atomic.Int64
	for i := range 1000 {
		work.Go(func() {
			out := &lastWrite{arrived: func(text string) {
				if strings.Contains(text, `"poll":true`) {
					polls.Add(1)
				} else if strings.Contains(text, `"poll":false`) {
					streams.Add(1)
				}
			}}
			r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/live?page=/", nil)
			s.Serve(out, r, fmt.Sprint(i))
		})
	}
	for deadline := time.Now().Add(patience); polls.Load()+streams.Load() < 1000; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d streams and %d others of 1,000", streams.Load(), polls.Load())
		}
	}
	if streams.Load() != mostOfAll || s.count() != mostOfAll {
		t.Errorf("%d streams, of which %d are counted; %d are allowed", streams.Load(), s.count(), mostOfAll)
	}
	leave()
	work.Wait()
	if len(s.open) != 0 || s.all != 0 {
		t.Errorf("after all have left: %d streams of %d browsers", s.all, len(s.open))
	}
}

// lastWrite passes on what is written.
type lastWrite struct{ arrived func(text string) }

func (l *lastWrite) Header() http.Header              { return http.Header{} }
func (l *lastWrite) WriteHeader(int)                  {}
func (l *lastWrite) Flush()                           {}
func (l *lastWrite) SetWriteDeadline(time.Time) error { return nil }
func (l *lastWrite) Write(text []byte) (n int, _ error) {
	l.arrived(string(text))
	return len(text), nil
}
