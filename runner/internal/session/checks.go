package session

import (
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
	"mara/operation"
	"mara/providers"
	"mara/runner/internal/event"
	"mara/runner/internal/failure"
	"mara/runner/internal/layout"
	"mara/runner/internal/plan"
	"mara/runner/internal/preflight"
	"mara/runner/internal/stacks"
)

// startChecks has this machine and the cloud looked at while the session opens.
// The returned function waits for what they find: warnings go to the session,
// problems are the error. Of simulated clouds only the disk is real.
func (s *Session) startChecks(ctx context.Context) (wait func() error) {
	checks := []preflight.Check{s.disk()}
	selected, err := plan.Select(s.Plan, s.options.Secrets.Selection)
	look := machineLook{deps: s.deps, provider: s.Provider, projects: selected.Names(), facts: s.facts(maps.Clone(s.Env))}
	if err == nil && !s.options.Simulation.On { // a selection that is wrong is refused elsewhere
		checks = append(checks, look.checks()...)
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	var report preflight.Report
	var stopped error
	go func() {
		defer close(done)
		report, stopped = preflight.Run(ctx, checks)
	}()
	s.closers = append(s.closers, func() error { cancel(); <-done; return nil })
	return sync.OnceValue(func() error {
		<-done
		if stopped != nil {
			return stopped
		}
		report, err := s.pardon(ctx, look, report)
		if err != nil {
			return err
		}
		return s.takeChecks(report.Masked(s.Masker.Mask))
	})
}

// LookFirst looks, before the questions of a first run, for what an operation
// needs on this machine whatever the answers are.
func LookFirst(ctx context.Context, d Deps, o Options, p providers.Provider, file config.StackFile) error {
	all, err := plan.New(p)
	if err != nil {
		return err
	}
	selected, err := plan.Select(all, o.Secrets.Selection)
	if err != nil {
		return err
	}
	env := o.Sources.File.Merge(o.Sources.Process)
	report, err := preflight.Run(ctx, preflight.ForProvider(p.BeforeQuestions(o.Operation), selected.Names(), preflight.Facts{
		Operation: o.Operation, Env: env, Config: file, Probes: d.Probes,
	}))
	if err != nil || report.Status() != preflight.Problem {
		return err
	}
	report = report.Masked(event.NewMasker(secretsOf(env)...).Mask)
	return &ProblemsError{problems: report.Only(preflight.Problem), operation: o.Operation}
}

// facts is what checks need to know about the environment.
func (s *Session) facts(env map[string]string) preflight.Facts {
	return preflight.Facts{
		Operation: s.options.Operation, Stack: s.Settings.Stack.Text, Env: env, Config: s.Settings.Config,
		Clouds: s.deps.CloudClients, Probes: s.deps.Probes,
	}
}

// pardon looks again where an operation on what is deployed has problems, once
// that is known: what concerns only the other projects is not in its way.
func (s *Session) pardon(ctx context.Context, look machineLook, report preflight.Report) (preflight.Report, error) {
	if report.Status() != preflight.Problem || s.options.Operation.RunsPrograms() || s.Stacks == nil {
		return report, nil
	}
	all := look.names()
	look.projects = slices.DeleteFunc(slices.Clone(look.projects), func(name string) bool { return !s.IsDeployed(name) })
	again, err := preflight.Run(ctx, look.checks())
	return report.Replace(all, again, "nothing is deployed that needs it"), err
}

// takeChecks makes warnings and an error of what checks have found.
func (s *Session) takeChecks(report preflight.Report) error {
	for _, result := range report.Only(preflight.Warning).Results {
		for _, finding := range result.Findings {
			s.Warnings = append(s.Warnings, result.Title+": "+finding.Text)
		}
	}
	if report.Status() != preflight.Problem {
		return nil
	}
	return &ProblemsError{problems: report.Only(preflight.Problem), operation: s.options.Operation}
}

// allProblems adds to what has kept an environment from being opened everything
// else that would: the doctor finds it. Only what is about the configuration or
// the surroundings comes in numbers.
func allProblems(ctx context.Context, d Deps, o Options, err error) error {
	if !IsAboutSurroundings(err) {
		return err
	}
	e, examined := Examine(d, ExamineOptions{Options: o, Selection: o.Secrets.Selection})
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

// IsAboutSurroundings says whether an error that kept an environment from being
// opened is about its configuration or its surroundings.
func IsAboutSurroundings(err error) bool {
	var (
		invalid  *config.Error
		noRoot   *config.NoRootError
		around   *failure.Environment
		problems *ProblemsError
		broken   *BrokenStatesError
		pending  *PendingError
	)
	return errors.As(err, &invalid) || errors.As(err, &noRoot) || errors.As(err, &around) || errors.As(err, &problems) ||
		errors.As(err, &broken) || errors.As(err, &pending) || errors.Is(err, stacks.ErrPassphrase) || errors.Is(err, stacks.ErrLogin)
}

// numberOf is the number of problems that an error tells.
func numberOf(err error) int {
	var several *ProblemsError
	if errors.As(err, &several) {
		return several.problems.Counts()[preflight.Problem]
	}
	return len(findings(err))
}

// ProblemsError says what has to be put right before an operation.
type ProblemsError struct {
	problems  preflight.Report
	operation operation.Operation
	cause     error // that was found first; nil when the checks have found it
}

// Unwrap is the cause.
func (e *ProblemsError) Unwrap() error { return e.cause }

// lines are the problems with their remedies.
func (e *ProblemsError) lines() (texts []string, remedy string) {
	for _, result := range e.problems.Results {
		for _, finding := range result.Findings {
			text := result.Title + ": " + finding.Text
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
		text, _, _ := strings.Cut(texts[0], "\n")
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

// runFolders are the folders that a run writes to, besides that of the state.
func runFolders(r Request) []preflight.Folder {
	return []preflight.Folder{{Name: "the runner's files", Path: string(layout.Of(r.Root, r.Simulation.On))}, {Name: "temporary files", Path: os.TempDir()}}
}

// disk looks at the folders that this environment writes to.
func (s *Session) disk() preflight.Check {
	folders := runFolders(s.options.Request)
	if state, ok := s.StateFolder(); ok {
		folders = append(folders, preflight.Folder{Name: "the state", Path: state})
	}
	return preflight.Disk(folders)
}

// machineLook is a look at this machine and at clouds, for a provider's operation
// on some of its projects.
type machineLook struct {
	deps     Deps
	provider providers.Provider
	projects []string
	facts    preflight.Facts
}

func (l machineLook) checks() []preflight.Check {
	checks := preflight.ForProvider(l.provider, l.projects, l.facts)
	if plugins := l.plugins(); len(plugins.Wanted) > 0 {
		checks = append([]preflight.Check{preflight.Plugins(plugins)}, checks...)
	}
	return checks
}

// names are those of the checks.
func (l machineLook) names() []string {
	var names []string
	for _, check := range l.checks() {
		names = append(names, check.Name)
	}
	return names
}

func (l machineLook) plugins() preflight.PluginOptions {
	o := preflight.PluginOptions{Env: l.facts.Env}
	versions := map[string]string{}
	if l.deps.Plugins != nil {
		versions = l.deps.Plugins()
	}
	for _, name := range l.provider.PluginsFor(l.projects) {
		o.Wanted = append(o.Wanted, preflight.Plugin{Name: name, Version: versions[name]})
	}
	if len(l.deps.Engines) > 0 {
		o.Beside = filepath.Dir(l.deps.Engines[0])
	}
	return o
}
