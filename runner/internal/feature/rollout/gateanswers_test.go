package rollout

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"mara/config"
	"mara/projects/model/operation"
	"mara/providers"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/fleet"
	"mara/runner/internal/core/journal"
	"mara/runner/internal/machine/interrupt"
)

// addRun writes a run of the environment dev, n seconds after the others.
func (r *rollout) addRun(t *testing.T, n int, op operation.Operation, selection []string, outputs journal.Outputs) {
	t.Helper()
	j, err := journal.Create(journal.Options{
		Dir: r.Directory().Runs(), ID: journal.NewID(time.Unix(int64(n), 0)),
		Meta: journal.Meta{
			Operation: op, Environment: journal.Environment{Provider: "own", Stack: "dev"}, Selection: selection,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	err = j.KeepOutputs(outputs)
	if err := errors.Join(err, j.Close()); err != nil {
		t.Fatal(err)
	}
}

func newAnswering(t *testing.T) *rollout {
	t.Helper()
	r := &rollout{stop: make(chan struct{})}
	r.BuiltIn = providers.Catalogue()
	r.Root = t.TempDir()
	r.Sources = config.Sources{}
	return r
}

// TestAnswersFindsAddresses: the gate asks what looks like an address or is named, and fails where there is none.
func TestAnswersFindsAddresses(t *testing.T) {
	t.Parallel()
	const none = "none of its outputs is an address to ask"
	for name, test := range map[string]struct {
		outputs journal.Outputs
		named   []string
		want    string
	}{
		"by the name": {
			journal.Outputs{"web": {"websiteUrl": "https://w", "appURL": "http://a", "endpoint": "https://e"}}, nil,
			"http://a https://e https://w",
		},
		"other names": {journal.Outputs{"web": {"docs": "https://w"}}, nil, none},
		"no address": {
			journal.Outputs{"web": {"url": "[secret]", "repository_url": "1.dkr.ecr/x", "base_url": 3}}, nil, none,
		},
		"in the cluster": {
			journal.Outputs{"web": {"url": "http://a.b.svc:9090", "other_url": "http://a.b.svc.cluster.local"}}, nil, none,
		},
		"of the catalogue": {
			journal.Outputs{
				"bank-of-anthos": {"application_url": "https://bank"}, "aws-eks": {"cluster_endpoint": "https://eks"},
			}, nil, "https://bank",
		},
		"an API server": {journal.Outputs{"aws-eks": {"cluster_endpoint": "https://eks"}}, nil, none},
		"named": {
			journal.Outputs{"web": {"url": "https://w", "docs": "https://d"}, "aws-eks": {"cluster_endpoint": "https://eks"}},
			[]string{"*/docs", "aws-eks/cluster_endpoint"}, "https://d https://eks",
		},
		"named and missing": {
			journal.Outputs{"web": {"url": "https://w"}}, []string{"web/url", "shop/url"}, "no output shop/url is an address",
		},
		"nothing": {nil, nil, none},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, err := newAnswering(t).addresses(fleet.Gate{Outputs: test.named}, test.outputs)
			got := strings.Join(found, " ")
			if err != nil {
				got = err.Error()
			}
			if err == nil && got != test.want || err != nil && !strings.HasPrefix(got, test.want) {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// TestAnswersOfTheLastUps: the newest outputs of each project count, since the last up of all or a destroy.
func TestAnswersOfTheLastUps(t *testing.T) {
	t.Parallel()
	r := newAnswering(t)
	r.addRun(t, 1, operation.Up, nil, journal.Outputs{"old": {"url": "https://old"}})
	r.addRun(t, 2, operation.Destroy, nil, nil)
	r.addRun(t, 3, operation.Up, []string{"--only a"}, journal.Outputs{"a": {"url": "https://a3"}})
	r.addRun(t, 4, operation.Up, []string{"--only b"}, journal.Outputs{"b": {"url": "https://b4"}})
	r.addRun(t, 5, operation.Drift, nil, journal.Outputs{"b": {"url": "https://drift"}})
	outputs, err := r.lastOutputs("dev")
	if err != nil || len(outputs) != 2 || outputs["a"]["url"] != "https://a3" || outputs["b"]["url"] != "https://b4" {
		t.Errorf("%v, %v", outputs, err)
	}
	r.addRun(t, 6, operation.Up, nil, journal.Outputs{"b": {"url": "https://b6"}})
	if outputs, err := r.lastOutputs("dev"); err != nil || len(outputs) != 1 || outputs["b"]["url"] != "https://b6" {
		t.Errorf("%v, %v", outputs, err)
	}
}

// TestAnswersAsks: it tries again until the address answers, checks certificates, and ends with the rollout.
func TestAnswersAsks(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	r := newAnswering(t)
	r.addRun(t, 1, operation.Up, nil, journal.Outputs{"web": {"url": server.URL}})
	emit := func(event.Event) {}
	if err := r.answers(t.Context(), fleet.Gate{AnyCertificate: true}, "dev", emit); err != nil || asked.Load() != 2 {
		t.Errorf("%d requests, %v", asked.Load(), err)
	}
	err := r.answers(t.Context(), fleet.Gate{Within: time.Second}, "dev", emit)
	if err == nil || !strings.Contains(err.Error(), "does not answer: tls: failed to verify certificate") ||
		!strings.Contains(err.Error(), "certificates: any") {
		t.Errorf("with a certificate of its own: %v", err)
	}
	r.Simulation.On = true
	r.addRun(t, 2, operation.Up, nil, journal.Outputs{"web": {"url": server.URL}}) // elsewhere
	before := asked.Load()
	if err := r.answers(t.Context(), fleet.Gate{}, "dev", emit); err != nil || asked.Load() != before {
		t.Errorf("simulated: %v", err)
	}
	r.Simulation.On = false
	stop := make(chan struct{})
	close(stop)
	r.stop = stop
	if err := r.answers(context.Background(), fleet.Gate{}, "dev", emit); !errors.Is(err, interrupt.ErrInterrupted) {
		t.Errorf("interrupted: %v", err)
	}
}

// TestSkippedGates: a skipped gate is a warning, the others hold.
func TestSkippedGates(t *testing.T) {
	t.Parallel()
	r := newAnswering(t)
	r.Operation, r.o.SkipGates = operation.Up, []fleet.GateKind{fleet.AnswersGate}
	w := fleet.Wave{Name: "a", Gates: []fleet.Gate{{Kind: fleet.AnswersGate}, {Kind: fleet.AskGate, Text: "go on?"}}}
	r.plan.Waves = map[string]fleet.Wave{"wave:a": w, "dev": w}
	r.plan.Environments = map[string]fleet.Environment{"dev": {Stack: "dev"}}
	r.o.AtOnce = 1
	var warnings []string
	_, err := r.endWave(t.Context(), "wave:a", func(e event.Event) {
		if e.Type == event.RunWarning {
			warnings = append(warnings, e.Message)
		}
	})
	if err == nil || !strings.HasPrefix(err.Error(), "gate ask: ") &&
		!strings.HasPrefix(err.Error(), "gate a question: ") {
		t.Errorf("error %v", err)
	}
	if len(warnings) != 1 || warnings[0] != "gate answers of wave a is skipped by --skip-gate" {
		t.Errorf("warnings %q", warnings)
	}
}
