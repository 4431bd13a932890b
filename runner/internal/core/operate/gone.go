package operate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mara/projects/model/operation"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/record"
	"mara/runner/internal/core/refusal"
	"mara/runner/internal/core/stacks"
	"mara/runner/internal/core/statefiles"
	"mara/runner/internal/core/vault"
	"mara/runner/internal/machine/failure"
)

// allowRepository is what --allow takes to work on an environment that another repository has deployed.
const allowRepository = "other-repository"

// repositoryGuard refuses to change what another repository has deployed under the same names in a shared backend.
type repositoryGuard struct{ *job }

// checkRecord asks the record of the environment.
func (j repositoryGuard) checkRecord(ctx context.Context) error {
	if !j.isAsked() {
		return nil
	}
	other, err := record.OtherRepository(ctx, j.s.Resolved)
	if err != nil || other == "" {
		return err
	}
	return j.refuse(j.s.Settings.Stack.Text+" was", other)
}

// checkTags does the same at Pulumi Cloud, where each stack has the tag of its repository. The tags were read with what
// holds the stacks.
func (j repositoryGuard) checkTags(ctx context.Context) error {
	at := stacks.AtService{Set: j.s.Stacks}
	if !j.isAsked() || !at.Is() {
		return nil
	}
	own, ok := vault.TagOfRepository(ctx, j.s.Settings.Root)
	if !ok {
		return nil
	}
	for _, project := range j.s.Stacks.Projects() {
		if other := at.Tag(project, own.Name); other != "" && other != own.Value && j.s.Stacks.IsDeployed(project) {
			return j.refuse(project+" of "+j.s.Settings.Stack.Text+" was", other)
		}
	}
	return nil
}

func (j repositoryGuard) isAsked() bool {
	return (j.Operation.Deploys() || j.Operation.Destroys()) && !slices.Contains(j.Allow, allowRepository)
}

func (j repositoryGuard) refuse(what, other string) error {
	return refusal.By(refusal.Repository, &failure.Environment{
		Text: fmt.Sprintf("%s deployed from another repository, %s, into the same backend; nothing was changed", what, other),
		Next: "give this environment another name, or another backend; if the repository was moved, add --allow " + allowRepository,
	})
}

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
	deployed, err := record.Deployed(ctx, j.s.Resolved)
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
	return refusal.By(refusal.LostState,
		&failure.Environment{Text: strings.Join(texts, "; ") + "; nothing was changed", Next: strings.Join(advice, "; ")})
}
