package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/core/refusal"
)

// changedOutput is an environment in which another value of an output, and nothing
// else, makes a reader of the output replace a resource.
type changedOutput struct {
	*environment
	provider      []string // the flags that choose provider and projects
	owner, reader string
	lost          string   // what the reader would replace
	change        []string // the flags that change the output
	rule          string   // the policy, in policies.yaml or as a rule, that the new value breaks
	old, new      string   // values in the state of the reader
}

// openOwner is a project that exports the name of a repository and a range.
const openOwner = `name: net
runtime: yaml
config:
  name: {type: string, default: team-a}
  range: {type: string, default: 10.0.0.0/16}
outputs: {reponame: "${name}", cidr: "${range}"}
`

// newChangedOutput returns an environment whose owner is in Pulumi YAML, and whose
// reader app has yet to be written.
func newChangedOutput(e *environment) changedOutput {
	e.write("mara.yaml", "projects:\n  - path: net\n  - {path: app, reads: net}\n")
	e.write("net/Pulumi.yaml", openOwner)
	return changedOutput{
		environment: e, owner: "net", reader: "app", lost: "aws:ecr/repository:Repository repo",
		change: []string{"--config", "net:name=team-b", "--config", "net:range=0.0.0.0/0"},
		rule:   "use: [open-ranges]\n", old: "team-a", new: "team-b",
	}
}

// TestChangedOutput: an output gets another value, for which a reader replaces a
// resource. Preview, exit code, question, protection, rule and saved plan know it.
func TestChangedOutput(t *testing.T) {
	t.Parallel()
	long(t)
	t.Run("YAML", func(t *testing.T) {
		t.Parallel()
		c := newChangedOutput(newEnvironment(t, embedded))
		c.write("app/Pulumi.yaml", `name: app
runtime: yaml
resources:
  net: {type: "pulumi:pulumi:StackReference", properties: {name: "${pulumi.organization}/net/${pulumi.stack}"}}
  repo: {type: "aws:ecr:Repository", properties: {name: '${net.outputs["reponame"]}'}}
  sg:
    type: aws:ec2:SecurityGroup
    properties: {ingress: [{protocol: tcp, fromPort: 22, toPort: 22, cidrBlocks: ['${net.outputs["cidr"]}']}]}
`)
		c.check()
	})
	t.Run("mara", func(t *testing.T) {
		t.Parallel()
		changedOutput{
			environment: newEnvironment(t, embedded), provider: []string{"-p", "linode", "--only", "+kic-image-push"},
			owner: "linode-harbor-configuration", reader: "kic-image-push", lost: "docker:index/tag:Tag image",
			change: []string{"--config", "harbor:project=platform"},
			rule:   `def deny: resources("docker:index/tag:Tag") | select(.inputs.targetImage | test("/platform/")) | finding("is in another project");`,
			old:    "/library/", new: "/platform/",
		}.check()
	})
}

func (c changedOutput) check() {
	c.t.Helper()
	c.protect(true)
	c.simulate(0, "up", c.provider...)
	c.checkState(c.old)
	before := c.stateResources()
	c.checkPreview()
	c.checkGuards()
	c.checkQuestions()
	if diff := cmp.Diff(before, c.stateResources()); diff != "" {
		c.t.Errorf("what was refused was done:\n%s", diff)
	}
	c.protect(false)
	c.simulate(0, "preview", c.args("--save-plan", "plan.json")...)
	plan := slices.Concat(c.provider[:min(2, len(c.provider))], c.change, []string{"--plan", "plan.json", "--unknown-programs", "allow"})
	if step := finished(c.simulate(0, "up", plan...))[c.reader]; step.Changes.Replace == 0 {
		c.t.Errorf("the plan has replaced nothing: %s", step.Changes)
	}
	c.checkState(c.new)
	c.simulate(0, "preview", c.args("--exit-code")...)
}

// args returns the flags of an operation on the changed environment, and more.
func (c changedOutput) args(more ...string) []string {
	return slices.Concat(c.provider, c.change, more)
}

// protect writes the stack file.
func (c changedOutput) protect(protected bool) {
	c.t.Helper()
	text := "config: {}\n"
	if protected {
		text = "config:\n  runner:protect: true\n"
	}
	c.write("config/pulumi/Pulumi.dev.yaml", text)
}

// checkState looks for a value in the state of the reader.
func (c changedOutput) checkState(value string) {
	c.t.Helper()
	if state := c.read(".runner/simulated/state/.pulumi/stacks/" + c.reader + "/dev.json"); !strings.Contains(state, value) {
		c.t.Errorf("the state of %s does not have %q", c.reader, value)
	}
}

// checkPreview checks that the preview of the reader knows the new value.
func (c changedOutput) checkPreview() {
	c.t.Helper()
	events := c.simulate(5, "preview", c.args("--exit-code")...)
	steps := finished(events)
	if owner := steps[c.owner]; owner.Changes.Resources().Any() || owner.Changes.Outputs == 0 || len(newOutputs(events)[c.owner]) == 0 {
		c.t.Errorf("%s has %s, and outputs %v", c.owner, owner.Changes, newOutputs(events)[c.owner])
	}
	if reader := steps[c.reader]; reader.Changes.Replace == 0 || len(reader.Unknown) > 0 {
		c.t.Errorf("%s has %s, unknown %v", c.reader, reader.Changes, reader.Unknown)
	}
	if f := findingOf(events, string(refusal.Protection)); f == nil || f.Project != c.reader {
		c.t.Errorf("the finding is %+v", f)
	}
}

// checkGuards checks that protection and rule refuse the whole up where they cannot ask,
// and that its preview words the costs as `runner preview` does.
func (c changedOutput) checkGuards() {
	c.t.Helper()
	up := append([]string{"up", "--simulate", "--yes"}, c.args()...)
	refused := c.run(up...)
	for _, want := range []string{"forbidden by the protection of the environment", c.lost, "would be replaced or deleted; nothing was changed"} {
		if refused.code != 1 || !strings.Contains(refused.stderr, want) {
			c.t.Errorf("exit code %d, and no %q:\n%s%s", refused.code, want, lastLines(refused.stdout), refused.stderr)
		}
	}
	previewed := c.run(append([]string{"preview", "--simulate"}, c.args()...)...)
	hasPrices := c.provider != nil // nothing is said of the user's own resources, which have none
	if costs := costsOf(previewed.stdout); (costs != "") != hasPrices || costs != costsOf(refused.stdout) {
		c.t.Errorf("the costs of a preview %q and of the preview of an up %q", costs, costsOf(refused.stdout))
	}
	c.protect(false)
	file := "policies/policies.yaml"
	if strings.HasPrefix(c.rule, "def ") {
		file = "policies/new-value.jq"
	}
	c.write(file, c.rule)
	for _, args := range [][]string{up, append([]string{"preview", "--simulate", "--exit-code"}, c.args()...)} {
		if r := c.run(args...); r.code != 1 || !strings.Contains(r.stderr, "forbidden by policy: ") || !strings.Contains(r.stderr, "("+c.reader+")") {
			c.t.Errorf("%s: exit code %d\n%s%s", args[0], r.code, lastLines(r.stdout), r.stderr)
		}
	}
	if err := os.RemoveAll(filepath.Join(c.root, "policies")); err != nil {
		c.t.Fatal(err)
	}
}

// checkQuestions checks that up asks a person before the loss, and in a protected
// environment for the name of the stack.
func (c changedOutput) checkQuestions() {
	c.t.Helper()
	up := append([]string{"up", "--simulate", "--ui", "plain"}, c.args()...)
	person := c.sit(up...)
	person.answer(typed("to replace", "n"))
	screen := person.end(1)
	if costs := costsOf(c.run(append([]string{"preview", "--simulate"}, c.args()...)...).stdout); costs != costsOf(screen) {
		c.t.Errorf("the costs of a preview %q and on the terminal %q", costs, costsOf(screen))
	}
	c.protect(true)
	person = c.sit(up...)
	person.answer(typed("Type the stack's name to continue", "prod"))
	if screen := person.end(1); !strings.Contains(strings.Join(strings.Fields(screen), " "), c.lost) {
		c.t.Errorf("the question does not name %s:\n%s", c.lost, screen)
	}
}

// costsOf returns what a screen says of costs, without the breaks of its lines.
func costsOf(screen string) string {
	_, text, found := strings.Cut(strings.ReplaceAll(screen, "\r", ""), "\nCosts ")
	if !found {
		return ""
	}
	text, _, _ = strings.Cut(text, "charged]")
	return strings.Join(strings.Fields(text), " ")
}
