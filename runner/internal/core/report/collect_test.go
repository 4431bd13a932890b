package report_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/core/event"
	"mara/runner/internal/core/report"
	"mara/runner/internal/testing/eventtest"
	"mara/runner/internal/testing/uitest"
)

func TestCollect(t *testing.T) {
	t.Parallel()
	s, got, err := report.Collect(eventtest.Stream(eventtest.Failure()))
	if err != nil {
		t.Fatal(err)
	}
	if s.Outcome() != event.Failed {
		t.Errorf("outcome %s", s.Outcome())
	}
	want := report.Details{
		Resources: map[string]report.Resources{"kubeconfig": {List: []report.Resource{{
			Resource: event.Resource{Type: "kubernetes:core/v1:ConfigMap", Name: "context"},
			Action:   event.Create, Status: event.ActionFailed, Message: "the server is <down> & out",
		}}}},
		Logs: map[string]report.Log{"kubeconfig": {Text: `19:30:12 info: reading the cluster
19:30:12 error kubernetes:core/v1:ConfigMap context: the server is <down> & out:
             dial tcp 127.0.0.1:6443: connect: connection refused
19:30:12 error kubernetes:core/v1:ConfigMap context: the server is <down> & out:
             dial tcp 127.0.0.1:6443: connect: connection refused
19:30:12 warning: trying once more
`}},
		Outputs: map[string][]report.Output{},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCollectReturnsWhatItHasSeen(t *testing.T) {
	t.Parallel()
	broken := func(yield func(event.Event, error) bool) {
		for _, e := range eventtest.Failure()[:9] {
			if !yield(e, nil) {
				return
			}
		}
		yield(event.Event{}, event.ErrTruncated)
	}
	s, d, err := report.Collect(broken)
	if !errors.Is(err, event.ErrTruncated) || len(s.Steps) != 6 || d.Logs["kubeconfig"].Text == "" {
		t.Errorf("got %v, %d steps, %v", err, len(s.Steps), d)
	}
}

func TestCollectorMeasuresResourcesAndPassesOverUnchangedOnes(t *testing.T) {
	t.Parallel()
	c := report.NewCollector()
	progress := func(name string, a event.Action, s event.Status, at time.Duration) {
		c.Emit(event.Event{Type: event.StepProgress, Time: uitest.Began.Add(at), Project: "p", Resource: event.Resource{Type: "t", Name: name}, Action: a, Status: s})
	}
	progress("a", event.Update, event.ActionStarted, 0)
	progress("b", event.Same, event.ActionStarted, 0)
	progress("b", event.Same, event.ActionDone, time.Second)
	progress("a", event.Update, event.ActionDone, 3*time.Second)
	want := report.Resources{List: []report.Resource{
		{Resource: event.Resource{Type: "t", Name: "a"}, Action: event.Update, Status: event.ActionDone, Took: 3 * time.Second},
	}}
	if diff := cmp.Diff(want, c.Details().Resources["p"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// verbose returns a run of 15 projects with far too many resources and messages.
func verbose() []event.Event {
	s := uitest.AWSFailure()
	for i := range s.Projects {
		r := s.Projects[i].Resources
		for n := range 500 {
			r = append([]uitest.Resource{{Resource: event.Resource{Type: "kubernetes:core/v1:ConfigMap", Name: fmt.Sprintf("item-%d-%s", n, strings.Repeat("x", 60))}}}, r...)
		}
		s.Projects[i].Resources = r
	}
	events := uitest.Play(s)
	last := events[len(events)-1]
	for _, p := range s.Projects {
		for n := range 2000 {
			events = append(events, event.Event{Type: event.StepLog, Time: last.Time, Project: p.Name, Severity: event.Info, Message: fmt.Sprintf("line %d <%s>", n, strings.Repeat("y", 100))})
		}
	}
	return events
}

func TestPageStaysSmall(t *testing.T) {
	t.Parallel()
	s, d, err := report.Collect(eventtest.Stream(verbose()))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := report.Write(&b, report.HTML, s, d); err != nil {
		t.Fatal(err)
	}
	if n := b.Len(); n > 1<<20 {
		t.Errorf("%d bytes", n)
	}
	for _, want := range []string{"and 30", " more</p>", "line 1999", "Log, the last part", "create failed"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing", want)
		}
	}
	if strings.Contains(b.String(), "line 0 ") {
		t.Error("the log is not cut")
	}
}
