package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"mara/config"
	"mara/providers"
	"mara/runner/internal/event"
	"mara/runner/internal/failure"
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
	if err == nil && !s.options.Simulation.On { // a selection that is wrong is refused elsewhere
		facts := preflight.Facts{
			Operation: s.options.Lock.Operation, Stack: s.Settings.Stack.Text, Env: maps.Clone(s.Env), Config: s.Settings.Config,
			Clouds: s.deps.CloudClients,
		}
		checks = append(checks, machineChecks(s.deps, s.Provider, selected, facts)...)
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
	report, err := preflight.Run(ctx, preflight.ForProvider(p.BeforeAnswers(o.Lock.Operation), selected.Names(), preflight.Facts{
		Operation: o.Lock.Operation, Env: env, Config: file, Probes: d.Probes,
	}))
	if err != nil || report.Status() != preflight.Problem {
		return err
	}
	report = report.Masked(event.NewMasker(secretsOf(env)...).Mask)
	return &ProblemsError{problems: report.Only(preflight.Problem), operation: o.Lock.Operation}
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
	return &ProblemsError{problems: report.Only(preflight.Problem), operation: s.options.Lock.Operation}
}

// allProblems adds to what has kept an environment from being opened everything
// else that would: the doctor finds it. Only what is about the configuration or
// the surroundings comes in numbers.
func allProblems(ctx context.Context, d Deps, o Options, err error) error {
	if !IsAboutSurroundings(err) {
		return err
	}
	e, examined := Examine(d, ExamineOptions{Options: o, Operation: o.Lock.Operation, Selection: o.Secrets.Selection})
	if examined != nil || e.unresolved != nil {
		return err
	}
	report, examined := preflight.Run(ctx, e.Checks(ctx))
	if closed := e.Session.Close(); closed != nil || examined != nil {
		return err
	}
	problems := report.Masked(e.Session.Masker.Mask).Only(preflight.Problem)
	if problems.Counts()[preflight.Problem] <= numberOf(err) {
		return err
	}
	return &ProblemsError{problems: problems, operation: o.Lock.Operation, cause: err}
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
	operation string
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
	return "nothing was changed; `runner doctor " + e.operation + "` looks at all of it again"
}

// runFolders are the folders that a run writes to, besides that of the state.
func runFolders(r Request) []preflight.Folder {
	return []preflight.Folder{{Name: "the runner's files", Path: runnerFolder(r)}, {Name: "temporary files", Path: os.TempDir()}}
}

// disk looks at the folders that this environment writes to.
func (s *Session) disk() preflight.Check {
	folders := runFolders(s.options.Request)
	if state, ok := s.StateFolder(); ok {
		folders = append(folders, preflight.Folder{Name: "the state", Path: state})
	}
	return preflight.Disk(folders)
}

// machineChecks are those that look at this machine and at clouds, for a
// provider's operation on the projects of a plan.
func machineChecks(d Deps, provider providers.Provider, p plan.Plan, facts preflight.Facts) []preflight.Check {
	if provider.Name == "" {
		return nil
	}
	facts.Probes = d.Probes
	return append(
		[]preflight.Check{preflight.Plugins(pluginOptions(d, provider, facts))},
		preflight.ForProvider(provider, p.Names(), facts)...,
	)
}

func pluginOptions(d Deps, provider providers.Provider, facts preflight.Facts) preflight.PluginOptions {
	o := preflight.PluginOptions{Env: facts.Env}
	versions := map[string]string{}
	if d.Plugins != nil {
		versions = d.Plugins()
	}
	for _, name := range provider.Plugins {
		o.Wanted = append(o.Wanted, preflight.Plugin{Name: name, Version: versions[name]})
	}
	if len(d.Engines) > 0 {
		o.Beside = filepath.Dir(d.Engines[0])
	}
	return o
}
