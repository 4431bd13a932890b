package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mara/runner/internal/feature/simulate"
)

// fewGuarded is how many guarded runs are disturbed by `make test`: one for each guard
// and for each way in which what it forbids comes about.
const fewGuarded = 7

// The guards that are on in a case.
const (
	protectionOn = "protection"
	ruleOn       = "a rule"
	planOn       = "a saved plan"
	costsOn      = "a cost limit"
	deletionOn   = "a protected resource" // in the way of a destroy
)

// guardedCase is an environment with a guard on, a change that the guard forbids, and a
// trouble that disturbs the run.
type guardedCase struct {
	guard, engine string
	// unknown has the forbidden change depend on an id that is known only after an up,
	// so that the first look of a run does not show it.
	unknown bool
	args    []string
	trouble trouble
}

// newGuardedCase draws a case. Guards and kinds of trouble take turns, so that a few
// cases have met each of them.
func newGuardedCase(r *rand.Rand, turn int) guardedCase {
	guards := []guardedCase{
		{guard: protectionOn, unknown: true}, {guard: ruleOn, unknown: true}, {guard: planOn}, {guard: protectionOn}, {guard: ruleOn},
		{guard: costsOn}, {guard: deletionOn},
	}
	kinds := []string{killRunner, interrupt, killAll, faultOnly, terminate, killWorker, interrupt2, interrupt3}
	c := guards[turn%len(guards)]
	c.engine = pick(r, embedded, embedded, embedded, stock)
	c.args = []string{"--parallel", pick(r, "1", "2", "4"), "--simulate-speed", pick(r, "1000", "3000", "100000"), "--on-error", pick(r, "stop", "continue")}
	c.trouble = trouble{
		kind: kinds[turn%len(kinds)], line: r.IntN(12), pause: time.Duration(r.IntN(60)) * time.Millisecond, chance: r.IntN(100),
		faults: []string{"--simulate-slow", pick(r, "aws:ec2/vpc:Vpc", "aws:ecr/repository:Repository") + "=" + pick(r, "200ms", "600ms")},
	}
	if c.trouble.kind == faultOnly {
		c.trouble.faults = append(c.trouble.faults, "--simulate-fail", pick(r, "aws:ec2/vpc:Vpc", "aws:ecr/repository:Repository")+"="+pick(r, "", "2x:", "read:")+"no luck")
	}
	return c
}

func (c guardedCase) String() string {
	return fmt.Sprintf("%s with %s on, unknown before: %t, %s; %s at line %d and %s, %v", c.engine, c.guard, c.unknown,
		strings.Join(c.args, " "), c.trouble.kind, c.trouble.line, c.trouble.pause, c.trouble.faults)
}

// TestChaosOfGuards disturbs runs that a guard has to stop, and resumes them with the
// commands that the runner proposes. After each run it compares the resources in the states
// and in the clouds with those before the first: nothing protected is gone or was created
// anew, nothing denied exists. It does not see what is denied and both created and deleted
// by one run, nor a state that was cut off, until it is restored. When the guard is overridden
// or its objection is met, the resumed run ends as an undisturbed one does.
func TestChaosOfGuards(t *testing.T) {
	t.Parallel()
	long(t)
	cases, first := number(t, casesVariable, fewGuarded), uint64(number(t, seedVariable, firstSeed))
	campaign := &campaign{references: map[string]*reference{}, met: map[string]int{}}
	t.Cleanup(func() { fmt.Printf("chaos of guards: met: %v\n", campaign.met) })
	cases = max(fewGuarded, cases/5)
	count := newTally(t, "chaos of guards", cases)
	for i := range cases {
		seed := first + uint64(i)
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			count.count(t)
			c := newGuardedCase(rand.New(rand.NewPCG(seed, 28)), int(seed))
			t.Log(c)
			want := campaign.reference(t, c.guard+fmt.Sprint(c.unknown), func(e *environment) {
				c.prepare(e)
				c.allow(e)
				e.simulate(0, c.operation(), c.override()...)
			})
			e := newEnvironment(t, c.engine)
			c.prepare(e)
			campaign.note(c.trouble, c.disturb(e))
			e.checkNoProcess()
			e.checkNoLocks()
			e.checkNoWorkingCopy()
			e.checkRuns()
			compare(t, want, e.snapshot())
		})
	}
}

// disturb disturbs the run, resumes it until the guard has stopped it, overrides the
// guard, and resumes the run until it is done.
func (c guardedCase) disturb(e *environment) ending {
	e.t.Helper()
	holds := c.invariant(e)
	args := append([]string{c.operation(), "--simulate", "--yes", "-o", "json"}, c.args...)
	if c.guard == planOn {
		return c.disturbPlan(e, args, holds)
	}
	guarded := slices.Clone(args)
	if c.guard == costsOn {
		guarded = append(guarded, "--max-monthly", "50", "--unknown-costs", "allow")
	}
	run := func() ending {
		return e.disturbCommand(e.command(append(slices.Clone(guarded), c.trouble.faults...)...), chaosCase{}, c.trouble)
	}
	end := run()
	holds()
	e.checkEnd(c.trouble, end)
	e.carryOnUntil(guarded, func(r result) bool {
		holds()
		if r.code == 0 {
			e.t.Fatalf("%s let it pass:\n%s", c.guard, lastLines(r.stdout))
		}
		refused := "forbidden by "
		if c.guard == deletionOn {
			refused = "1 protected resource in the way of the destroy; nothing was deleted"
		}
		return strings.Contains(r.stdout+r.stderr, refused)
	})
	c.allow(e)
	if c.guard == deletionOn { // it was refused before it could be disturbed
		end = run()
		e.checkEnd(c.trouble, end)
	}
	e.carryOnUntil(append(args, c.override()...), succeeded)
	return end
}

// operation returns the operation of the disturbed run.
func (c guardedCase) operation() string {
	if c.guard == deletionOn {
		return "destroy"
	}
	return "up"
}

// disturbPlan disturbs an up that carries out a saved plan. Then a program creates more
// than the plan says: that is refused, whatever state the trouble has left. With the
// planned program the change is carried out, by a plan made anew where the state has
// changed since.
func (c guardedCase) disturbPlan(e *environment, args []string, holds func()) ending {
	e.t.Helper()
	save := append([]string{"preview", "--simulate", "-o", "json", "--save-plan", "plan.json"}, c.args...)
	if r := e.run(save...); r.code != 0 {
		e.t.Fatalf("%v: exit code %d\n%s%s", save, r.code, lastLines(r.stdout), r.stderr)
	}
	args = append(args, "--plan", "plan.json")
	end := e.disturbCommand(e.command(append(args, c.trouble.faults...)...), chaosCase{}, c.trouble)
	holds()
	e.checkEnd(c.trouble, end)
	planned := e.read("app/Pulumi.yaml")
	e.write("app/Pulumi.yaml", strings.Replace(planned, "outputs:", "  more: {type: \"aws:ecr:Repository\", properties: {name: denied}}\noutputs:", 1))
	for range attempts {
		r := e.run(args...)
		holds()
		if r.code == 0 {
			e.t.Fatalf("the plan does not have what this up has created:\n%s", lastLines(r.stdout))
		}
		if strings.Contains(r.stderr, "--plan: changed since: program of app") {
			break
		}
		if !e.followHints(r) {
			e.t.Fatalf("exit code %d\n%s%s", r.code, lastLines(r.stdout), r.stderr)
		}
	}
	e.write("app/Pulumi.yaml", planned)
	for range attempts {
		r := e.run(args...)
		holds()
		switch {
		case r.code == 0:
			return end
		case strings.Contains(r.stderr, "--plan: the state has changed since"),
			strings.Contains(lastLines(r.stdout), "makes a plan of what is left"): // an installed Pulumi plans app with the old output of net
			if r := e.run(save...); r.code != 0 {
				e.t.Fatalf("%v: exit code %d\n%s%s", save, r.code, lastLines(r.stdout), r.stderr)
			}
		case !e.followHints(r):
			e.t.Fatalf("exit code %d\n%s%s", r.code, lastLines(r.stdout), r.stderr)
		}
	}
	e.t.Fatalf("after %d attempts the plan is not carried out", attempts)
	return end
}

// prepare deploys what the guard protects, and makes the change that it forbids.
func (c guardedCase) prepare(e *environment) {
	e.t.Helper()
	e.write("mara.yaml", "projects:\n  - {path: net, outputs: [name]}\n  - {path: app, reads: net, outputs: [url]}\n  - {path: images, after: [net]}\n")
	c.writeImages(e, c.guard == deletionOn)
	e.write("app/Pulumi.yaml", `name: app
runtime: yaml
variables:
  name: {fn::stackReference: [organization/net/dev, name]}
resources:
  repository: {type: "aws:ecr:Repository", properties: {name: "${name}"}}
outputs: {url: "${repository.repositoryUrl}"}
`)
	c.writeNet(e, "team-a")
	switch c.guard {
	case protectionOn:
		e.write("config/pulumi/Pulumi.dev.yaml", "config:\n  runner:protect: true\n")
		e.simulate(0, "up")
	case costsOn:
		e.write("prices.yaml", "types:\n  aws:ec2/vpc:Vpc: {per: month, price: 40, day: 2026-11-01, source: us}\n")
		e.simulate(0, "up")
	case planOn, deletionOn:
		e.simulate(0, "up")
	case ruleOn:
		e.write("policies/names.jq", "# No repository of another team.\ndef deny: resources(\"aws:ecr/repository:Repository\") |\n  "+
			"select((.inputs.name // \"\") | test(\"^(team-b|vpc-)\")) | finding(\"is of another team\");\n")
	}
	switch {
	case c.guard == costsOn:
		c.writeNet(e, "spare")
	case c.unknown:
		c.writeNet(e, "${spare.id}")
	case c.guard != deletionOn:
		c.writeNet(e, "team-b")
	}
}

// writeImages writes the project that no other reads.
func (c guardedCase) writeImages(e *environment, protect bool) {
	e.t.Helper()
	e.write("images/Pulumi.yaml", fmt.Sprintf("name: images\nruntime: yaml\nresources:\n  common: "+
		"{type: \"aws:ecr:Repository\", properties: {name: common}, options: {protect: %t}}\n", protect))
}

// writeNet writes the project that app takes the name of its repository from.
func (c guardedCase) writeNet(e *environment, name string) {
	e.t.Helper()
	spare := ""
	if strings.Contains(name, "spare") {
		spare = "  spare: {type: \"aws:ec2:Vpc\", properties: {cidrBlock: 10.1.0.0/16}}\n"
	}
	e.write("net/Pulumi.yaml", "name: net\nruntime: yaml\nresources:\n  vpc: {type: \"aws:ec2:Vpc\", properties: {cidrBlock: 10.0.0.0/16}}\n"+
		spare+"outputs: {name: \""+name+"\"}\n")
}

// allow meets the objection of a rule, or takes the protection off a resource.
func (c guardedCase) allow(e *environment) {
	e.t.Helper()
	switch c.guard {
	case ruleOn:
		e.write("policies/names.jq", "# Nothing.\ndef deny: resources(\"none\") | finding(\"no\");\n")
	case deletionOn:
		c.writeImages(e, false)
		e.simulate(0, "up", "--only", "images")
	}
}

// override returns the flags that have the guard let the change pass.
func (c guardedCase) override() []string {
	switch c.guard {
	case protectionOn:
		return []string{"--allow", "repository"}
	case costsOn:
		return []string{"--max-monthly", "1000", "--unknown-costs", "allow"}
	}
	return nil
}

// invariant returns a check of what the guard has to hold: everything that exists now
// stays as it is, and nothing denied is created.
func (c guardedCase) invariant(e *environment) func() {
	e.t.Helper()
	before := e.resources()
	return func() {
		e.t.Helper()
		now := e.resources()
		if c.guard == protectionOn || c.guard == deletionOn {
			for r := range before {
				if !now[r] && !now[held{place: r.place}] {
					e.t.Errorf("the protected %+v is not as it was", r)
				}
			}
		}
		for r := range now {
			if c.denies(r) {
				e.t.Errorf("%+v is denied by %s, and was created", r, c.guard)
			}
		}
	}
}

// denies reports whether the guard forbids that a resource is created.
func (c guardedCase) denies(r held) bool {
	switch c.guard {
	case ruleOn:
		return strings.Contains(r.urn, "aws:ecr/repository:Repository::") && (strings.HasPrefix(r.id, "team-b") || strings.HasPrefix(r.id, "vpc-"))
	case planOn:
		return strings.HasSuffix(r.urn, "::more")
	case costsOn:
		return strings.HasSuffix(r.urn, "::spare")
	}
	return false
}

// held is a resource in a state or in the clouds. One with nothing but a place stands for
// a state that was cut off.
type held struct{ place, urn, id, created string }

// resources returns the resources of all states and of the clouds.
func (e *environment) resources() map[held]bool {
	e.t.Helper()
	found := map[held]bool{}
	for _, file := range e.cloudRecords() {
		var record simulate.Record
		content, err := os.ReadFile(file)
		if err == nil && json.Unmarshal(content, &record) == nil {
			found[held{"the clouds", record.URN, record.ID, ""}] = true
		}
	}
	files, _ := filepath.Glob(filepath.Join(e.root, ".runner/simulated/state/.pulumi/stacks/*/dev.json"))
	for _, file := range files {
		var state struct {
			Checkpoint struct {
				Latest struct {
					Resources []struct{ URN, ID, Created string }
				}
			}
		}
		place := filepath.Base(filepath.Dir(file))
		content, err := os.ReadFile(file)
		if err != nil || json.Unmarshal(content, &state) != nil {
			found[held{place: place}] = true
		}
		for _, r := range state.Checkpoint.Latest.Resources {
			if r.ID != "" && !strings.Contains(r.URN, "::pulumi:") {
				found[held{place, r.URN, r.ID, r.Created}] = true
			}
		}
	}
	return found
}
