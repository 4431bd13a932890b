package operate

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"mara/projects/model/cloud"
	"mara/runner/internal/core/event"
)

// TestSilence: the cloud is asked while a project says nothing, and each reason why it does not answer is said once. A
// cloud that answers, or refuses for good, is no reason: the provider says so itself.
func TestSilence(t *testing.T) {
	t.Parallel()
	throttled := &cloud.Error{Text: "Linode refuses: Too Many Requests (429)", Unsure: true}
	failed := &cloud.Error{Text: "Linode failed: Internal Server Error (500)", Unsure: true}
	const more = "; its provider tries again until it answers, and says nothing"
	for _, test := range []struct {
		name    string
		project string
		answers []error
		quiet   time.Duration // between two events of the project
		asked   int32
		want    []string
	}{
		{"throttled, and throttled again, and failing", "lke", []error{throttled, throttled, failed}, 100 * time.Second, 3, []string{throttled.Text + more, failed.Text + more}},
		{"fine", "lke", []error{nil, nil, nil}, 100 * time.Second, 3, nil},
		{"refused", "lke", []error{&cloud.Error{Text: "refused"}, errors.New("odd"), nil}, 100 * time.Second, 3, nil},
		{"busy", "lke", nil, 20 * time.Second, 0, nil},
		{"a project of another plugin", "secrets", nil, 100 * time.Second, 0, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var asked atomic.Int32
				w := cloudWatch{projects: []string{"lke"}, ask: func(context.Context) error {
					return test.answers[asked.Add(1)-1]
				}}
				var said []string
				var passed int
				emit, end := w.follow(t.Context(), test.project, func(e event.Event) {
					if e.Type != event.StepLog {
						passed++
						return
					}
					if e.Severity != event.Warning {
						t.Errorf("severity %s", e.Severity)
					}
					said = append(said, e.Message)
				})
				for range 100 * time.Second / test.quiet {
					time.Sleep(test.quiet)
					synctest.Wait()
					emit(event.Event{Type: event.StepProgress})
				}
				end()
				if diff := cmp.Diff(test.want, said); diff != "" || asked.Load() != test.asked || passed != int(100*time.Second/test.quiet) {
					t.Errorf("asked %d times, passed %d events on: %s", asked.Load(), passed, diff)
				}
			})
		})
	}
}
