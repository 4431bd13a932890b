package cli

import (
	"errors"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/projects"
	"mara/runner/internal/event"
	"mara/runner/internal/failure"
	"mara/runner/internal/plan"
)

// secretOptions say what an operation needs secrets for.
type secretOptions struct {
	Needed    bool           // the operation runs programs that read them
	Selection plan.Selection // of projects: only the secrets project reads secrets
	Given     []secretSource // on the command line
	Generate  bool           // what is missing and can be made
}

// secretFlags are for the operations that need secrets.
func secretFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "secret", Usage: "keep this secret first, `KEY=SOURCE`; the source is " + sourceForms + "; may be repeated"},
		&cli.BoolFlag{Name: "generate-secrets", Usage: "make the secrets that are missing, and keep them encrypted"},
	}
}

func parseSecrets(c *cli.Context, operation string, o operateOptions) (secretOptions, error) {
	secrets := secretOptions{Needed: needsSecrets(operation), Selection: o.Selection.Selection, Generate: c.Bool("generate-secrets")}
	given, err := parseSources(operation, "--secret", c.StringSlice("secret"))
	if err == nil && len(given) > 0 && o.Simulation.On {
		err = failure.Usagef(operation, "--secret: a simulation makes secrets up and keeps none; leave it out")
	}
	secrets.Given = given
	return secrets, err
}

// gives says whether the command line gives a secret.
func (o secretOptions) gives(key string) bool {
	return slices.ContainsFunc(o.Given, func(s secretSource) bool { return s.Secret.Key == key })
}

// needsSecrets says whether an operation runs programs that read secrets.
func needsSecrets(operation string) bool { return operation == event.Up || operation == event.Preview }

// missingSecrets lists the secrets that an operation needs and nobody will give,
// as problems of the configuration, and the passphrase if that is missing. Where
// somebody can be asked there are none; a simulation makes secrets up.
func (s *session) missingSecrets(o sessionOptions) []config.Problem {
	problems := s.missingPassphrase(o)
	for _, lack := range s.lackingSecrets(o) {
		made := o.Secrets.Generate && lack.secret.Generate != projects.None
		if !o.Interactive && !o.Secrets.gives(lack.secret.Key) && !made {
			problems = append(problems, lack.problem(s.settings))
		}
	}
	return problems
}

// lack is a secret without a usable value.
type lack struct {
	secret projects.Secret
	line   int    // of a value that is no ciphertext
	text   string // what is wrong
}

// lackingSecrets lists the secrets that the operation needs and does not have.
func (s *session) lackingSecrets(o sessionOptions) []lack {
	if !o.Secrets.Needed || o.Simulation.On || !s.selects(o.Secrets.Selection, projects.Secrets().Name) {
		return nil
	}
	var lacks []lack
	for _, secret := range s.planSecrets() {
		entry, ok := s.settings.Secrets.Lookup(secret.Key)
		ciphertext, encrypted := entry.Value.(config.Ciphertext)
		switch {
		case encrypted && ciphertext != "" || secret.Default != "" && !ok:
		case ok && !encrypted && entry.Value != nil && entry.Value != "":
			lacks = append(lacks, lack{secret: secret, line: entry.Line, text: "is in plain text"})
		default:
			lacks = append(lacks, lack{secret: secret, line: entry.Line, text: "is missing"})
		}
	}
	return lacks
}

// selects says whether a selection of the plan has a project. One that cannot
// be made is refused elsewhere.
func (s *session) selects(selection plan.Selection, project string) bool {
	selected, err := plan.Select(s.plan, selection)
	if err != nil {
		return false
	}
	for _, step := range selected.Steps {
		if step.Project.Name == project {
			return true
		}
	}
	return false
}

// problem says how to give the secret.
func (l lack) problem(settings config.Settings) config.Problem {
	return config.Problem{
		File: settings.Secrets.File, Line: l.line, Key: l.secret.Key,
		Text: fmt.Sprintf("%s: %s; set it with `runner secrets set %s -s %s`, or give it with --secret %[3]s=env:NAME%[5]s",
			l.text, l.secret.Doc, l.secret.Key, settings.Stack.Text, l.generate()),
	}
}

func (l lack) generate() string {
	if l.secret.Generate == projects.None {
		return ""
	}
	return ", or have it made with --generate-secrets"
}

// withProblems adds problems to those of a configuration that is not valid, so
// that all are told at once.
func withProblems(err error, more []config.Problem) error {
	var invalid *config.Error
	switch {
	case len(more) == 0:
		return err
	case err == nil:
		return &config.Error{Problems: more}
	case !errors.As(err, &invalid):
		return err
	}
	return &config.Error{Problems: append(invalid.Problems, more...), Next: invalid.Next}
}
