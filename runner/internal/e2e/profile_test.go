package e2e

import (
	"regexp"
	"strconv"
	"testing"
)

// TestFrugality counts Pulumi's commands where nothing changes: one for each
// project, one for the list of stacks, and one for the cluster's kubeconfig
// after an up, which is a secret output.
func TestFrugality(t *testing.T) {
	t.Parallel()
	eachEngine(t, []string{embedded, stock}, func(t *testing.T, e *environment) {
		e.simulate(0, "up", "-p", "kind")
		for operation, want := range map[string]int{"up": 14 + 1 + 1, "preview": 14 + 1, "refresh": 14 + 1, "drift": 14 + 1} {
			for _, output := range []string{"text", "json"} {
				r := e.run(operation, "--simulate", "--simulate-speed", "100000", "--yes", "--profile", "-o", output)
				total := regexp.MustCompile(`(?m)^(\d+) Pulumi commands: .*$`).FindStringSubmatch(r.stderr)
				if r.code != 0 || total == nil {
					t.Fatalf("%s: exit code %d, and no count in\n%s", operation, r.code, r.stderr)
				}
				if n, err := strconv.Atoi(total[1]); err != nil || n != want {
					t.Errorf("%s -o %s takes %s; want %d", operation, output, total[0], want)
				}
			}
		}
	})
}
