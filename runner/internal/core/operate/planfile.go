package operate

import (
	"context"
	"fmt"
	"os"
	"strings"

	"mara/runner/internal/core/fingerprint"
	"mara/runner/internal/core/inputs"
	"mara/runner/internal/core/refusal"
	"mara/runner/internal/core/updateplan"
	"mara/runner/internal/machine/failure"
)

// planFile is the file of a plan that the operation carries out or writes.
type planFile struct{ *job }

// check refuses a plan for another environment, or from before something changed.
func (f planFile) check(ctx context.Context) error {
	p, s := f.Plan.Hold, f.s
	if p == nil {
		return nil
	}
	switch {
	case p.Stack != s.Settings.Stack.Text || p.Provider != s.Provider.Name:
		return f.refuse("the plan is for %s, stack %s, not for %s, stack %s",
			p.Provider, p.Stack, s.Provider.Name, s.Settings.Stack.Text)
	case p.Simulated != f.Simulation.On:
		return f.refuse("the plan is for a simulated environment, or this one is: only one of them is")
	}
	now, err := inputs.PlannedConfiguration(s.Resolved)
	if err != nil {
		return err
	}
	if changes := fingerprint.Fingerprint(p.Configuration).Changes(now); len(changes) > 0 {
		return f.refuse("the configuration has changed since: %s", strings.Join(changes, ", "))
	}
	if err := f.checkPrograms(); err != nil {
		return err
	}
	var changed []string
	for _, project := range p.Projects {
		digest, err := s.Stacks.StateDigest(ctx, project.Name)
		if err != nil {
			return err
		}
		if digest != project.State {
			changed = append(changed, project.Name)
		}
	}
	if len(changed) > 0 {
		return f.refuse("the state has changed since: %s", strings.Join(changed, ", "))
	}
	return nil
}

// refuse returns the error of a plan that is not carried out.
func (f planFile) refuse(format string, args ...any) error {
	return refuseWith("make a new plan with `"+next(f).preview()+"`", format, args...)
}

// refuseWith returns such an error with advice of its own.
func refuseWith(advice, format string, args ...any) error {
	text := "--plan: " + fmt.Sprintf(format, args...) + "; nothing was changed"
	return refusal.By(refusal.Plan, &failure.Environment{Text: text, Next: advice})
}

// reportUnsaved says that a preview that has failed has written no plan: a file of that
// name holds an earlier one.
func (f planFile) reportUnsaved() {
	if f.Plan.Save == "" {
		return
	}
	text := "no plan was written, because the preview has not succeeded"
	if _, err := os.Stat(f.Plan.Save); err == nil {
		text += "; " + f.Plan.Save + " is an earlier one"
	}
	fmt.Fprintln(f.d.Stderr, text)
}

// planDocument returns what the preview has found, in the order of the plan.
func (j *job) planDocument() updateplan.Document {
	document := updateplan.Document{
		Version: updateplan.Version, Created: j.d.Now().UTC(), Runner: j.d.Version, Provider: j.s.Provider.Name,
		Stack: j.s.Settings.Stack.Text, Simulated: j.Simulation.On, Configuration: inputs.Configuration(j.s.Resolved),
		Projects: []updateplan.Project{},
	}
	for _, name := range j.w.plan.Names() {
		if previewed, ok := j.s.Stacks.Previewed(name); ok {
			document.Projects = append(document.Projects, previewed)
		}
	}
	return document
}
