package vault

import (
	"context"
	"errors"
	"fmt"

	"mara/config"
	"mara/runner/internal/core/encryption"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/prompt"
)

// passphraseTries is how often a wrong passphrase may be typed.
const passphraseTries = 3

// passphraseScheme returns the scheme that the passphrase must open. Its salt may
// come from the deployed states, and is "" if nothing was encrypted yet. needed is
// false if no passphrase encrypts anything.
func (v *Vault) passphraseScheme(ctx context.Context) (scheme encryption.Scheme, needed bool, err error) {
	schemes, err := v.schemes()
	if err != nil {
		return scheme, false, err
	}
	scheme, needed = schemes.Passphrase(v.options())
	if !needed || scheme.Salt != "" || v.Simulated || v.asked {
		return scheme, needed, nil
	}
	v.salt, err = v.DeployedSalt(ctx)
	v.asked = err == nil
	if err != nil || v.salt == "" {
		return scheme, needed, err
	}
	return v.passphraseScheme(ctx)
}

// adoptSalt keeps the salt of an environment that was deployed from elsewhere
// where the next run finds it without asking the backend.
func (v *Vault) adoptSalt(ctx context.Context) error {
	if _, _, err := v.passphraseScheme(ctx); err != nil || v.salt == "" {
		return err
	}
	if err := encryption.SaveSalt(v.options(), v.salt); err != nil {
		return v.failed(err)
	}
	v.salt = "" // the file has it now
	return nil
}

// AskPassphrase asks for the passphrase if it is needed, not set, and there is a
// terminal. Without a terminal, its first use reports that it is missing.
func (v *Vault) AskPassphrase(ctx context.Context) error {
	terminal, ok := prompt.NewTerminal(v.Stdin, v.Stderr)
	if !v.Interactive || !ok || v.Simulated {
		return nil
	}
	_, set, err := encryption.Passphrase(v.Env)
	if err != nil || set {
		return v.failed(err)
	}
	scheme, needed, err := v.passphraseScheme(ctx)
	if err != nil || !needed {
		return err
	}
	q := passphraseQuestion{v.Console, terminal, v.stack()}
	var text string
	if scheme.Salt == "" {
		text, err = q.choose(ctx, "Choose a passphrase for the secrets of "+q.stack+":")
	} else {
		text, err = q.ask(ctx, scheme)
	}
	if err != nil {
		return err
	}
	v.Env[encryption.PassphraseVariable] = text
	v.Masker.Add(text)
	return nil
}

// passphraseQuestion asks for passphrases.
type passphraseQuestion struct {
	Console
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
	text, err := askTwice(ctx, q.Console, q.terminal, question, func(text string) error {
		if text == "" {
			return errors.New("is empty; for an empty passphrase, set " + encryption.PassphraseVariable + " to an empty string")
		}
		return encryption.CheckPassphrase(text)
	})
	if err == nil {
		fmt.Fprintf(q.Stderr, "Keep it safe: nothing can be read without it. With %s or %s you will not be asked for it "+
			"again.\n",
			encryption.PassphraseVariable, encryption.PassphraseFileVariable)
	}
	return text, err
}

// askTwice asks for a new secret until accept takes it and it was typed twice.
// It does not ask again for an empty answer that accept takes: that one stands
// for something else.
func askTwice(ctx context.Context, c Console, terminal prompt.Terminal, question string,
	accept func(string) error) (string, error) {
	for {
		text, err := terminal.Password(ctx, question)
		if err != nil {
			return "", err
		}
		if err := accept(text); err != nil {
			fmt.Fprintf(c.Stderr, "That %s.\n", err)
			continue
		}
		if text == "" {
			return "", nil
		}
		again, err := terminal.Password(ctx, "Repeat it:")
		if err != nil {
			return "", err
		}
		if again == text {
			return text, nil
		}
		fmt.Fprintln(c.Stderr, "The two are different; once more.")
	}
}

// passphraseProblems returns a missing passphrase as a problem of the
// configuration, for a run without a terminal.
func (v *Vault) passphraseProblems() []config.Problem {
	_, set, err := encryption.Passphrase(v.Env)
	if v.Simulated || !v.Needed || set || err != nil {
		return nil
	}
	schemes, err := v.schemes()
	if err != nil {
		return nil // it is reported where it is used
	}
	if _, needed := schemes.Passphrase(v.options()); !needed {
		return nil
	}
	return []config.Problem{{
		File: config.EnvironmentFile, Key: encryption.PassphraseVariable,
		Text: fmt.Sprintf("is missing: no passphrase is set, and it encrypts the secrets; set it or %s=FILE, there or in "+
			"the process environment", encryption.PassphraseFileVariable),
	}}
}

// LacksPassphrase reports whether the operation needs a passphrase that is not set
// and cannot be asked for.
func (v *Vault) LacksPassphrase() bool { return !v.Interactive && len(v.passphraseProblems()) > 0 }
