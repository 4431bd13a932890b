package session

import (
	"errors"
	"fmt"
	"slices"

	"mara/config"
	"mara/projects"
	"mara/runner/internal/plan"
)

// gives says whether the command line gives a secret.
func (o SecretOptions) gives(key string) bool {
	return slices.ContainsFunc(o.Given, func(s SecretSource) bool { return s.Secret.Key == key })
}

// missingSecrets lists the secrets that an operation needs and nobody will give,
// as problems of the configuration, and the passphrase if that is missing. Where
// somebody can be asked there are none; a simulation makes secrets up.
func (s *Session) missingSecrets() []config.Problem {
	problems := s.missingPassphrase()
	for _, lack := range s.lackingSecrets(s.options.Secrets) {
		made := s.options.Secrets.Generate && lack.secret.Generate != projects.None
		if !s.options.Interactive && !s.options.Secrets.gives(lack.secret.Key) && !made {
			problems = append(problems, lack.problem(s.Settings))
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
func (s *Session) lackingSecrets(o SecretOptions) []lack {
	if !o.Needed || s.options.Simulation.On || !s.selects(o.Selection, projects.Secrets().Name) {
		return nil
	}
	var lacks []lack
	for _, secret := range s.planSecrets() {
		entry, ok := s.Settings.Secrets.Lookup(secret.Key)
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
func (s *Session) selects(selection plan.Selection, project string) bool {
	selected, err := plan.Select(s.Plan, selection)
	return err == nil && slices.Contains(selected.Names(), project)
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
