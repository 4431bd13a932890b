package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/journal"
)

// webEvents is how many events the run has that is followed: about those of an hour.
const webEvents = 100_000

// measureWeb measures the pages of `runner web` for fleets of different sizes, and while a long run goes on.
func measureWeb(ctx context.Context, o options, w io.Writer) error {
	fmt.Fprintf(w, "\nThe pages of runner web\n")
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "  ENVIRONMENTS	START TO ALL ROWS	PAGE	SIZE	AN ENVIRONMENT	RUNS	PROCESSOR, IDLE 60 s	"+
		"MEMORY	AFTER A LONG RUN")
	for _, n := range []int{1, 80, 500} {
		if err := measurePages(ctx, o, n, table); err != nil {
			return err
		}
	}
	return table.Flush()
}

// server is a running `runner web`.
type server struct {
	cmd    *exec.Cmd
	client *http.Client
	base   string
}

// serve starts the pages and enters them.
func (e *environment) serve(ctx context.Context) (*server, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(e.bin, "runner"), "web", "--no-open", "-o", "json")
	cmd.Dir = e.root
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &server{cmd: cmd, client: &http.Client{}}
	s.client.Jar, err = cookiejar.New(nil)
	var hello struct{ Address string }
	if err == nil {
		err = json.NewDecoder(out).Decode(&hello)
	}
	if err == nil {
		s.base, _, _ = strings.Cut(hello.Address, "?")
		_, _, err = s.get(ctx, hello.Address)
	}
	return s, err
}

// stop ends the server.
func (s *server) stop() {
	_ = s.cmd.Process.Signal(os.Interrupt)
	_ = s.cmd.Wait() // its exit code says that it was interrupted
}

// get reads a page.
func (s *server) get(ctx context.Context, address string) (body string, took time.Duration, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", 0, err
	}
	began := time.Now()
	answer, err := s.client.Do(r)
	if err != nil {
		return "", 0, err
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", address, answer.Status)
	}
	return string(content), time.Since(began), err
}

// median returns the middle of the times that a page takes.
func (s *server) median(ctx context.Context, page string, rounds int) (middle time.Duration, size int, err error) {
	var all []time.Duration
	for range rounds + 1 {
		body, took, err := s.get(ctx, s.base+page)
		if err != nil {
			return 0, 0, err
		}
		all, size = append(all, took), len(body)
	}
	all = all[1:] // the first one fills caches
	slices.Sort(all)
	return all[len(all)/2], size, nil
}

// measurePages measures one fleet.
func measurePages(ctx context.Context, o options, n int, table io.Writer) error {
	e := &environment{options: o}
	var err error
	if e.root, err = os.MkdirTemp("", "bench-*"); err != nil {
		return err
	}
	defer e.remove()
	if err := e.writeFleet(n); err != nil {
		return err
	}
	began := time.Now()
	s, err := e.serve(ctx)
	if err != nil {
		return err
	}
	defer s.stop()
	for ready := false; !ready; time.Sleep(5 * time.Millisecond) {
		body, _, err := s.get(ctx, s.base+"?sort=name")
		if err != nil {
			return err
		}
		ready = strings.Contains(body, "compared with what ran") && strings.Contains(body,
			fmt.Sprintf("<h1>%d environment", n))
	}
	start := time.Since(began)
	page, size, err := s.median(ctx, "?sort=name", o.rounds)
	if err != nil {
		return err
	}
	name, err := firstEnvironment(e.root)
	if err != nil {
		return err
	}
	one, _, err := s.median(ctx, "e/"+name, o.rounds)
	if err != nil {
		return err
	}
	runs, _, err := s.median(ctx, "runs", o.rounds)
	if err != nil {
		return err
	}
	memory := proportionalSet(s.cmd.Process.Pid)
	const settle, watched = 11 * time.Second, time.Minute // it rests ten seconds after the last visit
	time.Sleep(settle)
	before := processorOf(s.cmd.Process.Pid)
	time.Sleep(watched)
	idle := processorOf(s.cmd.Process.Pid) - before
	if err := followLong(ctx, e.root, s, name); err != nil {
		return err
	}
	after := proportionalSet(s.cmd.Process.Pid)
	fmt.Fprintf(table, "  %d\t%s\t%s\t%d kB\t%s\t%s\t%s\t%d MB\t%d MB\n", n, milliseconds(start),
		milliseconds(page), size/1000, milliseconds(one),
		milliseconds(runs), milliseconds(idle), memory>>20, after>>20)
	return nil
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}

func firstEnvironment(root string) (string, error) {
	files, err := filepath.Glob(filepath.Join(root, "config", "environments", "*.yaml"))
	if err != nil || len(files) == 0 {
		return "", errors.Join(err, errors.New("no environments"))
	}
	return strings.TrimSuffix(filepath.Base(files[0]), ".yaml"), nil
}

// longRun is a run that this program writes, as a runner does.
type longRun struct {
	journal *journal.Journal
	pages   []*http.Response // the streams that follow it
	lines   chan int         // how many lines each stream has sent, when it ends
}

// begin begins a run of one project, and follows pages of it. Pages are addresses below that of the run.
func (s *server) begin(ctx context.Context, root, name string, pages ...string) (*longRun, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	j, err := journal.Create(journal.Options{Dir: filepath.Join(root, ".runner", "runs"),
		ID: journal.NewID(time.Now()), Meta: journal.Meta{Operation: operation.Up, Host: host, PID: os.Getpid(),
			Environment: journal.Environment{Provider: "kind", Stack: name}}})
	if err != nil {
		return nil, err
	}
	run := &longRun{journal: j, lines: make(chan int, len(pages))}
	run.emit(event.Event{Type: event.RunStarted, Operation: operation.Up, Provider: "kind", Stack: name,
		Projects: []event.Project{{Name: project}}})
	run.emit(event.Event{Type: event.StepStarted, Project: project})
	run.emit(event.Event{Type: event.StepLog, Project: project, Severity: event.Info, Message: "begins"})
	for _, page := range pages {
		if err := s.follow(ctx, run, strings.ReplaceAll(page, "RUN", "/r/"+j.ID())); err != nil {
			return nil, err
		}
	}
	return run, nil
}

// follow opens a stream and counts its lines. It waits until the server has noticed the run.
func (s *server) follow(ctx context.Context, run *longRun, page string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(s.base, "/")+page, nil)
	if err != nil {
		return err
	}
	const patience = 30 * time.Second
	var answer *http.Response
	for began := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		if answer, err = s.client.Do(r); err != nil {
			return err
		}
		if answer.StatusCode == http.StatusOK {
			break
		}
		err := errors.Join(fmt.Errorf("%s: %s", page, answer.Status), answer.Body.Close())
		if time.Since(began) > patience {
			return err
		}
	}
	run.pages = append(run.pages, answer)
	go func() {
		n := 0
		for scan := bufio.NewReader(answer.Body); ; n++ {
			if _, err := scan.ReadString('\n'); err != nil {
				run.lines <- n
				return
			}
		}
	}()
	return nil
}

const project = "p" // of a long run

// emit writes an event with its time.
func (l *longRun) emit(e event.Event) {
	e.Time = time.Now()
	l.journal.Emit(e)
}

// done writes that a resource was created.
func (l *longRun) done(resource int) {
	l.emit(event.Event{Type: event.StepProgress, Project: project, Action: event.Create, Status: event.ActionDone,
		Resource: event.Resource{Type: "kind:index:Thing", Name: fmt.Sprintf("thing-%d", resource)}})
}

// end closes the streams; a stream that got less than some lines is an error.
func (l *longRun) end(least int) (err error) {
	for _, page := range l.pages {
		err = errors.Join(err, page.Body.Close())
	}
	for range l.pages {
		if n := <-l.lines; n < least {
			err = errors.Join(err, fmt.Errorf("a page of the long run got %d lines", n))
		}
	}
	return err
}

// followLong writes a long run while a page shows it.
func followLong(ctx context.Context, root string, s *server, name string) error {
	run, err := s.begin(ctx, root, name, "/live?page=RUN")
	if err != nil {
		return err
	}
	const pauses = 100
	for i := range webEvents {
		if run.done(i); i%(webEvents/pauses) == 0 {
			time.Sleep(50 * time.Millisecond)
		}
	}
	time.Sleep(time.Second)
	return run.end(10)
}

// measureWebHour measures the memory of the pages during a run of an hour: its page, its log and the page of
// the fleet are open. Each second it creates a resource and writes twenty lines, until there are a thousand resources;
// then it writes lines only, as a long wait does.
func measureWebHour(ctx context.Context, o options, w io.Writer) error {
	const lines, most, samples = 20, 1000, 12
	e := &environment{options: o}
	var err error
	if e.root, err = os.MkdirTemp("", "bench-*"); err != nil {
		return err
	}
	defer e.remove()
	if err := e.writeFleet(o.environments); err != nil {
		return err
	}
	s, err := e.serve(ctx)
	if err != nil {
		return err
	}
	defer s.stop()
	name, err := firstEnvironment(e.root)
	if err != nil {
		return err
	}
	run, err := s.begin(ctx, e.root, name, "/live?page=RUN", "/live?page=/", "RUN/follow/"+project+"?from=0")
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\nrunner web during a run of %s, %d environments, three pages open\n", o.watch, o.environments)
	began, written, sampled := time.Now(), 0, 0
	for second := time.NewTicker(time.Second); time.Since(began) < o.watch; written++ {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-second.C:
		}
		if written < most {
			run.done(written)
		}
		for i := range lines {
			run.emit(event.Event{Type: event.StepLog, Project: project, Severity: event.Info,
				Message: fmt.Sprintf("line %d of second %d: waiting for the load balancer", i, written)})
		}
		if since := time.Since(began); since >= time.Duration(sampled+1)*o.watch/samples {
			sampled++
			fmt.Fprintf(w, "  after %s: %d MB, %s of processor time\n", since.Round(time.Second),
				ownMemory(s.cmd.Process.Pid)>>20, milliseconds(processorOf(s.cmd.Process.Pid)))
		}
	}
	return run.end(10)
}
