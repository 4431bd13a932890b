package executor_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/executor"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/machine/interrupt"
)

var errThrottled = errors.New("too many requests")

// script is an operator that ends its n-th attempt as the n-th entry says.
type script struct {
	endings []ending
	calls   int
}

func (s *script) Operate(context.Context, plan.Step, func(event.Event)) (executor.Outcome, error) {
	s.calls++
	return s.endings[s.calls-1].out, s.endings[s.calls-1].err
}

// throttled retries after errThrottled: after 1s, 2s, 4s.
func throttled() executor.Retry {
	return executor.Retry{Max: 3, Backoff: time.Second, Transient: func(err error) bool { return errors.Is(err, errThrottled) }}
}

func TestRetry(t *testing.T) {
	t.Parallel()
	passing := ending{err: fmt.Errorf("creating: %w", errThrottled)}
	tests := map[string]struct {
		endings []ending
		retry   executor.Retry
		want    string
		took    time.Duration
		calls   int
	}{
		"not needed":       {endings: []ending{{}}, retry: throttled(), want: "a succeeded", calls: 1},
		"helps":            {endings: []ending{passing, passing, {}}, retry: throttled(), want: "a succeeded", calls: 3, took: 3 * time.Second},
		"does not help":    {endings: []ending{passing, passing, passing, passing}, retry: throttled(), want: "a failed", calls: 4, took: 7 * time.Second},
		"not transient":    {endings: []ending{{err: errors.New("no")}}, retry: throttled(), want: "a failed", calls: 1},
		"no longer":        {endings: []ending{passing, {err: errors.New("no")}}, retry: throttled(), want: "a failed", calls: 2, took: time.Second},
		"nothing to do":    {endings: []ending{passing, {out: executor.Outcome{Skipped: "unchanged"}}}, retry: throttled(), want: "a skipped: unchanged", calls: 2, took: time.Second},
		"off":              {endings: []ending{passing}, want: "a failed", calls: 1},
		"none transient":   {endings: []ending{passing}, retry: executor.Retry{Max: 3}, want: "a failed", calls: 1},
		"without a wait":   {endings: []ending{passing, {}}, retry: executor.Retry{Max: 1, Transient: throttled().Transient}, want: "a succeeded", calls: 2},
		"negative is none": {endings: []ending{passing}, retry: executor.Retry{Max: -1, Transient: throttled().Transient}, want: "a failed", calls: 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				op := &script{endings: tt.endings}
				r, err := executor.Run(t.Context(), executor.Options{Plan: planOf("a"), Operation: operation.Up, Operator: op, Retry: tt.retry})
				expectLines(t, r, tt.want)
				if op.calls != tt.calls || r.Steps[0].Attempts != tt.calls || r.Duration != tt.took {
					t.Errorf("%d calls, %d attempts in %v; want %d in %v", op.calls, r.Steps[0].Attempts, r.Duration, tt.calls, tt.took)
				}
				if last := tt.endings[tt.calls-1].err; !errors.Is(err, last) && last != nil {
					t.Errorf("got %v, want the last error", err)
				}
			})
		})
	}
}

func TestRetryEvents(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		op := &script{endings: []ending{
			{out: executor.Outcome{Changes: event.Changes{Create: 3, Same: 1}}, err: errThrottled},
			{out: executor.Outcome{Changes: event.Changes{Create: 2, Same: 4}}},
		}}
		h := begin(t.Context(), t, planOf("a"), func(o *executor.Options) { o.Operator, o.Retry = op, throttled() })
		time.Sleep(2 * time.Second)
		if _, err := h.wait(); err != nil {
			t.Fatal(err)
		}
		want := []event.Event{
			{Type: event.StepStarted, Project: "a", Title: "A"},
			{Type: event.StepRetrying, Project: "a", Title: "A", Error: "too many requests", Attempt: 2, WaitMS: 1000},
			{Type: event.StepFinished, Project: "a", Title: "A", Result: event.Succeeded, Attempt: 2, DurationMS: 1000,
				Changes: &event.Changes{Create: 5, Same: 1}}, // what was created first is not the same as before
		}
		if diff := cmp.Diff(want, h.events[1:len(h.events)-1]); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// TestWaitForOthers: what others have locked is tried again until they end, beside
// the attempts that --retry allows.
func TestWaitForOthers(t *testing.T) {
	t.Parallel()
	errLocked := errors.New("the stack is locked")
	locked := ending{err: fmt.Errorf("running up: %w", errLocked)}
	for name, test := range map[string]struct {
		endings []ending
		wait    time.Duration
		want    string
		took    time.Duration
	}{
		"no wait":       {endings: []ending{locked}, want: "a failed"},
		"in time":       {endings: []ending{locked, locked, {}}, wait: time.Minute, want: "a succeeded", took: 10 * time.Second},
		"too long":      {endings: []ending{locked, locked, locked}, wait: 7 * time.Second, want: "a failed", took: 7 * time.Second},
		"and throttled": {endings: []ending{locked, {err: errThrottled}, locked, {}}, wait: time.Minute, want: "a succeeded", took: 11 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				op, retry, waits := &script{endings: test.endings}, throttled(), 0
				retry.Locked, retry.LockWait = func(err error) bool { return errors.Is(err, errLocked) }, test.wait
				r, err := executor.Run(t.Context(), executor.Options{Plan: planOf("a"), Operation: operation.Up, Operator: op, Retry: retry, Emit: func(e event.Event) {
					if e.Type == event.StepLog && strings.HasPrefix(e.Message, "waiting up to "+test.wait.String()+": running up: the stack is locked") {
						waits++
					}
				}})
				expectLines(t, r, test.want)
				if op.calls != len(test.endings) || r.Duration != test.took || (waits == 1) != (test.wait > 0) {
					t.Errorf("%d calls in %v, %d waits, %v", op.calls, r.Duration, waits, err)
				}
			})
		})
	}
}

func TestBackoffDoublesUpToAMax(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		backoff time.Duration
		want    []time.Duration
	}{
		"doubles":       {backoff: 20 * time.Second, want: []time.Duration{20 * time.Second, 40 * time.Second, 80 * time.Second, 2 * time.Minute, 2 * time.Minute}},
		"long as asked": {backoff: time.Hour, want: []time.Duration{time.Hour, time.Hour}},
		"negative":      {backoff: -time.Second, want: []time.Duration{0, 0}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				op := operatorFunc(func(context.Context, plan.Step, func(event.Event)) (executor.Outcome, error) {
					return executor.Outcome{}, errThrottled
				})
				retry := throttled()
				retry.Max, retry.Backoff = len(tt.want), tt.backoff
				var got []time.Duration
				_, err := executor.Run(t.Context(), executor.Options{Plan: planOf("a"), Operation: operation.Up, Operator: op, Retry: retry,
					Emit: func(e event.Event) {
						if e.Type == event.StepRetrying {
							got = append(got, e.Wait())
						}
					}})
				if diff := cmp.Diff(tt.want, got); diff != "" || err == nil {
					t.Errorf("%v (-want +got):\n%s", err, diff)
				}
			})
		})
	}
}

func TestStopEndsTheWaitForARetry(t *testing.T) {
	repeated(t, func(t *testing.T) {
		h := begin(t.Context(), t, planOf("a", "b: a"), func(o *executor.Options) { o.Retry = throttled() })
		h.finish("a", ending{err: errThrottled})
		h.expectRunning()
		close(h.stop)
		r, err := h.wait()
		expectLines(t, r, "a cancelled: interrupted", "b cancelled: interrupted")
		if r.Steps[0].Attempts != 1 || !errors.Is(r.Steps[0].Err, errThrottled) || !errors.Is(err, interrupt.ErrInterrupted) || r.Duration != 0 {
			t.Errorf("got %+v, %v after %v", r.Steps[0], err, r.Duration)
		}
	})
}

func TestCancelEndsTheWaitForARetry(t *testing.T) {
	repeated(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		h := begin(ctx, t, planOf("a"), func(o *executor.Options) { o.Retry = throttled() })
		h.finish("a", ending{err: errThrottled})
		h.expectRunning()
		cancel()
		r, err := h.wait()
		expectLines(t, r, "a cancelled: interrupted")
		if !errors.Is(err, interrupt.ErrInterrupted) || r.Duration != 0 {
			t.Errorf("got %v after %v", err, r.Duration)
		}
	})
}

func TestCancelledOperationIsNotRetried(t *testing.T) {
	repeated(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		calls := 0
		h := begin(ctx, t, planOf("a"), func(o *executor.Options) {
			o.Retry = throttled()
			o.Operator = operatorFunc(func(ctx context.Context, _ plan.Step, _ func(event.Event)) (executor.Outcome, error) {
				calls++
				<-ctx.Done()
				return executor.Outcome{}, errThrottled
			})
		})
		synctest.Wait()
		cancel()
		r, _ := h.wait()
		expectLines(t, r, "a cancelled: interrupted")
		if calls != 1 {
			t.Errorf("%d calls", calls)
		}
		for _, e := range h.events {
			if e.Type == event.StepRetrying {
				t.Error("said that it tries again")
			}
		}
	})
}

func TestOtherFailuresDoNotEndARetry(t *testing.T) {
	repeated(t, func(t *testing.T) {
		h := begin(t.Context(), t, planOf("a", "b", "c: a"), func(o *executor.Options) { o.Retry = throttled() })
		h.finish("a", ending{err: errThrottled})
		h.fail("b")
		time.Sleep(time.Second)
		h.succeed("a")
		r, _ := h.wait()
		expectLines(t, r, "a succeeded", "b failed", "c skipped: stopped after b failed")
	})
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		timeout  time.Duration
		timeouts map[string]time.Duration
		takes    time.Duration
		err      string        // what the operator says when it is cancelled; "" means the cause
		ends     time.Duration // that it takes after it was cancelled
		want     string
		message  string
		took     time.Duration
	}{
		"in time":   {timeout: time.Minute, takes: 59 * time.Second, want: "a succeeded", took: 59 * time.Second},
		"too late":  {timeout: time.Minute, takes: time.Hour, want: "a failed: timed out after 1m00s", message: "up a: timed out after 1m00s", took: time.Minute},
		"in words":  {timeout: time.Minute, takes: time.Hour, err: "exit status 1", want: "a failed: timed out after 1m00s", message: "up a: timed out after 1m00s: exit status 1", took: time.Minute},
		"own limit": {timeout: time.Hour, timeouts: map[string]time.Duration{"a": time.Second}, takes: time.Minute, want: "a failed: timed out after 1.0s", message: "up a: timed out after 1.0s", took: time.Second},
		"is finished": {timeout: time.Minute, takes: time.Hour, ends: 25 * time.Second,
			want:    "a failed: timed out after 1m00s, and ended 25.0s later: what had begun was finished first",
			message: "up a: timed out after 1m00s", took: 85 * time.Second},
		"of another":  {timeouts: map[string]time.Duration{"b": time.Second}, takes: time.Hour, want: "a succeeded", took: time.Hour},
		"own is none": {timeout: time.Second, timeouts: map[string]time.Duration{"a": 0}, takes: time.Hour, want: "a succeeded", took: time.Hour},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				op := operatorFunc(func(ctx context.Context, _ plan.Step, _ func(event.Event)) (executor.Outcome, error) {
					select {
					case <-time.After(tt.takes):
						return executor.Outcome{}, nil
					case <-ctx.Done():
						time.Sleep(tt.ends)
						err := context.Cause(ctx)
						if tt.err != "" {
							err = errors.New(tt.err)
						}
						return executor.Outcome{Changes: event.Changes{Create: 1}}, err
					}
				})
				r, err := executor.Run(t.Context(), executor.Options{
					Plan: planOf("a"), Operation: operation.Up, Operator: op, Timeout: tt.timeout, Timeouts: tt.timeouts,
				})
				expectLines(t, r, tt.want)
				if got := fmt.Sprint(err); err != nil && got != tt.message || err == nil && tt.message != "" || r.Duration != tt.took {
					t.Errorf("got %v after %v, want %s after %v", err, r.Duration, tt.message, tt.took)
				}
				var late *executor.TimeoutError
				if errors.As(err, &late) != (tt.message != "") {
					t.Errorf("%v is a TimeoutError: %t", err, late != nil)
				}
			})
		})
	}
}

func TestTimeoutCoversAttemptsAndWaits(t *testing.T) {
	repeated(t, func(t *testing.T) {
		retry := throttled()
		retry.Max = 10
		h := begin(t.Context(), t, planOf("a", "b: a"), func(o *executor.Options) { o.Retry, o.Timeout = retry, 5*time.Second })
		h.finish("a", ending{err: errThrottled})
		time.Sleep(time.Second)
		h.finish("a", ending{err: errThrottled})
		time.Sleep(2 * time.Second)
		h.finish("a", ending{err: errThrottled})
		time.Sleep(2 * time.Second) // in the wait of four seconds
		r, err := h.wait()
		expectLines(t, r, "a failed: timed out after 5.0s", "b skipped: a failed <- a")
		if want := "up a: timed out after 5.0s: too many requests"; err == nil || err.Error() != want || r.Steps[0].Attempts != 3 {
			t.Errorf("got %v in %d attempts", err, r.Steps[0].Attempts)
		}
	})
}

func TestTimeoutCoversHooks(t *testing.T) {
	repeated(t, func(t *testing.T) {
		h := begin(t.Context(), t, planOf("a!"), func(o *executor.Options) {
			o.Timeout = time.Minute
			o.Hook = func(ctx context.Context, _ executor.HookCall, _ func(event.Event)) error {
				<-ctx.Done()
				return context.Cause(ctx)
			}
		})
		h.succeed("a")
		time.Sleep(time.Minute)
		r, err := h.wait()
		expectLines(t, r, "a failed: timed out after 1m00s")
		if want := "up a: hook kubeconfig: timed out after 1m00s"; err == nil || err.Error() != want {
			t.Errorf("got %v", err)
		}
	})
}

// TestInterruptedBeforeOrAfterTheTimeout holds that what came first counts.
func TestInterruptedBeforeOrAfterTheTimeout(t *testing.T) {
	repeated(t, func(t *testing.T) {
		for _, early := range []bool{true, false} {
			ctx, cancel := context.WithCancel(t.Context())
			h := begin(ctx, t, planOf("a"), func(o *executor.Options) {
				o.Timeout = time.Minute
				o.Operator = operatorFunc(func(ctx context.Context, _ plan.Step, _ func(event.Event)) (executor.Outcome, error) {
					<-ctx.Done()
					time.Sleep(10 * time.Second) // to stop takes time
					return executor.Outcome{}, errors.New("exit status 1")
				})
			})
			time.Sleep(55 * time.Second)
			if !early {
				time.Sleep(10 * time.Second)
			}
			cancel()
			time.Sleep(20 * time.Second)
			r, _ := h.wait()
			if early {
				expectLines(t, r, "a cancelled: interrupted")
			} else {
				expectLines(t, r, "a failed: timed out after 1m00s, and ended 10.0s later: what had begun was finished first")
			}
		}
	})
}

func TestTimeoutOfOneLeavesTheOthersAlone(t *testing.T) {
	repeated(t, func(t *testing.T) {
		h := begin(t.Context(), t, planOf("a", "b", "c"), func(o *executor.Options) {
			o.OnError, o.Timeouts = executor.Continue, map[string]time.Duration{"a": time.Second}
		})
		h.expectRunning("a", "b")
		time.Sleep(time.Second)
		h.expectRunning("b", "c")
		h.succeed("b")
		h.succeed("c")
		r, _ := h.wait()
		expectLines(t, r, "a failed: timed out after 1.0s", "b succeeded", "c succeeded")
		if got := r.Steps[0].Changes.Create; got != 1 {
			t.Errorf("what was done until then is lost: %d", got)
		}
	})
}
