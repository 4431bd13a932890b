package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"mara/runner/internal/core/refusal"
)

const (
	simulatedUp      = "up --simulate --yes"
	simulatedDestroy = "destroy --simulate --yes"
)

// guardedCases returns what is tried of each guard.
func guardedCases() map[entryKey]guarded {
	const (
		protected = "config: {runner:protect: true}\n"
		noFile    = "it reads no file of its own"
		ofUps     = "plans are of ups"
		noFleet   = "a fleet has no such flag"
		notUps    = "it is no operation on projects"
		noProgram = "it does not depend on what a program does"
	)
	damagedState := damage(stateOfApp, "{")
	losing := func(t *testing.T) *environment {
		t.Helper()
		c := newChanging(t, protected, "")
		c.write("app/Pulumi.yaml", deletes)
		return c.environment
	}
	onlyRollouts := func(own map[column]cell) map[column]cell {
		all := map[column]cell{
			inFleet: none("it is of fleets"), planned: none("a rollout has no plans of ups"), misnamed: by("TestUnreadFiles"), changedSince: by("TestGateHolds"),
		}
		for column, c := range own {
			all[column] = c
		}
		return all
	}
	return map[entryKey]guarded{
		{refusal.Question, refusal.Deploying}: {
			prepare: func(t *testing.T) *environment {
				t.Helper()
				return changedStash(t)
			},
			command: "up", overrides: []string{"--yes"},
			cells: map[column]cell{
				unreadable: none(noFile), misnamed: none(noFile), changedSince: by("TestApprovalOnATerminal"),
				planned: none("a saved plan is an approval of what it has"),
			},
		},
		{refusal.AutoApprove, refusal.Deploying}: {
			prepare: func(t *testing.T) *environment {
				t.Helper()
				c := newChanging(t, "config: {}\n", "")
				c.write("app/Pulumi.yaml", deletes)
				return c.environment
			},
			command: "up --simulate --auto-approve-if no-deletes", overrides: []string{"--yes"},
			cells: map[column]cell{
				inFleet: none(noFleet), unreadable: damagedState, misnamed: none(noFile), changedSince: by("TestApprovalBindsTheProgram"),
				planned: none("a saved plan is an approval of what it has"),
			},
		},
		{refusal.Approval, refusal.Deploying}: {
			cells: map[column]cell{
				byFlags: by("TestApprovalBindsTheProgram"), byVariables: by("TestApprovalBindsTheProgram"), byFile: none("nothing but an answer overrides it"),
				inFleet: by("TestSecondLookStopsALoss"), resumed: by("TestSecondLookAsks"), planned: by("TestPlanIsKept"), noTerminal: by("TestApprovalBindsTheProgram"),
				unreadable: by("TestSecondLookStopsALoss"), misnamed: none(noFile), changedSince: by("TestApprovalOnATerminal"),
			},
		},
		{refusal.Protection, refusal.Deploying}: {
			prepare: losing, command: simulatedUp, overrides: []string{"--allow network", "--allow dev", "--allow aws:ec2/vpc:Vpc"},
			cells: map[column]cell{
				unreadable:   damage("config/pulumi/Pulumi.dev.yaml", "config: {runner:protect"),
				misnamed:     rename("config/pulumi/Pulumi.dev.yaml", "config/pulumi/Pulumi.dev.yml"),
				changedSince: by("TestApprovalBindsTheProgram"),
			},
		},
		{refusal.Cluster, refusal.Deploying}: {
			prepare: replacedCluster, command: simulatedUp, overrides: []string{"--allow cluster", "--allow dev"},
			cells: map[column]cell{unreadable: damagedState, misnamed: none(noFile), changedSince: by("TestReplacedCluster")},
		},
		{refusal.Rule, refusal.Deploying}: {
			prepare: func(t *testing.T) *environment {
				t.Helper()
				c := newChanging(t, "config: {}\n", "")
				c.write("policies/teams.jq", "# No second team.\ndef deny: resources(\"aws:ec2/vpc:Vpc\") | select(.inputs.tags.team == \"two\") | finding(\"is of another team\");\n")
				return c.environment
			},
			command: simulatedUp, says: "forbidden by policy: teams",
			cells: map[column]cell{
				unreadable: damage("policies/teams.jq", "def deny: resources("), misnamed: rename("policies/teams.jq", "policies/teams.JQ"),
				changedSince: by("TestSecondLookStopsADenial"),
			},
		},
		{refusal.PolicyPack, refusal.Deploying}: {
			cells: map[column]cell{
				byFlags: by("TestPolicyPacks"), byVariables: by("TestPolicyPacks"), byFile: none("nothing overrides it"), inFleet: by("TestPolicyPacks"),
				resumed: by("TestPolicyPacks"), planned: by("TestPolicyPacks"), noTerminal: by("TestPolicyPacks"),
				unreadable: by("TestPolicyPacks"), misnamed: by("TestPolicyPacks"), changedSince: by("TestSecondLookStopsADenial"),
			},
		},
		{refusal.MaxMonthly, refusal.Deploying}: {
			prepare: func(t *testing.T) *environment {
				t.Helper()
				c := newChanging(t, "config: {}\n", "")
				c.write("prices.yaml", "types:\n  aws:ec2/vpc:Vpc: {per: month, price: 40, day: 2026-11-01, source: us}\n")
				return c.environment
			},
			command: simulatedUp + " --max-monthly 50",
			cells: map[column]cell{
				unreadable: damage("prices.yaml", "types: ["), misnamed: rename("prices.yaml", "prices.yml"),
				changedSince: by("TestChaosOfGuards"),
			},
		},
		{refusal.Plan, refusal.Deploying}: {
			prepare: func(t *testing.T) *environment {
				t.Helper()
				c := newChanging(t, "config: {}\n", "")
				c.simulate(0, "preview", "--save-plan", "plan.json")
				c.write("app/Pulumi.yaml", deletes)
				return c.environment
			},
			command: "up --simulate --plan plan.json",
			cells: map[column]cell{
				inFleet: none(noFleet), resumed: cell{try: attempt.resume}, planned: none("it is the plan"),
				unreadable: damage("plan.json", "{"), misnamed: rename("plan.json", "other.json"), changedSince: by("TestApprovalBindsTheProgram"),
			},
		},
		{refusal.PlanDigest, refusal.Deploying}: {
			prepare: func(t *testing.T) *environment {
				t.Helper()
				c := newChanging(t, "config: {}\n", "")
				c.simulate(0, "preview", "--save-plan", "plan.json")
				return c.environment
			},
			command: "up --simulate --plan plan.json --plan-digest sha256:" + strings.Repeat("0", 64), says: "is not the plan that was approved",
			cells: map[column]cell{
				inFleet: none(noFleet), planned: none("it is of a plan"), unreadable: damage("plan.json", "{"),
				misnamed: rename("plan.json", "other.json"), changedSince: by("TestPlanIsKept"),
			},
		},
		{refusal.MissingOutput, refusal.Deploying}: {
			prepare: func(t *testing.T) *environment {
				t.Helper()
				e := newPair(t)
				e.write("a/Pulumi.yaml", stash("a", "outputs:\n  y: ${kept.output}\n"))
				return e
			},
			command: simulatedUp, overrides: []string{"--on-missing-output warn"},
			cells: map[column]cell{
				unreadable: damage("a/Pulumi.yaml", "name: ["), misnamed: rename("a/Pulumi.yaml", "a/Pulumi.yaaml"), changedSince: by("TestChangedOutput"),
			},
		},
		{refusal.Backend, refusal.Deploying}: {
			prepare: func(t *testing.T) *environment {
				t.Helper()
				e := changedStash(t)
				e.env = append(e.env, "PULUMI_BACKEND_URL="+inDirectory(t).backend)
				return e
			},
			command: "up --yes", overrides: []string{"--new-backend"},
			cells: map[column]cell{
				unreadable: cell{try: func(a attempt) {
					record := only(a.T, filepath.Join(a.e.root, ".runner/environments/dev.backend.yaml"))
					relative, err := filepath.Rel(a.e.root, record)
					if err != nil {
						a.Fatal(err)
					}
					damage(relative, "{").try(a)
				}},
				misnamed: none("its record is written by the runner"), changedSince: none("it is chosen before anything is previewed"),
			},
		},
		{refusal.NewStack, refusal.Deploying}: {
			prepare: func(t *testing.T) *environment {
				t.Helper()
				e := newEnvironment(t, embedded)
				e.useStatesAt(inDirectory(t))
				e.write("mara.yaml", "environments: [dev]\nprojects:\n  - path: a\n")
				e.write("a/Pulumi.yaml", stash("a", ""))
				e.expect(0, "up --yes", "1 succeeded")
				return e
			},
			command: "up -s dve --yes", overrides: []string{"--new"},
			cells: map[column]cell{
				unreadable: damage("mara.yaml", "projects: ["), misnamed: none("a misspelled name is what it refuses"), changedSince: none(noProgram),
			},
		},
		{refusal.UnknownStack, refusal.Deploying}: {
			prepare: newPair, command: "destroy -s dve --simulate --yes",
			cells: map[column]cell{
				planned: none(ofUps), unreadable: damage("mara.yaml", "projects: ["), misnamed: none("a misspelled name is what it refuses"),
				changedSince: none(noProgram),
			},
		},
		{refusal.Rename, refusal.Deploying}: {
			prepare: func(t *testing.T) *environment {
				t.Helper()
				e := newEnvironment(t, embedded)
				e.useStatesAt(inDirectory(t))
				e.write("mara.yaml", "projects:\n  - {path: a, stackFile: own}\n")
				e.write("a/Pulumi.yaml", stash("a", ""))
				e.write("a/Pulumi.dev.yaml", "config:\n  a:size: small\n")
				e.expect(0, "up --yes", "1 succeeded")
				e.write("a/Pulumi.yaml", stash("b", ""))
				return e
			},
			command: "up --yes", overrides: []string{"--allow orphan-and-new"},
			cells: map[column]cell{
				unreadable: damage("a/Pulumi.dev.yaml", "config: ["), misnamed: none(noFile), changedSince: none("the names of projects are read once"),
			},
		},
		{refusal.Repository, refusal.Deploying}: {
			prepare: func(t *testing.T) *environment {
				t.Helper()
				at := inDirectory(t)
				first := ofRepository(t, at, "https://example.com/acme/infra")
				first.expect(0, "up --yes", "1 succeeded")
				return ofRepository(t, at, "https://example.com/acme/shop")
			},
			command: "up --yes", overrides: []string{"--allow other-repository"},
			cells: map[column]cell{
				unreadable: by("TestTwoRepositoriesOneBackend"), misnamed: none("its record is written by the runner"), changedSince: none(noProgram),
			},
		},
		{refusal.Account, refusal.Deploying}: {
			prepare: func(t *testing.T) *environment {
				t.Helper()
				e := inAccounts(t)
				e.env = append(e.env, "AWS_PROFILE=other")
				return e
			},
			command: simulatedUp, says: "was deployed to the account SIMULATED-first at aws, and the credentials are of SIMULATED-other",
			overrides: []string{"--allow other-account"},
			cells: map[column]cell{
				unreadable: by("TestAccountsAreHeld"), misnamed: none("its record is written by the runner"), changedSince: none(noProgram),
			},
		},
		{refusal.LostState, refusal.Deploying}: {
			prepare: func(t *testing.T) *environment {
				t.Helper()
				e := newPair(t)
				if err := os.Remove(filepath.Join(e.root, stateOfB)); err != nil {
					t.Fatal(err)
				}
				return e
			},
			command: simulatedUp, overrides: []string{"--allow b"},
			cells: map[column]cell{unreadable: by("TestStateIsGone"), misnamed: none("its record is written by the runner"), changedSince: none(noProgram)},
		},
		{refusal.StateMove, refusal.Deploying}: {
			cells: map[column]cell{
				byFlags: by("TestHasCopied"), byVariables: by("TestHasCopied"), byFile: none("nothing overrides it"), inFleet: by("TestHasCopied"),
				resumed: by("TestHasCopied"), planned: none(notUps), noTerminal: by("TestHasCopied"), unreadable: by("TestCopier"), misnamed: none(noFile),
				changedSince: by("TestHasCopied"),
			},
		},
		{refusal.Lock, refusal.Deploying}: {
			prepare: func(t *testing.T) *environment {
				t.Helper()
				e := sharing(t, inDirectory(t))
				running := e.begin()
				t.Cleanup(func() {
					e.write("a/go", "")
					_ = running.Wait()
				})
				return e
			},
			command: "up --yes",
			cells: map[column]cell{
				unreadable: by("TestKilledRun"), misnamed: none("its files are written by the runner"), changedSince: none("a lock is held for the whole run"),
				planned: none("a preview takes no lock"),
			},
		},
		{refusal.Question, refusal.Destroying}: {
			prepare: newPair, command: "destroy --simulate", overrides: []string{"--yes"},
			cells: map[column]cell{planned: none(ofUps), unreadable: damage(stateOfB, "{"), misnamed: none(noFile), changedSince: none("a destroy has no preview")},
		},
		{refusal.Protected, refusal.Destroying}: {
			prepare: func(t *testing.T) *environment {
				t.Helper()
				e := newPair(t)
				e.write("a/Pulumi.yaml", stash("a", "    options: {protect: true}\noutputs:\n  x: ${kept.output}\n"))
				e.simulate(0, "up")
				return e
			},
			command: simulatedDestroy, says: "1 protected resource in the way of the destroy; nothing was deleted", overrides: []string{"--skip a"},
			cells: map[column]cell{planned: none(ofUps), unreadable: damage(stateOfB, "{"), misnamed: none(noFile), changedSince: by("TestDeletionLooksFirst")},
		},
		{refusal.Protection, refusal.Destroying}: {
			prepare: func(t *testing.T) *environment {
				t.Helper()
				e := newEnvironment(t, embedded)
				e.write("mara.yaml", "projects:\n  - path: a\n")
				e.write("a/Pulumi.yaml", stash("a", ""))
				e.write("config/environments/eu-1.yaml", "values: {pulumiConfig: {\"runner:protect\": true}}\n")
				e.write("config/environments/eu-2.yaml", "values: {}\n")
				e.fleet(0, "up", "--all")
				return e
			},
			command: "fleet destroy --all --simulate --yes", says: "protects this environment from being destroyed", overrides: []string{"--allow eu-1"},
			cells: map[column]cell{
				inFleet: none("it is of fleets"), planned: none(ofUps), unreadable: damage("config/environments/eu-1.yaml", "values: ["),
				misnamed: rename("config/environments/eu-1.yaml", "config/environments/eu-1.yml"), changedSince: none("a destroy has no preview"),
			},
		},
		{refusal.Readers, refusal.Destroying}: {
			prepare: func(t *testing.T) *environment {
				t.Helper()
				e := newPair(t)
				e.write("b/Pulumi.yaml", readerNamed("b2"))
				return e
			},
			command: simulatedDestroy, overrides: []string{"--allow orphan-readers"},
			cells: map[column]cell{planned: none(ofUps), unreadable: damage(stateOfB, "{"), misnamed: none(noFile), changedSince: none("a destroy has no preview")},
		},
		{refusal.LeftBehind, refusal.Destroying}: {
			cells: map[column]cell{
				byFlags: by("TestEmptyCluster"), byVariables: by("TestEmptyCluster"), byFile: none("RUNNER_ variables of a committed file are refused"),
				inFleet: by("TestEmptyCluster"), resumed: by("TestEmptyCluster"), planned: none(ofUps), noTerminal: by("TestEmptyCluster"),
				unreadable: by("TestEmptyCluster"), misnamed: none(noFile), changedSince: by("TestOnlyAClusterIsEmptiedFirst"),
			},
		},
		{refusal.UnknownAge, refusal.Destroying}: {
			prepare: func(t *testing.T) *environment {
				t.Helper()
				e := newEnvironment(t, embedded)
				e.write("mara.yaml", "projects:\n  - path: a\n")
				e.write("a/Pulumi.yaml", stash("a", ""))
				e.write("config/environments/eu-1.yaml", "values: {pulumiConfig: {\"runner:ttl\": 1h}}\n")
				e.fleet(0, "up", "--all")
				const file = ".runner/simulated/state/.pulumi/stacks/a/eu-1.json"
				e.write(file, regexp.MustCompile(`"created": ?"20`).ReplaceAllString(e.read(file), `"created":"29`))
				return e
			},
			command: "fleet reap --all --simulate --yes", says: "not destroyed, because their age is unknown: eu-1", overrides: []string{"--unknown-age keep", "--unknown-age destroy"},
			cells: map[column]cell{
				inFleet: none("it is of fleets"), planned: none(ofUps), unreadable: damage("config/environments/eu-1.yaml", "values: ["),
				misnamed: rename("config/environments/eu-1.yaml", "config/environments/eu-1.yml"), changedSince: none("a destroy has no preview"),
			},
		},
		{refusal.Promotion, refusal.RollingOut}: {
			prepare: func(t *testing.T) *environment {
				t.Helper()
				e := twoWaves(t, "")
				e.fleet(0, "up", "--all")
				e.write("app/Pulumi.yaml", e.read("app/Pulumi.yaml")+"# another\n")
				return e
			},
			command: "fleet up prod-1 --simulate --yes", says: "comes before, and test-1 has changed since it was rolled out", overrides: []string{"--out-of-order"},
			cells: onlyRollouts(map[column]cell{unreadable: damage("config/rollout.yaml", "waves: ["), misnamed: rename("config/rollout.yaml", "config/rollout.yml")}),
		},
		{refusal.Gate, refusal.RollingOut}: {
			prepare: func(t *testing.T) *environment {
				t.Helper()
				e := twoWaves(t, ", gates: [{run: sh gate.sh, simulate: true}]")
				e.write("gate.sh", "#!/bin/sh\nexit 1\n")
				e.fleet(1, "up", "--all")
				return e
			},
			command: "fleet up prod-1 --simulate --yes", says: "test-1 has not passed the gates of its wave", overrides: []string{"--skip-gate run", "--out-of-order"},
			cells: onlyRollouts(map[column]cell{unreadable: damage("config/rollout.yaml", "waves: ["), misnamed: rename("config/rollout.yaml", "config/rollout.yml")}),
		},
		{refusal.MaxFailures, refusal.RollingOut}: {
			cells: map[column]cell{
				byFlags: by("TestFleetFails"), byVariables: by("TestFleetFails"), byFile: none("nothing but the rollout's file overrides it"), inFleet: none("it is of fleets"),
				resumed: by("TestFleetFails"), planned: none("a rollout has no plans of ups"), noTerminal: by("TestFleetFails"), unreadable: by("TestGuards"),
				misnamed: by("TestGuards"), changedSince: none("failures are counted as they come"),
			},
		},
	}
}

// changedStash deploys a project to a directory, not to simulated clouds, and changes it.
func changedStash(t *testing.T) *environment {
	t.Helper()
	e := newEnvironment(t, embedded)
	e.useStatesAt(inDirectory(t))
	e.write("mara.yaml", "projects:\n  - path: a\n")
	e.write("config/pulumi/Pulumi.dev.yaml", "config: {}\n")
	e.write("a/Pulumi.yaml", stash("a", ""))
	e.expect(0, "up --yes", "1 succeeded")
	e.write("a/Pulumi.yaml", strings.Replace(stash("a", ""), "hello", "goodbye", 1))
	return e
}

// replacedCluster deploys a cluster, and gives it a property that replaces it.
func replacedCluster(t *testing.T) *environment {
	t.Helper()
	e := newEnvironment(t, embedded)
	e.write("mara.yaml", "projects:\n  - path: app\n")
	e.write("config/pulumi/Pulumi.dev.yaml", "config: {}\n")
	program := func(name string) {
		e.write("app/Pulumi.yaml", "name: app\nruntime: yaml\nresources:\n  cluster:\n    type: aws:eks:Cluster\n    properties: {name: "+name+
			", roleArn: \"${role.arn}\", vpcConfig: {subnetIds: [\"${one.id}\", \"${two.id}\"]}}\n"+
			"  role: {type: \"aws:iam:Role\", properties: {assumeRolePolicy: \"{}\"}}\n  net: {type: \"aws:ec2:Vpc\", properties: {cidrBlock: 10.0.0.0/16}}\n"+
			"  one: {type: \"aws:ec2:Subnet\", properties: {vpcId: \"${net.id}\", cidrBlock: 10.0.0.0/24, availabilityZone: us-east-1a}}\n"+
			"  two: {type: \"aws:ec2:Subnet\", properties: {vpcId: \"${net.id}\", cidrBlock: 10.0.1.0/24, availabilityZone: us-east-1b}}\n")
	}
	program("one")
	e.simulate(0, "up")
	program("two")
	return e
}

// ofRepository returns a root with a remote, whose states are at a place that it shares.
func ofRepository(t *testing.T, at place, remote string) *environment {
	t.Helper()
	e := newEnvironment(t, embedded)
	e.useStatesAt(at)
	e.write("mara.yaml", "projects:\n  - path: a\n")
	e.write("a/Pulumi.yaml", stash("a", ""))
	for _, args := range [][]string{{"init", "--quiet"}, {"remote", "add", "origin", remote}} {
		if out, err := exec.Command("git", append([]string{"-C", e.root}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", args, err, out)
		}
	}
	return e
}

// twoWaves has an environment in each of two waves; gates are those of the first.
func twoWaves(t *testing.T, gates string) *environment {
	t.Helper()
	e := newEnvironment(t, embedded)
	e.write("mara.yaml", "projects:\n  - path: app\n")
	e.write("app/Pulumi.yaml", stash("app", ""))
	for _, name := range []string{"test", "prod"} {
		e.write("config/environments/"+name+"-1.yaml", "values: {runner: {labels: {stage: "+name+"}}}\n")
	}
	e.write("config/rollout.yaml", "waves:\n  - {name: test, match: {stage: test}"+gates+"}\n  - {name: prod, match: {stage: prod}}\n")
	return e
}

// only returns the one file that a pattern matches, below the root of the test.
func only(t *testing.T, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) != 1 {
		t.Fatalf("%s matches %v, %v", pattern, found, err)
	}
	return found[0]
}
