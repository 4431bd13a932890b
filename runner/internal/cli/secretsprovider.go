package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/runner/internal/encryption"
	"mara/runner/internal/plan"
	"mara/runner/internal/prompt"
	"mara/runner/internal/stacks"
)

func secretsProviderCommand(d Deps) *cli.Command {
	return secretsSubcommand(d, &cli.Command{
		Name:      "change-provider",
		Usage:     "encrypt everything anew: with another key service or another passphrase",
		ArgsUsage: "PROVIDER",
		Description: "PROVIDER is `passphrase`, or the URL of a key service as Pulumi has it: awskms://, gcpkms://,\n" +
			"azurekeyvault:// or hashivault://. Encrypts the state of every deployed project, the encrypted values of the\n" +
			"stack file and the secrets, and writes into both files how that is done. `passphrase` on an environment that\n" +
			"has one replaces it.\n\n" +
			"The new passphrase is asked for twice, or comes from --new-passphrase. When the command is interrupted,\n" +
			"nothing else works on the environment until the same command has carried on to the end.\n\n" +
			"Examples:\n  runner secrets change-provider passphrase -s dev\n" +
			"  runner secrets change-provider \"awskms://alias/mara?region=eu-central-1\" -s dev\n" +
			"  runner secrets change-provider passphrase --new-passphrase env:NEW --yes -s dev",
	}, joinFlags(
		[]cli.Flag{&cli.StringFlag{Name: "new-passphrase", Usage: "take the new passphrase from `SOURCE`: " + sourceForms}},
		lockFlags(),
	), 1, runChangeProvider)
}

// keyServices are how the URLs of key services begin.
func keyServices() []string {
	return []string{"awskms://", "gcpkms://", "azurekeyvault://", "hashivault://"}
}

// checkKeyProvider refuses what Pulumi does not know.
func checkKeyProvider(provider string) error {
	if provider == "passphrase" {
		return nil
	}
	for _, service := range keyServices() {
		if strings.HasPrefix(provider, service) && len(provider) > len(service) {
			return nil
		}
	}
	return usage("secrets change-provider", "%q is no key provider; known are passphrase, %s", provider, strings.Join(keyServices(), ", "))
}

func runChangeProvider(ctx context.Context, d Deps, o secretsOptions, s *session) error {
	if len(o.Keys) != 1 {
		return usage("secrets change-provider", "name the key provider: passphrase, or the URL of a key service")
	}
	if err := checkKeyProvider(o.Keys[0]); err != nil {
		return err
	}
	if err := s.lockEnvironment(ctx, d, lockOptions{Operation: "change-provider", Wait: o.Lock.Wait}); err != nil {
		return err
	}
	release, err := s.lockSecrets(ctx, d)
	if err != nil {
		return err
	}
	defer func() { _ = release() }()
	if err := s.configure(o.sessionOptions); err != nil { // as the files are now
		return err
	}
	c := change{session: s, deps: d, options: o, provider: o.Keys[0]}
	if err := c.open(ctx); err != nil {
		return err
	}
	if err := c.begin(ctx); err != nil {
		return err
	}
	if err := c.carryOut(ctx); err != nil {
		return &unfinishedChange{err: err, next: c.command()}
	}
	return c.end()
}

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
	if c.session.stacks, err = stacks.Open(ctx, options); err != nil {
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
		err = &environmentError{
			text: fmt.Sprintf("a run was cut off while it worked on %s", pending[0]),
			next: "`runner repair -s " + c.settings.Stack.Text + "` puts that right first",
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
		return &environmentError{
			text: fmt.Sprintf("a change to the key provider %s has begun and was interrupted", providerName(noted)),
			next: "carry on with `" + commandFor(c.settings.Stack.Text, noted) + "`",
		}
	}
	if !begun && c.provider != "passphrase" && c.provider == c.old.Stack.Provider && c.old.Stack == c.old.Secrets {
		return &usageError{text: "the environment uses " + c.provider + " already", next: "name another key provider"}
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
	text := fmt.Sprintf("Encrypt the secrets of %s and the states of %d projects anew, with %s?", c.settings.Stack.Text, len(c.session.stacks.Projects()), with)
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
		return nil, &environmentError{text: "the new passphrase is not the one that the interrupted change has begun with", next: "give that one, to carry on"}
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
		return "", &usageError{text: "the new passphrase is missing, and there is nobody to ask", next: "say where it comes from with --new-passphrase: " + sourceForms}
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

// carryOut does whatever is still to be done.
func (c *change) carryOut(ctx context.Context) error {
	scheme := c.to.Scheme()
	to := stacks.Encryption{Salt: scheme.Salt, Provider: scheme.Provider, DataKey: scheme.DataKey, Env: c.newEnv}
	for _, project := range c.session.stacks.Projects() {
		changed, err := c.session.stacks.Reencrypt(ctx, project, to)
		if err != nil {
			return err
		}
		if changed {
			fmt.Fprintf(c.deps.Stdout, "encrypted the state of %s\n", project)
		}
	}
	for _, part := range c.parts() {
		if part.done() {
			continue
		}
		if err := c.reseal(ctx, part); err != nil {
			return err
		}
		fmt.Fprintf(c.deps.Stdout, "encrypted %s\n", part.content.File)
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
	parts := []part{{content: c.settings.Config, scheme: c.old.Stack, wanted: header}}
	if c.settings.Secrets.Exists {
		parts = append(parts, part{content: c.settings.Secrets, scheme: c.old.Secrets, wanted: header})
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
		if from, err = c.sealerOf(ctx, c.deps, c.options.sessionOptions, p.scheme); err != nil {
			return c.sealError(ctx, err)
		}
	}
	content, err := encryption.Reseal(ctx, p.content, from, c.to)
	if err != nil {
		return c.sealError(ctx, err)
	}
	if err := config.WriteFile(filepath.Join(c.settings.Root, p.content.File), content, 0o600); err != nil {
		return &environmentError{text: err.Error(), next: "make the file writable, and " + c.command()}
	}
	return nil
}

// command is how to carry on.
func (c *change) command() string {
	return "carry on with `" + commandFor(c.settings.Stack.Text, c.to.Scheme()) + "`"
}

// end takes the marker away and says what the user has to do.
func (c *change) end() error {
	if err := c.removeMarker(); err != nil {
		return err
	}
	w := c.deps.Stdout
	fmt.Fprintf(w, "the key provider of %s is %s\n", c.settings.Stack.Text, c.provider)
	if c.provider == "passphrase" {
		fmt.Fprintf(w, "from now on use the new passphrase%s\n", c.passphrasePlace())
	}
	simulated, _ := filepath.Glob(filepath.Join(c.settings.Root, ".runner/simulated/state/.pulumi/stacks/*", c.settings.Stack.Text+".json"))
	if len(simulated) > 0 {
		fmt.Fprintln(w, "simulations keep their old encryption: delete .runner/simulated if the next one cannot read its state")
	}
	return nil
}

// passphrasePlace says where the old passphrase comes from.
func (c *change) passphrasePlace() string {
	for _, name := range []string{passphraseVariable, passphraseFileVariable} {
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
