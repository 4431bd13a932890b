package ui_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/ui"
	"mara/runner/internal/testing/eventtest"
)

var update = flag.Bool("update", false, "write the golden files")

func expectGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// next suggests commands the way the command line does.
func next(s *event.Summary) []string {
	if s.Outcome() == event.Succeeded {
		return []string{"runner outputs -s " + s.Stack}
	}
	return []string{fmt.Sprintf("runner %s -p %s -s %s", s.Operation, s.Provider, s.Stack)}
}

func plain(events []event.Event, o ui.Options) string {
	var b bytes.Buffer
	o.Next = next
	p := ui.NewPlain(&b, o)
	for _, e := range events {
		p.Emit(e)
	}
	return b.String()
}

func TestPlainGolden(t *testing.T) {
	t.Parallel()
	for _, run := range eventtest.All() {
		for _, width := range []int{0, 40, 80} {
			name := fmt.Sprintf("%s-%d.txt", run.Name, width)
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				expectGolden(t, name, plain(run.Events, ui.Options{Width: width}))
			})
		}
	}
}

func TestPlainColourGolden(t *testing.T) {
	t.Parallel()
	expectGolden(t, "failure-colour.txt", plain(eventtest.Failure(), ui.Options{Width: 80, Colour: true}))
}

func TestPlainHasNoEscapesUnlessAsked(t *testing.T) {
	t.Parallel()
	for _, run := range eventtest.All() {
		if got := plain(run.Events, ui.Options{Width: 80}); strings.ContainsAny(got, "\x1b\r") {
			t.Errorf("%s: escape sequences in %q", run.Name, got)
		}
	}
}

func TestColourChangesNoText(t *testing.T) {
	t.Parallel()
	for _, run := range eventtest.All() {
		coloured := plain(run.Events, ui.Options{Width: 60, Colour: true})
		for _, code := range []string{"0", "1", "2", "31", "32", "33"} {
			coloured = strings.ReplaceAll(coloured, "\x1b["+code+"m", "")
		}
		if diff := cmp.Diff(plain(run.Events, ui.Options{Width: 60}), coloured); diff != "" {
			t.Errorf("%s (-plain +coloured):\n%s", run.Name, diff)
		}
	}
}

func TestPlainKeepsToTheWidth(t *testing.T) {
	t.Parallel()
	for _, run := range eventtest.All() {
		if slices.Contains([]string{"failure", "hook-failure", "unreachable"}, run.Name) {
			continue // diagnostics are never wrapped
		}
		for _, width := range []int{40, 60, 80, 120} {
			for line := range strings.Lines(plain(run.Events, ui.Options{Width: width})) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width {
					t.Errorf("%s: %d characters at width %d: %s", run.Name, n, width, line)
				}
			}
		}
	}
}

func TestSimulatedIsOnEveryScreen(t *testing.T) {
	t.Parallel()
	got := plain(eventtest.Simulated(), ui.Options{Width: 80})
	if n := strings.Count(got, "[SIMULATED]"); n != 3 {
		t.Errorf("marked %d times, want header, table and last line:\n%s", n, got)
	}
	if strings.Contains(plain(eventtest.Success(), ui.Options{}), "SIMULATED") {
		t.Error("a real run is marked as simulated")
	}
}

func TestPlainSurvivesStrangeStreams(t *testing.T) {
	t.Parallel()
	got := plain([]event.Event{
		{Type: event.RunWarning, Message: "before the start"},
		{Type: event.StepFinished, Project: "stranger", Result: event.Succeeded},
		{Type: event.RunStarted, Operation: operation.Up, Provider: "kind", Stack: "dev"},
		{Type: event.RunFinished, Result: event.Succeeded},
	}, ui.Options{})
	for _, want := range []string{"warning: before the start", "stranger: succeeded", "0 projects", "up succeeded in 0.0s: no projects; no changes; 1 warning"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in:\n%s", want, got)
		}
	}
}

func TestJSONIsOneEventPerLine(t *testing.T) {
	t.Parallel()
	for _, run := range eventtest.All() {
		var b bytes.Buffer
		j := ui.NewJSON(&b)
		for _, e := range run.Events {
			j.Emit(e)
		}
		if got := strings.Count(b.String(), "\n"); got != len(run.Events) {
			t.Errorf("%s: %d lines for %d events", run.Name, got, len(run.Events))
		}
		i := 0
		for e, err := range event.Decode(&b) {
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(run.Events[i], e); diff != "" {
				t.Errorf("%s, event %d (-want +got):\n%s", run.Name, i, diff)
			}
			i++
		}
	}
}

// closedPipe fails from the second write on, like a pipe into head.
type closedPipe struct{ writes int }

func (c *closedPipe) Write(p []byte) (int, error) {
	if c.writes++; c.writes > 1 {
		return 0, errors.New("broken pipe")
	}
	return len(p), nil
}

func TestRenderersStopWritingAfterAnError(t *testing.T) {
	t.Parallel()
	type renderer interface {
		event.Sink
		Close() error
	}
	tests := map[string]func(*closedPipe) renderer{
		"plain": func(c *closedPipe) renderer { return ui.NewPlain(c, ui.Options{}) },
		"json":  func(c *closedPipe) renderer { return ui.NewJSON(c) },
	}
	for name, construct := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pipe := &closedPipe{}
			r := construct(pipe)
			for _, e := range eventtest.Success() {
				r.Emit(e)
			}
			if pipe.writes != 2 {
				t.Errorf("%d writes, want none after the failing second", pipe.writes)
			}
			if r.Close() == nil {
				t.Error("the error is lost")
			}
		})
	}
}

func TestReasonsWrapBeforeTheyGo(t *testing.T) {
	t.Parallel()
	events := eventtest.Failure()
	for i := range events {
		if events[i].Reason == "stopped after kubeconfig failed" {
			events[i].Reason = "stopped after kubeconfig, kind-registry and kind-cluster failed"
		}
	}
	for width, want := range map[int]string{
		120: "kic-image-build  skipped    -        -      stopped after kubeconfig, kind-registry and kind-cluster failed\n",
		80: "kic-image-build  skipped    -        -      stopped after kubeconfig,\n" + strings.Repeat(" ", 44) + "kind-registry and kind-cluster\n" +
			strings.Repeat(" ", 44) + "failed\n",
		60: "kic-image-build  skipped    -        -      stopped after\n" + strings.Repeat(" ", 44) + "kubeconfig,\n",
		50: "kic-image-build  skipped    -        -\n",
	} {
		if got := plain(events, ui.Options{Width: width}); !strings.Contains(got, want) {
			t.Errorf("at %d, %q is missing in:\n%s", width, want, got)
		}
	}
}
