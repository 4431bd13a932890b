package live

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/testing/livetest"
)

// names returns the objects as kind/name, sorted.
func names(t *testing.T, objects [][]byte) []string {
	t.Helper()
	var names []string
	for _, content := range objects {
		var object struct {
			APIVersion, Kind string
			Metadata         struct{ Name string }
		}
		if err := json.Unmarshal(content, &object); err != nil {
			t.Fatal(err)
		}
		names = append(names, object.APIVersion+" "+object.Kind+"/"+object.Metadata.Name)
	}
	slices.Sort(names)
	return names
}

func TestList(t *testing.T) {
	t.Parallel()
	config := livetest.Serve(t,
		livetest.Resource{GroupVersion: "v1", Name: "pods", Kind: "Pod", Objects: []string{
			`{"metadata":{"name":"a","namespace":"n"},"spec":{"priority":9007199254740993}}`, `{"metadata":{"name":"b"}}`, `{"metadata":{"name":"c"}}`,
		}},
		livetest.Resource{GroupVersion: "v1", Name: "secrets", Kind: "Secret", Objects: []string{`{"metadata":{"name":"s"},"data":{"k":"hidden"}}`}},
		livetest.Resource{GroupVersion: "v1", Name: "events", Kind: "Event", Objects: []string{`{"metadata":{"name":"e"}}`}},
		livetest.Resource{GroupVersion: "apps/v1", Name: "deployments", Kind: "Deployment", Objects: []string{`{"metadata":{"name":"d"}}`}},
	)
	for _, test := range []struct {
		name  string
		kinds []string
		want  []string
	}{
		{"all", nil, []string{"apps/v1 Deployment/d", "v1 Pod/a", "v1 Pod/b", "v1 Pod/c", "v1 Secret/s"}},
		{"some", []string{"deployments.apps", "events", "certificates.cert-manager.io"}, []string{"apps/v1 Deployment/d", "v1 Event/e"}},
		{"none there", []string{"deployments"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			objects, err := List(t.Context(), Options{Kubeconfig: []byte(config), Kinds: test.kinds, Timeout: time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, names(t, objects)); diff != "" {
				t.Error(diff)
			}
			for _, content := range objects {
				if strings.Contains(string(content), "hidden") {
					t.Errorf("the value of a Secret was read: %s", content)
				}
			}
		})
	}
}

// TestListGivesUp: a cluster that does not answer costs no more than the time it
// has, and an interruption is one.
func TestListGivesUp(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-ended }))
	defer server.Close()
	defer close(ended)
	config := []byte(`{"apiVersion":"v1","kind":"Config","current-context":"c","clusters":[{"name":"c","cluster":{"server":"` + server.URL +
		`"}}],"contexts":[{"name":"c","context":{"cluster":"c"}}]}`)
	if _, err := List(t.Context(), Options{Kubeconfig: config, Timeout: 50 * time.Millisecond}); err == nil || !strings.Contains(err.Error(), "has not answered for 50ms") {
		t.Errorf("got %v", err)
	}
	interrupted := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(interrupted)
	if _, err := List(ctx, Options{Kubeconfig: config}); !errors.Is(err, interrupted) {
		t.Errorf("got %v", err)
	}
	if _, err := List(t.Context(), Options{Kubeconfig: []byte("token: hidden")}); err == nil || strings.Contains(err.Error(), "hidden") {
		t.Errorf("got %v", err)
	}
}

// TestWatch: a change is reported with all current objects.
func TestWatch(t *testing.T) {
	t.Parallel()
	changes := make(chan livetest.Change)
	config := livetest.Serve(t, livetest.Resource{
		GroupVersion: "v1", Name: "pods", Kind: "Pod", Changes: changes,
		Objects: []string{`{"metadata":{"name":"a","uid":"1"}}`, `{"metadata":{"name":"b","uid":"2"}}`},
	})
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := errors.New("seen enough")
	var seen []string
	next := []livetest.Change{
		{Type: "ADDED", Object: `{"metadata":{"name":"c","uid":"3"}}`}, {Type: "DELETED", Object: `{"metadata":{"name":"a","uid":"1"}}`},
		{Type: "MODIFIED", Object: `{"metadata":{"name":"b2","uid":"2"}}`},
	}
	err := Watch(ctx, Options{Kubeconfig: []byte(config), Timeout: time.Minute}, func(objects [][]byte) error {
		seen = append(seen, strings.ReplaceAll(strings.Join(names(t, objects), " "), "v1 Pod/", ""))
		if len(next) == 0 {
			cancel(ended)
			return nil
		}
		go func(change livetest.Change) { changes <- change }(next[0])
		next = next[1:]
		return nil
	})
	if !errors.Is(err, ended) {
		t.Errorf("ended with %v", err)
	}
	if diff := cmp.Diff([]string{"a b", "a b c", "b c", "b2 c"}, seen); diff != "" {
		t.Error(diff)
	}
}

// TestWatchForgets: what was deleted while no watch ran is gone after the next list.
func TestWatchForgets(t *testing.T) {
	t.Parallel()
	for name, unwatchable := range map[string]bool{"a watch that ends": false, "a resource without watches": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var deleted atomic.Bool
			changes := make(chan livetest.Change, 1)
			config := livetest.Serve(t, livetest.Resource{
				GroupVersion: "v1", Name: "pods", Kind: "Pod", Changes: changes, Unwatchable: unwatchable,
				Current: func() []string {
					if deleted.Load() {
						return []string{`{"metadata":{"name":"b","uid":"2"}}`}
					}
					return []string{`{"metadata":{"name":"a","uid":"1"}}`, `{"metadata":{"name":"b","uid":"2"}}`}
				},
			})
			ctx, cancel := context.WithCancelCause(t.Context())
			ended := errors.New("seen enough")
			var seen []string
			watched := func(objects [][]byte) error {
				seen = append(seen, strings.ReplaceAll(strings.Join(names(t, objects), " "), "v1 Pod/", ""))
				if deleted.Swap(true) {
					cancel(ended)
				} else {
					changes <- livetest.Change{Type: "END"}
				}
				return nil
			}
			err := Watch(ctx, Options{Kubeconfig: []byte(config), Timeout: time.Minute, relist: 10 * time.Millisecond}, watched)
			if diff := cmp.Diff([]string{"a b", "b"}, seen); diff != "" || !errors.Is(err, ended) {
				t.Errorf("%s, ended with %v", diff, err)
			}
		})
	}
}
