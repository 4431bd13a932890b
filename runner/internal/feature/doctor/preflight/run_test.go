package preflight

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func said(text string) Look { return func(context.Context) []Finding { return Good(text) } }

// TestRunKeepsTheOrder however long each check takes, and has them look at once.
func TestRunKeepsTheOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var checks []Check
		for i := range atOnce {
			checks = append(checks, Check{Name: string(rune('a' + i)), Look: func(context.Context) []Finding {
				time.Sleep(time.Duration(atOnce-i) * time.Second / 4)
				return Good("")
			}})
		}
		began := time.Now()
		report, err := Run(t.Context(), checks)
		if err != nil || time.Since(began) != atOnce*time.Second/4 {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		names := ""
		for _, result := range report.Results {
			names += result.Name
		}
		if names != "abcdefgh" {
			t.Errorf("got %s", names)
		}
	})
}

// TestRunBounds how many checks look at the same time.
func TestRunBounds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		now, most := 0, 0
		look := func(context.Context) []Finding {
			mu.Lock()
			now++
			most = max(most, now)
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			now--
			mu.Unlock()
			return nil
		}
		checks := make([]Check, 3*atOnce)
		for i := range checks {
			checks[i].Look = look
		}
		if _, err := Run(t.Context(), checks); err != nil || most != atOnce {
			t.Errorf("%d at once: %v", most, err)
		}
	})
}

// TestRunDoesNotWaitForEver for a check that does not come back: the others
// still tell what they have found.
func TestRunDoesNotWaitForEver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dead := make(chan struct{})
		defer close(dead)
		began := time.Now()
		report, err := Run(t.Context(), []Check{
			{Name: "dead", Limit: 2 * time.Second, Look: func(context.Context) []Finding { <-dead; return nil }},
			{Name: "slow", Look: func(ctx context.Context) []Finding { <-ctx.Done(); <-dead; return nil }},
			{Name: "good", Look: said("here")},
		})
		want := []Result{
			{Name: "dead", Status: Warning, Findings: Doubtful("no answer within 2s", "try again; if that does not help, look at the network")},
			{Name: "slow", Status: Warning, Findings: Doubtful("no answer within 5s", "try again; if that does not help, look at the network")},
			{Name: "good", Status: OK, Findings: Good("here")},
		}
		if diff := cmp.Diff(want, report.Results); diff != "" || err != nil {
			t.Errorf("%v %s", err, diff)
		}
		if took := time.Since(began); took != DefaultLimit {
			t.Errorf("took %s", took)
		}
	})
}

// TestRunIsInterrupted: there is no report then, and the cause is the error.
func TestRunIsInterrupted(t *testing.T) {
	t.Parallel()
	cause := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(t.Context())
	checks := []Check{{Look: func(ctx context.Context) []Finding {
		cancel(cause)
		<-ctx.Done()
		return nil
	}}}
	for range 2 * atOnce {
		checks = append(checks, Check{Look: said("")})
	}
	if report, err := Run(ctx, checks); !errors.Is(err, cause) || len(report.Results) > 0 {
		t.Errorf("got %v, %v", report, err)
	}
}

func TestOptional(t *testing.T) {
	t.Parallel()
	mixed := []Finding{{Problem, "a", "b", "", ""}, {Status: OK, Text: "c"}, {Status: Skipped}, {Status: Warning}}
	check := Optional(Check{Name: "x", Look: func(context.Context) []Finding { return mixed }})
	want := []Finding{{Warning, "a", "b", "", ""}, {Status: OK, Text: "c"}, {Status: Skipped}, {Status: Warning}}
	if diff := cmp.Diff(want, check.Look(t.Context())); diff != "" {
		t.Error(diff)
	}
}
