package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"mara/runner/internal/simulation/simulate"
)

// fewGuarded is how many guarded runs are disturbed by `make test`: one for each guard
// and for each way in which what it forbids comes about.
const fewGuarded = 5

// The guards that are on in a case.
const (
	protectionOn = "protection"
	ruleOn       = "a rule"
	planOn       = "a saved plan"
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
	}
	kinds := []string{killRunner, interrupt, killAll, faultOnly, terminate, killWorker, interrupt2, interrupt3}
	c := guards[turn%len(guards)]
	c.engine = pick(r, embedded, embedded, embedded, stock)
	c.args = []string{"--parallel", pick(r, "1", "2", "4"), "--simulate-speed", pick(r, "1000", "3000", "100000"), "--on-error", pick(r, "stop", "continue")}
	c.trouble = trouble{
		kind: kinds[turn%len(kinds)], line: r.IntN(24), pause: time.Duration(r.IntN(60)) * time.Millisecond, chance: r.IntN(100),
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
// commands that the runner proposes. After each command nothing protected is lost and
// nothing denied exists, in the states and in the clouds. When the guard is overridden
// or its objection is met, the resumed run ends as an undisturbed one does.
func TestChaosOfGuards(t *testing.T) {
	t.Parallel()
	cases, first := number(t, casesVariable, fewGuarded), uint64(number(t, seedVariable, firstSeed))
	campaign := &campaign{references: map[string]*reference{}, met: map[string]int{}}
	t.Cleanup(func() { fmt.Printf("chaos of guards: met: %v\n", campaign.met) })
	for i := range max(fewGuarded, cases/5) {
		seed := first + uint64(i)
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			c := newGuardedCase(rand.New(rand.NewPCG(seed, 28)), int(seed))
			t.Log(c)
			want := campaign.reference(t, c.guard+fmt.Sprint(c.unknown), func(e *environment) {
				c.prepare(e)
				c.allow(e)
				e.simulate(0, "up", c.override()...)
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
	args := append([]string{"up", "--simulate", "--yes", "-o", "json"}, c.args...)
	if c.guard == planOn {
		return c.disturbPlan(e, args, holds)
	}
	end := e.disturbCommand(e.command(append(args, c.trouble.faults...)...), chaosCase{}, c.trouble)
	holds()
	e.checkEnd(c.trouble, end)
	e.carryOnUntil(args, func(r result) bool {
		holds()
		if r.code == 0 {
			e.t.Fatalf("%s let it pass:\n%s", c.guard, lastLines(r.stdout))
		}
		return r.code == 1 && strings.Contains(r.stdout+r.stderr, "forbidden by ")
	})
	c.allow(e)
	e.carryOnUntil(append(args, c.override()...), succeeded)
	return end
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
		case strings.Contains(r.stderr, "--plan: the state has changed since"):
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
	e.write("images/Pulumi.yaml", "name: images\nruntime: yaml\nresources:\n  common: {type: \"aws:ecr:Repository\", properties: {name: common}}\n")
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
	case planOn:
		e.simulate(0, "up")
	case ruleOn:
		e.write("policies/names.jq", "# No repository of another team.\ndef deny: resources(\"aws:ecr/repository:Repository\") |\n  "+
			"select((.inputs.name // \"\") | test(\"^(team-b|vpc-)\")) | finding(\"is of another team\");\n")
	}
	if c.unknown {
		c.writeNet(e, "${spare.id}")
	} else {
		c.writeNet(e, "team-b")
	}
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

// allow meets the objection of a rule.
func (c guardedCase) allow(e *environment) {
	e.t.Helper()
	if c.guard == ruleOn {
		e.write("policies/names.jq", "# Nothing.\ndef deny: resources(\"none\") | finding(\"no\");\n")
	}
}

// override returns the flags that have the guard let the change pass.
func (c guardedCase) override() []string {
	if c.guard == protectionOn {
		return []string{"--allow", "repository"}
	}
	return nil
}

// invariant returns a check of what the guard has to hold: everything that exists now
// stays as it is, and no repository with a denied name is created.
func (c guardedCase) invariant(e *environment) func() {
	e.t.Helper()
	before := e.repositories()
	return func() {
		e.t.Helper()
		now := e.repositories()
		switch c.guard {
		case protectionOn:
			for urn, name := range before {
				if now[urn] != name {
					e.t.Errorf("the protected %s was %s and is %q", urn, name, now[urn])
				}
			}
		case ruleOn:
			for urn, name := range now {
				if strings.HasPrefix(name, "team-b") || strings.HasPrefix(name, "vpc-") {
					e.t.Errorf("%s is denied, and was created as %s", urn, name)
				}
			}
		case planOn:
			for urn := range now {
				if strings.HasSuffix(urn, "::more") {
					e.t.Errorf("%s is not in the plan, and was created", urn)
				}
			}
		}
	}
}

// repositories returns the ids, which are the names, of the registries' repositories in the clouds, by URN.
func (e *environment) repositories() map[string]string {
	e.t.Helper()
	found := map[string]string{}
	for _, file := range e.cloudRecords() {
		var record simulate.Record
		content, err := os.ReadFile(file)
		if err == nil && json.Unmarshal(content, &record) == nil && strings.Contains(record.URN, "aws:ecr/repository:Repository::") {
			found[record.URN] = record.ID
		}
	}
	return found
}
