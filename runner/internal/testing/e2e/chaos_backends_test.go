package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// fewAtBackends is how many runs are disturbed by `make test` at each backend.
const fewAtBackends = 3

// The kinds of trouble that backends have.
const (
	refusals       = "requests are refused"
	cutConnections = "connections are cut"
)

// TestChaosOfBackends disturbs runs whose states are in a bucket, a database or at Pulumi Cloud: real operations on an emulated cloud,
// which are killed, interrupted, or whose backend is in trouble. Then --resume continues with the commands that the
// runner names on the way. In the end there are the resources of an undisturbed run, in the state and in the cloud, each
// of them once, and no lock.
func TestChaosOfBackends(t *testing.T) {
	t.Parallel()
	long(t)
	cases, first := number(t, casesVariable, fewAtBackends), uint64(number(t, seedVariable, firstSeed))
	campaign := &campaign{met: map[string]int{}}
	t.Cleanup(func() {
		fmt.Printf("chaos of backends: %d cases from %s=%d on; met: %v\n", cases, seedVariable, first, campaign.met)
	})
	atEach := max(fewAtBackends, 3*cases/10)
	for _, kind := range []string{inS3, inPostgres, inService} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			var versions sync.Map
			count := newTally(t, "chaos of backends "+kind, atEach)
			t.Cleanup(func() {
				if found, ok := versions.Load(kind); ok && count.passed.Load() == int64(atEach) {
					recordBackend(t, "scripts/chaos.sh", found.(map[string]string),
						fmt.Sprintf("%d disturbed runs from %s=%d on, each resumed to the end of an undisturbed one", atEach, seedVariable, first))
				}
			})
			for i := range atEach {
				seed := first + uint64(i)
				t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
					t.Parallel()
					count.count(t)
					at := places(t, kind)(t) // a server of its own, for trouble comes to all who use it
					if i == 0 {
						versions.Store(kind, at.versions())
					}
					newBackendCase(rand.New(rand.NewPCG(seed, 33)), seed, at).run(t, campaign)
				})
			}
		})
	}
}

// backendCase is an operation on an environment whose states are elsewhere, and what disturbs it.
type backendCase struct {
	place
	operation string
	trouble   trouble
}

func newBackendCase(r *rand.Rand, turn uint64, at place) backendCase {
	kinds := []string{killRunner, at.kind, killAll, interrupt, killWorker, interrupt2, terminate, interrupt3}
	return backendCase{at, pick(r, "up", "up", "up again", "destroy"), trouble{
		kind: kinds[turn%uint64(len(kinds))], line: r.IntN(14), pause: time.Duration(r.IntN(400)) * time.Millisecond, chance: r.IntN(100),
		from: at.trouble,
	}}
}

// run does the case.
func (c backendCase) run(t *testing.T, campaign *campaign) {
	t.Logf("%s, %s at line %d and %s", c.operation, c.trouble.kind, c.trouble.line, c.trouble.pause)
	e := onEmulatedCloud(t, c.place)
	e.real = true
	e.write("mara.yaml", "providers: {linode: {}}\nprojects:\n- {path: a, reads: linode-lke, outputs: [value]}\n")
	e.version("first")
	args := []string{"up", "--only", onlyCluster + ",a", "--yes", "-o", "json"}
	if c.operation != "up" {
		e.succeed(args...)
		e.version("edited")
	}
	if c.operation == "destroy" {
		args = append(args, "--leave-behind") // the emulated cluster has no API server to list load balancers
		args[0] = "destroy"
	}
	end := e.disturbCommand(e.command(args...), chaosCase{}, c.trouble)
	campaign.note(c.trouble, end)
	e.checkEnd(c.trouble, end)
	if c.mend != nil {
		c.mend() // Pulumi's client waits for seconds in between, and the trouble could outlast several runs
	}
	e.carryOnUntil(args, succeeded)
	e.checkNoProcess()
	c.check(t, e)
}

// check compares what exists with what the operation should have left.
func (c backendCase) check(t *testing.T, e emulatedCloud) {
	t.Helper()
	clusters, resources := 1, []string{"linode:index/lkeCluster:LkeCluster", "pulumi:providers:linode", "pulumi:pulumi:Stack"}
	if c.operation == "destroy" {
		clusters, resources = 0, nil
	}
	if found := e.cloud.Clusters(); len(found) != clusters {
		t.Errorf("the cloud has the clusters %v, want %d", found, clusters)
	}
	if diff := cmp.Diff(resources, e.typesIn(t, "linode-lke")); diff != "" {
		t.Errorf("resources in the state (-want +got):\n%s", diff)
	}
	if text := e.succeed("unlock", "-s", "dev", "--yes"); !strings.Contains(text, "nothing is locked") {
		t.Errorf("locks are left: %s", text)
	}
	if c.operation != "destroy" {
		if r := e.run("preview", "--only", onlyCluster+",a", "--exit-code"); r.code != 0 {
			t.Errorf("a preview after it ends with %d\n%s%s", r.code, lastLines(r.stdout), r.stderr)
		}
	}
}

// typesIn returns the types of the resources in the state of a project, sorted. Without a stack there is none.
func (e *environment) typesIn(t *testing.T, project string) []string {
	t.Helper()
	r := e.run("pulumi", project, "-s", "dev", "--", "stack", "export")
	if r.code != 0 {
		if strings.Contains(r.stderr, "no stack named") {
			return nil
		}
		t.Fatalf("stack export: exit code %d: %s", r.code, r.stderr)
	}
	var state struct {
		Deployment struct {
			Resources []struct{ Type string }
			Pending   []any `json:"pending_operations"`
		}
	}
	if err := json.Unmarshal([]byte(r.stdout), &state); err != nil {
		t.Fatalf("%v\n%s", err, r.stdout)
	}
	if n := len(state.Deployment.Pending); n > 0 {
		t.Errorf("%s still has %d pending operations", project, n)
	}
	var types []string
	for _, resource := range state.Deployment.Resources {
		types = append(types, resource.Type)
	}
	slices.Sort(types)
	return types
}
