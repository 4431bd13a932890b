package operate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"mara/config"
	"mara/config/lists"
	"mara/projects/model"
	"mara/projects/model/operation"
	"mara/runner/internal/core/contract"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/refusal"
	"mara/runner/internal/core/stacks"
	"mara/runner/internal/machine/failure"
)

// The flag that allows to read outputs that do not exist, and its values.
const (
	MissingOutputFlag  = "on-missing-output"
	MissingOutputError = "error"
	MissingOutputWarn  = "warn"
)

// outputContract compares the outputs that the projects of an environment read with
// the exported ones. Which outputs a program reads is known of programs in
// Pulumi YAML. It is not changed once it is made, and nil checks nothing.
type outputContract struct {
	contract.Reads
	warnOnly bool
	stacks   exportingStacks
	plan     plan.Plan // with the projects that a selection skips
	selected []string
}

// exportingStacks knows what the stacks of an environment export.
type exportingStacks interface {
	ExportedNames(project string) (names []string, known bool)
	DeployedNames(ctx context.Context, project string) (names []string, known bool, err error)
	ReadsOf(project string) []string
	IsDeployed(project string) bool
}

// checkOutputs makes the contract of an operation that runs programs, and checks what is known before any of them runs.
func (j *job) checkOutputs(ctx context.Context) error {
	s := j.s
	if !j.Operation.RunsPrograms() || s.Unchanged != nil {
		return nil
	}
	exports := stacks.Exports{Set: s.Stacks}
	j.contract = &outputContract{
		Reads: contract.ReadsOf(s.Plan, s.Settings.Config, exports), warnOnly: j.WarnMissing, stacks: exports, plan: s.Plan, selected: j.w.plan.Names(),
	}
	missing, err := j.contract.missingBefore(ctx)
	switch {
	case err != nil || len(missing) == 0:
		return err
	case j.WarnMissing:
		j.s.Warnings = append(j.s.Warnings, missing...)
		return nil
	}
	text := strings.Join(missing, "\n")
	if j.Operation.Deploys() {
		text += "\nnothing was changed"
	}
	return refusal.By(refusal.MissingOutput, &failure.Environment{
		Text: text,
		Next: "correct the name, or take null for the output with --" + MissingOutputFlag + " " + MissingOutputWarn,
	})
}

// missingBefore lists the reads of outputs that do not exist, as far as the exports
// of their owners are known before any program runs.
func (c *outputContract) missingBefore(ctx context.Context) ([]string, error) {
	var missing []string
	for _, reader := range c.selected {
		for _, owner := range slices.Sorted(maps.Keys(c.Of[reader])) {
			exports, known, err := c.exportsBefore(ctx, owner)
			if err != nil {
				return nil, fmt.Errorf("looking for the outputs of %s that %s reads: %w", owner, reader, err)
			}
			if !known {
				continue
			}
			for _, m := range contract.Check(owner, c.Of[reader][owner], exports) {
				missing = append(missing, c.describe(reader, m))
			}
		}
	}
	return missing, nil
}

// describe describes a read. If the run skips the owner, its program may export what is not deployed yet.
func (c *outputContract) describe(reader string, m contract.Missing) string {
	program, inYAML := c.Programs[m.Owner]
	if inYAML && !slices.Contains(c.selected, m.Owner) && slices.Contains(program.Exports.Names, m.Output) {
		return fmt.Sprintf("%s reads output %q of %s, which is deployed without it; its program exports it (%s): run both, "+
			"with --only +%s", m.Place, m.Output, m.Owner, program.Exports, reader)
	}
	return m.String()
}

func describe(missing []contract.Missing) []string {
	return lists.Map(missing, contract.Missing.String)
}

// exportsBefore returns what a project exports, as far as that is known before any
// program runs: the deployed outputs if the run skips the project, else the outputs in
// its program.
func (c *outputContract) exportsBefore(
	ctx context.Context, owner string,
) (exports contract.Exports, known bool, err error) {
	project, ok := c.project(owner)
	program, inYAML := c.Programs[owner]
	switch {
	case !ok:
		return exports, false, nil
	case !slices.Contains(c.selected, owner):
		names, known, err := c.stacks.DeployedNames(ctx, owner)
		return c.exports(project, names), known, err
	case inYAML:
		return program.Exports, true, nil
	case project.Own == nil:
		return contract.Exports{Names: contract.DeclaredOutputs(project)}, true, nil
	}
	return exports, false, nil
}

// place returns where a project's exports stand, as exactly as that is known.
func (c *outputContract) place(project model.Project) contract.Place {
	if program, ok := c.Programs[project.Name]; ok {
		return program.Exports.Place
	}
	if project.Own == nil {
		return contract.Place{}
	}
	return contract.Place{File: path.Join(project.Directory(), config.ManifestFile)}
}

func (c *outputContract) project(name string) (model.Project, bool) {
	step, ok := lists.Find(c.plan.Steps, func(step plan.Step) bool { return step.Project.Name == name })
	return step.Project, ok
}

// before refuses a project that reads an output which its owner does not export: as
// the owner's preview or up in this run has shown, or else as it is deployed.
func (c *outputContract) before(ctx context.Context, reader string, emit func(event.Event)) error {
	if c == nil {
		return nil
	}
	var missing []string
	for _, owner := range slices.Sorted(maps.Keys(c.Of[reader])) {
		if _, inYAML := c.Programs[owner]; inYAML || !slices.Contains(c.selected, owner) {
			continue // checked before the run
		}
		exports, known, err := c.exportsNow(ctx, owner)
		if err != nil {
			return fmt.Errorf("looking for the outputs of %s: %w", owner, err)
		}
		if known {
			missing = append(missing, describe(contract.Check(owner, c.Of[reader][owner], exports))...)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	if !c.warnOnly {
		text := strings.Join(missing, "\n")
		return fmt.Errorf("%s; take null for it with --%s %s", text, MissingOutputFlag, MissingOutputWarn)
	}
	for _, text := range missing {
		emit(event.Event{Type: event.RunWarning, Message: text})
	}
	return nil
}

// exportsNow returns what a project exports, as its preview or up in this run has
// shown, or else as it is deployed.
func (c *outputContract) exportsNow(
	ctx context.Context, owner string,
) (exports contract.Exports, known bool, err error) {
	names, known := c.stacks.ExportedNames(owner)
	if !known {
		names, known, err = c.stacks.DeployedNames(ctx, owner)
	}
	project, _ := c.project(owner)
	return c.exports(project, names), known, err
}

// exports returns what a project exports, given the outputs that it has.
func (c *outputContract) exports(project model.Project, names []string) contract.Exports {
	exports := contract.Exports{Names: names, Place: c.place(project)}
	for _, output := range project.Outputs {
		if output.Optional {
			exports.Optional = append(exports.Optional, output.Name)
		}
	}
	return exports
}

// explain adds the existing outputs, and their place, to the error of a program that
// needs a missing output.
func (c *outputContract) explain(ctx context.Context, reader model.Project, err error) error {
	missing, ok := errors.AsType[*stacks.MissingOutputError](err)
	if !ok || c == nil {
		return err
	}
	exports, known, failed := c.exportsNow(ctx, missing.Owner)
	if failed != nil || !known || slices.Contains(exports.Names, missing.Output) {
		return err
	}
	read := contract.Read{Place: contract.Place{File: reader.Name}, Output: missing.Output}
	if reader.Own != nil {
		read.File = path.Join(reader.Directory(), config.ManifestFile)
	}
	return &requiredOutputError{contract.Missing{Read: read, Owner: missing.Owner, Exports: exports}, err}
}

// requiredOutputError names the output that a program needs and the outputs that
// exist. Its text replaces that of the error that the program ended with.
type requiredOutputError struct {
	missing contract.Missing
	error
}

func (e *requiredOutputError) Error() string { return e.missing.String() }

// Unwrap returns the error that the program ended with.
func (e *requiredOutputError) Unwrap() error { return e.error }

// after warns of outputs that a project loses and others read, and of outputs that
// mara.yaml declares and the program does not export.
func (c *outputContract) after(
	step plan.Step, op operation.Operation, changes []event.OutputChange, emit func(event.Event),
) {
	if c == nil {
		return
	}
	warn := func(text string) { emit(event.Event{Type: event.RunWarning, Message: text}) }
	for _, change := range changes {
		if change.Action == event.Delete {
			c.vanishes(step.Project.Name, change.Name, op, warn)
		}
	}
	names, known := c.stacks.ExportedNames(step.Project.Name)
	if step.Project.Own == nil || !known {
		return
	}
	at := contract.Place{File: config.MaraFile, Line: step.Project.Own.Line}
	exports := contract.Exports{Names: names, Place: c.place(step.Project)}
	if text := contract.Undeclared(contract.DeclaredOutputs(step.Project), at, exports); text != "" {
		warn(text)
	}
}

// vanishes warns of an output that a project loses, for each project that reads it or
// may read it. A selected project whose program is known to read it is refused.
func (c *outputContract) vanishes(owner, output string, op operation.Operation, warn func(string)) {
	what := fmt.Sprintf("output %q is gone", output)
	if op == operation.Preview {
		what = fmt.Sprintf("output %q would go", output)
	}
	for _, step := range c.plan.Steps {
		reader := step.Project
		reads := c.Of[reader.Name][owner]
		at := slices.IndexFunc(reads, func(read contract.Read) bool { return read.Output == output })
		_, inYAML := c.Programs[reader.Name]
		switch {
		case at >= 0 && !slices.Contains(c.selected, reader.Name):
			warn(fmt.Sprintf("%s, and %s reads it (%s)", what, reader.Name, reads[at].Place))
		case inYAML && !c.Unsure[reader.Name], !c.readsOutputsOf(step, owner), !c.stacks.IsDeployed(reader.Name):
		case at < 0:
			warn(fmt.Sprintf("%s, and %s reads outputs of this stack; the runner does not know which", what, reader.Name))
		}
	}
}

// readsOutputsOf reports whether a project reads the stack of another, by the plan or
// by the requests of its program.
func (c *outputContract) readsOutputsOf(step plan.Step, owner string) bool {
	return slices.Contains(step.Reads, owner) || slices.Contains(c.stacks.ReadsOf(step.Project.Name), owner)
}
