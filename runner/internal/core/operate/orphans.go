package operate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mara/config"
	"mara/projects/model"
	"mara/runner/internal/core/catalogue"
	"mara/runner/internal/core/environments"
	"mara/runner/internal/core/inventory"
	"mara/runner/internal/core/refusal"
	"mara/runner/internal/machine/failure"
)

// allowReaders is what --allow takes to destroy a project that a stack reads which no project claims.
const allowReaders = "orphan-readers"

// checkReaders refuses to destroy what a stack that no project claims still needs.
func (j *job) checkReaders(ctx context.Context) error {
	if !j.Operation.Destroys() || j.Removal.Orphans || slices.Contains(j.Allow, allowReaders) {
		return nil
	}
	found, err := j.findUnclaimed(ctx)
	if err != nil {
		return err
	}
	var texts []string
	for _, orphan := range found.Orphans {
		for _, need := range orphan.Needs {
			if slices.Contains(j.w.plan.Names(), need) && j.s.Stacks.IsDeployed(need) {
				texts = append(texts, fmt.Sprintf("%s is deployed here, no project claims it, and it needs %s", orphan, need))
			}
		}
	}
	if len(texts) == 0 {
		return nil
	}
	return refusal.By(refusal.Readers, &failure.Environment{
		Text: strings.Join(texts, "; ") + "; nothing was changed",
		Next: fmt.Sprintf("destroy it first with `%s`; to leave it without what it needs, add --allow %s",
			j.s.Command("destroy --orphans"), allowReaders),
	})
}

// allowRename is what --allow takes to create a project that may be another one's new name.
const allowRename = "orphan-and-new"

// findUnclaimed finds the stacks that no project claims, once: several guards ask, and each look reads states.
func (j *job) findUnclaimed(ctx context.Context) (inventory.Unclaimed, error) {
	if j.unclaimed == nil {
		found, err := inventory.FindUnclaimed(ctx, j.s.Reading)
		if err != nil {
			return found, err
		}
		j.unclaimed = &found
	}
	return *j.unclaimed, nil
}

// resumesOrphans reports whether the destroy that is resumed worked on stacks that no project claims.
func (j *job) resumesOrphans() bool {
	if !j.Operation.Destroys() || !j.Rest.IsAsked() {
		return false
	}
	rest, err := j.readRest(j.s.Resolved)
	return err == nil && slices.ContainsFunc(rest.Unfinished(), func(project string) bool {
		return !slices.Contains(j.s.Scope().Projects, project)
	})
}

// checkRenames refuses to create a project that is most likely the new name of a deployed one, whose resources would
// exist twice. A preview only warns.
func (j *job) checkRenames(ctx context.Context) error {
	if !j.Operation.RunsPrograms() || j.s.Unchanged != nil || slices.Contains(j.Allow, allowRename) {
		return nil
	}
	var fresh []model.Project
	for _, step := range j.w.plan.Steps {
		if !j.s.Stacks.IsDeployed(step.Project.Name) {
			fresh = append(fresh, step.Project)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	found, err := j.findUnclaimed(ctx)
	if err != nil || len(found.Orphans) == 0 {
		return nil // warnOfOrphans reports the error
	}
	for _, orphan := range found.Orphans {
		for _, project := range fresh {
			if !j.isRename(orphan, project, fresh) {
				continue
			}
			text := fmt.Sprintf("%s was deployed, and no project claims it; %s is new: a rename?", orphan.Project, project.Name)
			next := fmt.Sprintf("`%s` keeps its resources", j.s.Command("adopt --rename "+orphan.Project+" "+project.Name))
			if !j.Operation.Deploys() {
				j.warn("%s %s", text, next)
				continue
			}
			next += "; to create it beside the old one, add --allow " + allowRename
			return refusal.By(refusal.Rename, &failure.Environment{Text: text, Next: next})
		}
	}
	if !j.Operation.Deploys() {
		j.warn("%s; %s", found.Text(), found.Remedy(j.s.Command))
	}
	return nil
}

// isRename reports whether a new project is most likely the new name of an orphan: its stack file has the orphan's key
// alone, or keys with the orphan's name.
func (j *job) isRename(orphan inventory.Orphan, project model.Project, fresh []model.Project) bool {
	isOld := func(e config.Entry) bool { return strings.HasPrefix(e.Key, orphan.Project+":") }
	stack := j.s.Settings.Stack.Text
	if file, err := catalogue.Beside(j.s.Settings.Root, stack, project); err == nil && file.Exists {
		if slices.ContainsFunc(file.Entries, isOld) {
			return true
		}
		shares := 0
		for _, other := range environments.OwnFiles(j.s.Settings.Root, stack, j.s.Options.Known()) {
			if header, err := other.Header(); err == nil && header.EncryptionSalt+header.EncryptedKey == orphan.Key {
				shares++
			}
		}
		header, err := file.Header()
		return err == nil && orphan.Key != "" && shares == 1 && header.EncryptionSalt+header.EncryptedKey == orphan.Key
	}
	return len(fresh) == 1 && slices.ContainsFunc(j.s.Settings.Config.Entries, func(e config.Entry) bool {
		_, rest, _ := strings.Cut(e.Key, ":")
		_, declared := project.Key(project.Name + ":" + rest)
		return isOld(e) && declared
	})
}

// chooseOrphans chooses the work on stacks that no project claims.
func (j *job) chooseOrphans(ctx context.Context) error {
	found, err := j.findUnclaimed(ctx)
	if err != nil {
		return err
	}
	for _, stranger := range found.Strangers {
		j.warn("%s has a stack named %s and is not touched: it may belong to another repository, because it %s", stranger,
			j.s.Settings.Stack.Text, found.Mark)
	}
	if err := found.Place(ctx, j.s.Reading); err != nil {
		return err
	}
	p, err := found.Plan(j.s.Provider)
	if err != nil {
		return err
	}
	j.w.plan = p.Reverse()
	j.w.limit, j.w.limits, err = j.Execution.limits(j.s.Plan)
	return err
}

// warnOfOrphans warns of stacks that no project claims: the operation does not touch them.
func (j *job) warnOfOrphans(ctx context.Context) {
	if j.Removal.Orphans || j.s.Unchanged != nil || !j.Operation.Destroys() && !j.Operation.Deploys() {
		return
	}
	found, err := j.findUnclaimed(ctx)
	switch {
	case err != nil:
		j.warn("looking for stacks that no project claims: %v", err)
	case len(found.Orphans) > 0:
		j.warn("%s; %s", found.Text(), found.Remedy(j.s.Command))
	}
}
