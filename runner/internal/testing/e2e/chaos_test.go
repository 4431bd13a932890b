package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"
)

// The size of the campaign, and where it begins, come from the environment:
// CHAOS_CASES and CHAOS_SEED. `make chaos` runs it in full.
const (
	casesVariable = "CHAOS_CASES"
	seedVariable  = "CHAOS_SEED"
	fewCases      = 4
	firstSeed     = 1
)

// TestChaos disturbs runs, of whole plans and of parts of them, in every
// way: resources that fail, a runner or workers that are killed, Ctrl-C
// and SIGTERM, a full disk, a state that cannot be written. Then it edits a program, resumes
// as a user would, and compares the environment with an undisturbed
// one: the same resources and outputs in the states, the same things in
// the clouds, and nothing left over. A resumed up runs the edited program even if it was done.
//
// A case follows from its seed, but for the timing of processes. A failure
// prints the seed; CHAOS_SEED=N CHAOS_CASES=1 repeats it.
func TestChaos(t *testing.T) {
	t.Parallel()
	long(t)
	cases, first := number(t, casesVariable, fewCases), uint64(number(t, seedVariable, firstSeed))
	campaign := &campaign{references: map[string]*reference{}, met: map[string]int{}}
	t.Cleanup(func() {
		fmt.Printf("chaos: %d cases from %s=%d on; met: %v\n", cases, seedVariable, first, campaign.met)
	})
	count := newTally(t, "chaos", cases)
	for i := range cases {
		seed := first + uint64(i)
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			count.count(t)
			c := newCase(rand.New(rand.NewPCG(seed, 5)), int(seed))
			began := time.Now()
			t.Log(c)
			campaign.run(t, c)
			t.Logf("took %s", time.Since(began).Round(time.Millisecond))
		})
	}
}

func number(t *testing.T, variable string, otherwise int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s=%s is no number of what there could be", variable, text)
	}
	return n
}

// campaign is what the cases share.
type campaign struct {
	mu         sync.Mutex            // guards what follows
	references map[string]*reference // by what was done
	met        map[string]int        // how often each kind of trouble came in time
}

// reference is how an undisturbed environment ends.
type reference struct {
	once sync.Once
	made snapshot
}

// undisturbed returns the end that a case must come to.
func (a *campaign) undisturbed(t *testing.T, c chaosCase) snapshot {
	t.Helper()
	return a.reference(t, c.provider+c.part+c.operation+c.start+c.config, func(e *environment) {
		c.prepare(e)
		e.version("edited")
		e.simulate(0, c.operation, c.plan()...)
	})
}

// reference returns how an undisturbed environment ends. The first case with the key
// makes it.
func (a *campaign) reference(t *testing.T, key string, make func(e *environment)) snapshot {
	t.Helper()
	a.mu.Lock()
	r := a.references[key]
	if r == nil {
		r = &reference{}
		a.references[key] = r
	}
	a.mu.Unlock()
	r.once.Do(func() {
		e := newEnvironment(t, embedded)
		make(e)
		r.made = e.snapshot()
	})
	if r.made.projects == nil {
		t.Fatalf("there is nothing to compare with: the undisturbed run of %s failed", key)
	}
	return r.made
}

// run does one case.
func (a *campaign) run(t *testing.T, c chaosCase) {
	want := a.undisturbed(t, c)
	e := newEnvironment(t, c.engine)
	e.mountDisk(c.disk)
	c.prepare(e)
	for i, trouble := range c.troubles {
		end := e.disturb(c, trouble, i > 0)
		a.note(trouble, end)
		e.checkEnd(trouble, end)
	}
	e.heal(c.disk)
	e.version("edited")
	e.carryOn(c)
	e.checkNoProcess()
	e.checkNoLocks()
	e.checkNoWorkingCopy()
	e.checkRuns()
	compare(t, want, e.snapshot())
}

// note counts what has come in time.
func (a *campaign) note(trouble trouble, end ending) {
	a.mu.Lock()
	defer a.mu.Unlock()
	kind := trouble.kind
	if !end.met {
		kind += " (too late)"
	}
	a.met[kind]++
}
