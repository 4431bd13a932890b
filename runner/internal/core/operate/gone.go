package operate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mara/projects/model/operation"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/record"
	"mara/runner/internal/core/statefiles"
	"mara/runner/internal/machine/failure"
)

// checkGone refuses to work on a project that a run has deployed here and whose state is gone since: an up would create
// everything a second time, and a destroy would leave it. A preview only warns.
func (j *job) checkGone(ctx context.Context) error {
	if j.Removal.Orphans || j.s.Unchanged != nil || !j.previews() && !j.Operation.Destroys() {
		return nil
	}
	selected, err := plan.Select(j.s.Plan, j.Selection)
	if err != nil {
		return err
	}
	missing := func(name string) bool { return !j.s.Stacks.IsDeployed(name) && !slices.Contains(j.Allow, name) }
	names := slices.DeleteFunc(selected.Names(), func(name string) bool { return !missing(name) })
	if len(names) == 0 {
		return nil
	}
	deployed, err := record.Deployed(ctx, j.s)
	if err != nil {
		return err
	}
	var texts, advice []string
	for _, name := range names {
		run, isRecorded := deployed[name]
		if !isRecorded {
			continue
		}
		var lost statefiles.Lost
		isLost := !j.s.Stacks.Summary(name).Exists
		if j.s.States().IsFile() {
			if lost, isLost, err = j.s.States().FindLost(name); err != nil {
				return err
			}
		}
		if !isLost {
			continue // something else than the runner has destroyed it
		}
		texts = append(texts, fmt.Sprintf("%s was deployed by run %s, and its state is gone", name, run))
		remedy := "bring its state back from a copy of the backend"
		if lost.Copy != "" {
			remedy = fmt.Sprintf("bring it back with `cp %s %s`, and look at `%s`", ShellWord(lost.Copy), ShellWord(lost.File),
				j.s.Command("drift --only "+name))
		}
		advice = append(advice, remedy+"; if it was removed on purpose, add --allow "+name)
	}
	if len(texts) == 0 {
		return nil
	}
	if j.Operation == operation.Preview {
		j.warn("%s: %s", strings.Join(texts, "; "), strings.Join(advice, "; "))
		return nil
	}
	return &failure.Environment{Text: strings.Join(texts, "; ") + "; nothing was changed", Next: strings.Join(advice, "; ")}
}
