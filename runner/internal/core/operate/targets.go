package operate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/urn"

	"mara/config"
	"mara/config/lists"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/stacks"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/typeset"
)

// target is a resource that --target or --replace names.
type target struct {
	flag, given  string
	project, urn string
}

// chooseTargets finds the resources that --target and --replace name, and limits the plan to their project.
func (j *job) chooseTargets(ctx context.Context) error {
	if !j.Targets.Any() {
		return nil
	}
	var known deployed
	if slices.ContainsFunc(slices.Concat(j.Targets.Only, j.Targets.Replace), func(given string) bool { return !isURN(given) }) {
		var err error
		if known, err = readDeployed(ctx, j.s.Reading, j.s.Plan); err != nil {
			return err
		}
	}
	var all []target
	find := func(flag string, terms []string) (urns []string, err error) {
		for _, given := range terms {
			found, err := j.target(known, flag, given)
			if err != nil {
				return nil, err
			}
			all, urns = append(all, found), append(urns, found.urn)
		}
		return urns, nil
	}
	var err error
	if j.Targets.Only, err = find("--target", j.Targets.Only); err != nil {
		return err
	}
	if j.Targets.Replace, err = find("--replace", j.Targets.Replace); err != nil {
		return err
	}
	for _, other := range all[1:] {
		if first := all[0]; other.project != first.project {
			return failure.Usagef(string(j.Operation), "%s %s is of %s, and %s %s of %s: work on one project at a time",
				first.flag, first.given, first.project, other.flag, other.given, other.project)
		}
	}
	j.w.plan = j.w.plan.Limit([]string{all[0].project}, "not the project of that resource")
	return nil
}

func isURN(text string) bool { return strings.HasPrefix(text, urn.Prefix) }

// target finds the resource that is meant: by its URN, which need not exist yet, or by its name in a state.
func (j *job) target(known deployed, flag, given string) (target, error) {
	refuse := func(next, format string, args ...any) (target, error) {
		return target{}, &failure.Usage{Text: flag + ": " + fmt.Sprintf(format, args...), Next: next}
	}
	if isURN(given) {
		parsed, err := urn.Parse(given)
		if err != nil {
			return refuse("give the whole URN, which begins with urn:pulumi:STACK::PROJECT::", "%v", err)
		}
		project, stack := string(parsed.Project()), string(parsed.Stack())
		if _, err := j.s.Plan.Project(project); err != nil {
			return refuse("`runner plan` lists the projects", "%s is of the project %q, which is not in the plan%s", given, project,
				config.DidYouMean(project, j.s.Plan.Names()))
		}
		if environment, fits := j.s.Scope().Names.Environment(project, stack); !fits || environment != j.s.Settings.Stack.Text {
			return refuse("name its environment with -s, or the resource of this one",
				"%s is of the stack %q, which is not that of %s here", given, stack, project)
		}
		return target{flag, given, project, given}, nil
	}
	var found []target
	var names []string
	for _, project := range known {
		for _, r := range project.resources {
			if names = append(names, r.Name()); r.Name() == given {
				found = append(found, target{flag, given, project.name, r.URN})
			}
		}
	}
	switch len(found) {
	case 0:
		return refuse("a resource that does not exist yet is named by its URN, which `runner preview --save-plan FILE` writes",
			"no resource of %s has the name %q%s", j.s.Settings.Stack.Text, given, config.DidYouMean(given, names))
	case 1:
		return found[0], nil
	}
	urns := lists.Map(found, func(t target) string { return t.urn })
	return refuse("name one of them by its URN", "%s have the name %q: %s", typeset.Counted(len(found), "resource"), given,
		typeset.Few(urns, 3))
}

// selectTargets selects the projects whose URNs are named, for the checks before the environment is locked.
func (r Request) selectTargets(s *session.Resolved) plan.Selection {
	var only []string
	for _, given := range slices.Concat(r.Targets.Only, r.Targets.Replace) {
		parsed, err := urn.Parse(given)
		if err != nil {
			return r.Selection // a name, which is looked up later
		}
		if _, err := s.Plan.Project(string(parsed.Project())); err != nil {
			return r.Selection // chooseTargets refuses it
		}
		only = append(only, string(parsed.Project()))
	}
	return plan.Selection{Only: only}
}

// targetWords returns the targets as flags.
func targetWords(t stacks.Targets) (words []string) {
	for _, given := range t.Only {
		words = append(words, "--target "+ShellWord(given))
	}
	if t.Dependents {
		words = append(words, "--target-dependents")
	}
	for _, given := range t.Replace {
		words = append(words, "--replace "+ShellWord(given))
	}
	return words
}
