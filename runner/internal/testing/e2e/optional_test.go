package e2e

import (
	"slices"
	"strings"
	"testing"

	"mara/providers"
)

// withAll is the configuration of all optional projects, and of pools of nodes.
const withAll = `
  guardrails:namespaces: {team-a: {cpu: "4", memory: 8Gi, pods: 50}}
  access:groups:
    platform: {role: admin}
    team-a: {role: developer, namespaces: [team-a]}
  external-dns:domains: [example.com]
  backup:bucket: acme-backups
`

// withMore returns what providers need in addition.
func withMore() map[string]string {
	return map[string]string{
		"aws": "  eks:cluster_autoscaler: true\n  eks:dns_zones: [Z0123456789ABCDEFGHIJ]\n" +
			"  eks:group_principals: {team-a: ['arn:aws:iam::123456789012:role/team-a']}\n" +
			"  eks:pools: {batch: {size: m6i.large, min: 0, max: 3, taints: ['role=batch:NoSchedule']}}\n",
		"linode":       "  lke:pools: {batch: {size: g6-dedicated-4, count: 2, labels: {role: batch}}}\n",
		"digitalocean": "  doks:pools: {batch: {size: c-4, min: 1, max: 3, taints: ['role=batch:NoSchedule']}}\n",
		"cluster":      "  cluster:context: mine\n  external-dns:provider: cloudflare\n  external-dns:token_variable: CF_API_TOKEN\n",
	}
}

// TestOptionalProjects deploys all optional projects of each provider, finds nothing to change after that, and destroys
// them. A project that is no longer named is an orphan.
func TestOptionalProjects(t *testing.T) {
	t.Parallel()
	long(t)
	for _, p := range providers.All() {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			var names []string
			for _, step := range p.Optional.Steps {
				names = append(names, step.Project.Name)
			}
			e := newEnvironment(t, embedded)
			e.write("mara.yaml", "providers:\n  "+p.Name+":\n    with: ["+strings.Join(names, ", ")+"]\n")
			own := ""
			for line := range strings.Lines(withAll + withMore()[p.Name]) {
				if !strings.Contains(line, "external-dns:") || slices.Contains(names, "external-dns") {
					own += line
				}
			}
			e.write("config/pulumi/Pulumi.dev.yaml", "config:\n  kubernetes:infra_type: "+p.Name+"\n"+own)
			only := "+" + strings.Join(names, ",+")
			done := finished(e.simulate(0, "up", "--only", only))
			for _, name := range names {
				if _, ok := done[name]; !ok {
					t.Errorf("%s has not run", name)
				}
			}
			if again := changed(e.simulate(0, "preview", "--only", only)); len(again) > 0 {
				t.Errorf("a preview after the up changes %v", again)
			}
			without := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == "dashboard" })
			e.write("mara.yaml", "providers:\n  "+p.Name+":\n    with: ["+strings.Join(without, ", ")+"]\n")
			if r := e.run("status", "-s", "dev", "--simulate"); !strings.Contains(r.stdout+r.stderr, "dashboard (") ||
				!strings.Contains(r.stdout+r.stderr, "is deployed here, and no project claims it") {
				t.Errorf("status does not show the orphan:\n%s%s", r.stdout, r.stderr)
			}
			e.simulate(0, "destroy", "--orphans")
			e.simulate(0, "destroy")
		})
	}
}
