package cli_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/testing/cmdtest"
)

// everyFile returns a root with every kind of file that is read.
func everyFile() map[string]string {
	return map[string]string{
		"config/pulumi/environment":     "RUNNER_PARALLEL=4\n",
		"config/pulumi/Pulumi.k1.yaml":  "config:\n  kubernetes:infra_type: kind\n  kind:workers: 2\n  runner:accept: [kind:workers]\n  kind:registry_mirrors: {docker.io: http://mirror.example.com}\n  shop:image: ghcr.io/acme/shop:1.2.4\n",
		"config/pulumi/Pulumi.dev.yaml": "config:\n  kubernetes:infra_type: aws\n  aws:region: us-east-1\n  vpc:azs: [us-east-1a, us-east-1b]\n  eks:pools: {gpu: {size: g5.xlarge, min: 1, max: 3}}\n  eks:public_access_cidrs: [203.0.113.0/24]\n",
		"config/layers/base.yaml":       "values:\n  runner: {labels: {stage: test}}\n  pulumiConfig:\n    logstore:storage_size: 10Gi\n",
		"config/environments/k1.yaml":   "imports: [base]\nvalues:\n  runner:\n    labels: {region: eu}\n    projects: {skip: [logagent]}\n    ttl: 8h\n",
		"config/environments/dev.yaml":  "imports: [base]\nvalues:\n  runner: {provider: aws, protected: true}\n",
		"config/rollout.yaml":           "promotion: {by: region}\nwaves:\n- {name: test, match: {stage: test}, parallel: 2, maxFailures: 10%, soak: 30m, gates: [drift, {run: ./x.sh}, {answers: shop/url, within: 1m}]}\n",
		"mara.yaml":                     "projects:\n- path: net\n  when: .stack != \"x\"\n  timeout: 5m\n  config: {size: {allowed: [small, large]}}\n  hooks:\n  - run: [sh, -c, date]\n    on: success\nproviders:\n  kind: {with: [metrics-server]}\n  aws: {}\napplications:\n  shop:\n    image: ghcr.io/acme/shop:1.2.3\n    env: {DEBUG: true}\n    replicas: {min: 2, max: 4}\n    health: {ready: /, start: 10s}\n    size: {cpu: 250m, memory: 512Mi}\n    before: [migrate, up]\n",
		"net/Pulumi.yaml":               "name: net\nruntime: yaml\nconfig:\n  size: {type: string, default: small}\nvariables:\n  a: ${size}\noutputs:\n  x: ${a}\n",
		"policies/policies.yaml":        "use: [open-ranges]\nlevels: {open-ranges: {default: warn}}\nexceptions:\n- {rule: open-ranges, resource: x, reason: y, until: 2027-01-31}\n",
		"policies/a.jq":                 "# a\ndef deny: steps | select(.op == \"x\") | finding(\"y\");\n",
		"prices.yaml":                   "types:\n  aws:x/y:Z: {per: hour, price: 1, day: 2026-11-01, source: me}\n",
		"queries/a.jq":                  "# a\n.items\n",
	}
}

// breakages are what the value of a line, or what follows a name in it, is replaced by.
func breakages() []string {
	return []string{"30", "-1", "200%", "[]", "[drif]", "{}", "{a: {b: [c]}}", "null", `""`, "*x", "&x [*x]", "!!binary x", "'", "true", "\x00", "{secure: x}", "${x}", "9999999999999999999"}
}

// TestCheckOfBrokenFiles: whatever stands in a file, `check` and what lists a fleet end and say what is wrong: they never
// panic, and have no other exit codes than those of a good and of a wrong configuration.
func TestCheckOfBrokenFiles(t *testing.T) {
	t.Parallel()
	value := regexp.MustCompile(`^(\s*(?:- )?(?:[{]?[\w:.]+): )(.*)$`)
	inBraces := regexp.MustCompile(`(\w+): ([^,{}\[\]]+|\[[^\]]*\])`)
	n := 0
	for _, name := range slices.Sorted(maps.Keys(everyFile())) {
		lines := strings.Split(everyFile()[name], "\n")
		for i, line := range lines {
			var broken []string
			for at, breakage := range breakages() {
				if testing.Short() && (at+i+n)%12 != 0 { // a part of them, another one for each line
					continue
				}
				if value.MatchString(line) {
					broken = append(broken, value.ReplaceAllString(line, "${1}"+strings.ReplaceAll(breakage, "$", "$$")))
				}
				if found := inBraces.FindAllStringSubmatchIndex(line, -1); len(found) > 0 {
					one := found[(at+i)%len(found)]
					broken = append(broken, line[:one[4]]+breakage+line[one[5]:])
				}
			}
			n++
			for _, text := range append(broken, "") {
				t.Run(fmt.Sprintf("%s %q", name, text), func(t *testing.T) {
					t.Parallel()
					root := cmdtest.Root(t, nil)
					for other, content := range everyFile() {
						if other == name {
							content = strings.Join(slices.Concat(lines[:i], []string{text}, lines[i+1:]), "\n")
						}
						cmdtest.WriteFile(t, filepath.Join(root, other), content)
					}
					for _, args := range []string{"check", "fleet list"} {
						stdout, stderr, code := runFleet(t, root, args)
						if code != cmd.ExitDone && code != cmd.ExitConfig {
							t.Errorf("%s: exit code %d: %s%s", args, code, stdout, stderr)
						}
						for _, ofGo := range []string{"map[", "<nil>", "%!"} {
							if strings.Contains(stdout+stderr, ofGo) {
								t.Errorf("%s says %s: %s%s", args, ofGo, stdout, stderr)
							}
						}
					}
				})
			}
		}
	}
}
