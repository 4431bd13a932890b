package hooks

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"mara/projects"
	"mara/projects/model"
	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/kube/examine"
	"mara/runner/internal/kube/kubeapi"
)

// TestEmptyCluster: a cluster with something left, or that cannot be asked, is not
// destroyed unless that is allowed; one that never came to be is.
func TestEmptyCluster(t *testing.T) {
	t.Parallel()
	cancelled := errors.New("interrupted")
	for _, test := range []struct {
		name          string
		outputs       map[string]any
		found         error
		wantErr, want string // what the error, and what is said, contain
		unasked       bool
		allowed       bool
	}{
		{name: "empty"},
		{name: "no kubeconfig", outputs: map[string]any{}, unasked: true},
		{name: "not a kubeconfig", outputs: map[string]any{"kubeconfig": "%"}, wantErr: "neither a kubeconfig nor base64", unasked: true},
		{
			name: "a volume left", found: &examine.LeftError{What: []string{"volume a of claim shop/data"}},
			wantErr: "would leave behind: volume a of claim shop/data. Delete these with kubectl and run the same command again; " +
				"or leave them behind, and pay for them, with --leave-behind",
		},
		{name: "no answer", found: &examine.UnknownError{Cause: errors.New("403 Forbidden")}, wantErr: "could not be listed: 403 Forbidden. Make the API server reachable"},
		{name: "no answer, allowed", found: &examine.UnknownError{Cause: errors.New("refused")}, allowed: true, want: "warning it could not be listed: refused; look"},
		{name: "a volume left, allowed", found: &examine.LeftError{What: []string{"volume a"}}, allowed: true, want: "volume a; look"},
		{name: "interrupted", found: cancelled, wantErr: "interrupted"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			outputs := test.outputs
			if outputs == nil {
				outputs = map[string]any{"kubeconfig": base64.StdEncoding.EncodeToString([]byte(clusterConfig))}
			}
			s := hookSession(t, outputs)
			s.LeaveBehind = test.allowed
			var said []string
			asked := false
			err := s.emptyCluster(t.Context(), "linode-lke", func(_ context.Context, _ *kubeapi.Cluster, say func(string)) error {
				asked = true
				say("waiting")
				return test.found
			}, func(e event.Event) { said = append(said, string(e.Severity)+" "+e.Message) })
			if (err != nil) != (test.wantErr != "") || (err != nil && !strings.Contains(err.Error(), test.wantErr)) {
				t.Errorf("error %v, want one with %q", err, test.wantErr)
			}
			if asked == test.unasked {
				t.Errorf("the cluster was asked: %v", asked)
			}
			if all := strings.Join(said, "\n"); !strings.Contains(strings.ReplaceAll(all, "the load balancers and volumes of the cluster", "it"), test.want) {
				t.Errorf("said %q, want %q", all, test.want)
			}
			if masked := s.Masker.Mask(clusterToken); asked && strings.Contains(masked, clusterToken) {
				t.Errorf("the token is not known to the masker: %s", masked)
			}
		})
	}
}

// revivals are the clusters whose nodes were started.
type revivals []string

func (*revivals) Run(context.Context, Machine, string) (bool, error) { return false, nil }

func (r *revivals) Revive(_ context.Context, _ Machine, cluster, uid string, _ func(string)) error {
	*r = append(*r, cluster+" "+uid)
	return nil
}

// TestStoppedNodesAreStarted: what is in a cluster on this machine can only be
// changed while its nodes run. They are started once.
func TestStoppedNodesAreStarted(t *testing.T) {
	t.Parallel()
	const started = "mara-dev uid-1"
	for _, test := range []struct {
		name, uid, project string
		op                 operation.Operation
		forget, simulated  bool
		want               string
	}{
		{name: "destroy", uid: "uid-1", project: "bank-of-anthos", op: operation.Destroy, want: started},
		{name: "up", uid: "uid-1", project: "bank-of-anthos", op: operation.Up, want: started},
		{name: "up of the cluster", uid: "uid-1", project: "linode-lke", op: operation.Up, want: started},
		{name: "up of what is not deployed", uid: "uid-1", project: "certmgr", op: operation.Up, want: started},
		{name: "simulated", uid: "uid-1", project: "bank-of-anthos", op: operation.Up, simulated: true},
		{name: "preview", uid: "uid-1", project: "bank-of-anthos", op: operation.Preview},
		{name: "destroy of the cluster", uid: "uid-1", project: "linode-lke", op: operation.Destroy},
		{name: "forget", uid: "uid-1", project: "bank-of-anthos", op: operation.Destroy, forget: true},
		{name: "what is not deployed", uid: "uid-1", project: "certmgr", op: operation.Destroy},
		{name: "no cluster", project: "bank-of-anthos", op: operation.Destroy},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := hookSession(t, map[string]any{"cluster_name": "mara-dev", "cluster_uid": test.uid})
			s.Provider.Local, s.Provider.ClusterProject, s.Simulated = true, "linode-lke", test.simulated
			var revived revivals
			s.Nodes = &revived
			before := s.Before(test.op, test.forget)
			for range 2 {
				step := plan.Step{Project: model.Project{Name: test.project}}
				if err := before(t.Context(), step, func(event.Event) {}); err != nil {
					t.Error(err)
				}
			}
			if got := strings.Join(revived, "\n"); got != test.want {
				t.Errorf("revived %q, want %q", got, test.want)
			}
		})
	}
}

// TestOnlyAClusterIsEmptiedFirst: the session has no stacks that could be asked.
func TestOnlyAClusterIsEmptiedFirst(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		operation         operation.Operation
		simulated, forget bool
	}{
		"up":                {operation: operation.Up},
		"a simulation":      {operation: operation.Destroy, simulated: true},
		"what is forgotten": {operation: operation.Destroy, forget: true},
	} {
		s := Hooks{Simulated: test.simulated}
		if err := s.Before(test.operation, test.forget)(t.Context(), plan.Step{Project: projects.LinodeLKE()}, nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	s := Hooks{}
	if err := s.Before(operation.Destroy, false)(t.Context(), plan.Step{Project: projects.KindCluster()}, nil); err != nil {
		t.Errorf("kind: %v", err)
	}
}
