package e2e

import (
	"os"
	"slices"
	"syscall"
	"testing"
	"time"
)

// reliabilityCase is something that happens to environments, and what must come of it, wherever their states are.
type reliabilityCase struct {
	name  string
	often string // the server at which `make test` tries the case; empty for none
	test  func(t *testing.T, at place)
}

// reliabilityCases returns all cases.
func reliabilityCases() []reliabilityCase {
	kill, everything, worker := strike(sendSignal(syscall.SIGKILL)), strike(killEverything), strike(killSomeWorker)
	ctrlC := strike(sendSignal(syscall.SIGINT))
	return []reliabilityCase{
		{"kill -9 of the runner", inPostgres, disturbed("up", "--resume", killed, kill)},
		{"kill -9 of everything", inS3, disturbed("up", "--resume", killed, everything)},
		{"kill -9 of everything, then another up", "", disturbed("up", "", killed, everything)},
		{"kill -9 of everything in a refresh", "", disturbed("refresh", "--resume", killed, everything)},
		{"kill -9 of everything in a destroy", "", disturbed("destroy", "--resume", killed, everything)},
		{"kill -9 of everything in a project with many resources", inS3, testKilledJournal},
		{"kill -9 of a worker", "", disturbed("up", "--resume", anyEnd, worker)},
		{"Ctrl-C", inPostgres, disturbed("up", "--resume", interrupted, ctrlC)},
		{"Ctrl-C twice", "", disturbed("up", "--resume", interrupted, ctrlC, ctrlC)},
		{"Ctrl-C three times", "", disturbed("up", "--resume", interrupted, ctrlC, ctrlC, ctrlC)},
		{"Ctrl-C in a destroy", "", disturbed("destroy", "--resume", interrupted, ctrlC)},
		{"SIGTERM", inS3, disturbed("up", "--resume", interrupted, strike(sendSignal(syscall.SIGTERM)))},
		{"SIGHUP", "", disturbed("up", "--resume", interrupted, strike(sendSignal(syscall.SIGHUP)))},
		{"a project fails", inPostgres, testFailure},
		{"programs and values change before --resume", "", testResumeKnowsPrograms},
		{"two machines", inPostgres, testSharedBackend},
		{"two machines at the same moment", inS3, testSameMoment},
		{"locks of Pulumi itself", "", testPulumiLocks},
		{"a full disk", "", disturbedOnADisk(func(e *environment, d disk) { e.fill(d) })},
		{"a disk that becomes read-only", "", disturbedOnADisk(func(e *environment, d disk) { e.protect(d) })},
		{"a wrong passphrase", inPostgres, testWrongPassphrase},
		{"a change of the passphrase is killed", "", testKilledChange},
		{"a move of states is killed", "", testKilledMove},
		{"looks during an up", "", testLooks},
		{"refresh, drift, and what is gone", "", testLifeOnAnEmulatedCloud},
		{"kill -9 while a resource is made, and repair", "", testCrashOnAnEmulatedCloud},
		{"Ctrl-C while a resource is made", "", interruptedOnAnEmulatedCloud(3*time.Second, 1)},
		{"Ctrl-C twice while a resource is made", "", interruptedOnAnEmulatedCloud(10*time.Minute, 2)},
		{"refused destroys", "", testRefusedDestroys},
		{"fleet reap", "", testReapElsewhere},
		{"orphans", "", testUnclaimedStacks},
		{"kill -9 of a rollout", "", disturbedRollout(kill, killed)},
		{"Ctrl-C in a rollout", "", disturbedRollout(ctrlC, interrupted)},
		{"SIGTERM in a rollout", "", disturbedRollout(strike(sendSignal(syscall.SIGTERM)), interrupted)},
		{"a rollout fails", "", testFleetTellsWhatRan},
		{"rollouts of two machines", "", testFleetSharesBackend},
		{"the backend goes away", inPostgres, testBackendGoesAway},
		{"more stacks than a page has", inS3, testManyStacks},
	}
}

// TestReliability: runs survive what happens to them wherever their states are: in files, in S3, in PostgreSQL. `make test`
// tries some cases at one of the servers each; scripts/chaos.sh tries all of them everywhere.
func TestReliability(t *testing.T) {
	t.Parallel()
	long(t)
	all := os.Getenv(casesVariable) != ""
	for _, kind := range []string{inS3, inPostgres, inFiles} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			if !all && kind == inFiles {
				return // as most other tests have them
			}
			at := places(t, kind)
			var names []string
			for _, c := range reliabilityCases() {
				if !all && c.often != kind {
					continue
				}
				names = append(names, c.name)
				t.Run(c.name, func(t *testing.T) {
					t.Parallel()
					c.test(t, at(t))
				})
			}
			t.Cleanup(func() {
				if versions := at(t).versions; all && versions != nil {
					recordBackend(t, "scripts/chaos.sh", versions(), slices.Clone(names)...)
				}
			})
		})
	}
}
