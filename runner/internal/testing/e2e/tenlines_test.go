package e2e

import (
	"slices"
	"strings"
	"testing"
)

// TestTenLinesOnATerminal is the life of a repository that plain Pulumi has deployed, as people type it: a clone, the
// adoption, a preview in a new shell, the job of CI, another passphrase, a rename, and a new environment.
func TestTenLinesOnATerminal(t *testing.T) {
	t.Parallel()
	long(t)
	e, states := ownRepository(t)
	shell := e.clone()
	shell.env = append(shell.env, "PULUMI_BACKEND_URL=file://"+states)
	says := func(screen string, want ...string) {
		t.Helper()
		for _, text := range want {
			if !strings.Contains(strings.Join(strings.Fields(screen), " "), text) {
				t.Errorf("the screen does not say %q:\n%s", text, screen)
			}
		}
	}
	says(shell.sit("adopt").end(0), "2 projects, in the order of up", "Environments: dev", "Backend: file://"+states)

	colleague := shell.clone() // another shell, without the variable
	says(colleague.sit("preview", "-s", "dev", "--ui", "plain").end(0), "no changes")
	colleague.expect(0, "check", "1 environment checked, no problems") // CI has no terminal
	colleague.expect(0, "preview -s dev --exit-code", "no changes")
	colleague.expect(0, "up -s dev --yes", "2 succeeded")

	person := colleague.sit("secrets", "change-provider", "passphrase", "-s", "dev")
	person.answer(typed("Choose a new passphrase for the secrets of dev", "battery staple"), typed("Repeat it:", "battery staple"),
		typed("Encrypt the secrets of dev", "y"))
	says(person.end(0), "encrypted db/Pulumi.dev.yaml", "encrypted net/Pulumi.dev.yaml")
	colleague.env = slices.DeleteFunc(colleague.env, func(v string) bool { return strings.HasPrefix(v, "PULUMI_CONFIG_PASSPHRASE=") })
	person = colleague.sit("preview", "-s", "dev", "--ui", "plain")
	person.answer(typed("Passphrase for the secrets of dev:", "battery staple"))
	says(person.end(0), "no changes")

	colleague.env = append(colleague.env, "PULUMI_CONFIG_PASSPHRASE=battery staple")
	for file, names := range map[string][2]string{"net/Pulumi.yaml": {"name: net", "name: network"},
		"mara.yaml": {"reads: [net]", "reads: [network]"}, "db/Pulumi.yaml": {"organization/net/", "organization/network/"}} {
		colleague.write(file, strings.Replace(colleague.read(file), names[0], names[1], 1))
	}
	says(colleague.sit("up", "-s", "dev", "--ui", "plain").end(3), "a rename?", "runner adopt --rename net network -s dev")
	person = colleague.sit("adopt", "--rename", "net", "network", "-s", "dev")
	person.answer(typed("Let project network take over the resources deployed as net in dev?", "y"))
	says(person.end(0), "network:cidr")
	colleague.sit("up", "-s", "dev", "--ui", "plain").end(0) // without changes, nothing is asked

	person = colleague.sit("up", "-s", "test", "--ui", "plain")
	person.answer(typed(`Nothing knows the environment "test"; there are dev. Is it new?`, ""))
	says(person.end(3), `there is no environment "test"`, "--new")
	person = colleague.sit("config", "set", "net:cidr", "10.9.0.0/16", "-s", "devv")
	person.answer(typed(`Nothing knows the environment "devv", and dev is near. Is it new?`, "n"))
	says(person.end(3), "did you mean dev?")
	colleague.write("mara.yaml", strings.Replace(colleague.read("mara.yaml"), "environments: [dev]", "environments: [dev, test]", 1))
	colleague.expect(0, "fleet new test --from dev --yes", "db/Pulumi.test.yaml")
	colleague.expect(0, "check", "2 environments checked, no problems")
	person = colleague.sit("up", "-s", "test", "--ui", "plain")
	person.answer(typed("Deploy this to the stack test", "y")) // files know it
	says(person.end(0), "2 succeeded")
	colleague.expect(0, "stacks", "dev", "test")
}
