package stacks

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
)

const mixedState = `{"version":3,"deployment":{"resources":[
	{"urn":"urn:pulumi:dev::vpc::pulumi:pulumi:Stack::vpc-dev","type":"pulumi:pulumi:Stack"},
	{"urn":"urn:pulumi:dev::vpc::pulumi:providers:kubernetes::k","type":"pulumi:providers:kubernetes","id":"1"},
	{"urn":"urn:pulumi:dev::vpc::kubernetes:core/v1:Namespace::shop","type":"kubernetes:core/v1:Namespace","id":"shop","protect":true,
		"provider":"urn:pulumi:dev::vpc::pulumi:providers:kubernetes::k::1"},
	{"urn":"urn:pulumi:dev::vpc::kubernetes:core/v1:PersistentVolumeClaim::data","type":"kubernetes:core/v1:PersistentVolumeClaim","id":"shop/data"},
	{"urn":"urn:pulumi:dev::vpc::kubernetes:helm.sh/v3:Release::r","type":"kubernetes:helm.sh/v3:Release","id":"shop/r"},
	{"urn":"urn:pulumi:dev::vpc::kubernetes:core/v1:Service::read","type":"kubernetes:core/v1:Service","id":"shop/read","external":true},
	{"urn":"urn:pulumi:dev::vpc::aws:route53/record:Record::name","type":"aws:route53/record:Record","id":"z","ttl":300.50,
		"parent":"urn:pulumi:dev::vpc::pulumi:pulumi:Stack::vpc-dev","deletedWith":"urn:pulumi:dev::vpc::kubernetes:core/v1:Namespace::shop",
		"dependencies":["urn:pulumi:dev::vpc::kubernetes:helm.sh/v3:Release::r"],
		"propertyDependencies":{"records":["urn:pulumi:dev::vpc::kubernetes:helm.sh/v3:Release::r"],"zone":["urn:other"]}}],
	"pending_operations":[{"resource":{"urn":"urn:x","type":"kubernetes:core/v1:Pod"},"type":"creating"},
		{"resource":{"urn":"urn:y","type":"aws:s3/bucket:Bucket"},"type":"creating"}]}}`

// TestWithoutCluster: everything in the cluster goes from a state, with the provider that leads to it; the rest stays as
// it is, without references to what went.
func TestWithoutCluster(t *testing.T) {
	t.Parallel()
	left, err := withoutCluster([]byte(mixedState))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"version":3,"deployment":{"resources":[
		{"urn":"urn:pulumi:dev::vpc::pulumi:pulumi:Stack::vpc-dev","type":"pulumi:pulumi:Stack"},
		{"urn":"urn:pulumi:dev::vpc::aws:route53/record:Record::name","type":"aws:route53/record:Record","id":"z","ttl":300.50,
			"parent":"urn:pulumi:dev::vpc::pulumi:pulumi:Stack::vpc-dev","dependencies":[],
			"propertyDependencies":{"records":[],"zone":["urn:other"]}}],
		"pending_operations":[{"resource":{"urn":"urn:y","type":"aws:s3/bucket:Bucket"},"type":"creating"}]}}`
	values := map[string]any{"want": nil, "got": nil}
	for name, text := range map[string][]byte{"want": []byte(want), "got": left} {
		var value any
		if err := json.Unmarshal(text, &value); err != nil {
			t.Fatal(err)
		}
		values[name] = value
	}
	if diff := cmp.Diff(values["want"], values["got"]); diff != "" {
		t.Error(diff)
	}
}

// TestHolding counts what a project has in the cluster.
func TestHolding(t *testing.T) {
	t.Parallel()
	e := open(t, []string{"vpc"}, call{args: "stack export", stdout: mixedState})
	got, err := InCluster{e}.Holding(t.Context(), "vpc")
	want := Holding{Objects: 3, Releases: 1, Volumes: 1, Protected: []string{"kubernetes:core/v1:Namespace shop"}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
}

// TestDestroyInCluster names what is in the cluster, so that the rest stays; where nothing is, nothing runs.
func TestDestroyInCluster(t *testing.T) {
	t.Parallel()
	e := open(t, []string{"vpc"},
		call{args: "stack export", stdout: mixedState},
		call{args: "destroy", events: []apitype.EngineEvent{summed(map[apitype.OpType]int{apitype.OpDelete: 3})}, check: func(_ string, _, args []string) {
			var targets []string
			for _, arg := range args {
				if urn, ok := strings.CutPrefix(arg, "--target="); ok {
					targets = append(targets, urn)
				}
			}
			want := []string{
				"urn:pulumi:dev::vpc::kubernetes:core/v1:Namespace::shop",
				"urn:pulumi:dev::vpc::kubernetes:core/v1:PersistentVolumeClaim::data",
				"urn:pulumi:dev::vpc::kubernetes:helm.sh/v3:Release::r",
			}
			if diff := cmp.Diff(want, targets); diff != "" {
				t.Error(diff)
			}
		}},
		call{args: "stack export", stdout: `{"deployment":{"resources":[]}}`},
	)
	task := Task{Operation: operation.Destroy, Step: step("vpc"), InCluster: true, Remove: true}
	for _, want := range []string{"", "nothing in the cluster"} {
		outcome, err := e.Operate(t.Context(), task, func(event.Event) {})
		if err != nil || outcome.Skipped != want || !e.IsDeployed("vpc") {
			t.Errorf("%v, skipped %q, deployed: %t", err, outcome.Skipped, e.IsDeployed("vpc"))
		}
	}
}
