package view

import (
	"cmp"
	"slices"
	"time"

	"mara/config/lists"
	"mara/runner/internal/core/fleet"
	"mara/runner/internal/core/record"
)

// Environment is what is known of an environment without asking a cloud.
type Environment struct {
	Name     string
	Provider string
	Wave     string // "" if no wave matches
	Labels   map[string]string
	File     string // that describes it
	State    State
	Reasons  []string // of all states that hold, those of the worst first
	Error    string   // why its files or its record cannot be read; "" if they can
	Verdict  record.Verdict
	Lately   Lately
	Lock     *Lock         // nil if it is free
	Drift    *record.Drift // nil if it was never compared
	Life     Life
	Apart    string // that other machines are not seen, in words; "" where they are

	ranks []int // of the states of the reasons
}

// Lately has the newest runs of an environment, nil for none.
type Lately struct {
	Live    *Past // a current one, of any operation
	Any     *Past
	Write   *Past // up, refresh or destroy
	Success *Past // an up that succeeded
	Preview *Past
	Costs   *Costs // of the newest run that estimated them
	Rollout *Past  // a current one that it is a part of
}

// Lock is the lock of an environment.
type Lock struct {
	Owner     string    `json:"owner"`
	Operation string    `json:"operation"`
	Run       string    `json:"run,omitempty"`
	Since     time.Time `json:"since"`
	Dead      bool      `json:"dead"`      // its process is gone
	Elsewhere bool      `json:"elsewhere"` // its process is on another machine
}

func (l *Lock) isElsewhere() bool { return l != nil && l.Elsewhere && !l.Dead }

// Life is how long an environment is meant to live.
type Life struct {
	TTL       time.Duration // 0 for ever
	Born      time.Time     // zero if nothing is deployed, or it is not known
	Unknown   bool          // resources are deployed, and their states have no dates
	Protected string        // what protects it from destroy; "" for nothing
	Origin    string        // of the ttl
}

// Ends returns when the environment is past its time; zero if that is not known or never.
func (l Life) Ends() time.Time {
	if l.TTL == 0 || l.Born.IsZero() {
		return time.Time{}
	}
	return l.Born.Add(l.TTL)
}

// Fleet is what is known of all environments of a root.
type Fleet struct {
	Environments []Environment
	Waves        []fleet.Wave
	Err          error     // all problems in the files of the root, or nil
	Rollouts     []*Past   // operations on many environments, the newest first
	Compared     time.Time // when the files were compared with what ran; zero if that is still to come
	Simulated    bool
}

// Apart says that other machines are not seen, if that holds for an environment; else it is "".
func (f Fleet) Apart() string {
	e, _ := lists.Find(f.Environments, func(e Environment) bool { return e.Apart != "" })
	return e.Apart
}

// Named returns an environment by its name.
func (f Fleet) Named(name string) (*Environment, bool) {
	i := slices.IndexFunc(f.Environments, func(e Environment) bool { return e.Name == name })
	if i < 0 {
		return nil, false
	}
	return &f.Environments[i], true
}

// Counts returns how many environments have each state.
func (f Fleet) Counts() map[State]int {
	counts := map[State]int{}
	for _, e := range f.Environments {
		counts[e.State]++
	}
	return counts
}

// Trouble is a cause, with the environments that it is about.
type Trouble struct {
	State        State
	Text         string
	Environments []string
	Run          string // the newest run that shows it; "" for none
}

// Troubles groups the environments that need a person by cause, the worst and the largest group first: one broken
// network is one trouble, whatever number of environments it fails.
func (f Fleet) Troubles() []Trouble {
	var all []Trouble
	for _, e := range f.Environments {
		if !e.State.IsTrouble() {
			continue
		}
		t := Trouble{State: e.State, Text: e.cause(), Environments: []string{e.Name}}
		if w := e.Lately.Write; w != nil && (e.State == Failed || e.State == Unfinished) {
			t.Run = w.ID
		}
		i := slices.IndexFunc(all, func(o Trouble) bool { return o.State == t.State && o.Text == t.Text })
		if i < 0 {
			all = append(all, t)
			continue
		}
		all[i].Environments = append(all[i].Environments, e.Name)
	}
	slices.SortStableFunc(all, func(a, b Trouble) int {
		return cmp.Or(cmp.Compare(a.State.Rank(), b.State.Rank()), len(b.Environments)-len(a.Environments))
	})
	return all
}

// cause returns why the environment needs a person, in words that environments with the same cause share.
func (e *Environment) cause() string {
	w := e.Lately.Write
	switch {
	case e.State == Failed && w != nil && len(w.Causes) > 0:
		return w.Causes[0].Text
	case e.State == Unfinished:
		return "a run did not come to its end, and its process is gone"
	case e.State == Locked:
		return "a process that is gone holds the lock; the next run takes over"
	case e.Error != "":
		return e.Error
	case len(e.Reasons) > 0:
		return e.Reasons[0]
	}
	return string(e.State)
}
