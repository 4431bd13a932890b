package operator_test

import (
	"context"
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"mara/runner/internal/feature/operator"
	"mara/runner/internal/testing/pkotest"
)

// shaky is an API server that fails for the first requests.
type shaky struct {
	dynamic.ResourceInterface
	failures int
	with     error
}

func (s *shaky) fails() bool {
	s.failures--
	return s.failures >= 0
}

func (s *shaky) List(ctx context.Context, o metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	if s.fails() {
		return nil, s.with
	}
	return s.ResourceInterface.List(ctx, o)
}

func (s *shaky) Delete(ctx context.Context, name string, o metav1.DeleteOptions, sub ...string) error {
	if s.fails() {
		return s.with
	}
	return s.ResourceInterface.Delete(ctx, name, o, sub...)
}

// TestShakyServer: requests that fail end no wait and no deletion half way; refusals do
// at once.
func TestShakyServer(t *testing.T) {
	t.Parallel()
	refused := apierrors.NewForbidden(operator.StackResource.GroupResource(), "", errors.New("no"))
	for _, test := range []struct {
		name     string
		failures int
		with     error
		ok       bool
	}{
		{"no answer", 3, errors.New("connection refused"), true},
		{"not at the moment", 3, apierrors.NewServiceUnavailable("later"), true},
		{"too many requests", 3, apierrors.NewTooManyRequests("later", 1), true},
		{"never an answer", 1000, errors.New("connection refused"), false},
		{"refusal", 1, refused, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			stacks := exported(t, "kind")
			o := pkotest.New(took)
			o.Apply(stacks...)
			pass(o, stacks)
			w, _ := watch(t, o)
			server := &shaky{ResourceInterface: w.Stacks, failures: test.failures, with: test.with}
			w.Stacks = server
			if err := w.Wait(t.Context()); (err == nil) != test.ok || err != nil && !errors.Is(err, test.with) {
				t.Errorf("wait: %v", err)
			}
			server.failures = test.failures
			if err := w.Delete(t.Context()); (err == nil) != test.ok {
				t.Errorf("delete: %v", err)
			}
		})
	}
}
