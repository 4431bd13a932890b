package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"mara/config"
	"mara/projects"
	"mara/providers"
	"mara/runner/internal/encryption"
	"mara/runner/internal/event"
	"mara/runner/internal/plan"
	"mara/runner/internal/preflight"
)

// examination looks at an environment the way an operation opens it, but goes
// on where that would stop.
type examination struct {
	deps       Deps
	options    doctorOptions
	session    *session
	provider   providers.Provider // the zero one where nobody has named one
	plan       plan.Plan          // what is selected of it
	unresolved error              // why stack, provider or configuration are not known
}

// examine finds out which environment is meant. A wrong flag is wrong usage,
// here as elsewhere; anything else is something to report.
func examine(d Deps, o doctorOptions) (*examination, error) {
	e := &examination{deps: d, options: o, session: &session{masker: event.NewMasker()}}
	e.unresolved = o.broken
	if e.unresolved == nil {
		e.unresolved = e.session.resolve(o.sessionOptions, toLook)
	}
	var flag *config.FlagError
	if errors.As(e.unresolved, &flag) && (flag.Flag == "--stack" && o.Stack.IsSet() || flag.Flag == "--provider" && o.Provider.IsSet()) {
		return nil, e.unresolved
	}
	e.provider = e.session.provider
	if e.provider.Name == "" && o.Provider.IsSet() {
		var err error
		if e.provider, err = providerOf(o.Provider); err != nil {
			return nil, err
		}
	}
	if e.provider.Name == "" {
		return e, nil
	}
	all, err := plan.New(e.provider)
	if err != nil {
		return nil, err
	}
	e.plan, err = plan.Select(all, o.Selection.Selection)
	return e, err
}

// checks lists what to look at. Only what the operation needs is on the list;
// simulated clouds need no account, no program and no plugin.
func (e *examination) checks(ctx context.Context) []preflight.Check {
	engine := sync.OnceValues(func() (engine, error) { return e.session.startEngine(ctx, e.deps, e.options.sessionOptions) })
	checks := []preflight.Check{
		{Name: "environment-file", Title: "environment file", Group: preflight.Environment, Look: e.environmentFile},
		{Name: "settings", Title: "stack and provider", Group: preflight.Environment, Look: e.settings},
		{Name: "configuration", Title: "configuration", Group: preflight.Environment, Look: e.resolved(e.configuration)},
		{Name: "engine", Title: "Pulumi", Group: preflight.Engine, Limit: engineTime, Look: e.engine(engine)},
	}
	if !e.options.Simulation.On {
		checks = append(checks, e.realChecks()...)
	}
	return append(checks, e.stateChecks(ctx, engine)...)
}

// How long those may take that need an engine, or a backend behind one.
const (
	engineTime  = 25 * time.Second
	backendTime = 30 * time.Second
)

// realChecks are those that a simulation does without. To an operation that has
// not begun the secrets are part of its configuration.
func (e *examination) realChecks() []preflight.Check {
	var checks []preflight.Check
	if needsSecrets(e.options.Operation) && !e.options.Secrets.Needed {
		checks = append(checks, preflight.Check{Name: "secrets", Title: "secrets", Group: preflight.Environment, Look: e.resolved(e.secrets)})
	}
	checks = append(checks, preflight.Check{Name: "passphrase", Title: "passphrase", Group: preflight.Engine, Look: e.resolved(e.passphrase)})
	return append(checks, machineChecks(e.deps, e.provider, e.plan, preflight.Facts{
		Operation: e.options.Operation, Stack: e.session.settings.Stack.Text, Env: e.environ(), Config: e.session.settings.Config,
		Clouds: e.deps.CloudClients,
	})...)
}

// resolved is a look at something that is known only with the settings.
func (e *examination) resolved(look preflight.Look) preflight.Look {
	if e.unresolved == nil {
		return look
	}
	return func(context.Context) []preflight.Finding {
		return preflight.Unseen("not looked at before the stack and the provider are right")
	}
}

// environ is the environment of Pulumi and its plugins, as far as it is known.
func (e *examination) environ() map[string]string {
	if e.unresolved == nil {
		return e.session.env
	}
	return e.options.Sources.File.Merge(e.options.Sources.Process)
}

func (e *examination) environmentFile(context.Context) []preflight.Finding {
	variables := e.options.Sources.File.Variables()
	switch {
	case e.options.Root == "":
		return findings(e.options.needRoot())
	case e.options.broken != nil:
		return findings(e.options.broken)
	case len(variables) == 0:
		return preflight.Good(config.EnvironmentFile + " sets nothing")
	}
	return preflight.Good(fmt.Sprintf("%s sets %s", config.EnvironmentFile, counted(len(variables), "variable")))
}

func (e *examination) settings(context.Context) []preflight.Finding {
	settings := e.session.settings
	switch {
	case e.options.Root == "" || e.options.broken != nil:
		return preflight.Unseen("not looked at before the environment file is right")
	case e.unresolved != nil:
		return findings(e.unresolved)
	}
	provider := e.provider.Name
	if settings.Provider.IsSet() {
		provider += " (" + settings.Provider.Origin.String() + ")"
	}
	return preflight.Good(fmt.Sprintf("stack %s (%s), provider %s", settings.Stack.Text, settings.Stack.Origin, provider))
}

func (e *examination) configuration(context.Context) []preflight.Finding {
	if err := e.session.validate(e.options.sessionOptions); err != nil {
		return findings(err)
	}
	file := e.session.settings.Config
	if !file.Exists {
		return preflight.Good("there is no " + file.File + "; defaults are used")
	}
	return preflight.Good(fmt.Sprintf("%s has %s, all right", file.File, counted(len(file.Entries), "key")))
}

// secrets looks which values are missing. Up asks for them or, told to, makes
// them; what it can neither ask for nor make is a problem.
func (e *examination) secrets(context.Context) []preflight.Finding {
	o := e.options.sessionOptions
	o.Secrets = secretOptions{Needed: true, Selection: e.options.Selection.Selection}
	var found []preflight.Finding
	for _, lack := range e.session.lackingSecrets(o) {
		finding := preflight.Finding{Status: preflight.Warning, Text: lack.problem(e.session.settings).String()}
		if !o.Interactive && lack.secret.Generate == projects.None {
			finding.Status = preflight.Problem
		}
		found = append(found, finding)
	}
	if len(found) > 0 {
		return found
	}
	return preflight.Good("no value is missing")
}

func (e *examination) passphrase(context.Context) []preflight.Finding {
	s := e.session
	if err := s.checkNoChange(); err != nil {
		return findings(err)
	}
	verified, err := encryption.Verify(encryption.Options{
		Stack:    encryption.File{Path: s.settings.Config.File, Content: s.settings.Config.Content},
		Secrets:  encryption.File{Path: s.settings.Secrets.File, Content: s.settings.Secrets.Content},
		SaltFile: s.recordFile(), Env: s.env, Managed: s.managed(),
	})
	switch {
	case errors.Is(err, encryption.ErrNoPassphrase) && e.options.Interactive:
		return preflight.Doubtful("none is set; "+e.options.Operation+" asks for it", "")
	case errors.Is(err, encryption.ErrNoPassphrase) && len(s.missingPassphrase(e.options.sessionOptions)) > 0:
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
func (e *examination) engine(start func() (engine, error)) preflight.Look {
	return func(ctx context.Context) []preflight.Finding {
		running, err := start()
		if err != nil {
			return findings(err)
		}
		stdout, stderr, _, err := running.Run(ctx, os.TempDir(), nil, nil, nil, environ(e.environ()), "version")
		if err != nil {
			return preflight.Bad(fmt.Sprintf("it does not run: %v %s", err, strings.TrimSpace(stderr)), "install it anew")
		}
		found, _ := findEngine(e.deps, e.options.Pulumi)
		where := "installed at"
		if found.embedded {
			where = "inside"
		}
		return preflight.Good(fmt.Sprintf("%s, %s %s", strings.TrimSpace(stdout), where, found.path))
	}
}

// command is a command on the same environment, for people to type.
func (e *examination) command(name string) string {
	return e.session.command(name, operateOptions{sessionOptions: e.options.sessionOptions})
}

// findings are the problems that an error lists.
func findings(err error) []preflight.Finding {
	var found []preflight.Finding
	var wrong *config.Error
	if errors.As(err, &wrong) {
		for _, problem := range wrong.Problems {
			found = append(found, preflight.Finding{Status: preflight.Problem, Text: problem.String()})
		}
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

func counted(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
