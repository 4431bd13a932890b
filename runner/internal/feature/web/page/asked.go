package page

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"

	"mara/runner/internal/core/query"
	"mara/runner/internal/feature/policy"
	"mara/runner/internal/feature/policy/bill"
	"mara/runner/internal/feature/web/child"
)

// IsAsked reports whether the pages ask a named query: it reads the states alone, and no cluster.
func IsAsked(q query.Named) bool { return q.State && !q.Live }

// Finding is what a rule has found in an environment.
type Finding struct {
	Environment string `json:"environment"`
	Rule        string `json:"rule"`
	Level       string `json:"level"`
	Message     string `json:"message"`
	Project     string `json:"project"`
	Type        string `json:"type"`
	Name        string `json:"name"`
	Exception   string `json:"exception"`
}

// Judged is what the rules find in states.
type Judged struct {
	NoRules  bool // none is enabled
	Findings []Finding
	Error    string // why not all states could be judged
}

// Judge applies the rules to the states of all environments, or of one, in a child process.
func (r *Visit) Judge(only string) (j Judged) {
	set, err := policy.Load(r.Reader.Options().Root)
	if err == nil && !set.Active() {
		return Judged{NoRules: true}
	}
	words := []string{"policy", "check", "-o", "json"}
	if only != "" {
		words = append(words, "-s", only)
	}
	output, err := r.Child.Run(r.Context(), words...)
	if jsonErr := json.Unmarshal(output, &j.Findings); jsonErr != nil && err == nil {
		err = jsonErr
	} else if failed, ok := errors.AsType[*child.FailedError](err); jsonErr == nil && ok && failed.Text == "" {
		err = nil // findings that deny make it exit with a code
	}
	if err != nil {
		j.Error = err.Error()
	}
	return j
}

// Bills are what deployed environments cost a month.
type Bills struct {
	Environments []bill.Environment
	Currency     string
	Sum          float64
	Partial      bool   // something is not counted
	Error        string // why nothing could be estimated
}

// Bill estimates what all environments cost, or some, in a child process: prices of the root are programs.
func (r *Visit) Bill(names ...string) (b Bills) {
	output, err := r.Child.Run(r.Context(), append([]string{"fleet", "costs", "-o", "json", "--"}, names...)...)
	if jsonErr := json.Unmarshal(output, &b.Environments); jsonErr != nil {
		b.Error = cmp.Or(err, jsonErr).Error()
		return b
	}
	for _, e := range b.Environments { // each of which says its error
		if e.Costs == nil {
			b.Partial = true
			continue
		}
		b.Sum, b.Currency, b.Partial = b.Sum+e.Costs.Monthly, e.Costs.Currency, b.Partial || e.IsPartial()
	}
	slices.SortStableFunc(b.Environments, func(x, y bill.Environment) int { return cmp.Compare(monthly(y), monthly(x)) })
	return b
}

// monthly returns what an environment costs, and more than that if it is not known, so that it comes first.
func monthly(e bill.Environment) float64 {
	const unknown = 1e12
	if e.Costs == nil {
		return unknown
	}
	return e.Costs.Monthly
}
