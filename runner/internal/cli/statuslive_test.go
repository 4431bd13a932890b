package cli_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/machine/layout"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/testing/livetest"
	"mara/runner/internal/wire"
)

// TestStatusLive asks the cluster about an object of a state, and about the objects of a Helm release.
func TestStatusLive(t *testing.T) {
	t.Parallel()
	root := twoEnvironments(t)
	config := livetest.Serve(t, livetest.Resource{GroupVersion: "apps/v1", Name: "deployments", Kind: "Deployment", Objects: []string{
		`{"metadata":{"name":"cert-manager","namespace":"cert-manager","generation":1},"spec":{"replicas":2},"status":{"observedGeneration":1,"replicas":2,"updatedReplicas":2,"readyReplicas":1,"availableReplicas":1}}`,
	}}, livetest.Resource{GroupVersion: "v1", Name: "namespaces", Kind: "Namespace", Objects: []string{`{"metadata":{"name":"cert-manager"}}`}})
	state := layout.Of(root, false).State()
	cmdtest.WriteFile(t, state.Stack("aws-eks", "dev"), `{"checkpoint":{"latest":{"resources":[{"urn":"a::b","type":"aws:eks/cluster:Cluster"}]}}}`)
	cmdtest.WriteFile(t, state.Stack("certmgr", "dev"), `{"checkpoint":{"latest":{"resources":[
		{"urn":"a::namespace","type":"kubernetes:core/v1:Namespace","outputs":{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"cert-manager"}}},
		{"urn":"a::release","type":"kubernetes:helm.sh/v3:Release","outputs":{"resourceNames":{
			"Deployment.apps/apps/v1":["cert-manager/cert-manager"],"ClusterRole.rbac.authorization.k8s.io/rbac.authorization.k8s.io/v1":["controller"]}}}]}}}`)
	i := cmdtest.NewInstalled(t)
	i.Stacks(map[string]int{"aws-eks": 3, "certmgr": 2})
	run := func(want int, args ...string) (stdout, stderr string) {
		t.Helper()
		d, out, errs := cmdtest.InstalledDeps(t, root, i)
		if code := wire.Run(context.Background(), d, append([]string{"status", "-s", "dev"}, args...)); code != want {
			t.Fatalf("%v: exit code %d, want %d: %s%s", args, code, want, out, errs)
		}
		return out.String(), errs.String()
	}
	stdout, stderr := run(cmd.ExitConfig, "--live")
	if !strings.Contains(stdout, "2 of ") || !strings.Contains(stderr, "the environment has no cluster: aws-eks is not deployed") {
		t.Errorf("without a cluster: %s%s", stdout, stderr)
	}
	outputs, err := json.Marshal(map[string]string{"kubeconfig": config})
	if err != nil {
		t.Fatal(err)
	}
	i.Write("shown-aws-eks.json", string(outputs))
	stdout, _ = run(cmd.ExitDone, "--live")
	text := strings.Join(strings.Fields(stdout), " ")
	for _, want := range []string{"1 of 3 objects ready", "ClusterRole controller is gone", "not ready: Available: 1/2"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	stdout, _ = run(cmd.ExitDone, "--live", "-o", "json")
	var status struct {
		Projects []struct {
			Project string
			Live    *struct {
				Ready    int
				Problems []struct{ Object, State string }
			}
		}
	}
	if err := json.Unmarshal([]byte(stdout), &status); err != nil {
		t.Fatal(err)
	}
	for _, p := range status.Projects {
		if asked := p.Live != nil; asked != (p.Project == "certmgr") || asked && (p.Live.Ready != 1 || len(p.Live.Problems) != 2) {
			t.Errorf("%s: %+v", p.Project, p.Live)
		}
	}
	if _, stderr := run(cmd.ExitUsage, "--live", "--watch"); !strings.Contains(stderr, "choose one") {
		t.Error(stderr)
	}
	if _, stderr := run(cmd.ExitUsage, "--live", "--simulate"); !strings.Contains(stderr, "remove --live") {
		t.Error(stderr)
	}
}

// TestStatusLiveApplication asks the cluster about the Pods of an application, and its address for an answer.
func TestStatusLiveApplication(t *testing.T) {
	t.Parallel()
	root := twoEnvironments(t)
	cmdtest.WriteFile(t, filepath.Join(root, "mara.yaml"), "providers: {aws: {}, linode: {}}\napplications:\n  shop: {image: 'ghcr.io/acme/shop:1.2.3'}\n")
	config := livetest.Serve(t,
		livetest.Resource{GroupVersion: "v1", Name: "namespaces", Kind: "Namespace", Objects: []string{`{"metadata":{"name":"shop"}}`}},
		livetest.Resource{GroupVersion: "v1", Name: "pods", Kind: "Pod", Objects: []string{
			`{"metadata":{"name":"shop-a","namespace":"shop","labels":{"mara.dev/project":"shop"},"creationTimestamp":"2026-11-01T00:00:00Z"},"status":{"phase":"Running",
				"conditions":[{"type":"Ready","status":"True"}],"containerStatuses":[{"name":"shop","image":"ghcr.io/acme/shop:1.2.3","imageID":"ghcr.io/acme/shop@sha256:11","restartCount":2}]}}`,
			`{"metadata":{"name":"shop-b","namespace":"shop","labels":{"mara.dev/project":"shop"},"creationTimestamp":"2026-11-02T00:00:00Z"},"status":{"phase":"Pending",
				"containerStatuses":[{"name":"shop","image":"ghcr.io/acme/shop:1.2.4","state":{"waiting":{"reason":"ImagePullBackOff","message":"no such tag"}}}]}}`,
		}},
		livetest.Resource{GroupVersion: "v1", Name: "events", Kind: "Event", Objects: []string{
			`{"metadata":{"name":"e","namespace":"shop"},"type":"Warning","reason":"Failed","message":"pulling the image","involvedObject":{"kind":"Pod","name":"shop-b"}}`,
		}})
	answering := true
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if !answering {
			w.WriteHeader(http.StatusBadGateway)
		}
	}))
	t.Cleanup(site.Close)
	state := layout.Of(root, false).State()
	cmdtest.WriteFile(t, state.Stack("aws-eks", "dev"), `{"checkpoint":{"latest":{"resources":[{"urn":"a::b","type":"aws:eks/cluster:Cluster"}]}}}`)
	cmdtest.WriteFile(t, state.Stack("shop", "dev"), `{"checkpoint":{"latest":{"resources":[
		{"urn":"a::stack","type":"pulumi:pulumi:Stack","outputs":{"url":"`+site.URL+`"}},
		{"urn":"a::namespace","type":"kubernetes:core/v1:Namespace","outputs":{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"shop"}}}]}}}`)
	i := cmdtest.NewInstalled(t)
	i.Stacks(map[string]int{"aws-eks": 3, "shop": 2})
	outputs, err := json.Marshal(map[string]string{"kubeconfig": config})
	if err != nil {
		t.Fatal(err)
	}
	i.Write("shown-aws-eks.json", string(outputs))
	run := func(args ...string) string {
		t.Helper()
		d, out, errs := cmdtest.InstalledDeps(t, root, i)
		if code := wire.Run(context.Background(), d, append([]string{"status", "-s", "dev", "--live"}, args...)); code != cmd.ExitDone {
			t.Fatalf("%v: exit code %d: %s%s", args, code, out, errs)
		}
		return out.String()
	}
	text := strings.Join(strings.Fields(run()), " ")
	for _, want := range []string{
		"shop: 1 of 2 Pods ready; " + site.URL + " answers shop-a: ready, ghcr.io/acme/shop:1.2.3@sha256:11, restarted 2 times",
		"shop-b: not ready, ghcr.io/acme/shop:1.2.4: container shop: ImagePullBackOff: no such tag; last event: Failed: pulling the image",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	answering = false
	if text := run(); !strings.Contains(text, site.URL+" does not answer: HTTP 502 Bad Gateway") {
		t.Errorf("an address without an answer: %s", text)
	}
	var status struct {
		Projects []struct {
			Project     string
			Application *struct {
				Pods []struct {
					Name, Image, Reason, Last_Event string
					Ready                           bool
					Restarts                        int
				}
				Address, Unanswered string
			}
		}
	}
	if err := json.Unmarshal([]byte(run("-o", "json")), &status); err != nil {
		t.Fatal(err)
	}
	for _, p := range status.Projects {
		if asked := p.Application != nil; asked != (p.Project == "shop") || asked && (len(p.Application.Pods) != 2 || p.Application.Pods[0].Restarts != 2 || p.Application.Unanswered == "") {
			t.Errorf("%s: %+v", p.Project, p.Application)
		}
	}
}
