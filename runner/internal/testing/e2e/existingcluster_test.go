package e2e

import (
	"fmt"
	"strings"
	"testing"

	"mara/runner/internal/testing/clustertest"
)

// TestExistingCluster deploys to a simulated cluster that no project makes, with a registry and without, and removes what
// it has made.
func TestExistingCluster(t *testing.T) {
	t.Parallel()
	long(t)
	for registry, projects := range map[string]int{"": 11, "  cluster:registry: registry.example.com/team\n": 15} {
		e := newEnvironment(t, embedded)
		e.write("config/pulumi/Pulumi.dev.yaml", "config:\n  kubernetes:infra_type: cluster\n  cluster:context: mine\n"+registry)
		for range 2 {
			up := finished(e.simulate(0, "up"))
			if len(up) != projects {
				t.Errorf("%q: %d projects, want %d", registry, len(up), projects)
			}
		}
		if again := changed(e.simulate(0, "preview")); len(again) > 0 {
			t.Errorf("%q: a preview after the up changes %v", registry, again)
		}
		e.simulate(0, "destroy")
		if left := e.run("status", "-s", "dev", "--simulate"); !strings.Contains(left.stdout, "0 of 15 projects deployed") {
			t.Errorf("%q: left %s", registry, left.stdout)
		}
	}
}

const surveyedUID = "5b0c6f4e-5c0e-4a8e-9d0a-0c2b7f1d3e55"

// surveyed returns a cluster with one node, others' cert-manager, and a user who may not make definitions.
func surveyed() *clustertest.World {
	return &clustertest.World{
		Version: "v1.33.1+k3s1",
		Objects: map[string][]string{
			"/api/v1/nodes": {clustertest.Worker("a", "k3s://a", "")}, "/api/v1/services": {},
			"/api/v1/namespaces":                                      {`{"metadata":{"name":"kube-system","uid":"` + surveyedUID + `"}}`},
			"/apis/storage.k8s.io/v1/storageclasses":                  {`{"metadata":{"name":"local-path","annotations":{"storageclass.kubernetes.io/is-default-class":"true"}}}`},
			"/apis/apps/v1/deployments":                               {`{"metadata":{"name":"cert-manager","namespace":"tls"}}`},
			"/apis/apiextensions.k8s.io/v1/customresourcedefinitions": {`{"metadata":{"name":"certificates.cert-manager.io"}}`},
		},
		Denied: func(verb, _, resource, _ string) bool {
			return resource == "customresourcedefinitions" && verb == "create"
		},
	}
}

// TestSurvey: what a cluster answers is explained with its evidence, and missing rights are one table before anything
// starts.
func TestSurvey(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	kubeconfig := surveyed().Serve(t)
	e.write("config/pulumi/Pulumi.dev.yaml", fmt.Sprintf("config:\n  kubernetes:infra_type: cluster\n  cluster:context: mine\n  cluster:kubeconfig: %s\n"+
		"  cluster:small: false\n", kubeconfig))
	for key, want := range map[string]string{
		"cluster:entry":            "load-balancer (asked from the cluster: k3s gives Services the addresses of its nodes)",
		"cluster:distribution":     "k3s (asked from the cluster: its version is v1.33.1+k3s1)",
		"certmgr:install":          "false (asked from the cluster: cert-manager runs in the namespace tls)",
		"kubernetes:storage_class": "local-path (asked from the cluster: the default StorageClass",
		"cluster:small":            "false (config/pulumi/Pulumi.dev.yaml:5)",
	} {
		if got := e.run("config", "explain", key, "-s", "dev"); got.code != 0 || !strings.Contains(got.stdout, want) {
			t.Errorf("%s: %d\n%s%s", key, got.code, got.stdout, got.stderr)
		}
	}
	got := e.run("doctor", "up", "-s", "dev")
	for _, want := range []string{
		"ann in context mine", "lacks 1 right\n", "the whole cluster  customresourcedefinitions.apiextensions.k8s.io  create", "ingress-controller, prometheus",
		"certificates: cert-manager in the namespace tls, which others have installed, is used",
	} {
		if !strings.Contains(got.stdout+got.stderr, want) {
			t.Errorf("the doctor does not report %q:\n%s%s", want, got.stdout, got.stderr)
		}
	}
	if strings.Contains(got.stdout+got.stderr, "hidden-token") {
		t.Error("the doctor shows a token")
	}
	// Another cluster, and one that cannot be asked, are refused where the configuration has an identity.
	for more, want := range map[string]string{
		"":                              "identity: " + surveyedUID + ", as configured",
		"  cluster:identity: another\n": "it is another cluster: cluster:identity is another, and the UID of its namespace kube-system is " + surveyedUID,
		"  cluster:kubeconfig: ''\n":    "whether it is the cluster of cluster:identity is not known: the cluster was not asked: its kubeconfig is a secret, or not named",
	} {
		configuration := map[string]string{"context": "mine", "kubeconfig": kubeconfig, "identity": surveyedUID}
		text := "config:\n  kubernetes:infra_type: cluster\n" + more
		for name, value := range configuration {
			if !strings.Contains(more, "cluster:"+name) {
				text += "  cluster:" + name + ": " + value + "\n"
			}
		}
		e.write("config/pulumi/Pulumi.dev.yaml", text)
		if got := e.run("doctor", "up", "-s", "dev"); got.code == 0 || !strings.Contains(strings.Join(strings.Fields(got.stdout+got.stderr), " "), want) {
			t.Errorf("%q: %d\n%s%s", more, got.code, got.stdout, got.stderr)
		}
	}
}

// TestFirstRunOnAnExistingCluster: the kubeconfig files of kubectl and the contexts in them are listed, and the current
// context is not taken.
func TestFirstRunOnAnExistingCluster(t *testing.T) {
	t.Parallel()
	file := surveyed().Serve(t)
	e := newcomer(t)
	e.env = append(e.env, "KUBECONFIG="+file)
	first := e.sit("up", "-p", "cluster")
	first.answer(
		typed("Create one?", ""), typed("Name of the stack", ""), chosen("Kubeconfig file", "\r"), chosen("Context of the cluster", "mine\r"),
		chosen("Cluster of the environment, by its UID", "\r"), typed("Registry of your own", ""), typed("Host name of the demo application", "bank.example.com"), chosen("Where certificates", "\r"),
		typed("Write this", ""),
	)
	screen := first.end(3)
	for _, want := range []string{"lacks 1 right", "customresourcedefinitions.apiextensions.k8s.io"} {
		if !strings.Contains(screen, want) {
			t.Errorf("the screen has no %q:\n%s", want, lastLines(screen))
		}
	}
	e.checkWritten(map[string]string{"Pulumi.dev.yaml": "# Configuration of the stack dev. Every key is in Pulumi.stackname.yaml.example.\n" +
		"config:\n  kubernetes:infra_type: cluster\n  cluster:kubeconfig: " + file +
		"\n  cluster:context: mine\n  cluster:identity: " + surveyedUID + "\n  bank-of-anthos:host: bank.example.com\n  certmgr:issuer: self-signed\n"})
	searchFor(t, map[string]string{"the token": "hidden-token"}, everyFileBelow(t, e.root))
}
