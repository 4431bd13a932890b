package e2e

import (
	"testing"

	"mara/runner/internal/testing/servicetest"
)

// oneNetwork is a program with one resource at a cloud.
func oneNetwork(name, cidr string) string {
	return "name: " + name + "\nruntime: yaml\nresources:\n  net: {type: \"aws:ec2:Vpc\", properties: {cidrBlock: " + cidr + "}}\n"
}

// inAccounts deploys two projects with a profile, one of them with another one that mara.yaml names.
func inAccounts(t *testing.T) *environment {
	t.Helper()
	e := newEnvironment(t, embedded)
	e.write("mara.yaml", "projects:\n  - path: a\n  - {path: b, env: {AWS_PROFILE: \"team-{stack}\"}}\n")
	e.write("config/pulumi/Pulumi.dev.yaml", "config: {}\n")
	e.write("a/Pulumi.yaml", oneNetwork("a", "10.0.0.0/16"))
	e.write("b/Pulumi.yaml", oneNetwork("b", "10.1.0.0/16"))
	before := e.env
	e.env = append(e.env, "AWS_PROFILE=first")
	e.simulate(0, "up")
	e.env = before
	e.write("a/Pulumi.yaml", oneNetwork("a", "10.2.0.0/16"))
	return e
}

// TestAccountsAreHeld: the account of the first deployment is held in each operation that changes, for each project.
func TestAccountsAreHeld(t *testing.T) {
	t.Parallel()
	e := inAccounts(t)
	const other = "a of dev was deployed to the account SIMULATED-first at aws, and the credentials are of SIMULATED-other"
	as := func(profile string) { e.env = append(e.env, "AWS_PROFILE="+profile) }
	as("other")
	e.expect(3, "up --simulate --yes", other, "nothing was changed", "use the credentials of SIMULATED-first", "--allow other-account")
	e.expect(3, "refresh --simulate", other)
	e.expect(3, "destroy --simulate --yes", other)
	e.expect(0, "preview --simulate", other) // a warning
	e.expect(0, "up --simulate --yes --only b --force", "1 succeeded")
	as("first")
	e.expect(0, "up --simulate --yes", "2 succeeded")
	// The other project has its variable from mara.yaml.
	e.write("mara.yaml", "projects:\n  - path: a\n  - {path: b, env: {AWS_PROFILE: elsewhere}}\n")
	e.write("b/Pulumi.yaml", oneNetwork("b", "10.3.0.0/16"))
	e.expect(3, "up --simulate --yes", "b of dev was deployed to the account SIMULATED-team-dev at aws, and the credentials are of SIMULATED-elsewhere")
	e.expect(0, "up --simulate --yes --allow other-account", "succeeded")
	e.expect(0, "up --simulate --yes --force", "2 succeeded") // it is recorded
	// What is destroyed may be deployed to another one.
	e.expect(0, "destroy --simulate --yes", "2 succeeded")
	as("other")
	e.expect(0, "up --simulate --yes", "2 succeeded")
	as("first")
	e.expect(3, "up --simulate --yes --force", "deployed to the account SIMULATED-other")
	// A damaged record knows no accounts, as it knows no projects.
	e.write(".runner/simulated/environments/dev.rolled.json", "{")
	e.expect(0, "up --simulate --yes --force", "2 succeeded")
}

// TestAccountsOfOrphans: a stack that no project claims is not destroyed with the credentials of another account, and a
// command of plain Pulumi says whose credentials it has.
func TestAccountsOfOrphans(t *testing.T) {
	t.Parallel()
	e := inAccounts(t)
	e.env = append(e.env, "AWS_PROFILE=other")
	e.expect(0, "pulumi a --simulate -- state unprotect --all --yes", "a of dev was deployed to the account SIMULATED-first at aws, and the credentials are of SIMULATED-other")
	e.write("mara.yaml", "projects:\n  - {path: b, env: {AWS_PROFILE: \"team-{stack}\"}}\n")
	e.expect(3, "destroy --orphans --simulate --yes", "a of dev was deployed to the account SIMULATED-first at aws, and the credentials are of SIMULATED-other", "nothing was changed")
	e.env = append(e.env, "AWS_PROFILE=first")
	e.expect(0, "destroy --orphans --simulate --yes", "1 succeeded")
}

// TestAccountsAtPulumiCloud: the account is a tag of the stack there, so that another machine holds it as well.
func TestAccountsAtPulumiCloud(t *testing.T) {
	t.Parallel()
	s := servicetest.New(t, servicetest.Options{})
	machine := func() *environment {
		e := newEnvironment(t, embedded)
		e.atService(s)
		e.env = append(e.env, "AWS_ENDPOINT_URL="+awsStandIn(t), "AWS_ACCESS_KEY_ID=AKIAEXAMPLE", "AWS_SECRET_ACCESS_KEY="+awsKey, "AWS_REGION=eu-north-1")
		e.write("mara.yaml", "projects:\n  - path: a\n")
		e.write("a/Pulumi.yaml", stash("a", ""))
		e.write("a/package.json", `{"dependencies": {"@pulumi/aws": "7.0.0"}}`)
		e.write("config/pulumi/Pulumi.dev.yaml", "config: {}\n")
		return e
	}
	const stack, tag, account = "acme/a/dev", "mara:account:aws", "123456789012"
	machine().expect(0, "up --yes", "1 succeeded")
	if got := s.Tags(stack)[tag]; got != account {
		t.Fatalf("the tag is %q", got)
	}
	machine().expect(0, "up --yes --force", "1 succeeded")
	s.Tag(stack, tag, "999999999999")
	other := machine()
	other.expect(3, "up --yes --force", "a of dev was deployed to the account 999999999999 at aws, and the credentials are of "+account)
	other.expect(0, "up --yes --force --allow other-account", "1 succeeded")
	if got := s.Tags(stack)[tag]; got != account {
		t.Errorf("the tag is %q", got)
	}
}
