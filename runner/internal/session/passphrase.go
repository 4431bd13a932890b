package session

import (
	"context"
	"errors"
	"fmt"
	"os"

	"mara/config"
	"mara/runner/internal/encryption"
	"mara/runner/internal/failure"
	"mara/runner/internal/prompt"
	"mara/runner/internal/stacks"
)

// passphraseTries is how often a wrong passphrase may be typed.
const passphraseTries = 3

// providePassphrase asks for the passphrase if one is needed, none is set and
// somebody is there to ask. Otherwise whoever needs it says that it is missing.
func (s *Session) providePassphrase(ctx context.Context) error {
	terminal, ok := prompt.NewTerminal(s.deps.Stdin, s.deps.Stderr)
	if !s.options.Interactive || !ok || s.options.Simulation.On {
		return nil
	}
	options := s.encryptionOptions()
	_, set, err := encryption.Passphrase(s.Env)
	if err != nil {
		return s.encryptionError(err)
	}
	if set {
		return nil
	}
	schemes, err := encryption.SchemesOf(options)
	if err != nil {
		return s.encryptionError(err)
	}
	scheme, needed := schemes.Passphrase(options)
	if !needed {
		return nil
	}
	q := passphraseQuestion{Deps: s.deps, terminal: terminal, stack: s.Settings.Stack.Text}
	var text string
	if scheme.Salt == "" {
		text, err = q.choose(ctx, "Choose a passphrase for the secrets of "+q.stack+":")
	} else {
		text, err = q.ask(ctx, scheme)
	}
	if err != nil {
		return err
	}
	s.usePassphrase(text)
	return nil
}

// adoptSalt finds the salt of an environment that was deployed from elsewhere,
// as a fresh checkout has none: with it a wrong passphrase is found before
// anything changes.
func (s *Session) adoptSalt(ctx context.Context) error {
	if s.options.Simulation.On || !s.HasState() {
		return nil
	}
	options := s.encryptionOptions()
	schemes, err := encryption.SchemesOf(options)
	if err != nil {
		return s.encryptionError(err)
	}
	if scheme, needed := schemes.Passphrase(options); !needed || scheme.Salt != "" {
		return nil
	}
	salt, err := s.deployedSalt(ctx)
	if err != nil || salt == "" {
		return err
	}
	if err := encryption.SaveSalt(options, salt); err != nil {
		return s.encryptionError(err)
	}
	return nil
}

// deployedSalt is the salt in the environment's states.
func (s *Session) deployedSalt(ctx context.Context) (string, error) {
	if folder, isFile := s.StateFolder(); isFile {
		return stacks.SaltInFolder(folder, s.Settings.Stack.Text), nil
	}
	engine, err := s.engineOf(ctx)
	if err != nil {
		return "", err
	}
	work, err := os.MkdirTemp("", "mara-salt-*")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(work) }()
	deployed, err := stacks.Open(ctx, stacks.Options{
		Command: engine, Stack: s.Settings.Stack.Text, Organization: "organization", WorkDir: work, Env: s.Env, Masker: s.Masker,
	})
	if err != nil {
		return "", err
	}
	return deployed.Salt(ctx)
}

// usePassphrase gives the passphrase to Pulumi, by the environment of its
// workers, and masks it.
func (s *Session) usePassphrase(text string) {
	s.Env[encryption.PassphraseVariable] = text
	s.Masker.Add(text)
}

// passphraseQuestion asks for passphrases.
type passphraseQuestion struct {
	Deps
	terminal prompt.Terminal
	stack    string
}

// ask asks for the passphrase of a scheme until it is right.
func (q passphraseQuestion) ask(ctx context.Context, scheme encryption.Scheme) (string, error) {
	var wrong error
	for range passphraseTries {
		text, err := q.terminal.Password(ctx, "Passphrase for the secrets of "+q.stack+":")
		if err != nil {
			return "", err
		}
		if _, wrong = encryption.NewKeySealer(text, scheme); wrong == nil {
			return text, nil
		}
		if !errors.Is(wrong, encryption.ErrPassphrase) {
			break
		}
		fmt.Fprintf(q.Stderr, "That is not the passphrase of %s.\n", q.stack)
	}
	return "", &failure.Environment{Text: wrong.Error()}
}

// choose asks for a new passphrase, twice.
func (q passphraseQuestion) choose(ctx context.Context, question string) (string, error) {
	text, err := askTwice(ctx, q.Deps, q.terminal, question, func(text string) error {
		if text == "" {
			return errors.New("is empty; to really use an empty one, set " + encryption.PassphraseVariable + "=")
		}
		return nil
	})
	if err == nil {
		fmt.Fprintf(q.Stderr, "Keep it safe: nothing can be read without it. With %s or %s you will not be asked for it again.\n",
			encryption.PassphraseVariable, encryption.PassphraseFileVariable)
	}
	return text, err
}

// askTwice asks for a new secret until it follows the rules and has been typed
// twice. An answer that accept returns no error for and that is empty is not
// asked for again: it stands for something else.
func askTwice(ctx context.Context, d Deps, terminal prompt.Terminal, question string, accept func(string) error) (string, error) {
	for {
		text, err := terminal.Password(ctx, question)
		if err != nil {
			return "", err
		}
		if err := accept(text); err != nil {
			fmt.Fprintf(d.Stderr, "That %s.\n", err)
			continue
		}
		if text == "" {
			return "", nil
		}
		again, err := terminal.Password(ctx, "The same again:")
		if err != nil {
			return "", err
		}
		if again == text {
			return text, nil
		}
		fmt.Fprintln(d.Stderr, "The two are different; once more.")
	}
}

// missingPassphrase is the passphrase as a problem of the configuration, for a
// run that can ask nobody.
func (s *Session) missingPassphrase() []config.Problem {
	options := s.encryptionOptions()
	_, set, err := encryption.Passphrase(s.Env)
	if s.options.Interactive || s.options.Simulation.On || !s.options.Secrets.Needed || set || err != nil {
		return nil
	}
	schemes, err := encryption.SchemesOf(options)
	if err != nil {
		return nil // it is reported where it is used
	}
	if _, needed := schemes.Passphrase(options); !needed {
		return nil
	}
	return []config.Problem{{
		File: config.EnvironmentFile, Key: encryption.PassphraseVariable,
		Text: fmt.Sprintf("is missing: no passphrase is set, and it encrypts the secrets; set it or %s=FILE, there or in the process environment", encryption.PassphraseFileVariable),
	}}
}
