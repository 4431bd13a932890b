package cli

import (
	"context"
	"fmt"

	"mara/runner/internal/encryption"
	"mara/runner/internal/failure"
	"mara/runner/internal/plan"
	"mara/runner/internal/prompt"
	"mara/runner/internal/stacks"
)

// change is a change of the key provider at work. What is still to be done can
// be told from the files and states themselves; only what the new encryption is
// has to be noted before the first of them changes.
type change struct {
	*session
	deps     Deps
	options  secretsOptions
	provider string

	files  encryption.Options // the environment as it is
	old    encryption.Schemes
	to     encryption.Sealer
	newEnv map[string]string // what Pulumi needs for the new encryption
}

// open opens the states, and whatever decrypts what there is.
func (c *change) open(ctx context.Context) error {
	if err := c.providePassphrase(ctx, c.deps, c.options.sessionOptions); err != nil {
		return err
	}
	c.files = c.encryptionOptions(c.options.sessionOptions)
	var err error
	if c.old, err = encryption.SchemesOf(c.files); err != nil {
		return c.encryptionError(err)
	}
	if c.provider == "passphrase" && c.managed() {
		c.files.Managed = false
	}
	return c.listStates(ctx)
}

// listStates lists the deployed projects. Where nothing was ever deployed there
// is nothing to ask.
func (c *change) listStates(ctx context.Context) error {
	options := stacks.Options{Stack: c.settings.Stack.Text, Organization: "organization", Env: c.env, Masker: c.masker, Empty: !c.hasState()}
	if !options.Empty {
		engine, err := c.engineOf(ctx, c.deps, c.options.sessionOptions)
		if err != nil {
			return err
		}
		if options.WorkDir, err = c.workFolder(toOperate); err != nil {
			return err
		}
		if options.Organization, err = c.organization(ctx, engine, options.WorkDir); err != nil {
			return err
		}
		options.Command, options.StackFile, options.SecretsFile = engine, c.settings.Config.Content, c.settings.Secrets.Content
	}
	var err error
	if c.stacks, err = stacks.Open(ctx, options); err != nil {
		return err
	}
	return c.checkStates(ctx)
}

// checkStates refuses states that something else works on, or was cut off in:
// Pulumi forgets what was being created when it takes a state back.
func (c *change) checkStates(ctx context.Context) error {
	if c.provider == "" || c.session.provider.Name == "" {
		return nil
	}
	p, err := plan.New(c.session.provider)
	if err != nil {
		return err
	}
	locks, err := c.leftLocks(p)
	if err == nil && len(locks) > 0 {
		err = &lockedStacksError{locks: locks, unlock: "runner unlock -s " + c.settings.Stack.Text}
	}
	if err != nil {
		return err
	}
	pending, err := c.leftPending(ctx, p, true)
	if err == nil && len(pending) > 0 {
		err = &failure.Environment{
			Text: fmt.Sprintf("a run was cut off while it worked on %s", pending[0]),
			Next: "`runner repair -s " + c.settings.Stack.Text + "` puts that right first",
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
	if begun && providerName(noted) != c.provider {
		return &failure.Environment{
			Text: fmt.Sprintf("a change to the key provider %s has begun and was interrupted", providerName(noted)),
			Next: "carry on with `" + commandFor(c.settings.Stack.Text, noted) + "`",
		}
	}
	if c.to, err = c.openNew(ctx, noted, begun); err != nil {
		return err
	}
	if err := c.checkOld(ctx); err != nil || begun {
		return err
	}
	with := c.provider
	if with == "passphrase" {
		with = "the new passphrase"
	}
	text := fmt.Sprintf("Encrypt the secrets of %s and the states of %d projects anew, with %s?", c.settings.Stack.Text, len(c.stacks.Projects()), with)
	if err := confirmSecrets(ctx, c.deps, c.options, "change-provider", text); err != nil {
		return err
	}
	return c.writeMarker(c.to.Scheme())
}

// openNew opens the new encryption: a new one, or the one that an interrupted
// change has noted.
func (c *change) openNew(ctx context.Context, noted encryption.Scheme, begun bool) (encryption.Sealer, error) {
	if c.provider != "passphrase" {
		scheme := encryption.Scheme{Provider: c.provider}
		if begun {
			scheme = noted
		}
		sealer, err := c.newService(ctx, c.deps, c.options.sessionOptions, scheme)
		if err != nil && ctx.Err() == nil {
			err = c.encryptionError(err)
		}
		return sealer, err
	}
	passphrase, err := c.newPassphrase(ctx, noted, begun)
	if err != nil {
		return nil, err
	}
	c.masker.Add(passphrase)
	c.newEnv = map[string]string{passphraseVariable: passphrase}
	noted.File = "the interrupted change"
	sealer, err := encryption.NewKeySealer(passphrase, noted)
	if err != nil {
		return nil, &failure.Environment{Text: "the new passphrase is not the one that the interrupted change has begun with", Next: "give that one, to carry on"}
	}
	return sealer, nil
}

// newPassphrase is the one to come: from the command line, or asked for.
func (c *change) newPassphrase(ctx context.Context, noted encryption.Scheme, begun bool) (string, error) {
	if from := c.options.NewPassphrase; from != "" {
		source := secretSource{From: from}
		source.Secret.Key = "the new passphrase"
		return source.read(c.deps, c.options.Sources)
	}
	terminal, ok := prompt.NewTerminal(c.deps.Stdin, c.deps.Stderr)
	if !c.options.Interactive || !ok {
		return "", &failure.Usage{Text: "the new passphrase is missing, and there is nobody to ask", Next: "say where it comes from with --new-passphrase: " + sourceForms}
	}
	q := passphraseQuestion{Deps: c.deps, terminal: terminal, stack: c.settings.Stack.Text}
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
		if _, err := c.sealerOf(ctx, c.deps, c.options.sessionOptions, file.scheme); err != nil {
			return c.sealError(ctx, err)
		}
	}
	return nil
}
