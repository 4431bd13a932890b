package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"mara/config"
	"mara/config/lists"
	"mara/projects/model"
	"mara/projects/model/operation"
	"mara/projects/schemas"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/packages"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/request"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/stacks"
	"mara/runner/internal/feature/doctor/check"
	"mara/runner/internal/feature/doctor/preflight"
)

// Start starts the checks of an operation: the disk, this machine, the cloud and the files of the programs are looked at while
// the environment opens. Warnings go to the environment, problems are the error. Of simulated clouds only the disk is real.
func Start(ctx context.Context, s *session.Resolved) session.Checking {
	checks := []preflight.Check{disk(s)}
	selected, err := plan.Select(s.Plan, s.Options.Selection)
	m := machine{deps: s.Deps, provider: s.Provider, projects: selected.Names(), facts: facts(s, maps.Clone(s.Env))}
	if err == nil { // a wrong selection is refused elsewhere
		checks = append(checks, languageChecks(s, selected)...)
	}
	if err == nil && !s.Options.Simulation.On {
		checks = append(checks, m.checks()...)
	}
	var report preflight.Report
	var stopped, failing, problems error
	var judged sync.Once
	done := inBackground(ctx, s, func(ctx context.Context) {
		if err == nil && s.Options.Operation.RunsPrograms() {
			failing = check.Failing(s, selected)
		}
		report, stopped = preflight.Run(ctx, checks)
	})
	needed := func(set *stacks.Set) error {
		done()
		if stopped != nil || failing != nil {
			return cmp.Or(stopped, failing)
		}
		certain := report.Settled(func(string) bool { return false })
		report, err := m.withoutUndeployed(ctx, set, certain)
		if err != nil {
			return err
		}
		warnings, err := judge(report.Masked(s.Masker.Mask), s.Options.Operation)
		s.Warnings = append(s.Warnings, warnings...)
		return err
	}
	claimed := func(set *stacks.Set) error {
		done()
		found := report.Conditional().Settled(func(project string) bool { return !set.Summary(project).Exists })
		_, err := judge(found.Masked(s.Masker.Mask), s.Options.Operation)
		return err
	}
	return session.Checking{
		Needed:  func(set *stacks.Set) error { judged.Do(func() { problems = needed(set) }); return problems },
		Claimed: claimed, Offered: StartOffers(ctx, s),
	}
}

// inBackground starts work, which is ended when the session closes. The returned function waits until it is done.
func inBackground(ctx context.Context, s *session.Resolved, work func(context.Context)) (wait func()) {
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() { work(ctx) })
	s.OnClose(func() error { cancel(); done.Wait(); return nil })
	return done.Wait
}

// CheckFirst checks, before the questions of a first run, what an operation needs on
// this machine whatever the answers are.
func CheckFirst(
	ctx context.Context, d session.Deps, o session.Options, p model.Provider, file config.StackFile,
) error {
	all, err := plan.New(p)
	if err != nil {
		return err
	}
	selected, err := plan.Select(all, o.Selection)
	if err != nil {
		return err
	}
	env := o.Sources.Looking()
	report, err := preflight.Run(ctx, preflight.ForProvider(p.BeforeQuestions(o.Operation), selected.Names(),
		preflight.Facts{
			Operation: o.Operation, Env: env, Config: file, Probes: d.Probes,
		}))
	if err != nil {
		return err
	}
	_, err = judge(report.Masked(event.NewMasker(event.SecretsOf(env)...).Mask), o.Operation)
	return err
}

// judge makes warnings and an error of what checks have found.
func judge(report preflight.Report, op operation.Operation) (warnings []string, err error) {
	for _, result := range report.Only(preflight.Warning).Results {
		for _, finding := range result.Findings {
			warnings = append(warnings, result.Title+": "+finding.Text)
		}
	}
	if report.Status() == preflight.Problem {
		err = &ProblemsError{problems: report.Only(preflight.Problem), operation: op}
	}
	return warnings, err
}

// AllProblems adds to the problem that has kept an environment from being opened
// all the others, which the doctor finds. Errors of other kinds stay as they are.
func AllProblems(ctx context.Context, d session.Deps, o session.Options, err error) error {
	if !session.IsAboutSurroundings(err) {
		return err
	}
	e, examined := Examine(d, Options{Options: o})
	if examined != nil || e.unresolved != nil {
		return err
	}
	report, examined := e.Look(ctx)
	if closed := e.Session.Close(); closed != nil || examined != nil {
		return err
	}
	problems := report.Only(preflight.Problem)
	if problems.Counts()[preflight.Problem] <= numberOf(err) {
		return err
	}
	return &ProblemsError{problems: problems, operation: o.Operation, cause: err}
}

// numberOf returns the number of problems that an error reports.
func numberOf(err error) int {
	if several, ok := errors.AsType[*ProblemsError](err); ok {
		return several.problems.Counts()[preflight.Problem]
	}
	return len(findings(err))
}

// ProblemsError lists the problems to fix before an operation.
type ProblemsError struct {
	problems  preflight.Report
	operation operation.Operation
	cause     error // the first error; nil if the checks have found the problems
}

// AboutSurroundings marks the error for session.IsAboutSurroundings.
func (e *ProblemsError) AboutSurroundings() {}

// Unwrap returns the cause.
func (e *ProblemsError) Unwrap() error { return e.cause }

// lines formats the problems with their remedies.
func (e *ProblemsError) lines() (texts []string, remedy string) {
	for _, result := range e.problems.Results {
		for _, finding := range result.Findings {
			text := result.Title + ": " + finding.Text
			for line := range strings.Lines(finding.Table) {
				text += "\n    " + strings.TrimRight(line, "\n")
			}
			if remedy = finding.Remedy; remedy != "" {
				text += "\n    -> " + remedy
			}
			texts = append(texts, text)
		}
	}
	return texts, remedy
}

// Error lists the problems, one on a line; a single one has its remedy for the
// next step.
func (e *ProblemsError) Error() string {
	texts, _ := e.lines()
	if len(texts) == 1 {
		text, _, _ := strings.Cut(texts[0], "\n    -> ")
		return text
	}
	return fmt.Sprintf("%d problems are in the way of %s:\n  %s", len(texts), e.operation, strings.Join(texts, "\n  "))
}

// NextStep says what to do.
func (e *ProblemsError) NextStep() string {
	if texts, remedy := e.lines(); len(texts) == 1 && remedy != "" {
		return remedy
	}
	return "nothing was changed; `runner doctor " + string(e.operation) + "` looks at all of it again"
}

// facts returns what checks need to know about the environment.
func facts(s *session.Resolved, env map[string]string) preflight.Facts {
	return preflight.Facts{
		Operation: s.Options.Operation, Stack: s.Settings.Stack.Text, Env: env, Config: s.Settings.Config,
		Clouds: s.Deps.CloudClients, Probes: s.Deps.Probes, Absent: absent(s),
	}
}

// absent lists the projects of which the environment certainly has no state, as far as its states are files. One whose state is
// a journal alone, after a kill, may have made something.
func absent(s *session.Resolved) (names []string) {
	states := s.States()
	if !states.IsFile() {
		return nil
	}
	for _, step := range s.Plan.Steps {
		name := step.Project.Name
		content, err := states.Read(name)
		_, isLost, lostErr := states.FindLost(name)
		if err == nil && lostErr == nil && len(content) == 0 && !isLost && !states.HasJournal(name) {
			names = append(names, name)
		}
	}
	return names
}

// runDirs lists the directories that a run writes to, except that of the state.
func runDirs(r request.Request) []preflight.Directory {
	return []preflight.Directory{
		{Name: "the runner's files", Path: string(r.Directory())}, {Name: "temporary files", Path: os.TempDir()},
	}
}

// disk checks the directories that this environment writes to.
func disk(s *session.Resolved) preflight.Check {
	dirs := runDirs(s.Options.Request)
	if states := s.States(); states.IsFile() {
		dirs = append(dirs, preflight.Directory{Name: "the state", Path: states.Path})
	}
	return preflight.Disk(dirs)
}

// machine is this machine and the clouds, as an operation of a provider on some
// of its projects needs them.
type machine struct {
	deps     session.Deps
	provider model.Provider
	projects []string
	facts    preflight.Facts
}

func (m machine) checks() []preflight.Check {
	checks := preflight.ForProvider(m.provider, m.projects, m.facts)
	if plugins := m.plugins(); len(plugins.Wanted) > 0 {
		checks = append([]preflight.Check{preflight.Plugins(plugins)}, checks...)
	}
	return checks
}

// withoutUndeployed repeats the checks for the deployed projects if an operation on
// deployed resources has problems: needs of other projects do not block it. While the stacks are not open, all count.
func (m machine) withoutUndeployed(
	ctx context.Context, set *stacks.Set, report preflight.Report,
) (preflight.Report, error) {
	if report.Status() != preflight.Problem || m.facts.Operation.RunsPrograms() || set == nil {
		return report, nil
	}
	all := lists.Map(m.checks(), func(check preflight.Check) string { return check.Name })
	m.projects = slices.DeleteFunc(slices.Clone(m.projects), func(name string) bool { return !set.IsDeployed(name) })
	again, err := preflight.Run(ctx, m.checks())
	return report.Replace(all, again, "nothing is deployed that needs it"), err
}

func (m machine) plugins() preflight.PluginOptions {
	o := preflight.PluginOptions{Env: m.facts.Env}
	versions := schemas.Versions()
	for _, project := range m.projects {
		for _, name := range m.provider.PluginsFor([]string{project}) {
			if !slices.ContainsFunc(o.Wanted, func(p preflight.Plugin) bool { return p.Name == name }) {
				o.Wanted = append(o.Wanted, preflight.Plugin{Name: name, Version: versions[name], Project: project})
			}
		}
	}
	for _, project := range m.provider.Own() {
		if !slices.Contains(m.projects, project.Name) {
			continue
		}
		for _, used := range packages.By(project.Own.Dir) {
			isWanted := func(p preflight.Plugin) bool { return p.Name == used.Name && p.Version == used.Version }
			if used.Directory != "" || packages.IsDynamic(used.Name) || slices.ContainsFunc(o.Wanted, isWanted) {
				continue
			}
			// The version of an application's plugin is ours, and so is where it comes from.
			o.Wanted = append(o.Wanted, preflight.Plugin{
				Name: used.Name, Version: used.Version, Project: project.Name, Own: !project.Own.Generated,
			})
		}
	}
	if len(m.deps.Engines) > 0 {
		o.Beside = filepath.Dir(m.deps.Engines[0])
	}
	return o
}
