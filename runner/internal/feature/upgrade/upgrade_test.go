package upgrade

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"mara/config"
	"mara/projects/model"
)

// item returns an item of a state.
func item(kind, property, version string) map[string]any {
	return map[string]any{"type": kind, "outputs": map[string]any{property: version}}
}

// cloud returns an environment with a control plane, nodes that may follow it, and a chart.
func cloud(set map[string]any, control, nodes, chart string) Environment {
	states := map[string][]map[string]any{}
	if control != "" {
		states["cluster"] = []map[string]any{item("c:Cluster", "version", control), item("c:Nodes", "version", nodes)}
	}
	if chart != "" {
		states["ingress"] = []map[string]any{{"type": "kubernetes:helm.sh/v3:Release", "inputs": map[string]any{"chart": "oci://x/y/nginx", "version": chart}}}
	}
	return Environment{
		Projects: []model.Project{
			{Name: "cluster", Keys: []config.Key{{Name: "c:version", Default: "1.36"}, {Name: "c:node_version"}}, Versions: []model.Version{
				{What: "control plane", Key: "c:version", Type: "c:Cluster", Property: "version"},
				{What: "nodes", Key: "c:node_version", Follows: "c:version", Type: "c:Nodes", Property: "version"},
			}},
			{Name: "ingress", Keys: []config.Key{{Name: "ingress:chart_version", Default: "2.10.0"}}, Charts: []model.Chart{{Group: "ingress", Name: "nginx"}}},
		},
		Newest: "1.37", States: states, Value: func(key string) any {
			defaults := map[string]any{"c:version": "1.36", "ingress:chart_version": "2.10.0"}
			return cmp.Or(set[key], defaults[key])
		},
	}
}

// words returns steps in short.
func words(steps []Step) string {
	var all []string
	for _, s := range steps {
		text := s.Title + " ["
		for i, c := range s.Changes {
			if i > 0 {
				text += " "
			}
			text += c.Key + "=" + c.Value
		}
		all = append(all, text+"]")
	}
	return strings.Join(all, "; ")
}

func TestSteps(t *testing.T) {
	t.Parallel()
	pinned := map[string]any{"c:version": "1.34"}
	for name, test := range map[string]struct {
		environment Environment
		to          string
		want        string
	}{
		"one minor at a time, nodes after their control plane": {cloud(pinned, "1.34", "1.34", "2.10.0"), "",
			"control plane 1.34 → 1.35 [c:version=1.35 c:node_version=1.34]; nodes 1.34 → 1.35 [c:node_version=1.35]; " +
				"control plane 1.35 → 1.36 [c:version=1.36 c:node_version=1.35]; nodes 1.35 → 1.36 [c:node_version=1.36]"},
		"to a version that is asked for": {cloud(pinned, "1.34", "1.34", "2.10.0"), "1.35",
			"control plane 1.34 → 1.35 [c:version=1.35 c:node_version=1.34]; nodes 1.34 → 1.35 [c:node_version=1.35]"},
		"it was cut off between control plane and nodes": {cloud(map[string]any{"c:version": "1.35", "c:node_version": "1.34"}, "1.35.2", "v1.34.9-x", "2.10.0"), "1.35",
			"nodes 1.34 → 1.35 [c:node_version=1.35]"},
		"nodes are two versions behind": {cloud(map[string]any{"c:version": "1.36", "c:node_version": "1.34"}, "1.36", "1.34", ""), "",
			"nodes 1.34 → 1.35 [c:node_version=1.35]; nodes 1.35 → 1.36 [c:node_version=1.36]"},
		"charts after the cluster, by numbers": {cloud(map[string]any{"c:version": "1.35", "ingress:chart_version": "2.9.1"}, "1.35", "1.35", "2.9.1"), "",
			"control plane 1.35 → 1.36 [c:version=1.36 c:node_version=1.35]; nodes 1.35 → 1.36 [c:node_version=1.36]; chart nginx 2.9.1 → 2.10.0 [ingress:chart_version=2.10.0]"},
		"a chart that no configuration pins needs an up only": {cloud(nil, "1.36", "1.36", "2.9.1"), "", "chart nginx 2.9.1 → 2.10.0 []"},
		"a chart that is newer than the catalogue's":          {cloud(map[string]any{"ingress:chart_version": "3.0.0"}, "1.36", "1.36", "3.0.0"), "", ""},
		"nothing is deployed":                                 {cloud(pinned, "", "", ""), "", ""},
		"all is new":                                          {cloud(nil, "1.36", "1.36", "2.10.0"), "", ""},
	} {
		parts := test.environment.Parts()
		to, err := Target(parts, test.to)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := words(Steps(parts, to)); got != test.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, test.want)
		}
	}
}

func TestTargets(t *testing.T) {
	t.Parallel()
	parts := cloud(nil, "1.35", "1.35", "").Parts()
	for asked, want := range map[string]string{"1.34": "cannot go down to 1.34", "1.38": "offers Kubernetes up to 1.37"} {
		if to, err := Target(parts, asked); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s, %v", asked, to, err)
		}
	}
	if _, err := Target(nil, "1.36"); err == nil || !strings.Contains(err.Error(), "no project of the environment sets") {
		t.Errorf("without a cluster: %v", err)
	}
	if to, err := Target(parts, ""); err != nil || to != "1.36" {
		t.Errorf("that of the catalogue: %s, %v", to, err)
	}
}

// object returns an item of a Kubernetes object.
func object(kind, version, namespace, name string, spec map[string]any) map[string]any {
	return map[string]any{"name": name, "namespace": namespace, "project": "p", "object": map[string]any{"kind": kind, "apiVersion": version,
		"metadata": map[string]any{"name": name, "namespace": namespace}, "spec": spec}}
}

// written returns an item of an object in a cluster that a controller wrote in an API version.
func written(kind, version, as string) map[string]any {
	o := object(kind, version, "n", "x", nil)
	o["object"].(map[string]any)["metadata"].(map[string]any)["managedFields"] = []any{map[string]any{"apiVersion": as, "manager": "old-controller"}}
	return o
}

func deployment(replicas any) map[string]any {
	return object("Deployment", "apps/v1", "n", "a", map[string]any{"replicas": replicas,
		"template": map[string]any{"metadata": map[string]any{"labels": map[string]any{"app": "a"}}}})
}

// daemons returns a DaemonSet with a port, of its nodes or not.
func daemons(name string, port map[string]any, hostNetwork bool) map[string]any {
	pod := map[string]any{"containers": []any{map[string]any{"ports": []any{port}}}, "hostNetwork": hostNetwork}
	return object("DaemonSet", "apps/v1", "n", name, map[string]any{"template": map[string]any{"spec": pod}})
}

func budget(namespace, name, app string, spec map[string]any) map[string]any {
	spec["selector"] = map[string]any{"matchLabels": map[string]any{"app": app}}
	return object("PodDisruptionBudget", "policy/v1", namespace, name, spec)
}

func TestObstacles(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		items []map[string]any
		to    string
		want  string // text of each, with ! if it stops
	}{
		"an API that goes":                   {[]map[string]any{object("VolumeAttributesClass", "storage.k8s.io/v1beta1", "", "fast", nil)}, "1.37", "!p/VolumeAttributesClass fast: VolumeAttributesClass of storage.k8s.io/v1beta1 is not served any more from Kubernetes 1.37 on"},
		"an API that goes later":             {[]map[string]any{object("VolumeAttributesClass", "storage.k8s.io/v1beta1", "", "fast", nil)}, "1.36", ""},
		"an API that went long ago":          {[]map[string]any{object("PodSecurityPolicy", "policy/v1beta1", "", "x", nil)}, "1.36", "!p/PodSecurityPolicy x: PodSecurityPolicy of policy/v1beta1 is not served any more from Kubernetes 1.25 on"},
		"one that a controller still writes": {[]map[string]any{written("CronJob", "batch/v1", "batch/v1beta1")}, "1.36", "!p/CronJob x: old-controller writes it as batch/v1beta1, which is not served any more from Kubernetes 1.25 on"},
		"one that is written as today":       {[]map[string]any{written("CronJob", "batch/v1", "batch/v1")}, "1.36", ""},
		"a kind of an operator":              {[]map[string]any{object("Widget", "example.com/v1beta1", "", "x", nil)}, "1.36", ""},
		"two replicas":                       {[]map[string]any{deployment(2.0)}, "1.36", ""},
		"one replica":                        {[]map[string]any{deployment(1.0)}, "1.36", "p/Deployment a: has one replica, and does not answer while its node is drained"},
		"one replica by default":             {[]map[string]any{deployment(nil)}, "1.36", "p/Deployment a: has one replica, and does not answer while its node is drained"},
		"ports of the nodes":                 {[]map[string]any{daemons("a", map[string]any{"hostPort": 80.0}, false)}, "1.36", "p/DaemonSet a: has ports of its nodes: a new Pod begins when the old one on its node has ended, and nothing answers there meanwhile"},
		"ports of its own":                   {[]map[string]any{daemons("a", map[string]any{"containerPort": 80.0}, false), daemons("b", map[string]any{"hostPort": 80.0}, true)}, "1.36", ""},
		"a budget of one":                    {[]map[string]any{deployment(2.0), budget("n", "b", "a", map[string]any{"maxUnavailable": 1.0})}, "1.36", ""},
		"a budget of nothing":                {[]map[string]any{deployment(2.0), budget("n", "b", "a", map[string]any{"maxUnavailable": 0.0})}, "1.36", "!p/PodDisruptionBudget b: maxUnavailable is 0, so that no Pod of p/Deployment a may be evicted and no node drained"},
		"a budget of all":                    {[]map[string]any{deployment(2.0), budget("n", "b", "a", map[string]any{"minAvailable": 2.0})}, "1.36", "!p/PodDisruptionBudget b: minAvailable is 2 of 2, so that no Pod of p/Deployment a may be evicted and no node drained"},
		"a budget in percent":                {[]map[string]any{deployment(2.0), budget("n", "b", "a", map[string]any{"minAvailable": "100%"})}, "1.36", "!p/PodDisruptionBudget b: minAvailable is 100% of 2, so that no Pod of p/Deployment a may be evicted and no node drained"},
		"a budget of others":                 {[]map[string]any{deployment(2.0), budget("n", "b", "c", map[string]any{"maxUnavailable": 0.0}), budget("m", "b", "a", map[string]any{"maxUnavailable": 0.0})}, "1.36", ""},
		"two budgets":                        {[]map[string]any{deployment(2.0), budget("n", "b", "a", map[string]any{"maxUnavailable": 1.0}), budget("n", "c", "a", map[string]any{"maxUnavailable": 1.0})}, "1.36", "!p/Deployment a: has 2 disruption budgets; Kubernetes never evicts such a Pod"},
		"what stops comes first, and once":   {[]map[string]any{deployment(1.0), object("PodSecurityPolicy", "policy/v1beta1", "", "z", nil), object("PodSecurityPolicy", "policy/v1beta1", "", "z", nil)}, "1.36", "!p/PodSecurityPolicy z: PodSecurityPolicy of policy/v1beta1 is not served any more from Kubernetes 1.25 on; p/Deployment a: has one replica, and does not answer while its node is drained"},
	} {
		var got []string
		for _, o := range Obstacles(test.items, test.items, test.to) {
			got = append(got, map[bool]string{true: "!"}[o.Stops]+o.Where+": "+o.Text)
		}
		if text := strings.Join(got, "; "); text != test.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, text, test.want)
		}
	}
}

// TestRemovedKinds: the list of Kubernetes' own code is read.
func TestRemovedKinds(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"batch/v1beta1 CronJob": "1.25", "flowcontrol.apiserver.k8s.io/v1beta3 FlowSchema": "1.32", "apps/v1 Deployment": "",
		"resource.k8s.io/v1beta1 ResourceClaim": "1.38", "autoscaling/v2beta2 HorizontalPodAutoscaler": "1.26"} {
		version, kind, _ := strings.Cut(text, " ")
		if got := RemovedIn(schema.FromAPIVersionAndKind(version, kind)); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestBackups(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	for ago, want := range map[time.Duration]int{time.Hour: 0, 25 * time.Hour: 1} {
		if found := BackupObstacle(now.Add(-ago), now); len(found) != want {
			t.Errorf("%s: %v", ago, found)
		}
	}
	if found := BackupObstacle(time.Time{}, now); len(found) != 1 || !found[0].Stops {
		t.Errorf("none: %v", found)
	}
}

// TestProbe counts answers that fail, for whatever reason, and says why the first one did.
func TestProbe(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		switch asked.Add(1) {
		case 3:
			w.WriteHeader(http.StatusBadGateway)
		case 4:
			w.WriteHeader(http.StatusUnauthorized) // an answer
		case 5:
			panic(http.ErrAbortHandler) // the connection is cut
		}
	}))
	defer server.Close()
	p := &Probe{URL: server.URL, Interval: time.Millisecond, Patience: time.Second}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { p.Run(ctx); close(done) }()
	for deadline := time.Now().Add(20 * time.Second); p.Result().Asked < 20 && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
	}
	cancel()
	<-done
	r := p.Result()
	if r.Failed != 2 || int64(r.Asked) != asked.Load() || r.At == nil {
		t.Errorf("%+v of %d", r, asked.Load())
	}
	if text := r.String(); !strings.Contains(text, "2 answers failed, the first at") {
		t.Error(text)
	}
}

type stuck struct{}

func (stuck) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, errors.New("no answer")
}

// TestProbeOfSilence: questions that get no answer fail, and hold up neither the others nor the end for long.
func TestProbeOfSilence(t *testing.T) {
	t.Parallel()
	p := &Probe{URL: "http://x", Interval: time.Millisecond, Patience: 200 * time.Millisecond, Client: stuck{}}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { p.Run(ctx); close(done) }()
	for deadline := time.Now().Add(20 * time.Second); p.Result().Asked < atOnce && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
	}
	cancel()
	began := time.Now()
	<-done
	if r := p.Result(); r.Failed != r.Asked || r.Asked < atOnce {
		t.Errorf("%s", fmt.Sprint(r))
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it ends after %s", took)
	}
}

// TestRequested reads the API server's count of requests of deprecated versions.
func TestRequested(t *testing.T) {
	t.Parallel()
	const metrics = `# TYPE apiserver_requested_deprecated_apis gauge
apiserver_requested_deprecated_apis{group="flowcontrol.apiserver.k8s.io",removed_release="1.32",resource="flowschemas",subresource="status",version="v1beta3"} 1
apiserver_requested_deprecated_apis{group="",removed_release="",resource="componentstatuses",subresource="",version="v1"} 1
apiserver_requested_deprecated_apis{group="batch",removed_release="1.25",resource="cronjobs",subresource="",version="v1beta1"} 1
apiserver_request_total{group="batch",removed_release="1.25"} 9
`
	for to, want := range map[string]int{"1.24": 0, "1.25": 1, "1.31": 1, "1.32": 2} {
		found := Requested([]byte(metrics), to)
		if len(found) != want {
			t.Errorf("to %s: %v, want %d", to, found, want)
		}
		if want > 0 && found[0].Text != "since its API server started, a client has requested cronjobs of batch/v1beta1, "+
			"which is not served any more from Kubernetes 1.25 on" {
			t.Errorf("to %s: %q", to, found[0].Text)
		}
	}
}
