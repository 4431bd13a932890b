package feed

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"mara/config"
	"mara/runner/internal/environment/session"
	"mara/runner/internal/repo/request"
	"mara/runner/internal/run/event"
	"mara/runner/internal/run/journal"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/testing/eventtest"
	"mara/runner/internal/workflow/view"
)

// TestMain fails when a goroutine outlives the tests: a stream whose browser has left, above all.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m, goleak.IgnoreCurrent()) }

// newReader returns a reader of a root with one environment.
func newReader(t *testing.T) (reader *view.Reader, runs string) {
	t.Helper()
	root := cmdtest.Root(t, map[string]string{"Pulumi.dev.yaml": "config:\n  kubernetes:infra_type: kind\n"})
	d, _, _ := cmdtest.Deps(t)
	d.Now = time.Now
	o := session.Options{Request: request.Request{Root: root, Sources: config.Sources{}}}
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
	for deadline := time.Now().Add(20 * time.Second); len(reader.Fleet().Environments) != 2; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("an environment that is new is not noticed")
		}
		w.Visit()
	}
}

func await(t *testing.T, news <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-news:
	case <-time.After(20 * time.Second):
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
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
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
