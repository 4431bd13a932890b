package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestOneCount: what a run has made, what `status` lists and what is left of a project that no file names any more is one
// number: without what is only read, and without the providers that Pulumi makes by itself.
func TestOneCount(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	const net = "environments: [dev]\nprojects:\n- {path: net}\n"
	e.write("mara.yaml", net+"- {path: db}\n")
	e.write("net/Pulumi.yaml", "name: net\nruntime: yaml\noutputs: {range: 10.0.0.0/16}\n")
	e.write("db/Pulumi.yaml", "name: db\nruntime: yaml\nresources:\n"+
		"  net: {type: 'pulumi:pulumi:StackReference', properties: {name: 'organization/net/${pulumi.stack}'}}\n"+
		"  vpc: {type: 'aws:ec2:Vpc', properties: {cidrBlock: '${net.outputs[\"range\"]}', tags: {Count: 5}}}\n")
	type counted struct {
		Project   string
		Resources int
	}
	status := func() (all struct{ Projects, Orphans []counted }) {
		t.Helper()
		r := e.run("status", "-s", "dev", "--simulate", "-o", "json")
		if err := json.Unmarshal([]byte(r.stdout), &all); err != nil {
			t.Fatalf("%v\n%s%s", err, r.stdout, r.stderr)
		}
		return all
	}
	r := e.run("up", "-s", "dev", "--simulate", "--yes")
	total, ofDB := 0, 0
	for _, p := range status().Projects {
		if total += p.Resources; p.Project == "db" {
			ofDB = p.Resources
		}
	}
	if want := fmt.Sprintf("; %d created", total); r.code != 0 || !strings.Contains(r.stdout+r.stderr, want) {
		t.Errorf("the up does not say %q\n%s%s", want, r.stdout, r.stderr)
	}
	e.write("mara.yaml", net)
	if orphans := status().Orphans; len(orphans) != 1 || orphans[0].Resources != ofDB {
		t.Errorf("left is %v, want db with %d resources", orphans, ofDB)
	}
}
