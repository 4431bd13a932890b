package e2e

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"mara/projects"
	"mara/providers"
	"mara/runner/internal/core/plan"
)

// The kinds of trouble.
const (
	faultOnly    = "fault"              // resources fail, and nothing else
	killRunner   = "kill -9 runner"     // its workers see to the state
	killWorker   = "kill -9 worker"     // the runner sees to the rest
	killAll      = "kill -9 everything" // as when the machine goes down
	interrupt    = "Ctrl-C"
	interrupt2   = "Ctrl-C twice"
	interrupt3   = "Ctrl-C three times"
	terminate    = "SIGTERM"
	fullDisk     = "full disk"
	readOnlyDisk = "read-only directory"
)

// chaosCase is one environment and what happens to it.
type chaosCase struct {
	provider, engine string
	start            string // "nothing" or "everything"
	config           string // the stack file after the start
	operation        string
	part             string // the plan that is left of the provider's: a value of --only, "" for all of it
	args             []string
	disk             disk // for full and read-only disks
	troubles         []trouble
}

// trouble disturbs one run.
type trouble struct {
	kind   string
	line   int           // of the event stream, after which it comes
	pause  time.Duration // and how long after
	chance int           // decides between several victims
	faults []string      // --simulate-fail and --simulate-slow
	from   func()        // what makes a backend refuse or forget its clients, for kinds that backends have
}

// disk is a small file system below the environment's directory.
type disk struct {
	dir  string // "" for none
	kilo int    // the room that is left when it is full
}

// String tells the case.
func (c chaosCase) String() string {
	text := fmt.Sprintf("%s %s of %s %s after %s, %s; %q; %v", c.engine, c.operation, c.provider, c.part, c.start, strings.Join(c.args, " "), c.config, c.disk)
	for _, trouble := range c.troubles {
		text += fmt.Sprintf("; %s at line %d and %s, %v", trouble.kind, trouble.line, trouble.pause, trouble.faults)
	}
	return text
}

// newCase makes a case. The kinds of trouble take turns, so that a few cases
// have met them all.
func newCase(r *rand.Rand, turn int) chaosCase {
	kinds := []string{killRunner, interrupt2, killAll, fullDisk, killWorker, interrupt, readOnlyDisk, faultOnly, terminate, interrupt3}
	c := chaosCase{
		provider: pick(r, append(providers.Names(), "kind", "kind")...), engine: pick(r, embedded, embedded, embedded, stock),
		start: pick(r, "nothing", "nothing", "everything"), operation: "up",
	}
	if c.start == "everything" {
		c.operation = pick(r, "up", "destroy", "destroy", "refresh")
	}
	c.config = pick(r, configurations(c.provider)...)
	c.part = newPart(r, c)
	c.args = append(c.args, "--parallel", pick(r, "1", "2", "4", "8"), "--simulate-speed", pick(r, "1000", "3000", "100000"), "--on-error", pick(r, "stop", "continue"))
	if r.IntN(4) == 0 {
		c.args = append(c.args, "--parallel-resources", pick(r, "1", "3"))
	}
	first := newTrouble(r, c, kinds[turn%len(kinds)])
	switch first.kind {
	case fullDisk:
		c.disk = disk{dir: pick(r, ".runner", ".runner/simulated/state"), kilo: 4 * r.IntN(50)}
	case readOnlyDisk:
		c.disk = disk{dir: ".runner/simulated/state"}
	}
	c.troubles = append(c.troubles, first)
	if r.IntN(3) == 0 {
		c.troubles = append(c.troubles, newTrouble(r, c, pick(r, killRunner, killAll, killWorker, interrupt2, terminate, faultOnly)))
	}
	return c
}

func newTrouble(r *rand.Rand, c chaosCase, kind string) trouble {
	lines := 130
	if c.start == "everything" || c.part != "" {
		lines = 40
	}
	trouble := trouble{kind: kind, line: r.IntN(lines), pause: time.Duration(r.IntN(40)) * time.Millisecond, chance: r.IntN(100)}
	types := slices.Clone(troubledTypes(c.provider))
	r.Shuffle(len(types), func(i, j int) { types[i], types[j] = types[j], types[i] })
	for range r.IntN(3) {
		trouble.faults = append(trouble.faults, "--simulate-slow", types[0]+"="+pick(r, "200ms", "600ms"))
		types = types[1:]
	}
	failures := r.IntN(2)
	if kind == faultOnly {
		failures = 1 + r.IntN(2)
	}
	for range failures {
		trouble.faults = append(trouble.faults, "--simulate-fail", types[0]+"="+pick(r, "", "init:", "delete:create:", "2x:", "read:")+"no luck")
		types = types[1:]
	}
	return trouble
}

// newPart makes another plan of the provider's in every second case: some
// projects, and what their operation may not be without.
func newPart(r *rand.Rand, c chaosCase) string {
	if r.IntN(2) == 0 {
		return ""
	}
	provider, err := providers.ByName(c.provider)
	if err != nil {
		panic(err)
	}
	p, err := plan.New(provider)
	if err != nil {
		panic(err)
	}
	var names []string
	for range 1 + r.IntN(3) {
		name := p.Steps[r.IntN(len(p.Steps))].Project.Name
		switch c.operation {
		case "up":
			name = "+" + name
		case "destroy":
			name += "+"
		}
		names = append(names, name)
	}
	return strings.Join(names, ",")
}

func pick(r *rand.Rand, words ...string) string { return words[r.IntN(len(words))] }

// configurations returns the contents that the stack file may have; an environment
// starts with the first one.
func configurations(provider string) []string {
	begin := "config:\n  kubernetes:infra_type: " + provider + "\n"
	if host, _ := projects.InfrastructureByName(provider); host.Registry.Address.Name != "" { // its plan leaves nothing out then
		begin += "  " + host.Registry.Address.Name + ": " + host.Registry.Address.Example + "\n"
	}
	return []string{begin, begin + "  certmgr:replicas: 3\n  bank-of-anthos:load_users: 7\n  prometheus:values: {podLabels: {team: a}}\n"}
}

// troubledTypes returns types of resources of every stage of a plan.
func troubledTypes(provider string) []string {
	common := []string{
		"kubernetes:core/v1:Namespace", "kubernetes:core/v1:Secret", "kubernetes:helm.sh/v3:Release", "kubernetes:apps/v1:Deployment",
		"kubernetes:cert-manager.io/v1:ClusterIssuer", "kubernetes:core/v1:Service", "docker:index/image:Image",
	}
	own := map[string][]string{
		"kind":   {"kind:index:Cluster"},
		"aws":    {"aws:ec2/subnet:Subnet", "aws:eks/cluster:Cluster", "aws:ecr/repository:Repository", "aws:iam/role:Role"},
		"linode": {"linode:index/lkeCluster:LkeCluster", "linode:index/instance:Instance"},
	}
	return append(own[provider], common...)
}

// prepare brings an environment to where the case begins.
func (c chaosCase) prepare(e *environment) {
	e.t.Helper()
	e.write("mara.yaml", "providers: {"+c.provider+": {}}\nprojects:\n- {path: a, outputs: [value]}\n")
	e.version("first")
	e.write("config/pulumi/Pulumi.dev.yaml", configurations(c.provider)[0])
	if c.start == "everything" {
		e.simulate(0, "up", "-p", c.provider)
	}
	e.write("config/pulumi/Pulumi.dev.yaml", c.config)
}

// command is the case's operation.
func (c chaosCase) arguments(more ...string) []string {
	args := append([]string{c.operation, "--simulate", "--yes", "-o", "json"}, c.plan()...)
	return append(append(args, c.args...), more...)
}

// plan returns the flags that select the case's plan.
func (c chaosCase) plan() []string {
	args := []string{"-p", c.provider}
	if c.part != "" {
		args = append(args, "--only", c.part+",a")
	}
	return args
}
