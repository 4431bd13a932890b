package ui_test

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/ui"
	"mara/runner/internal/machine/typeset"
	"mara/runner/internal/testing/eventtest"
	"mara/runner/internal/testing/uitest"
)

// usual returns the options of a live view that knows how long a run usually takes, and how many
// resources it makes.
func usual(events []event.Event) ui.Options {
	o := ui.Options{Durations: map[string]time.Duration{}, Resources: map[string]int{}, Next: next}
	for _, s := range eventtest.Summary(events).Steps {
		o.Durations[s.Name], o.Resources[s.Name] = s.Duration(), s.Changes.Total()
	}
	return o
}

// scenes returns moments of played runs.
func scenes() map[string]struct {
	events []event.Event
	at     time.Duration
} {
	failure, interrupted := uitest.Play(uitest.AWSFailure()), uitest.Play(uitest.AWSInterrupted())
	simulated := uitest.AWS()
	simulated.Simulated = true
	return map[string]struct {
		events []event.Event
		at     time.Duration
	}{
		"start":       {failure, 300 * time.Millisecond},
		"middle":      {failure, 100 * time.Second},
		"late":        {uitest.Play(simulated), 860 * time.Second},
		"failed":      {failure, 1000 * time.Second},
		"interrupted": {interrupted, 941 * time.Second},
		"end":         {failure, time.Hour},
	}
}

func TestLiveGolden(t *testing.T) {
	t.Parallel()
	for name, scene := range scenes() {
		for _, width := range []int{40, 80, 200} {
			file := fmt.Sprintf("live-%s-%d.txt", name, width)
			t.Run(file, func(t *testing.T) {
				t.Parallel()
				o := usual(uitest.Play(uitest.AWS()))
				above, frame := ui.Composed(o, scene.events, uitest.Began.Add(scene.at), width, 40)
				expectGolden(t, file, above+strings.Repeat("=", width)+"\n"+frame)
			})
		}
	}
}

func TestLiveColourGolden(t *testing.T) {
	t.Parallel()
	above, frame := ui.Composed(ui.Options{Colour: true}, uitest.Play(uitest.AWSFailure()), uitest.Began.Add(1000*time.Second), 80, 40)
	expectGolden(t, "live-colour.txt", above+frame)
}

func TestLiveManyProjects(t *testing.T) {
	t.Parallel()
	events := uitest.Wide(500, 10_000)
	for _, width := range []int{40, 80, 200} {
		_, frame := ui.Composed(usual(events), events, uitest.Began.Add(60*time.Second), width, 24)
		expectGolden(t, fmt.Sprintf("live-many-%d.txt", width), frame)
	}
}

// TestLiveBars: a bar always measures what stands behind it.
func TestLiveBars(t *testing.T) {
	t.Parallel()
	known := usual(uitest.Play(uitest.AWS()))
	some := ui.Options{Resources: map[string]int{"aws-vpc": 4}}
	for name, tt := range map[string]struct {
		o             ui.Options
		project, line string
	}{
		"time and resources": {known, "━━━━━━──── 3/5  creating NatGateway main", "1m20s  ━━━───────────────────────────────────── about 16m left  1/15 projects"},
		"resources":          {ui.Options{Resources: known.Resources}, "━━━━━━──── 3/5  creating NatGateway main", "1m20s  ━━━━──────────────────────────────────── 4/33 resources  1/15 projects"},
		"some resources":     {some, "━━━━━━━─── 3/4  creating NatGateway main", "1m20s  ━━────────────────────────────────────── 1/15 projects"},
		"nothing":            {ui.Options{}, "3 done  creating NatGateway main", "1m20s  ━━────────────────────────────────────── 1/15 projects"},
	} {
		_, frame := ui.Composed(tt.o, uitest.Play(uitest.AWS()), uitest.Began.Add(80*time.Second), 80, 40)
		want := "⠋ aws-vpc                       1m20s  " + tt.project + "\n"
		if !strings.HasPrefix(frame, want) || !strings.Contains(frame, "\n"+tt.line+"\n") {
			t.Errorf("%s: got\n%s\nwant\n%s\n%s", name, frame, want, tt.line)
		}
	}
}

// TestLiveReady: a project whose program has been started already says so while it waits.
func TestLiveReady(t *testing.T) {
	t.Parallel()
	o := ui.Options{Ready: func(project string) bool { return project == "aws-eks" }}
	_, frame := ui.Composed(o, uitest.Play(uitest.AWS()), uitest.Began.Add(80*time.Second), 80, 40)
	if strings.Count(frame, "ready, waits for") != 1 || !strings.Contains(frame, "ready, waits for aws-vpc\n") {
		t.Errorf("got\n%s", frame)
	}
}

// TestLiveHook: a hook after the operation is named, and the bar before it is full, whatever the last run had to do. A hook
// before the operation fills nothing.
func TestLiveHook(t *testing.T) {
	t.Parallel()
	hook := event.Event{Type: event.HookStarted, Hook: "work"}
	seen := func(same int) event.Event {
		return event.Event{Type: event.StepProgress, Action: event.Same, Status: event.ActionDone, Resource: event.Resource{Type: "a:b:C", Name: "c"},
			Counts: &event.Changes{Same: same}}
	}
	begin := []event.Event{{Type: event.RunStarted, Operation: operation.Up, Projects: []event.Project{{Name: "net"}}}, {Type: event.StepStarted}}
	for name, test := range map[string]struct {
		after []event.Event
		want  string
	}{
		"before":           {[]event.Event{hook}, "net     1s  ────────── 0/5  hook work\n"},
		"during":           {[]event.Event{seen(3)}, "net     1s  ━━━━━━──── 3/5\n"},
		"after":            {[]event.Event{seen(5), hook}, "net     1s  ━━━━━━━━━━ 5/5  hook work\n"},
		"after less":       {[]event.Event{seen(3), hook}, "net     1s  ━━━━━━━━━━ 3/3  hook work\n"},
		"after nothing":    {[]event.Event{seen(0), hook}, "net     1s  hook work\n"},
		"after the second": {[]event.Event{seen(3), {Type: event.StepRetrying, Attempt: 2}, hook}, "net     1s  ────────── 0/5  attempt 2 in 0.0s\n"},
	} {
		var events []event.Event
		for _, e := range append(slices.Clone(begin), test.after...) {
			e.Time = uitest.Began
			if e.Type != event.RunStarted {
				e.Project = "net"
			}
			events = append(events, e)
		}
		_, frame := ui.Composed(ui.Options{Resources: map[string]int{"net": 5}}, events, uitest.Began.Add(time.Second), 80, 24)
		if !strings.Contains(frame, test.want) {
			t.Errorf("%s: %q is missing in:\n%s", name, test.want, frame)
		}
	}
}

func TestRetryingAndLeftOut(t *testing.T) {
	t.Parallel()
	events := eventtest.Failure()[:5]
	events[0].Excluded = []event.Exclusion{
		{Name: "logstore", Title: "Logstore", Reason: "--skip logstore+"}, {Name: "logagent", Title: "Log Agent", Reason: "--skip logstore+"},
		{Name: "certmgr", Title: "Cert Manager", Reason: "succeeded in an earlier run"},
	}
	events = append(events, event.Event{Type: event.StepRetrying, Time: events[4].Time, Project: "kubeconfig", Title: "Kubeconfig", Attempt: 2, WaitMS: 5000, Error: "too many\nrequests"})
	above, frame := ui.Composed(ui.Options{}, events, events[4].Time.Add(time.Second), 80, 24)
	text := plain(append(events, event.Event{Type: event.RunFinished, Result: event.Succeeded}), ui.Options{})
	for _, got := range []string{above, text} {
		for _, want := range []string{"left out: logstore and logagent (--skip logstore+)\n", "left out: certmgr (succeeded in an earlier run)\n",
			"[3/6] Kubeconfig (kubeconfig): attempt 2 in 5.0s: too many requests\n"} {
			if !strings.Contains(got, want) {
				t.Errorf("%q is missing in:\n%s", want, got)
			}
		}
	}
	if want := "kubeconfig          1s  attempt 2 in 5.0s\n"; !strings.Contains(frame, want) {
		t.Errorf("%q is missing in:\n%s", want, frame)
	}
	if !strings.Contains(text, "; 3 left out\n") {
		t.Errorf("the totals do not mention skipped projects:\n%s", text)
	}
}

func TestLiveASCII(t *testing.T) {
	t.Parallel()
	o := usual(uitest.Play(uitest.AWS()))
	o.ASCII = true
	_, frame := ui.Composed(o, uitest.Play(uitest.AWSFailure()), uitest.Began.Add(1000*time.Second), 40, 40)
	if strings.ContainsFunc(frame, func(r rune) bool { return r > 126 }) {
		t.Errorf("not only ASCII:\n%s", frame)
	}
}

func TestLiveFitsTheTerminal(t *testing.T) {
	t.Parallel()
	wide := uitest.AWSFailure()
	for i := range wide.Projects {
		wide.Projects[i].Name = "プロジェクト-" + wide.Projects[i].Name
		wide.Projects[i].Reads, wide.Projects[i].After = nil, nil
	}
	runs := map[string][]event.Event{"aws": uitest.Play(uitest.AWSFailure()), "wide characters": uitest.Play(wide), "many": uitest.Wide(500, 10_000)}
	for name, events := range runs {
		for _, size := range [][2]int{{20, 5}, {40, 10}, {80, 24}, {200, 60}, {1, 1}} {
			for at := time.Duration(0); at < 20*time.Minute; at += 97 * time.Second {
				_, frame := ui.Composed(ui.Options{Colour: true}, events, uitest.Began.Add(at), size[0], size[1])
				lines := strings.Split(strings.TrimSuffix(frame, "\n"), "\n")
				if len(lines) > max(size[1], 3) {
					t.Errorf("%s at %v: %d lines on %d", name, at, len(lines), size[1])
				}
				for _, line := range lines {
					if n := typeset.Cells(line); n > 0 && n >= size[0] {
						t.Errorf("%s at %v: %d cells at width %d: %q", name, at, n, size[0], line)
					}
				}
			}
		}
	}
}

// show plays events to a live view on a small terminal that paints after each.
func show(events []event.Event, o ui.Options, size func(asked int) (width, height int)) *terminal {
	term := &terminal{}
	ticks := make(chan time.Time)
	asked := 0
	o.Ticks = ticks
	o.Size = func() (int, int) {
		w, h := size(asked)
		asked++
		term.resize(w)
		return w, h
	}
	l := ui.NewLive(term, o)
	for _, e := range events {
		l.Emit(e)
		ticks <- e.Time
	}
	_ = l.Close() // a terminal of ours has no errors
	return term
}

func fixed(width, height int) func(int) (int, int) {
	return func(int) (int, int) { return width, height }
}

func TestLiveLeavesWhatPlainPrints(t *testing.T) {
	t.Parallel()
	for _, run := range eventtest.All() {
		for _, width := range []int{40, 80} {
			got := show(run.Events, ui.Options{Next: next}, fixed(width, 24)).String()
			want := plain(run.Events, ui.Options{Width: width})
			_, want, _ = strings.Cut(want, "\nSummary")
			if !strings.HasSuffix(got, "\nSummary"+want) {
				t.Errorf("%s at %d: the summary is not what remains:\n%s", run.Name, width, got)
			}
			for _, stray := range []string{"Ctrl-C:", "⠋", "waits for"} {
				if strings.Contains(got, stray) {
					t.Errorf("%s at %d: %q of a frame remains:\n%s", run.Name, width, stray, got)
				}
			}
		}
	}
}

func TestLiveColourChangesNoText(t *testing.T) {
	t.Parallel()
	events := uitest.Play(uitest.AWSFailure())
	want := show(events, ui.Options{}, fixed(80, 24)).String()
	if diff := cmp.Diff(want, show(events, ui.Options{Colour: true}, fixed(80, 24)).String()); diff != "" {
		t.Errorf("(-plain +coloured):\n%s", diff)
	}
}

func TestLiveResizes(t *testing.T) {
	t.Parallel()
	widths := []int{80, 61, 40, 120, 200, 79}
	size := func(asked int) (int, int) { return widths[asked/9%len(widths)], 30 }
	got := show(uitest.Play(uitest.AWSFailure()), ui.Options{}, size).String()
	if n := strings.Count(got, "Ctrl-C"); n != 0 {
		t.Errorf("%d remains of frames:\n%s", n, got)
	}
	for _, want := range []string{"up: provider aws", "warning: aws-ecr", "FAILED after 2m23s", "stopping: logstore failed", "Summary"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is lost:\n%s", want, got)
		}
	}
}

// TestLiveLeavesNoOldFrames makes terminals narrower, a wide one to half of it
// with hardly room for the frame, one of usual width with room for it twice.
func TestLiveLeavesNoOldFrames(t *testing.T) {
	t.Parallel()
	events := uitest.Play(uitest.AWSFailure())
	for _, tt := range []struct{ wide, narrow, height int }{{200, 100, 18}, {160, 110, 18}, {80, 40, 36}, {100, 60, 36}} {
		for at := range len(events) - 1 { // with the last one the frame goes
			term := &terminal{height: tt.height}
			painted := 0
			o := usual(events)
			ticks := make(chan time.Time)
			o.Ticks = ticks
			o.Size = func() (int, int) {
				width := tt.wide
				if painted++; painted > 2 { // for the first lines, and the first frame
					width = tt.narrow
				}
				term.resize(width)
				return width, tt.height
			}
			l := ui.NewLive(term, o)
			for _, e := range events[:at+1] {
				l.Emit(e)
			}
			ticks <- events[at].Time
			ticks <- events[at].Time
			_ = l.Close() // a terminal of ours has no errors
			if n := strings.Count(term.String(), "aws-vpc "); n != 1 {
				t.Fatalf("%v at event %d: the first project is there %d times:\n%s", tt, at, n, term)
			}
		}
	}
}

// during paints the first events of a run, does something, paints the others
// and closes the view.
func during(events []event.Event, n int, do func(*terminal)) *terminal {
	term := &terminal{width: 80}
	ticks := make(chan time.Time)
	l := ui.NewLive(term, ui.Options{Size: func() (int, int) { return 80, 24 }, Ticks: ticks})
	for i, e := range events {
		if i == n {
			ticks <- events[i-1].Time // taken when the painting before it is done; paints nothing
			do(term)
		}
		l.Emit(e)
		ticks <- e.Time
	}
	_ = l.Close() // a terminal of ours has no errors
	return term
}

func TestLiveIsToldOfANewWidthTooLate(t *testing.T) {
	t.Parallel()
	widths := []int{80, 120, 60, 75}
	term := &terminal{}
	asked := 0
	size := func() (int, int) {
		term.resize(widths[asked/8%len(widths)])
		width := widths[max(0, asked-3)/8%len(widths)] // what it was three paintings before
		asked++
		return width, 30
	}
	ticks := make(chan time.Time)
	l := ui.NewLive(term, ui.Options{Size: size, Ticks: ticks})
	for _, e := range uitest.Play(uitest.AWSFailure()) {
		l.Emit(e)
		ticks <- e.Time
	}
	_ = l.Close() // a terminal of ours has no errors
	got := term.String()
	if n := strings.Count(got, "Ctrl-C"); n != 0 {
		t.Errorf("%d remains of frames:\n%s", n, got)
	}
}

func TestLivePaintsOverTheEchoOfAnInterrupt(t *testing.T) {
	t.Parallel()
	term := during(uitest.Play(uitest.AWSInterrupted()), 6, func(term *terminal) {
		if _, err := term.Write([]byte("^C")); err != nil {
			t.Error(err)
		}
	})
	if got := term.String(); strings.Contains(got, "^C") {
		t.Errorf("the echo remains:\n%s", got)
	}
}

func TestLiveOfABrokenOffRunLeavesTheLastFrame(t *testing.T) {
	t.Parallel()
	got := during(uitest.Play(uitest.AWS())[:6], 3, func(*terminal) {}).String()
	for _, want := range []string{"aws-eks                              waits for aws-vpc\n", "\nCtrl-C: finish what runs, then stop\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing:\n%s", want, got)
		}
	}
}

func TestLiveWritesNothingWhenNothingChanges(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	ticks := make(chan time.Time)
	l := ui.NewLive(&b, ui.Options{Size: func() (int, int) { return 80, 24 }, Ticks: ticks})
	l.Emit(uitest.Play(uitest.AWS())[0])
	ticks <- uitest.Began
	ticks <- uitest.Began
	ticks <- uitest.Began
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "\x1b[?2026h"); n != 1 {
		t.Errorf("painted %d times", n)
	}
}

func TestLiveStopsWritingAfterAnError(t *testing.T) {
	t.Parallel()
	pipe := &closedPipe{}
	ticks := make(chan time.Time)
	l := ui.NewLive(pipe, ui.Options{Size: func() (int, int) { return 80, 24 }, Ticks: ticks})
	for _, e := range eventtest.Success() {
		l.Emit(e)
		ticks <- e.Time
	}
	if err := l.Close(); err == nil || pipe.writes != 2 {
		t.Errorf("error %v after %d writes, want none after the failing second", err, pipe.writes)
	}
	if err := l.Close(); err == nil {
		t.Error("closed again, the error is lost")
	}
}

// TestLiveMemoryIsFlat compares what is held early and late in a run of 500
// projects and 10,000 resources. It must run alone: others use memory, too.
func TestLiveMemoryIsFlat(t *testing.T) {
	events := uitest.Wide(500, 10_000)
	o := usual(events)
	ticks := make(chan time.Time)
	o.Ticks = ticks
	l := ui.NewLive(&counter{}, o)
	defer func() { _ = l.Close() }()
	held := func(events []event.Event) uint64 {
		for _, e := range events {
			l.Emit(e)
		}
		ticks <- events[len(events)-1].Time
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	early := held(events[:len(events)/10])
	late := held(events[len(events)/10 : len(events)-1])
	runtime.KeepAlive(events)
	if grown := int64(late) - int64(early); grown > 1<<20 {
		t.Errorf("%d bytes more are held late in the run", grown)
	}
}

// BenchmarkLive shows a run of 500 projects and 10,000 resources in five
// minutes, ten frames a second. The run's time over the benchmark's is the
// share of a core.
func BenchmarkLive(b *testing.B) {
	events := uitest.Wide(500, 10_000)
	o := usual(events)
	o.Size, o.Colour = func() (int, int) { return 120, 50 }, true
	whole := events[len(events)-1].Time.Sub(events[0].Time)
	b.ReportAllocs()
	for b.Loop() {
		ticks := make(chan time.Time)
		written := &counter{}
		o.Ticks = ticks
		l := ui.NewLive(written, o)
		next := events[0].Time
		for _, e := range events {
			for ; !e.Time.Before(next); next = next.Add(ui.TickRate) {
				ticks <- next
			}
			l.Emit(e)
		}
		_ = l.Close()
		b.ReportMetric(float64(written.n)/whole.Seconds(), "bytes/s")
	}
	b.ReportMetric(100*b.Elapsed().Seconds()/float64(b.N)/whole.Seconds(), "%core")
}

type counter struct{ n int }

func (c *counter) Write(p []byte) (int, error) {
	c.n += len(p)
	return len(p), nil
}

// suspended is a view that can be suspended.
type suspended interface {
	event.Sink
	Suspend(ask func())
	Close() error
}

// lockedBuffer is a buffer that is read while a view writes to it.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// TestSuspend checks that a question has the terminal for itself, and that what was
// emitted in the meantime follows.
func TestSuspend(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(io.Writer, ui.Options) suspended{
		"live":  func(w io.Writer, o ui.Options) suspended { return ui.NewLive(w, o) },
		"plain": func(w io.Writer, o ui.Options) suspended { return ui.NewPlain(w, o) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, ticks := &lockedBuffer{}, make(chan time.Time, 1)
			view := start(out, ui.Options{Ticks: ticks})
			events := uitest.Play(uitest.AWS())
			half := len(events) / 2
			emit := func(events []event.Event) {
				for _, e := range events {
					view.Emit(e)
				}
			}
			emit(events[:half])
			var before, after string
			view.Suspend(func() {
				before = out.String()
				emit(events[half:])
				ticks <- uitest.Began.Add(time.Hour)
				time.Sleep(20 * time.Millisecond)
				after = out.String()
			})
			if before != after {
				t.Errorf("written during the question: %q", strings.TrimPrefix(after, before))
			}
			if err := view.Close(); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(before, "up succeeded in") || !strings.Contains(out.String(), "up succeeded in") {
				t.Errorf("the end does not follow the question:\n%s", out)
			}
			asked := false
			view.Suspend(func() { asked = true })
			if !asked {
				t.Error("nothing is asked after the end")
			}
		})
	}
}
