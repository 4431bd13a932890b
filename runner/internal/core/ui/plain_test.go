package ui_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"mara/runner/internal/core/event"
	"mara/runner/internal/core/ui"
	"mara/runner/internal/testing/eventtest"
	"mara/runner/internal/testing/uitest"
)

func TestPlainOrders(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		events []event.Event
		o      ui.Options
	}{
		"grouped-failure.txt":     {eventtest.Failure(), ui.Options{Order: ui.Grouped}},
		"grouped-success.txt":     {eventtest.Success(), ui.Options{Order: ui.Grouped, Width: 80}},
		"grouped-interrupted.txt": {eventtest.Interrupted(), ui.Options{Order: ui.Grouped}},
		"grouped-cut-off.txt":     {eventtest.Failure()[:8], ui.Options{Order: ui.Grouped}},
		"github-failure.txt":      {eventtest.Failure(), ui.Options{Order: ui.Grouped, GitHub: true}},
		"github-success.txt":      {eventtest.Success(), ui.Options{Order: ui.Grouped, GitHub: true}},
		"github-stream.txt":       {eventtest.Failure(), ui.Options{GitHub: true}},
		"github-denied.txt":       {eventtest.Denied(), ui.Options{Order: ui.Grouped, GitHub: true}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			expectGolden(t, name, plain(tt.events, tt.o))
		})
	}
}

func TestPlainGroupsAreNeverMixed(t *testing.T) {
	t.Parallel()
	script := uitest.AWS()
	for i := range script.Projects {
		script.Projects[i].Warns = "from " + script.Projects[i].Name + ".\nmore from " + script.Projects[i].Name + "."
	}
	project := ""
	seen := 0
	for line := range strings.Lines(plain(uitest.Play(script), ui.Options{Order: ui.Grouped})) {
		if _, name, found := strings.Cut(line, "("); found && strings.HasPrefix(line, "[") {
			project, _, _ = strings.Cut(name, ")")
		}
		if strings.Contains(line, "from ") {
			seen++
			if !strings.Contains(line, "from "+project+".") {
				t.Errorf("below %s stands %s", project, line)
			}
		}
	}
	if want := 2 * (len(script.Projects) - 1); seen != want { // kubeconfig has no resource to warn about
		t.Errorf("%d lines, want %d", seen, want)
	}
}

func TestGitHubObeysNoTextFromElsewhere(t *testing.T) {
	t.Parallel()
	const text = "first\n::set-output name=a::b\n  ::stop-commands::x\n##[error]no\n100% :: fine"
	events := eventtest.Failure()
	for i := range events {
		if events[i].Type == event.StepLog || events[i].Type == event.StepFinished {
			events[i].Message, events[i].Error, events[i].Reason = text, text, text
		}
	}
	events = append(events, event.Event{Type: event.RunWarning, Message: text})
	got := plain(events, ui.Options{Order: ui.Grouped, GitHub: true})
	for line := range strings.Lines(got) {
		command, found := strings.CutPrefix(strings.TrimLeft(line, " \t"), "::")
		if found && !regexp.MustCompile(`^(group|endgroup|error|warning)[: ]`).MatchString(command) {
			t.Errorf("GitHub would obey %s", line)
		}
		if strings.Contains(line, "##[") && !found {
			t.Errorf("GitHub would obey %s", line)
		}
	}
	if !strings.Contains(got, "100%25 :: fine") || !strings.Contains(got, "100% :: fine") {
		t.Errorf("the text has changed:\n%s", got)
	}
}

func TestPlainKeepsAlive(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	ticks := make(chan time.Time)
	p := ui.NewPlain(&b, ui.Options{Ticks: ticks})
	events := uitest.Play(uitest.AWS())
	for _, e := range events[:9] {
		p.Emit(e)
	}
	said := b.Len()
	for i := range 95 {
		early := time.Duration(i) * 100 * time.Microsecond // as a ticker may be
		ticks <- uitest.Began.Add(time.Duration(i+1)*time.Second + time.Millisecond*10 - early)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	want := "still running after 31s: aws-vpc 31s (creating Vpc main), kic-image-build 31s (creating Image nginx-ingress)\n" +
		"still running after 1m01s: aws-vpc 1m01s (creating Vpc main), kic-image-build 1m01s (creating Image nginx-ingress)\n" +
		"still running after 1m31s: aws-vpc 1m31s (creating Vpc main), kic-image-build 1m31s (creating Image nginx-ingress)\n"
	if got := b.String()[said:]; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestPlainKeepsQuietWhenNothingRuns(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	ticks := make(chan time.Time)
	p := ui.NewPlain(&b, ui.Options{Ticks: ticks})
	for _, e := range eventtest.Success() {
		p.Emit(e)
	}
	for at := time.Duration(0); at < time.Hour; at += time.Minute {
		ticks <- uitest.Began.Add(at)
	}
	for range 2 {
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if strings.Contains(b.String(), "still running") {
		t.Errorf("something still runs after the end:\n%s", b.String())
	}
}

// TestPlainOfFleets: skipped environments are counted, with a few names; the table has why an environment failed.
func TestPlainOfFleets(t *testing.T) {
	t.Parallel()
	begin := event.Event{Type: event.RunStarted, Operation: "up", Provider: "fleet", Stack: "fleet", Fleet: true, Projects: []event.Project{{Name: "bad", Title: "Wave prod"}}}
	for _, name := range strings.Fields("a b c d e f g h i j k l") {
		begin.Excluded = append(begin.Excluded, event.Exclusion{Name: name, Reason: "done in x"})
	}
	begin.Excluded = append(begin.Excluded, event.Exclusion{Name: event.WavePrefix + "test", Reason: "done in x"})
	text := plain([]event.Event{
		begin, {Type: event.StepStarted, Project: "bad"},
		{Type: event.StepFinished, Project: "bad", Result: event.Failed, Error: "shop: hook smoke: exit status 7\nmore"},
		{Type: event.RunFinished, Result: event.Failed},
	}, ui.Options{})
	for _, want := range []string{"left out: a, b, c, d, e, f, g, h, i and 3 more (done in x)", "12 left out"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if !regexp.MustCompile(`(?m)^bad +failed .* shop: hook smoke: exit status 7 more$`).MatchString(text) {
		t.Errorf("no reason in\n%s", text)
	}
}

// TestPlainOfWaves: the end of a wave is a row of the table only if it says more than that the wave is over.
func TestPlainOfWaves(t *testing.T) {
	t.Parallel()
	const wave = event.WavePrefix + "test"
	for reason, shown := range map[string]bool{event.WaveDone: false, event.WaveUnwaited: false, "eu failed": true} {
		text := plain([]event.Event{
			{Type: event.RunStarted, Operation: "up", Provider: "fleet", Stack: "fleet", Fleet: true,
				Projects: []event.Project{{Name: "eu", Title: "Wave test"}, {Name: wave, Title: "End of wave test"}}},
			{Type: event.StepStarted, Project: "eu"},
			{Type: event.StepFinished, Project: "eu", Result: event.Succeeded},
			{Type: event.StepFinished, Project: wave, Result: event.Skipped, Reason: reason},
			{Type: event.RunFinished, Result: event.Succeeded},
		}, ui.Options{})
		_, table, _ := strings.Cut(text, "RESULT")
		if got := strings.Contains(table, wave); got != shown {
			t.Errorf("%s: a row %t, want %t:\n%s", reason, got, shown, text)
		}
	}
}
