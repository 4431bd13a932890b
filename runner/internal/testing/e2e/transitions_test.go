package e2e

import (
	"slices"
	"strings"
	"testing"

	"mara/runner/internal/core/event"
)

// transition is a change of an application, as docs/applications.md describes it.
type transition struct {
	name     string
	from, to string // keys of the application shop, beside its image
	with     string // flags of the second up
	want     string // what happens to its objects in the cluster, in this order
	least    int    // workloads that there are at every moment
	refused  string // what the second up says instead
}

func transitions() []transition {
	return []transition{
		{name: "another image", with: "--config shop:image=ghcr.io/acme/shop:1.3.0", want: "update Deployment workload", least: 1},
		{name: "a variable", from: "    env: {LEVEL: info}\n", to: "    env: {LEVEL: debug}\n", want: "update Deployment workload", least: 1},
		{name: "a size", to: "    size: medium\n", want: "update Deployment workload", least: 1},
		{name: "a health path", to: "    health: /ready\n", want: "update Deployment workload", least: 1},
		{name: "the first file", to: "    files: {/etc/a: y}\n", want: "create ConfigMap files, update Deployment workload", least: 1},
		{name: "the first command before a rollout", to: "    before: [./migrate]\n", want: "create Job before", least: 1},
		{name: "another command before a rollout", from: "    before: [./migrate]\n", to: "    before: [./migrate, up]\n", want: "replace Job before", least: 1},
		{name: "an image with a command before the rollout", from: "    before: [./migrate]\n", to: "    before: [./migrate]\n", with: "--config shop:image=ghcr.io/acme/shop:1.3.0", want: "replace Job before, update Deployment workload", least: 1},
		{name: "more replicas", from: "    replicas: 3\n", to: "    replicas: 5\n", want: "update Deployment workload", least: 1},
		{name: "to an autoscaler", from: "    replicas: 3\n", to: "    replicas: {min: 3, max: 10}\n", want: "update Deployment workload, create HorizontalPodAutoscaler scaler", least: 1},
		{name: "from an autoscaler", from: "    replicas: {min: 3, max: 10}\n", to: "    replicas: 3\n", want: "update Deployment workload, delete HorizontalPodAutoscaler scaler", least: 1},
		{name: "a port", from: "    port: 3000\n", to: "    port: 4000\n", want: "update Deployment workload", least: 1},
		{name: "a host", from: "    host: a.example.com\n", to: "    host: b.example.com\n", want: "update Ingress ingress", least: 1},
		{name: "no host any more", from: "    host: b.example.com\n", want: "update NetworkPolicy network, delete Ingress ingress", least: 1},
		{name: "a bigger volume", from: "    volume: {path: /data, size: 5Gi}\n", to: "    volume: {path: /data, size: 10Gi}\n", want: "replace StatefulSet workload", least: 1},
		{name: "a smaller volume", from: "    volume: {path: /data, size: 5Gi}\n", to: "    volume: {path: /data, size: 1Gi}\n", refused: "none can be made smaller"},
		{name: "another class", from: "    volume: {path: /data, class: a}\n", to: "    volume: {path: /data, class: b}\n", refused: "none can get another class"},
		{name: "a volume where there was none", to: "    volume: {path: /data, size: 5Gi}\n", want: "create StatefulSet workload, delete Deployment workload", least: 1},
		{name: "no volume any more", from: "    volume: {path: /data, size: 5Gi}\n", want: "create Deployment workload, delete StatefulSet workload", least: 1},
	}
}

// TestTransitions: docs/applications.md says what happens when a key of an application changes. The real engine runs each change
// against the rules of the simulated API server: what is changed in place, what is made before what is deleted, and that the
// application never lacks a workload.
func TestTransitions(t *testing.T) {
	t.Parallel()
	long(t)
	for _, change := range transitions() {
		t.Run(change.name, func(t *testing.T) {
			t.Parallel()
			e := newEnvironment(t, embedded)
			e.write("config/pulumi/Pulumi.dev.yaml", "config:\n  kubernetes:infra_type: cluster\n  cluster:context: mine\n")
			mara := func(keys string) {
				e.write("mara.yaml", "providers: {cluster: {only: [shop]}}\napplications:\n  shop:\n    image: ghcr.io/acme/shop:1.2.3\n"+keys)
			}
			mara(change.from)
			e.simulate(0, "up")
			mara(change.to)
			flags := strings.Fields("--only shop " + change.with)
			if change.refused != "" {
				r := e.run(append([]string{"up", "--simulate", "--yes"}, flags...)...)
				if r.code == 0 || !strings.Contains(r.stdout+r.stderr, change.refused) {
					t.Errorf("exit code %d, want %q in\n%s%s", r.code, change.refused, r.stdout, r.stderr)
				}
				return
			}
			events := e.simulate(0, "up", flags...)
			happened := happenedTo("shop", events)
			if got := strings.Join(happened, ", "); got != change.want {
				t.Errorf("happened: %s\nwant:     %s", got, change.want)
			}
			workloads, least := 1, 1
			for _, what := range happened {
				switch {
				case !slices.Contains(strings.Fields(what), "workload"):
				case strings.HasPrefix(what, "create"):
					workloads++
				case strings.HasPrefix(what, "delete"):
					workloads--
				}
				least = min(least, workloads)
			}
			if least != change.least {
				t.Errorf("%d workloads at the worst moment, want %d", least, change.least)
			}
			if again := changed(e.simulate(0, "preview", "--only", "shop")); len(again) > 0 && change.with == "" {
				t.Errorf("a preview after it changes %v", again)
			}
		})
	}
}

// happenedTo lists what was done to the objects of a project, in order.
func happenedTo(project string, events []event.Event) (all []string) {
	for _, e := range events {
		if e.Type == event.StepProgress && e.Project == project && e.Status == event.ActionDone && e.Action != event.Same &&
			e.Action != event.Read && strings.HasPrefix(e.Resource.Type, "kubernetes:") {
			kind := e.Resource.Type[strings.LastIndex(e.Resource.Type, ":")+1:]
			all = append(all, string(e.Action)+" "+kind+" "+e.Resource.Name)
		}
	}
	return all
}
