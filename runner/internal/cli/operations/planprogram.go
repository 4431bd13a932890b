package operations

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/environment/session"
	"mara/runner/internal/guard/updateplan"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/run/event"
	"mara/runner/internal/run/fingerprint"
	"mara/runner/internal/run/plan"
)

// What up --plan does with a program that cannot be compared with the planned one.
const (
	denyUnknownPrograms  = "deny"
	allowUnknownPrograms = "allow"
)

func unknownProgramsFlag() cli.Flag {
	return &cli.GenericFlag{
		Name: "unknown-programs",
		Value: &cmd.Choice{
			Allowed: []string{denyUnknownPrograms, allowUnknownPrograms}, Value: denyUnknownPrograms,
		},
		Usage: "with --plan: `WHAT` to do with a program that cannot be compared with the planned one: deny, or allow",
	}
}

// planFlag and digestFlag name a plan and its content.
const (
	planFlag   = "plan"
	digestFlag = "plan-digest"
)

// digestForm matches what --plan-digest takes.
var digestForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// checkPlanFlags refuses empty values, which a script with an empty variable passes:
// they would switch off the gate. It reports whether there is a plan.
func checkPlanFlags(c *cli.Context) (held bool, err error) {
	if !cmd.HasFlag(c.Command, planFlag) {
		return false, nil
	}
	held = c.String(planFlag) != ""
	switch digest := c.String(digestFlag); {
	case c.IsSet(planFlag) && !held:
		return false, failure.Usagef(c.Command.Name, "--plan: the name of the file is empty")
	case c.IsSet(digestFlag) && !held:
		return false, failure.Usagef(c.Command.Name, "--plan-digest needs --plan")
	case c.IsSet(digestFlag) && !digestForm.MatchString(digest):
		return false, failure.Usagef(c.Command.Name,
			"--plan-digest: %q is not sha256: and 64 hexadecimal digits in lower case", digest)
	}
	return held, nil
}

// checkDigest refuses a plan that is not the approved one.
func checkDigest(file, approved, digest string) error {
	if approved == "" || approved == digest {
		return nil
	}
	return &failure.Environment{
		Text: fmt.Sprintf("--plan-digest: %s is not the plan that was approved: its digest is %s, not %s; "+
			"nothing was changed", file, digest, approved),
		Next: "take the file that was approved, or have this one approved",
	}
}

// planParts are the parts of a project's fingerprint that a plan fixes.
var planParts = []string{programPart, filesPart, "configuration", "secrets"}

// planFingerprints returns for projects the digests that a plan fixes. Projects that
// have none are in unknown, with the reason. The runner is fixed by its version; a build
// without an exact one by its files, too.
func planFingerprints(
	s *session.Session, steps []plan.Step, version string, outside []string,
) (known map[string]map[string]string, unknown map[string]error) {
	known, unknown = map[string]map[string]string{}, map[string]error{}
	parts := planParts
	if !isSameRunner(version, version) {
		parts = append(slices.Clone(parts), runnerPart)
	}
	var maker *fingerprint.Maker
	basis, err := basisOf(s)
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
		made, failed := fingerprintOf(s, maker, step, outside)
		if failed != nil {
			unknown[name] = failed
			continue
		}
		maps.DeleteFunc(made, func(part, _ string) bool { return !slices.Contains(parts, part) })
		known[name] = made
	}
	return known, unknown
}

// fingerprintOf returns the fingerprint of a project, but for the outputs that it reads.
// Files outside are no part of its program.
func fingerprintOf(
	s *session.Session, maker *fingerprint.Maker, step plan.Step, outside []string,
) (fingerprint.Fingerprint, error) {
	subject, err := subjectOf(s, planned(s, step))
	if err != nil {
		return nil, err
	}
	if subject.Source != nil {
		subject.Source.Outside = append(subject.Source.Outside, outside...)
	}
	return maker.Of(subject)
}

// writtenFiles returns the files that this command reads or writes, which may be next to
// the programs: they are no part of them.
func (o operateOptions) writtenFiles(d cmd.Deps) []string {
	var files []string
	for _, file := range []string{o.save, d.Absolute(o.holdFile), d.Absolute(o.Show.Report)} {
		if file == "" {
			continue
		}
		files = append(files, file)
		if directory, err := filepath.EvalSymlinks(filepath.Dir(file)); err == nil {
			files = append(files, filepath.Join(directory, filepath.Base(file)))
		}
	}
	return files
}

// checkPrograms returns why a plan cannot be carried out with the runner and the
// programs of today, or "" if it can. next says what helps, unless that is another plan.
func (o operateOptions) checkPrograms(d cmd.Deps, s *session.Session) (refused, next string) {
	if o.hold.Runner != d.Version {
		return fmt.Sprintf("the plan is of another version of the runner: %s, and this is %s",
			o.hold.Runner, d.Version), ""
	}
	steps := slices.DeleteFunc(slices.Clone(s.Plan.Steps), func(step plan.Step) bool {
		return !slices.ContainsFunc(o.hold.Projects, func(p updateplan.Project) bool { return p.Name == step.Project.Name })
	})
	now, reasons := planFingerprints(s, steps, d.Version, o.writtenFiles(d))
	changed, unknown := comparePrograms(*o.hold, now, reasons)
	switch {
	case len(changed) > 0:
		return "changed since: " + strings.Join(changed, ", "), ""
	case len(unknown) > 0 && !o.unknownPrograms:
		return "these programs cannot be compared with the planned ones: " + strings.Join(unknown, ", "),
			"add --unknown-programs allow: each project is still previewed and compared with the plan before it is touched"
	}
	return "", ""
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
				if part == runnerPart {
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

// savePlan writes what a preview has found. If that fails, the preview has still
// succeeded, and o.saved has the error.
func savePlan(ctx context.Context, d cmd.Deps, o operateOptions, s *session.Session, w work, emit func(event.Event)) {
	if o.save == "" {
		return
	}
	document := planDocument(d, o, s, w)
	prints, unknown := planFingerprints(s, w.plan.Steps, d.Version, o.writtenFiles(d))
	for i, project := range document.Projects {
		digest, err := s.Stacks.StateDigest(ctx, project.Name)
		o.saved.err = errors.Join(o.saved.err, err)
		document.Projects[i].State, document.Projects[i].Fingerprint = digest, prints[project.Name]
		if err := unknown[project.Name]; err != nil {
			emit(event.Event{Type: event.RunWarning, Project: project.Name, Message: fmt.Sprintf(
				"up --plan cannot compare its program with the planned one, and needs --unknown-programs allow: %v", err)})
		}
	}
	if o.saved.err != nil {
		return
	}
	digest, err := document.Write(o.save)
	if err != nil {
		o.saved.err = &failure.Environment{
			Text: fmt.Sprintf("the plan cannot be written: %v", err),
			Next: failure.WriteRemedy(err, "the directory") + ", or name another file",
		}
		return
	}
	o.saved.digest = digest
	emit(event.Event{Type: event.RunPlan, Plan: &event.SavedPlan{File: o.save, Digest: digest}})
}

// savedPlan is the plan that a preview has written.
type savedPlan struct {
	digest string
	err    error // why it was not written
}

// printPlan prints which plan was written.
func printPlan(d cmd.Deps, o operateOptions) error {
	if o.saved.digest != "" && o.Output != "json" {
		fmt.Fprintf(d.Stdout, "Plan: %s\nDigest: %s\n", o.save, o.saved.digest)
	}
	return o.saved.err
}

// heldPlan returns the event that names the plan which an up carries out.
func (o operateOptions) heldPlan() []event.Event {
	if o.hold == nil {
		return nil
	}
	return []event.Event{{Type: event.RunPlan, Plan: &event.SavedPlan{File: o.holdFile, Digest: o.hold.Digest}}}
}
