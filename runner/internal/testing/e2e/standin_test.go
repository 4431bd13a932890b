package e2e

import (
	"strings"
	"testing"
)

// TestSimulatedAccessAndBackups: what groups may do, and backups, can be tried without a cluster. A role in the namespace of
// an application waits for the application.
func TestSimulatedAccessAndBackups(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	e.write("mara.yaml", "providers:\n  cluster: {with: [access, backup], only: [access, backup, shop]}\n"+
		"applications:\n  shop: {image: 'ghcr.io/acme/shop:1.2.3'}\n")
	e.write("config/pulumi/Pulumi.dev.yaml", "config:\n  kubernetes:infra_type: cluster\n  cluster:context: mine\n"+
		"  backup:bucket: acme\n  access:groups:\n    team: {role: developer, namespaces: [shop]}\n    audit: {role: viewer}\n")
	said := func(code int, command string, wants ...string) {
		t.Helper()
		r := e.run(strings.Fields(command + " -s dev --simulate")...)
		for _, want := range wants {
			if r.code != code || !strings.Contains(r.stdout+r.stderr, want) {
				t.Errorf("%s: exit code %d, want %q in\n%s%s", command, r.code, want, r.stdout, r.stderr)
			}
		}
	}
	said(3, "backup list", "is not deployed")
	e.simulate(0, "up", "--only", "+shop")
	said(1, "backup list", "the cluster has no Velero")
	e.simulate(0, "up")
	said(0, "backup list", "no backups")
	said(0, "backup now first", "the backup first is complete")
	said(0, "backup list -o json", `"name": "first"`, `"phase": "Completed"`)
	said(0, "backup restore first", "the backup first is restored")
	said(2, "backup restore second", "there is no backup second")
	said(0, "access list", "team   developer  shop")
	said(0, "access kubeconfig team --for 1h -o json", `"group": "team"`)
	e.simulate(0, "destroy")
}
