package session

import (
	"context"
	"fmt"
	"io"

	"mara/runner/internal/encryption"
	"mara/runner/internal/failure"
	"mara/runner/internal/plan"
	"mara/runner/internal/prompt"
	"mara/runner/internal/stacks"
)

// KeyChange says how to encrypt an environment anew.
type KeyChange struct {
	Provider      string                      // "passphrase", or the URL of a key service
	NewPassphrase string                      // where it comes from; "" to ask
	Out           io.Writer                   // is told what was done, when it was
	Confirm       func(question string) error // an error keeps everything as it is
}

// KeyChanged is what a change of the key provider has done.
type KeyChanged struct {
	Projects []string // whose states are encrypted anew
	Files    []string
	Notes    []string // what the user has to know now
}

// change is a change of the key provider at work. What is still to be done can
// be told from the files and states themselves; only what the new encryption is
// has to be noted before the first of them changes.
type change struct {
	*Session
	how KeyChange

	done   KeyChanged
	files  encryption.Options // the environment as it is
	old    encryption.Schemes
	to     encryption.Sealer
	newEnv map[string]string // what Pulumi needs for the new encryption
}

// ChangeKeyProvider encrypts everything anew: the states of all projects and
// the values in both files. When it is cut off, nothing else works on the
// environment until it is called again and has come to its end.
func (s *Session) ChangeKeyProvider(ctx context.Context, how KeyChange) (KeyChanged, error) {
	if err := s.lockEnvironment(ctx, "change-provider"); err != nil {
		return KeyChanged{}, err
	}
	release, err := s.lockSecrets(ctx)
	if err != nil {
		return KeyChanged{}, err
	}
	defer func() { _ = release() }()
	if err := s.configure(); err != nil { // as the files are now
		return KeyChanged{}, err
	}
	c := change{Session: s, how: how}
	if err := c.open(ctx); err != nil {
		return KeyChanged{}, err
	}
	if err := c.begin(ctx); err != nil {
		return KeyChanged{}, err
	}
	if err := c.carryOut(ctx); err != nil {
		return c.done, &unfinishedChange{err: err, next: c.command()}
	}
	err = c.end()
	return c.done, err
}

// open opens the states, and whatever decrypts what there is.
func (c *change) open(ctx context.Context) error {
	if err := c.providePassphrase(ctx); err != nil {
		return err
	}
	c.files = c.encryptionOptions()
	var err error
	if c.old, err = encryption.SchemesOf(c.files); err != nil {
		return c.encryptionError(err)
	}
	if c.how.Provider == "passphrase" && c.managed() {
		c.files.Managed = false
	}
	return c.listStates(ctx)
}

// listStates lists the deployed projects. Where nothing was ever deployed there
// is nothing to ask.
func (c *change) listStates(ctx context.Context) error {
	options := stacks.Options{Stack: c.Settings.Stack.Text, Organization: "organization", Env: c.Env, Masker: c.Masker, Empty: !c.HasState()}
	if !options.Empty {
		engine, err := c.engineOf(ctx)
		if err != nil {
			return err
		}
		if options.WorkDir, err = c.workFolder(ToOperate); err != nil {
			return err
		}
		if options.Organization, err = c.organization(ctx, engine, options.WorkDir); err != nil {
			return err
		}
		options.Command, options.StackFile, options.SecretsFile = engine, c.Settings.Config.Content, c.Settings.Secrets.Content
	}
	var err error
	if c.Stacks, err = stacks.Open(ctx, options); err != nil {
		return err
	}
	return c.checkStates(ctx)
}

// checkStates refuses states that something else works on, or was cut off in:
// Pulumi forgets what was being created when it takes a state back.
func (c *change) checkStates(ctx context.Context) error {
	if c.Provider.Name == "" {
		return nil
	}
	p, err := plan.New(c.Provider)
	if err != nil {
		return err
	}
	locks, err := c.LeftLocks(p)
	if err == nil && len(locks) > 0 {
		err = &LockedStacksError{Locks: locks, Unlock: "runner unlock -s " + c.Settings.Stack.Text}
	}
	if err != nil {
		return err
	}
	pending, err := c.LeftPending(ctx, p, true)
	if err == nil && len(pending) > 0 {
		err = &failure.Environment{
			Text: fmt.Sprintf("a run was cut off while it worked on %s", pending[0]),
			Next: "`runner repair -s " + c.Settings.Stack.Text + "` puts that right first",
		}
	}
	return err
}

// begin opens the new encryption, and notes it: from then on the change has
// begun and has to be carried on to its end.
func (c *change) begin(ctx context.Context) error {
	noted, begun, err := c.readMarker()
	if err != nil {
		return err
	}
	if begun && providerName(noted) != c.how.Provider {
		return &failure.Environment{
			Text: fmt.Sprintf("a change to the key provider %s has begun and was interrupted", providerName(noted)),
			Next: "carry on with `" + commandFor(c.Settings.Stack.Text, noted) + "`",
		}
	}
	if c.to, err = c.openNew(ctx, noted, begun); err != nil {
		return err
	}
	if err := c.checkOld(ctx); err != nil || begun {
		return err
	}
	with := c.how.Provider
	if with == "passphrase" {
		with = "the new passphrase"
	}
	text := fmt.Sprintf("Encrypt the secrets of %s and the states of %d projects anew, with %s?", c.Settings.Stack.Text, len(c.Stacks.Projects()), with)
	if err := c.how.Confirm(text); err != nil {
		return err
	}
	return c.writeMarker(c.to.Scheme())
}

// openNew opens the new encryption: a new one, or the one that an interrupted
// change has noted.
func (c *change) openNew(ctx context.Context, noted encryption.Scheme, begun bool) (encryption.Sealer, error) {
	if c.how.Provider != "passphrase" {
		scheme := encryption.Scheme{Provider: c.how.Provider}
		if begun {
			scheme = noted
		}
		sealer, err := c.newService(ctx, scheme)
		if err != nil && ctx.Err() == nil {
			err = c.encryptionError(err)
		}
		return sealer, err
	}
	passphrase, err := c.newPassphrase(ctx, noted, begun)
	if err != nil {
		return nil, err
	}
	c.Masker.Add(passphrase)
	c.newEnv = map[string]string{encryption.PassphraseVariable: passphrase}
	noted.File = "the interrupted change"
	sealer, err := encryption.NewKeySealer(passphrase, noted)
	if err != nil {
		return nil, &failure.Environment{Text: "the new passphrase is not the one that the interrupted change has begun with", Next: "give that one, to carry on"}
	}
	return sealer, nil
}

// newPassphrase is the one to come: from the command line, or asked for.
func (c *change) newPassphrase(ctx context.Context, noted encryption.Scheme, begun bool) (string, error) {
	if from := c.how.NewPassphrase; from != "" {
		source := SecretSource{From: from}
		source.Secret.Key = "the new passphrase"
		return source.Read(c.deps, c.options.Sources)
	}
	terminal, ok := prompt.NewTerminal(c.deps.Stdin, c.deps.Stderr)
	if !c.options.Interactive || !ok {
		return "", &failure.Usage{Text: "the new passphrase is missing, and there is nobody to ask", Next: "say where it comes from with --new-passphrase: " + SourceForms}
	}
	q := passphraseQuestion{Deps: c.deps, terminal: terminal, stack: c.Settings.Stack.Text}
	if begun {
		noted.File = "the interrupted change"
		return q.ask(ctx, noted)
	}
	return q.choose(ctx, "Choose a new passphrase for the secrets of "+q.stack+":")
}

// checkOld finds a wrong passphrase before anything changes.
func (c *change) checkOld(ctx context.Context) error {
	for _, file := range c.parts() {
		if file.done() || len(file.content.Ciphertexts()) == 0 {
			continue
		}
		if _, err := c.sealerOf(ctx, file.scheme); err != nil {
			return c.sealError(ctx, err)
		}
	}
	return nil
}
