package e2e

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"
)

// fewRollouts is how many rollouts are disturbed by default.
const fewRollouts = 3

// failWave is a trouble of rollouts: a resource that every environment has fails.
const failWave = "failing wave"

// TestChaosOfRollouts disturbs rollouts: in the middle of any wave the runner is
// killed, alone or with all it has started, or interrupted, or a resource fails.
// Then --resume continues, with the commands that the runner names on the way,
// and everything has to be as after an undisturbed rollout. Between the trouble and the resume a
// program is edited: it runs in every environment, also in environments that were done.
func TestChaosOfRollouts(t *testing.T) {
	t.Parallel()
	long(t)
	cases, first := number(t, casesVariable, fewRollouts), uint64(number(t, seedVariable, firstSeed))
	whole := newEditedFleet(t)
	whole.version("edited")
	lines := len(whole.fleet(0, "up", "--all"))
	want := whole.snapshot()
	cases = max(fewRollouts, cases/10)
	count := newTally(t, "chaos of rollouts", cases)
	for i := range cases {
		seed := first + uint64(i)
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			count.count(t)
			random := rand.New(rand.NewPCG(seed, 16))
			kinds := []string{killRunner, interrupt, failWave, killAll, terminate, interrupt2, interrupt3}
			trouble := trouble{
				kind: kinds[int(seed)%len(kinds)], line: 1 + random.IntN(lines-1), pause: time.Duration(random.IntN(50)) * time.Millisecond,
			}
			e := newEditedFleet(t)
			if trouble.kind == failWave {
				trouble.faults = []string{"--simulate-fail", "kind:index:Registry=no room"}
				if random.IntN(2) == 0 { // in the wave in the middle, or else in the first one
					e.fleet(0, "up", "test")
				}
			}
			t.Logf("%s at line %d of %d", trouble.kind, trouble.line, lines)
			args := append([]string{"fleet", "up", "--all", "--simulate", "--simulate-speed", "100000", "--yes", "-o", "json"}, trouble.faults...)
			end := e.disturbCommand(e.command(args...), chaosCase{}, trouble)
			e.checkEnd(trouble, end)
			e.version("edited")
			e.carryOnRollout()
			e.checkNoProcess()
			e.checkNoLocks()
			e.checkFleet()
			compare(t, want, e.snapshot())
		})
	}
}

// newEditedFleet returns a fleet with an own project, a, besides those of kind.
func newEditedFleet(t *testing.T) *environment {
	t.Helper()
	e := newFleet(t)
	e.write("mara.yaml", "providers: {kind: {}}\nprojects:\n- {path: a, outputs: [value], after: [kind-registry]}\n")
	e.version("first")
	return e
}

// advised finds the command that the runner names for an environment.
var advised = regexp.MustCompile("`runner (unlock|repair) -s ([a-z0-9-]+)")

// carryOnRollout resumes until all is done, and follows the hints.
func (e *environment) carryOnRollout() {
	e.t.Helper()
	resume, last := []string{"--resume"}, result{}
	for range attempts {
		last = e.run(append([]string{"fleet", "up", "--all", "--simulate", "--simulate-speed", "100000", "--yes", "-o", "json"}, resume...)...)
		hint := last.stdout + last.stderr
		found := advised.FindAllStringSubmatch(hint, -1)
		switch {
		case last.code == 0:
			return
		case len(found) > 0:
			for _, command := range found {
				if command[1] == "repair" {
					e.repairAll(command[2])
				} else {
					e.follow("unlock", "-s", command[2], "--simulate", "--yes")
				}
			}
		case strings.Contains(hint, "nothing to resume"):
			resume = nil // it was killed before it had written anything down
		default:
			e.t.Fatalf("resuming: exit code %d\n%s%s", last.code, lastLines(last.stdout), last.stderr)
		}
	}
	e.t.Fatalf("%d attempts, and it is still not well: exit code %d\n%s%s", attempts, last.code, lastLines(last.stdout), last.stderr)
}
