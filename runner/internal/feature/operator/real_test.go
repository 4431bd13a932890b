package operator_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"mara/runner/internal/feature/operator"
	"mara/runner/internal/testing/kubetest"
)

// TestRealAPIServer applies the exports to a real API server, with kubectl as their
// README says, and follows and deletes them there. The test stands for the operator: it
// writes their status, and takes their finalizers away.
func TestRealAPIServer(t *testing.T) {
	t.Parallel()
	crds := os.Getenv(definitions)
	if crds == "" {
		t.Skipf("%s does not name the operator's definitions", definitions)
	}
	c := kubetest.Start(t)
	c.Kubectl("apply", "--server-side", "-f", crds)
	c.Establish()
	for name, o := range options() {
		dir := filepath.Join(c.Dir, name)
		for file, content := range files(t, o) {
			path := filepath.Join(dir, file)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, content, 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		c.Kubectl("apply", "--server-side", "-f", filepath.Join(dir, "namespace.yaml"))
		c.Kubectl("apply", "--server-side", "--force-conflicts", "-k", dir)
	}
	c.Kubectl("-n", "envs", "delete", "stacks", "--all")
	c.Kubectl("apply", "--server-side", "--force-conflicts", "-k", filepath.Join(c.Dir, "all"))
	content, err := os.ReadFile(c.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	stacks, err := operator.Connect(content, nil, "envs", "dev")
	if err != nil {
		t.Fatal(err)
	}
	states, err := stacks.List(t.Context())
	if err != nil || len(states) != 4 || states[0].Name != "dev-linode-lke" || states[0].Phase != operator.Unseen || !states[0].Previews || states[3].Needs[0] != "dev-shop" {
		t.Fatalf("states %+v, error %v", states, err)
	}
	stand := standIn{t: t, Cluster: stacks}
	w := operator.Watcher{Cluster: stacks, Tell: func(operator.State) {}, Sleep: stand.work}
	if err := w.Adopt(t.Context()); err != nil {
		t.Fatal(err)
	}
	if states, err := stacks.List(t.Context()); err != nil || slices.ContainsFunc(states, func(s operator.State) bool { return s.Phase != operator.Ready || s.Previews || !s.Destroys }) {
		t.Fatalf("states %+v, error %v", states, err)
	}
	if err := w.Delete(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := []string{"dev-a-project-with-quite-a-long-nam", "dev-shop", "dev-kubeconfig", "dev-linode-lke"}; !slices.EqualFunc(want, stand.gone, func(want, got string) bool { return strings.HasPrefix(got, want) }) {
		t.Errorf("gone: %q", stand.gone)
	}
}

// standIn does for Stacks what an operator does whose programs always succeed.
type standIn struct {
	operator.Cluster
	t    *testing.T
	gone []string
}

const finalizer = "finalizer.stack.pulumi.com"

// work looks at all Stacks once.
func (s *standIn) work(ctx context.Context, _ time.Duration) error {
	list, err := s.Stacks.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, stack := range list.Items {
		name := stack.GetName()
		if stack.GetDeletionTimestamp() != nil {
			s.gone = append(s.gone, name)
			if err := s.patch(ctx, name, `{"metadata":{"finalizers":null}}`); err != nil {
				return err
			}
			continue
		}
		status := fmt.Sprintf(`{"status":{"observedGeneration":%d,"lastUpdate":{"state":"succeeded","lastResyncTime":%q},"conditions":[`+
			`{"type":"Ready","status":"True","reason":"ProcessingCompleted","message":"","lastTransitionTime":%q}]}}`,
			stack.GetGeneration(), time.Now().UTC().Format(time.RFC3339), time.Now().UTC().Format(time.RFC3339))
		if err := errors.Join(s.patch(ctx, name, `{"metadata":{"finalizers":["`+finalizer+`"]}}`), s.patch(ctx, name, status, "status")); err != nil {
			return err
		}
	}
	return nil
}

func (s *standIn) patch(ctx context.Context, name, patch string, part ...string) error {
	_, err := s.Stacks.Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, part...)
	return err
}
