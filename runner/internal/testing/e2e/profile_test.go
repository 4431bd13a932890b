package e2e

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestFrugality counts Pulumi's commands where nothing changes: one for each
// project, one for the list of stacks, and one for the cluster's kubeconfig
// after an up, which is a secret output. A destroy looks once more which stacks
// have something left.
func TestFrugality(t *testing.T) {
	t.Parallel()
	long(t)
	eachEngine(t, []string{embedded, stock}, func(t *testing.T, e *environment) {
		e.simulate(0, "up", "-p", "kind", "--only", few)
		tests := []struct {
			command string
			want    int
		}{
			{"up --force --only " + few, 3 + 1 + 1 + 1 /* the cluster is previewed first */}, {"up --only certmgr --force", 1 + 1}, {"preview --only " + few, 3 + 1}, {"refresh", 3 + 1}, {"drift", 3 + 1}, {"destroy", 3 + 1 + 1},
		}
		if e.stock() { // the first and the last tell whether it is frugal; see few
			tests = append(tests[:1], tests[len(tests)-1])
		}
		for _, test := range tests {
			outputs := []string{"json", "text"}
			if test.command == "destroy" || e.stock() { // there is nothing left for a second one; see few
				outputs = outputs[:1]
			}
			for _, output := range outputs {
				args := append(strings.Fields(test.command), "--simulate", "--simulate-speed", "100000", "--yes", "--profile", "-o", output)
				r := e.run(args...)
				total := regexp.MustCompile(`(?m)^(\d+) Pulumi commands: .*$`).FindStringSubmatch(r.stderr)
				if r.code != 0 || total == nil {
					t.Fatalf("%s: exit code %d, and no count in\n%s", test.command, r.code, r.stderr)
				}
				if n, err := strconv.Atoi(total[1]); err != nil || n != test.want {
					t.Errorf("%s -o %s takes %s; want %d", test.command, output, total[0], test.want)
				}
			}
		}
	})
}
