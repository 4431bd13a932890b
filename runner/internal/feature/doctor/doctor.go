// Package doctor examines whether everything is there that an operation needs:
// the configuration, the engine, the passphrase, this machine, the cloud, the
// backend and what earlier runs have left. It only reads.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"mara/config"
	"mara/config/lists"
	"mara/projects/model"
	"mara/runner/internal/core/encryption"
	"mara/runner/internal/core/engine"
	"mara/runner/internal/core/environments"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/stacks"
	"mara/runner/internal/feature/doctor/preflight"
	"mara/runner/internal/machine/process"
	"mara/runner/internal/machine/typeset"
)

// Options say what to look at.
type Options struct {
	session.Options
	Broken error             // what is wrong with the environment file
	First  []preflight.Check // to begin with
}

// Examination looks at an environment the way an operation opens it, but goes on
// where that would stop.
type Examination struct {
	Options    Options
	Session    *session.Resolved
	stacks     *stacks.Set    // as far as a check has opened them
	Provider   model.Provider // the zero value if none is chosen
	plan       plan.Plan      // the selected projects
	unresolved error          // why stack, provider or configuration are not known
}

// Examine finds out which environment is meant. A wrong flag is wrong usage,
// here as elsewhere; anything else is something to report.
func Examine(d session.Deps, o Options) (*Examination, error) {
	e := &Examination{Options: o, unresolved: o.Broken}
	if o.Broken == nil {
		e.Session, e.unresolved = session.Resolve(d, o.Options)
	} else {
		e.Session = session.Unresolved(d, o.Options)
	}
	if flag, ok := errors.AsType[*config.FlagError](e.unresolved); ok &&
		(flag.Flag == "--stack" && o.Stack.IsSet() || flag.Flag == "--provider" && o.Provider.IsSet()) {
		return nil, e.unresolved
	}
	e.Provider = e.Session.Provider
	if e.Provider.Name == "" && o.Provider.IsSet() {
		var err error
		if e.Provider, err = o.ProviderOf(o.Provider); err != nil {
			return nil, err
		}
	}
	if e.Provider.Name == "" {
		return e, nil
	}
	all, err := plan.New(e.Provider)
	if err != nil {
		return nil, err
	}
	if e.unresolved == nil && o.Operation.RunsPrograms() {
		// What conditions exclude needs nothing. Another check reports a wrong condition.
		if wanted, err := session.WithoutUnwanted(all, e.Provider, e.Session.Settings); err == nil {
			all = wanted
		}
	}
	e.plan, err = plan.Select(all, o.Selection)
	return e, err
}

// Checks lists what to look at. Only what the operation needs is on the list;
// simulated clouds need no account, no program and no plugin.
func (e *Examination) Checks(ctx context.Context) []preflight.Check {
	start := sync.OnceValues(func() (engine.Engine, error) { return e.Session.Engine(ctx) })
	open := e.openOnce(ctx, start)
	checks := slices.Concat(e.Options.First, e.ownChecks(), []preflight.Check{
		{Name: "environment-file", Title: "environment file", Group: preflight.Environment, Look: e.environmentFile},
		{Name: "settings", Title: "stack and provider", Group: preflight.Environment, Look: e.settings},
		{Name: "configuration", Title: "configuration", Group: preflight.Environment,
			Look: e.configured(e.resolved(e.configuration))},
		{Name: "engine", Title: "Pulumi", Group: preflight.Engine, Limit: engineTime, Look: e.engine(start)},
	})
	if e.Options.Operation.RunsPrograms() {
		programs := preflight.Check{Name: "programs", Title: "programs", Group: preflight.Engine, Look: e.programs}
		checks = append(checks, programs)
		checks = append(checks, languageChecks(e.Session, e.plan)...)
	}
	if !e.Options.Simulation.On {
		checks = append(checks, e.realChecks(open)...)
	}
	return append(checks, e.stateChecks(open)...)
}

// How long those may take that need an engine, or a backend behind one. A passphrase takes a tenth of a second for each
// file; on a machine that is busy that is seconds, and a warning about the network would mislead.
const (
	engineTime     = 25 * time.Second
	backendTime    = 30 * time.Second
	passphraseTime = 30 * time.Second
)

// realChecks returns the checks that a simulation does not need. Before an operation
// has begun, the configuration check covers the secrets.
func (e *Examination) realChecks(open opener) []preflight.Check {
	var checks []preflight.Check
	if e.Options.Operation.RunsPrograms() && !e.Options.NeedSecrets {
		checks = append(checks, preflight.Check{
			Name: "secrets", Title: "secrets", Group: preflight.Environment, Look: e.resolved(e.secrets),
		})
	}
	checks = append(checks, preflight.Check{
		Name: "passphrase", Title: "passphrase", Group: preflight.Engine, Limit: passphraseTime, Look: e.resolved(e.passphrase),
	})
	return slices.Concat(checks, e.chartsCheck(), e.machine().checks(), e.othersCheck(), e.offersCheck(open))
}

func (e *Examination) machine() machine {
	return machine{
		deps: e.Session.Deps, provider: e.Provider, projects: e.plan.Names(), facts: facts(e.Session, e.environ()),
	}
}

// Look looks at everything; what it has found hides secrets.
func (e *Examination) Look(ctx context.Context) (preflight.Report, error) {
	report, err := preflight.Run(ctx, e.Checks(ctx))
	if err == nil {
		report, err = e.machine().withoutUndeployed(ctx, e.stacks, report)
	}
	report = report.Settled(func(project string) bool {
		return e.stacks != nil && !e.stacks.Summary(project).Exists
	})
	return report.Masked(e.Session.Masker.Mask), err
}

// resolved skips a look while the settings are unknown.
func (e *Examination) resolved(look preflight.Look) preflight.Look {
	if e.unresolved == nil {
		return look
	}
	return func(context.Context) []preflight.Finding {
		return preflight.Unseen("not looked at before the stack and the provider are right")
	}
}

// configured looks at the stack's files first, where the environment file is
// broken: they may be broken as well.
func (e *Examination) configured(look preflight.Look) preflight.Look {
	if e.Options.Broken == nil {
		return look
	}
	if err := e.Options.StackProblems(); err != nil {
		return func(context.Context) []preflight.Finding { return findings(err) }
	}
	return look
}

// environ returns the environment of Pulumi and its plugins, as far as it is known.
func (e *Examination) environ() map[string]string {
	if e.unresolved == nil {
		return e.Session.Env
	}
	return e.Options.Sources.Looking()
}

func (e *Examination) environmentFile(context.Context) []preflight.Finding {
	variables := e.Options.Sources.File.Variables()
	switch {
	case e.Options.Root == "":
		return findings(e.Options.NoRoot)
	case e.Options.Broken != nil:
		if broken := e.broken(isEnvironmentFile); broken != nil {
			return findings(broken)
		}
		return preflight.Good(config.EnvironmentFile + " can be read")
	case len(variables) == 0:
		return preflight.Good(config.EnvironmentFile + " sets nothing")
	}
	return preflight.Good(fmt.Sprintf("%s sets %s", config.EnvironmentFile, typeset.Counted(len(variables), "variable")))
}

func (e *Examination) settings(context.Context) []preflight.Finding {
	settings := e.Session.Settings
	switch {
	case e.Options.Root == "" || e.Options.Broken != nil:
		return preflight.Unseen("not looked at before the files above are right")
	case e.unresolved != nil:
		return findings(e.unresolved)
	}
	provider := e.Provider.Name
	if settings.Provider.IsSet() {
		provider += " (" + settings.Provider.Origin.String() + ")"
	}
	return preflight.Good(fmt.Sprintf("stack %s (%s), provider %s", settings.Stack.Text, settings.Stack.Origin, provider))
}

func (e *Examination) configuration(context.Context) []preflight.Finding {
	if err := e.Session.Validate(); err != nil {
		return findings(err)
	}
	file := e.Session.Settings.Config
	if doubts := e.Session.Doubts; len(doubts) > 0 {
		return findingsOf(doubts, preflight.Warning)
	}
	var own []string
	for _, f := range environments.OwnFiles(e.Session.Settings.Root, e.Session.Settings.Stack.Text, e.Options.Known()) {
		own = append(own, fmt.Sprintf("%s has %s", f.File, typeset.Counted(len(f.Entries), "key")))
	}
	if !file.Exists && len(own) > 0 {
		return preflight.Good(typeset.Few(own, 4) + ", all right")
	}
	if !file.Exists {
		return preflight.Good("there is no " + file.File + "; defaults are used")
	}
	return preflight.Good(fmt.Sprintf("%s has %s, all right", file.File, typeset.Counted(len(file.Entries), "key")))
}

// secrets lists missing values. Up asks for them, or generates them on request; a
// value that it can neither ask for nor generate is a problem.
func (e *Examination) secrets(context.Context) []preflight.Finding {
	var found []preflight.Finding
	if e.plan.ReadsSecrets(e.Session.Vault.IsSet) {
		for _, m := range e.Session.Vault.Missing() {
			finding := preflight.Finding{Status: preflight.Warning, Text: m.Problem().String()}
			if !e.Options.Interactive && m.Secret.Generate == model.None {
				finding.Status = preflight.Problem
			}
			found = append(found, finding)
		}
	}
	if len(found) > 0 {
		return found
	}
	return preflight.Good("no value is missing")
}

func (e *Examination) passphrase(ctx context.Context) []preflight.Finding {
	if err := e.Session.Vault.RefuseHalfChanged(ctx); err != nil {
		return findings(err)
	}
	verified, err := e.Session.Vault.Verify()
	switch {
	case errors.Is(err, encryption.ErrNoPassphrase) && e.Options.Interactive:
		return preflight.Doubtful("none is set; "+string(e.Options.Operation)+" asks for it", "")
	case errors.Is(err, encryption.ErrNoPassphrase) && e.Session.Vault.LacksPassphrase():
		return preflight.Unseen("not looked at: the configuration lacks it")
	case err != nil:
		return preflight.Bad(err.Error(), "")
	case !verified.Needed:
		return preflight.Good("none is needed: a key service encrypts")
	case len(verified.Opened) == 0:
		return preflight.Good("one is set; nothing is encrypted with it yet")
	}
	return preflight.Good("it opens " + strings.Join(verified.Opened, " and "))
}

// engine looks whether Pulumi runs, and which version it is.
func (e *Examination) engine(start func() (engine.Engine, error)) preflight.Look {
	return func(ctx context.Context) []preflight.Finding {
		running, err := start()
		if err != nil {
			return findings(err)
		}
		stdout, stderr, _, err := running.Run(ctx, os.TempDir(), nil, nil, nil, process.Environ(e.environ()), "version")
		if err != nil {
			return preflight.Bad(fmt.Sprintf("it does not run: %v %s", err, strings.TrimSpace(stderr)), "install it anew")
		}
		found, _ := engine.Find(e.Session.Deps.Engines, e.Options.Pulumi)
		where := "installed at"
		if found.Embedded {
			where = "inside"
		}
		return preflight.Good(fmt.Sprintf("%s, %s %s", strings.TrimSpace(stdout), where, found.Path))
	}
}

// programs looks whether the built-in programs can be served.
func (e *Examination) programs(context.Context) []preflight.Finding {
	path, err := e.Session.Deps.ProgramHost()
	if err != nil {
		return findings(err)
	}
	return preflight.Good("served by " + path)
}

// findingsOf returns a finding of a status for each problem.
func findingsOf(problems []config.Problem, status preflight.Status) []preflight.Finding {
	return lists.Map(problems, func(p config.Problem) preflight.Finding {
		return preflight.Finding{Status: status, Text: p.String()}
	})
}

// findings returns the problems that an error lists.
func findings(err error) []preflight.Finding {
	if wrong, ok := errors.AsType[*config.Error](err); ok {
		found := findingsOf(wrong.Problems, preflight.Problem)
		found[len(found)-1].Remedy = wrong.Next
		return found
	}
	remedy := ""
	var next interface{ NextStep() string }
	if errors.As(err, &next) {
		remedy = next.NextStep()
	}
	return preflight.Bad(err.Error(), remedy)
}
