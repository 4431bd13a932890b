package operate

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"mara/runner/internal/core/event"
	"mara/runner/internal/core/fingerprint"
	"mara/runner/internal/core/inputs"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/record"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/updateplan"
	"mara/runner/internal/machine/failure"
)

// planFingerprints returns for projects the digests that a plan fixes. Projects that
// have none are in unknown, with the reason. The runner is fixed by its version; a build
// without an exact one by its files, too.
func planFingerprints(
	s *session.Resolved, steps []plan.Step, version string, outside []string,
) (known map[string]map[string]string, unknown map[string]error) {
	known, unknown = map[string]map[string]string{}, map[string]error{}
	parts := []string{inputs.ProgramPart, inputs.FilesPart, "configuration", "secrets"}
	if !record.IsSameRunner(version, version) {
		parts = append(parts, inputs.RunnerPart)
	}
	var maker *fingerprint.Maker
	basis, err := inputs.BasisOf(s)
	if err == nil {
		basis.Contents = true
		maker, err = fingerprint.NewMaker(basis)
	}
	for _, step := range steps {
		name := step.Project.Name
		if err != nil {
			unknown[name] = err
			continue
		}
		made, failed := inputs.Parts(s, maker, step, outside...)
		if failed != nil {
			unknown[name] = failed
			continue
		}
		known[name] = inputs.OnlyParts(made, parts...)
	}
	return known, unknown
}

// writtenFiles returns the files that this command reads or writes, which may be next to
// the programs: they are no part of them.
func (f planFile) writtenFiles() []string {
	var files []string
	for _, file := range []string{f.Plan.Save, f.Plan.HoldFile, f.view.Report} {
		if file = f.d.Absolute(file); file == "" {
			continue
		}
		files = append(files, file)
		if directory, err := filepath.EvalSymlinks(filepath.Dir(file)); err == nil {
			files = append(files, filepath.Join(directory, filepath.Base(file)))
		}
	}
	return files
}

// checkPrograms refuses a plan that cannot be carried out with the runner and the programs of today.
func (f planFile) checkPrograms() error {
	hold := f.Plan.Hold
	if hold.Runner != f.d.Version {
		return f.refuse("the plan is of another version of the runner: %s, and this is %s", hold.Runner, f.d.Version)
	}
	steps := slices.DeleteFunc(slices.Clone(f.s.Plan.Steps), func(step plan.Step) bool {
		return !slices.ContainsFunc(hold.Projects, func(p updateplan.Project) bool { return p.Name == step.Project.Name })
	})
	now, reasons := planFingerprints(f.s.Resolved, steps, f.d.Version, f.writtenFiles())
	changed, unknown := comparePrograms(*hold, now, reasons)
	switch {
	case len(changed) > 0:
		return f.refuse("changed since: %s", strings.Join(changed, ", "))
	case len(unknown) > 0 && !f.Plan.UnknownPrograms:
		return refuseWith("add --unknown-programs allow: each project is still previewed and compared with the plan before it "+
			"is touched", "these programs cannot be compared with the planned ones: %s", strings.Join(unknown, ", "))
	}
	return nil
}

// comparePrograms lists what has changed since a plan was made, and what cannot be compared.
func comparePrograms(
	p updateplan.Document, now map[string]map[string]string, reasons map[string]error,
) (changed, unknown []string) {
	for _, project := range p.Projects {
		is, ok := now[project.Name]
		switch err := reasons[project.Name]; {
		case err != nil:
			unknown = append(unknown, fmt.Sprintf("%s (%v)", project.Name, err))
		case !ok || project.Fingerprint == nil:
			unknown = append(unknown, project.Name+" (the plan has no digest of it)")
		default:
			for _, part := range fingerprint.Fingerprint(project.Fingerprint).Changes(is) {
				if part == inputs.RunnerPart {
					part = "the runner and its programs, for"
				} else {
					part += " of"
				}
				changed = append(changed, part+" "+project.Name)
			}
		}
	}
	return changed, unknown
}

// savedPlan is the plan that a preview has written.
type savedPlan struct {
	digest string
	err    error // why it was not written
}

// save writes what a preview has found. If that fails, the preview has still succeeded.
func (f planFile) save(ctx context.Context, emit func(event.Event)) (saved savedPlan) {
	if f.Plan.Save == "" {
		return saved
	}
	document := f.planDocument()
	if document.Configuration, saved.err = inputs.PlannedConfiguration(f.s.Resolved); saved.err != nil {
		return saved
	}
	prints, unknown := planFingerprints(f.s.Resolved, f.w.plan.Steps, f.d.Version, f.writtenFiles())
	for i, project := range document.Projects {
		digest, err := f.s.Stacks.StateDigest(ctx, project.Name)
		saved.err = errors.Join(saved.err, err)
		document.Projects[i].State, document.Projects[i].Fingerprint = digest, prints[project.Name]
		if err := unknown[project.Name]; err != nil {
			emit(event.Event{Type: event.RunWarning, Project: project.Name, Message: fmt.Sprintf(
				"up --plan cannot compare its program with the planned one, and needs --unknown-programs allow: %v", err)})
		}
	}
	if saved.err != nil {
		return saved
	}
	digest, err := document.Write(f.Plan.Save)
	if err != nil {
		saved.err = &failure.Environment{
			Text: fmt.Sprintf("the plan cannot be written: %v", err),
			Next: failure.WriteRemedy(err, "the directory") + ", or name another file",
		}
		return saved
	}
	saved.digest = digest
	emit(event.Event{Type: event.RunPlan, Plan: &event.SavedPlan{File: f.Plan.Save, Digest: digest}})
	return saved
}

// print prints which plan was written.
func (f planFile) print(saved savedPlan) error {
	if saved.digest != "" && !f.view.JSON {
		fmt.Fprintf(f.view.Stdout, "Plan: %s\nDigest: %s\n", f.Plan.Save, saved.digest)
	}
	return saved.err
}
