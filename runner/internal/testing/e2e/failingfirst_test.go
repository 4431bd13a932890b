package e2e

import (
	"strings"
	"testing"
)

// TestFailingFirst: what certainly fails in one of the programs stops an operation before the others run.
func TestFailingFirst(t *testing.T) {
	t.Parallel()
	const head = "name: app\nruntime: yaml\n"
	for name, c := range map[string]struct{ program, want string }{
		"an expression": {head + "outputs: {x: \"${a['b']}\"}\n", "app/Pulumi.yaml:3: has an expression that Pulumi YAML cannot read"},
		"a name":        {head + "outputs: {x: '${nowhere}'}\n", "app/Pulumi.yaml:3: refers to ${nowhere}, and there is no resource"},
		"a version": {head + "requiredPulumiVersion: '>=99.0.0'\n",
			`app/Pulumi.yaml:3: requiredPulumiVersion is ">=99.0.0", and the Pulumi that comes with the runner is `},
		"two objects": {head + "resources:\n" +
			"  a: {type: 'kubernetes:core/v1:ConfigMap', properties: {metadata: {name: x, namespace: y}}}\n" +
			"  b: {type: 'kubernetes:core/v1:ConfigMap', properties: {metadata: {name: x, namespace: y}}}\n",
			"app/Pulumi.yaml:5: the resource b of app has the ConfigMap y/x, which the resource a of app has already"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnvironment(t, embedded)
			e.write("mara.yaml", "environments: [dev]\nprojects: [{path: net}, {path: app}]\n")
			e.write("net/Pulumi.yaml", "name: net\nruntime: yaml\noutputs: {x: y}\n")
			e.write("app/Pulumi.yaml", c.program)
			for _, args := range []string{"preview -s dev --simulate", "up -s dev --simulate --yes"} {
				r := e.run(strings.Fields(args)...)
				said := r.stdout + r.stderr
				if r.code != 3 || strings.Count(said, c.want) != 1 || strings.Contains(said, "net: started") {
					t.Errorf("%s: exit code %d, want %q once, and nothing started\n%s", args, r.code, c.want, said)
				}
			}
			if r := e.run("up", "-s", "dev", "--simulate", "--yes", "--only", "net"); r.code != 0 {
				t.Errorf("without the project: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
			}
			if r := e.run("destroy", "-s", "dev", "--simulate", "--yes"); r.code != 0 {
				t.Errorf("a destroy runs no program: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
			}
		})
	}
}
