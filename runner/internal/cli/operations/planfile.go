package operations

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/environment/session"
	"mara/runner/internal/guard/cost"
	"mara/runner/internal/guard/policy"
	"mara/runner/internal/guard/updateplan"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/run/fingerprint"
	"mara/runner/internal/run/plan"
)

// planOptions are about the document of what an up would do.
type planOptions struct {
	save string               // of preview: the file to write it to
	hold *updateplan.Document // of up: the plan that it must follow; nil for none
	// holdFile is the name of its file, as given.
	holdFile string
	// unknownPrograms allows a plan with programs that cannot be compared.
	unknownPrograms bool
	saved           *savedPlan // what a preview has written
	rules           policy.Set // that judge it
	packs           []string   // Pulumi's own policy packs, for its engine

	prices     cost.Sheet
	maxMonthly *float64       // what an environment may cost; nil for anything
	unknownOK  bool           // what cannot be priced does not count
	estimate   *cost.Estimate // what it costs, once a preview is done
	losses     *[]string      // what a protected environment would lose, once a preview is done
}

// resetResults gives an operation results of its own, so that operations do not share
// their losses.
func (o *planOptions) resetResults() {
	o.estimate, o.losses, o.saved = &cost.Estimate{}, &[]string{}, &savedPlan{}
}

// parsePlan reads the plan that an up must follow. It selects the plan's projects.
func (o *operateOptions) parsePlan(c *cli.Context, d cmd.Deps) error {
	o.resetResults()
	if err := o.parseCosts(c); err != nil {
		return err
	}
	for _, directory := range c.StringSlice("policy-pack") {
		directory = d.Absolute(directory)
		if _, err := os.Stat(filepath.Join(directory, "PulumiPolicy.yaml")); err != nil {
			return failure.Usagef(c.Command.Name, "--policy-pack: %s is no directory with a PulumiPolicy.yaml", directory)
		}
		o.packs = append(o.packs, directory)
	}
	if cmd.HasFlag(c.Command, "save-plan") {
		o.save = d.Absolute(c.String("save-plan"))
	}
	if held, err := checkPlanFlags(c); err != nil || !held {
		return err
	}
	document, err := updateplan.Read(d.Absolute(c.String(planFlag)))
	if err != nil {
		return failure.Usagef(c.Command.Name, "--plan: %v", err)
	}
	if err := checkDigest(c.String(planFlag), c.String(digestFlag), document.Digest); err != nil {
		return err
	}
	o.unknownPrograms = cmd.Chosen(c, "unknown-programs") == allowUnknownPrograms
	if len(o.Selection.words()) > 0 {
		return failure.Usagef(
			c.Command.Name, "--plan: the plan says which projects run; omit %s", strings.Join(o.Selection.words(), " "),
		)
	}
	var names []string
	for _, project := range document.Projects {
		names = append(names, project.Name)
	}
	if len(names) == 0 {
		return failure.Usagef(c.Command.Name, "--plan: the plan has no projects")
	}
	o.hold, o.holdFile = &document, c.String("plan")
	o.Selection.Selection = plan.Selection{Only: names}
	o.Options.Selection, o.Refusal = o.Selection.Selection, nil
	return nil
}

// checkPlan refuses a plan for another environment, or from before something changed.
func (o operateOptions) checkPlan(ctx context.Context, d cmd.Deps, s *session.Session) error {
	p := o.hold
	if p == nil {
		return nil
	}
	refuse := func(format string, args ...any) *failure.Environment {
		return &failure.Environment{
			Text: "--plan: " + fmt.Sprintf(format, args...) + "; nothing was changed",
			Next: "make a new plan with `" + o.previewCommand(s.Settings.Stack.Text) + "`",
		}
	}
	switch {
	case p.Stack != s.Settings.Stack.Text || p.Provider != s.Provider.Name:
		return refuse(
			"the plan is for %s, stack %s, not for %s, stack %s", p.Provider, p.Stack, s.Provider.Name, s.Settings.Stack.Text,
		)
	case p.Simulated != o.Simulation.On:
		return refuse("the plan is for a simulated environment, or this one is: only one of them is")
	}
	if changes := fingerprint.Fingerprint(p.Configuration).Changes(configurationOf(s)); len(changes) > 0 {
		return refuse("the configuration has changed since: %s", strings.Join(changes, ", "))
	}
	if refused, next := o.checkPrograms(d, s); refused != "" {
		err := refuse("%s", refused)
		if next != "" {
			err.Next = next
		}
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
		return refuse("the state has changed since: %s", strings.Join(changed, ", "))
	}
	return nil
}

// reportUnsaved says that a preview that has failed has written no plan: a file of that
// name holds an earlier one.
func reportUnsaved(d cmd.Deps, o operateOptions) {
	if o.save == "" {
		return
	}
	text := "no plan was written, because the preview has not succeeded"
	if _, err := os.Stat(o.save); err == nil {
		text += "; " + o.save + " is an earlier one"
	}
	fmt.Fprintln(d.Stderr, text)
}

// planDocument returns what the preview has found, in the order of the plan.
func planDocument(d cmd.Deps, o operateOptions, s *session.Session, w work) updateplan.Document {
	document := updateplan.Document{
		Version: updateplan.Version, Created: d.Now().UTC(), Runner: d.Version, Provider: s.Provider.Name,
		Stack:     s.Settings.Stack.Text,
		Simulated: o.Simulation.On, Configuration: configurationOf(s), Projects: []updateplan.Project{},
	}
	for _, name := range w.plan.Names() {
		if previewed, ok := s.Stacks.Previewed(name); ok {
			document.Projects = append(document.Projects, previewed)
		}
	}
	return document
}
