package examine

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/kube/kubeapi"
)

// servePods starts an API server with these Pods and events in the namespace shop.
func servePods(t *testing.T, pods, events []string) *kubeapi.Cluster {
	t.Helper()
	return serveLists(t, map[string][]string{"/api/v1/namespaces/shop/pods": pods, "/api/v1/namespaces/shop/events": events})
}

// serveLists starts an API server with these objects by the path of their list.
func serveLists(t *testing.T, answers map[string][]string) *kubeapi.Cluster {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		items, ok := answers[r.URL.Path]
		if !ok || r.Method != http.MethodGet {
			t.Errorf("unexpected %s %s", r.Method, r.URL)
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"apiVersion": "v1", "kind": "List", "items": [%s]}`, strings.Join(items, ","))
	}))
	t.Cleanup(server.Close)
	cluster, err := kubeapi.Connect([]byte(`apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "`+server.URL+`"}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
users: [{name: u, user: {token: sesame}}]
current-context: x
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	return cluster
}

func named(name, status string) string {
	return fmt.Sprintf(`{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": %q}, "status": {%s}}`, name, status)
}

func happened(kind, name, severity, reason, message, when string) string {
	return fmt.Sprintf(`{"apiVersion": "v1", "kind": "Event", "involvedObject": {"kind": %q, "name": %q}, "type": %q, "reason": %q, "message": %q, "lastTimestamp": %s, "metadata": {"creationTimestamp": "2026-11-20T10:00:00Z"}}`,
		kind, name, severity, reason, message, when)
}

func TestPods(t *testing.T) {
	t.Parallel()
	const (
		ready     = `"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]`
		creating  = `"phase": "Pending", "containerStatuses": [{"name": "app", "state": {"waiting": {"reason": "ContainerCreating"}}}]`
		unready   = `"phase": "Running", "containerStatuses": [{"name": "proxy", "ready": true, "state": {"running": {}}}, {"name": "app", "state": {"running": {"startedAt": "2026-11-20T10:00:00Z"}}}]`
		crashing  = `"phase": "Running", "containerStatuses": [{"name": "app", "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s"}}, "lastState": {"terminated": {"reason": "Error", "exitCode": 3}}}]`
		pulling   = `"phase": "Pending", "containerStatuses": [{"name": "app", "state": {"waiting": {"reason": "ImagePullBackOff"}}}]`
		initiated = `"phase": "Pending", "initContainerStatuses": [{"name": "prepare", "state": {"terminated": {"reason": "OOMKilled", "exitCode": 137}}}], "containerStatuses": [{"name": "app", "state": {"waiting": {"reason": "PodInitializing"}}}]`
		homeless  = `"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes are available:\n 3 Insufficient cpu."}]`
		evicted   = `"phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: memory."`
	)
	going := strings.Replace(named("going", creating), `"name"`, `"deletionTimestamp": "2026-11-20T10:00:00Z", "name"`, 1)
	for _, test := range []struct {
		name         string
		pods, events []string
		want         []string
	}{
		{name: "nothing"},
		{name: "all is well", pods: []string{named("a", ready), named("b", `"phase": "Succeeded"`), going}},
		{
			name: "reasons", pods: []string{named("a", creating), named("b", unready), named("c", crashing), named("d", pulling), named("e", initiated)},
			want: []string{
				"Pod shop/c is not ready: container app: CrashLoopBackOff: back-off 5m0s (Error, exit code 3)",
				"Pod shop/d is not ready: container app: ImagePullBackOff",
				"Pod shop/e is not ready: container prepare: OOMKilled, exit code 137",
				"Pod shop/b is not ready: container app: runs, but is not ready",
				"Pod shop/a is not ready: Pending",
			},
		},
		{
			name: "no place", pods: []string{named("a", homeless), named("b", evicted)},
			want: []string{
				"Pod shop/a is not ready: Unschedulable: 0/3 nodes are available: 3 Insufficient cpu.",
				"Pod shop/b is not ready: Evicted: The node was low on resource: memory.",
			},
		},
		{
			name: "events", pods: []string{named("a", creating)},
			events: []string{
				happened("Pod", "a", "Warning", "FailedMount", "secret\nnot found", `"2026-11-20T10:05:00Z"`),
				happened("Pod", "a", "Warning", "FailedScheduling", "no nodes", "null"),
				happened("Pod", "a", "Normal", "Pulled", "done", `"2026-11-20T10:06:00Z"`),
				happened("Pod", "b", "Warning", "Unhealthy", "probe failed", `"2026-11-20T10:06:00Z"`),
				happened("ReplicaSet", "a", "Warning", "FailedCreate", "forbidden", `"2026-11-20T10:06:00Z"`),
			},
			want: []string{"Pod shop/a is not ready: Pending; last event: FailedMount: secret not found"},
		},
		{
			name: "no Pods could be made",
			events: []string{
				happened("ReplicaSet", "a-1", "Warning", "FailedCreate", "violates PodSecurity", `"2026-11-20T10:05:00Z"`),
				happened("Pod", "gone", "Warning", "Unhealthy", "probe failed", `"2026-11-20T10:06:00Z"`),
			},
			want: []string{"ReplicaSet a-1: FailedCreate: violates PodSecurity"},
		},
		{
			name: "many", pods: []string{named("a", pulling), named("b", pulling), named("c", pulling), named("d", pulling), named("e", pulling), named("f", pulling), named("g", creating)},
			want: []string{
				"Pod shop/a is not ready: container app: ImagePullBackOff",
				"Pod shop/b is not ready: container app: ImagePullBackOff",
				"Pod shop/c is not ready: container app: ImagePullBackOff",
				"Pod shop/d is not ready: container app: ImagePullBackOff",
				"Pod shop/e is not ready: container app: ImagePullBackOff",
				"and 2 more",
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := Pods(t.Context(), servePods(t, test.pods, test.events), "shop")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
