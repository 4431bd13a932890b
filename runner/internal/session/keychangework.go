package session

import (
	"context"
	"fmt"
	"path/filepath"

	"mara/config"
	"mara/runner/internal/atomicfile"
	"mara/runner/internal/encryption"
	"mara/runner/internal/failure"
	"mara/runner/internal/layout"
	"mara/runner/internal/stacks"
)

// carryOut does whatever is still to be done.
func (c *change) carryOut(ctx context.Context) error {
	scheme := c.to.Scheme()
	to := stacks.Encryption{Salt: scheme.Salt, Provider: scheme.Provider, DataKey: scheme.DataKey, Env: c.newEnv}
	for _, project := range c.Stacks.Projects() {
		changed, err := c.Stacks.Reencrypt(ctx, project, to)
		if err != nil {
			return err
		}
		if changed {
			c.done.Projects = append(c.done.Projects, project)
			fmt.Fprintf(c.how.Out, "encrypted the state of %s\n", project)
		}
	}
	for _, part := range c.parts() {
		if part.done() {
			continue
		}
		if err := c.reseal(ctx, part); err != nil {
			return err
		}
		c.done.Files = append(c.done.Files, part.content.File)
		fmt.Fprintf(c.how.Out, "encrypted %s\n", part.content.File)
	}
	return c.forgetSalt()
}

// part is one of the two files.
type part struct {
	content config.StackFile
	scheme  encryption.Scheme // that it is encrypted with
	wanted  config.Header
}

// parts are the stack file and the secrets file. Both say how they are
// encrypted, even without a value, since states are encrypted alike.
func (c *change) parts() []part {
	header := c.to.Scheme().Header()
	parts := []part{{content: c.Settings.Config, scheme: c.old.Stack, wanted: header}}
	if c.Settings.Secrets.Exists {
		parts = append(parts, part{content: c.Settings.Secrets, scheme: c.old.Secrets, wanted: header})
	}
	return parts
}

// done says whether the file has been changed already.
func (p part) done() bool {
	header, err := p.content.Header()
	return err == nil && header == p.wanted
}

// reseal encrypts a file and replaces it in one step.
func (c *change) reseal(ctx context.Context, p part) error {
	from := c.to // of a file without values
	if len(p.content.Ciphertexts()) > 0 {
		var err error
		if from, err = c.sealerOf(ctx, p.scheme); err != nil {
			return c.sealError(ctx, err)
		}
	}
	content, err := encryption.Reseal(ctx, p.content, from, c.to)
	if err != nil {
		return c.sealError(ctx, err)
	}
	if err := atomicfile.Write(filepath.Join(c.Settings.Root, p.content.File), content, 0o600); err != nil {
		return &failure.Environment{Text: err.Error(), Next: failure.WriteRemedy(err, "the file") + ", and " + c.command()}
	}
	return nil
}

// command is how to carry on.
func (c *change) command() string {
	return "carry on with `" + commandFor(c.Settings.Stack.Text, c.to.Scheme()) + "`"
}

// end takes the marker away and says what the user has to do.
func (c *change) end() error {
	if err := c.removeMarker(); err != nil {
		return err
	}
	fmt.Fprintf(c.how.Out, "the key provider of %s is %s\n", c.Settings.Stack.Text, c.how.Provider)
	if c.how.Provider == "passphrase" {
		c.note("from now on use the new passphrase" + c.passphrasePlace())
	}
	simulated := layout.Of(c.Settings.Root, true).State().Stack("*", c.Settings.Stack.Text)
	if files, _ := filepath.Glob(simulated); len(files) > 0 {
		c.note("simulations keep their old encryption: delete .runner/simulated if the next one cannot read its state")
	}
	return nil
}

// note tells what the user has to know now.
func (c *change) note(text string) {
	c.done.Notes = append(c.done.Notes, text)
	fmt.Fprintln(c.how.Out, text)
}

// passphrasePlace says where the old passphrase comes from.
func (c *change) passphrasePlace() string {
	for _, name := range []string{encryption.PassphraseVariable, encryption.PassphraseFileVariable} {
		if value := c.options.Sources.Lookup(name); value.IsSet() {
			return ": change " + value.Origin.String()
		}
	}
	return ""
}

// unfinishedChange is a change of the key provider that was cut off.
type unfinishedChange struct {
	err  error
	next string
}

// Error says what has stopped it.
func (e *unfinishedChange) Error() string {
	return "the change of the key provider is not finished: " + e.err.Error()
}

// Unwrap is what has stopped it.
func (e *unfinishedChange) Unwrap() error { return e.err }

// NextStep says how to carry on.
func (e *unfinishedChange) NextStep() string { return e.next }
