package vault

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mara/config"
	"mara/config/files"
	"mara/config/lists"
	"mara/runner/internal/core/encryption"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/stacks"
	"mara/runner/internal/machine/atomicfile"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/layout"
	"mara/runner/internal/machine/prompt"
	"mara/runner/internal/machine/typeset"
)

// Change says how to encrypt an environment anew.
type Change struct {
	Provider      string                      // "passphrase", "default" for that of Pulumi Cloud, or the URL of a key service
	NewPassphrase string                      // where it comes from; "" to ask
	Out           io.Writer                   // gets a line for each finished part
	Confirm       func(question string) error // an error keeps everything as it is
}

// Changed is what a change has done.
type Changed struct {
	Projects []string // whose states are encrypted anew
	Files    []string
	Notes    []string // what the user has to know now
}

// LockToChange locks the secrets file and reads both files as they are now.
// Release the lock after Change.
func (v *Vault) LockToChange(ctx context.Context) (release func() error, err error) {
	if err := refuseSealedLayers(v.Settings); err != nil {
		return nil, err
	}
	if release, err = v.lockFile(ctx); err != nil {
		return nil, err
	}
	stack, stackErr := config.ReadStack(v.Settings.Root, v.stack())
	secrets, secretsErr := config.ReadSecrets(v.Settings.Root, v.stack())
	own, ownErr := v.readOwn()
	if err = config.Join(stackErr, secretsErr, ownErr); err == nil {
		v.Settings.Config, v.Settings.Secrets, v.ProjectStackFiles = stack, secrets, own
		err = v.AskPassphrase(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, release())
	}
	return release, nil
}

// readOwn reads the stack files next to the projects as they are now.
func (v *Vault) readOwn() (map[string]config.StackFile, error) {
	found := map[string]config.StackFile{}
	var errs []error
	for _, project := range slices.Sorted(maps.Keys(v.ProjectStackFiles)) {
		before := v.ProjectStackFiles[project]
		content, err := files.Read(v.Settings.Absolute(before.File), files.Text)
		if err != nil {
			errs = append(errs, &failure.Environment{Text: err.Error()})
			continue
		}
		file, err := config.ParseStack(before.File, content)
		file.Exists = true
		found[project], errs = file, append(errs, err)
	}
	return found, config.Join(errs...)
}

// refuseSealedLayers refuses to change the key of what layers have encrypted:
// they may belong to other environments as well.
func refuseSealedLayers(s *config.Settings) error {
	var problems []config.Problem
	for _, entry := range s.Described.Entries {
		if len(config.StackFile{Entries: []config.Entry{entry}}.Ciphertexts()) > 0 {
			problems = append(problems, config.Problem{
				File: entry.File, Line: entry.Line, Key: entry.Key, Text: "is encrypted with the key that is to be changed; " +
					"move it to " + config.StackPath(s.Stack.Text),
			})
		}
	}
	return config.WithProblems(nil, problems)
}

// Change encrypts everything anew: the states of all projects and the values in
// both files. When it is cut off, nothing else works on the environment until
// Change is called again and has come to its end.
func (v *Vault) Change(ctx context.Context, deployed *stacks.Set, how Change) (Changed, error) {
	c := change{Vault: v, how: how, deployed: deployed}
	var err error
	if c.old, err = v.schemes(); err != nil {
		return Changed{}, err
	}
	if err := c.begin(ctx); err != nil {
		return Changed{}, err
	}
	if err := c.carryOut(ctx); err != nil {
		return c.done, failure.Advise(fmt.Errorf("the change of the key provider is not finished: %w", err),
			"continue with `"+changeCommand(c.stack(), c.to.Scheme())+"`")
	}
	return c.done, c.end(ctx)
}

// change is a Change at work. The files and states themselves show what is still
// to be done; only the new encryption has to be noted before the first of them
// changes.
type change struct {
	*Vault
	how      Change
	deployed *stacks.Set // nil where nothing can be
	done     Changed
	old      encryption.Schemes
	to       encryption.Sealer
	newEnv   map[string]string // what Pulumi needs for the new encryption
}

// begin opens the new encryption and records it: from then on the change has begun
// and must be continued to its end.
func (c *change) begin(ctx context.Context) error {
	if _, err := c.readShared(ctx); err != nil {
		return err
	}
	noted, begun, err := c.begunChange()
	if err != nil {
		return err
	}
	if begun && providerName(noted) != c.how.Provider {
		return &failure.Environment{
			Text: fmt.Sprintf("a change to the key provider %s has begun and was interrupted", providerName(noted)),
			Next: "continue with `" + changeCommand(c.stack(), noted) + "`",
		}
	}
	if c.to, err = c.openNew(ctx, noted, begun); err != nil {
		return err
	}
	if err := c.checkOld(ctx); err != nil {
		return err
	}
	if err := c.checkWritable(); err != nil {
		return err
	}
	if begun {
		return c.mark(ctx)
	}
	with := c.how.Provider
	switch with {
	case "passphrase":
		with = "the new passphrase"
	case encryption.DefaultProvider:
		with = "the keys of Pulumi Cloud"
	}
	text := fmt.Sprintf("Encrypt the secrets of %s and the states of %s anew, with %s?", c.stack(),
		typeset.Counted(len(c.projects()), "project"), with)
	if err := c.how.Confirm(text); err != nil {
		return err
	}
	return c.mark(ctx)
}

// projects returns the deployed projects.
func (c *change) projects() []string {
	if c.deployed == nil {
		return nil
	}
	return slices.DeleteFunc(c.deployed.Projects(), c.isApart)
}

// isApart reports whether a project has a stack file of its own that is encrypted in another way than the environment:
// with a passphrase of the project, or with a key service. That stays as it is, and the state with it.
func (c *change) isApart(project string) bool {
	own := OwnEncryption(c.Vault, project)
	return own.Passphrase || own.Service && !c.isDone(part{content: c.ProjectStackFiles[project]})
}

// checkWritable refuses files that the change could not write when it has begun.
func (c *change) checkWritable() error {
	for _, p := range c.parts() {
		if c.isDone(p) || !p.content.Exists {
			continue
		}
		if filepath.IsAbs(p.content.File) {
			return &failure.Environment{Text: p.content.File + " is outside of this root, and is not changed",
				Next: "give its project a passphrase of its own: " + encryption.PassphraseVariableOf("PROJECT")}
		}
		file, err := os.OpenFile(c.Settings.Absolute(p.content.File), os.O_WRONLY, 0)
		if err != nil {
			return &failure.Environment{Text: err.Error(), Next: failure.WriteRemedy(err, "the file") + "; nothing was changed"}
		}
		if err := file.Close(); err != nil {
			return err
		}
	}
	return nil
}

// openNew opens the new encryption: a new one, or the one that an interrupted
// change has noted.
func (c *change) openNew(ctx context.Context, noted encryption.Scheme, begun bool) (encryption.Sealer, error) {
	if c.how.Provider == encryption.DefaultProvider {
		return c.openDefault(ctx)
	}
	if c.how.Provider != "passphrase" {
		scheme := encryption.Scheme{Provider: c.how.Provider}
		if begun {
			scheme = noted
		}
		sealer, err := c.service(ctx, scheme)
		return sealer, c.failedUnless(ctx, err)
	}
	noted.File = "the interrupted change"
	passphrase, err := c.newPassphrase(ctx, noted, begun)
	if err != nil {
		return nil, err
	}
	c.Masker.Add(passphrase)
	c.newEnv = map[string]string{encryption.PassphraseVariable: passphrase}
	sealer, err := encryption.NewKeySealer(passphrase, noted)
	if err != nil {
		return nil, &failure.Environment{Text: "the new passphrase is not the one that the interrupted change has begun " +
			"with", Next: "give that passphrase to continue"}
	}
	return sealer, nil
}

// openDefault opens the encryption of Pulumi Cloud.
func (c *change) openDefault(ctx context.Context) (encryption.Sealer, error) {
	if !c.Settings.Managed() {
		return nil, &failure.Environment{Text: fmt.Sprintf("the states of %s are not at Pulumi Cloud, which alone has keys of stacks",
			c.stack()), Next: "name `passphrase` or the URL of a key service"}
	}
	sealer, err := openServiceKey(ctx, c.Vault)
	if err != nil {
		return nil, c.failedUnless(ctx, err)
	}
	if sealer == nil {
		return nil, &failure.Environment{Text: "only the engine inside encrypts with the keys of Pulumi Cloud", Next: "leave --pulumi out"}
	}
	return named{sealer}, nil
}

// newPassphrase returns the new passphrase: from the command line, or asked for.
func (c *change) newPassphrase(ctx context.Context, noted encryption.Scheme, begun bool) (string, error) {
	if from := c.how.NewPassphrase; from != "" {
		source := Source{From: from}
		source.Secret.Key = "the new passphrase"
		text, err := source.Read(c.Console, c.Sources)
		if err == nil && !begun {
			if err = encryption.CheckPassphrase(text); err != nil {
				err = source.problem("the value %w", err)
			}
		}
		return text, err
	}
	terminal, ok := prompt.NewTerminal(c.Stdin, c.Stderr)
	if !c.Interactive || !ok {
		return "", &failure.Usage{Text: "the new passphrase is missing, and there is no terminal to ask on",
			Next: "say where it comes from with --new-passphrase: " + SourceForms}
	}
	q := passphraseQuestion{c.Console, terminal, c.stack()}
	if begun {
		return q.ask(ctx, noted)
	}
	return q.choose(ctx, "Choose a new passphrase for the secrets of "+q.stack+":")
}

// checkOld finds a wrong passphrase before anything changes.
func (c *change) checkOld(ctx context.Context) error {
	for _, file := range c.parts() {
		if c.isDone(file) || len(file.content.Ciphertexts()) == 0 {
			continue
		}
		if _, err := c.sealerBefore(ctx, file); err != nil {
			return c.failedUnless(ctx, err)
		}
	}
	return nil
}

// carryOut does whatever is still to be done.
func (c *change) carryOut(ctx context.Context) error {
	scheme := c.to.Scheme()
	to := stacks.Encryption{Salt: scheme.Salt, Provider: scheme.Provider, DataKey: scheme.DataKey, Env: c.newEnv}
	if c.how.Provider == encryption.DefaultProvider {
		to = stacks.Encryption{Service: strings.TrimSuffix(c.Settings.Backend.Text, "/")}
	}
	for _, project := range c.projects() {
		changed, err := c.deployed.Reencrypt(ctx, project, to)
		if err != nil {
			return err
		}
		if changed {
			c.done.Projects = append(c.done.Projects, project)
			fmt.Fprintf(c.how.Out, "encrypted the state of %s\n", project)
		}
	}
	for _, part := range c.parts() {
		if c.isDone(part) {
			continue
		}
		if err := c.reseal(ctx, part); err != nil {
			return err
		}
		c.done.Files = append(c.done.Files, part.content.File)
		fmt.Fprintf(c.how.Out, "encrypted %s\n", part.content.File)
	}
	if c.how.Provider == encryption.DefaultProvider {
		if err := c.dropHeaders(); err != nil {
			return err
		}
	}
	return failure.RunnerDir(atomicfile.Remove(c.options().SaltFile)) // the stack file has its own now
}

// dropHeaders removes from all files what says that they have the encryption of Pulumi Cloud: no line says that, and
// elsewhere "default" would be a passphrase. Until here the lines show which files are done.
func (c *change) dropHeaders() error {
	for _, p := range c.parts() {
		path := filepath.Join(c.Settings.Root, p.content.File)
		content, err := files.Read(path, files.Text)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var file config.StackFile
		if err == nil {
			file, err = config.ParseStack(p.content.File, content)
		}
		var plain []byte
		if err == nil {
			plain, err = file.EditHeader(config.Header{})
		}
		if err == nil {
			err = atomicfile.WriteDeep(path, plain, 0o600, 0o755)
		}
		if err != nil {
			return &failure.Environment{Text: err.Error(), Next: failure.WriteRemedy(err, "the file")}
		}
	}
	return nil
}

// part is a stack file, with the scheme that it is encrypted with.
type part struct {
	content config.StackFile
	scheme  encryption.Scheme
	project string // next to which it is; "" for a file of all projects
}

// sealerBefore opens what encrypts a part until it is changed.
func (c *change) sealerBefore(ctx context.Context, p part) (encryption.Sealer, error) {
	if p.project != "" && c.Settings.Managed() && p.scheme == (encryption.Scheme{}) && c.Service != nil {
		return ownServiceKey(ctx, c.Vault, p.project)
	}
	return c.sealerOf(ctx, p.scheme)
}

// sealerAfter opens what encrypts a part from then on.
func (c *change) sealerAfter(ctx context.Context, p part) (encryption.Sealer, error) {
	if p.project == "" || c.how.Provider != encryption.DefaultProvider {
		return c.to, nil
	}
	sealer, err := ownServiceKey(ctx, c.Vault, p.project)
	return named{sealer}, err
}

// parts returns the stack file, the secrets file, and the stack files next to the projects. All say how they are
// encrypted, even without a value, since states are encrypted alike. An environment whose projects all have stack
// files of their own gets no shared one.
func (c *change) parts() []part {
	var parts []part
	for _, project := range slices.Sorted(maps.Keys(c.ProjectStackFiles)) {
		file := c.ProjectStackFiles[project]
		if c.isApart(project) || slices.ContainsFunc(parts, func(p part) bool { return p.content.File == file.File }) {
			continue
		}
		scheme, _ := lists.Find(c.old.Projects, func(s encryption.Scheme) bool { return s.File == file.File })
		parts = append(parts, part{file, scheme, project})
	}
	if c.Settings.Config.Exists || !c.OwnStackFiles {
		parts = append(parts, part{content: c.Settings.Config, scheme: c.old.Stack})
	}
	if c.Settings.Secrets.Exists {
		parts = append(parts, part{content: c.Settings.Secrets, scheme: c.old.Secrets})
	}
	return parts
}

// isDone reports whether the file has been changed already.
func (c *change) isDone(p part) bool {
	header, err := p.content.Header()
	return err == nil && header == c.to.Scheme().Header()
}

// reseal encrypts a file anew and replaces it in one step.
func (c *change) reseal(ctx context.Context, p part) error {
	to, err := c.sealerAfter(ctx, p)
	if err != nil {
		return c.failedUnless(ctx, err)
	}
	from := to // of a file without values
	if len(p.content.Ciphertexts()) > 0 {
		if from, err = c.sealerBefore(ctx, p); err != nil {
			return c.failedUnless(ctx, err)
		}
	}
	content, err := encryption.Reseal(ctx, p.content, from, to)
	if err != nil {
		return c.failedUnless(ctx, err)
	}
	file := filepath.Join(c.Settings.Root, p.content.File)
	if err = atomicfile.WriteDeep(file, content, 0o600, 0o755); err != nil { // own projects do without a configuration
		next := failure.WriteRemedy(err, "the file") + ", and continue with `" + changeCommand(c.stack(), c.to.Scheme()) + "`"
		return &failure.Environment{Text: err.Error(), Next: next}
	}
	return nil
}

// end removes the marker and prints what the user has to do.
func (c *change) end(ctx context.Context) error {
	if err := c.unmark(ctx); err != nil {
		return err
	}
	fmt.Fprintf(c.how.Out, "the key provider of %s is %s\n", c.stack(), event.MaskURLs(c.how.Provider))
	if c.how.Provider == "passphrase" {
		c.note("from now on use the new passphrase" + c.passphrasePlace())
	}
	for _, project := range slices.Sorted(maps.Keys(c.ProjectStackFiles)) {
		if c.isApart(project) {
			c.note(fmt.Sprintf("%s keeps the encryption that %s names", project, c.ProjectStackFiles[project].File))
		}
	}
	simulated := layout.Of(c.Settings.Root, true).State().Stacks()
	if states, _ := files.Glob(simulated, "*/"+c.stack()+".json*"); len(states) > 0 {
		c.note("simulations keep their old encryption: delete .runner/simulated if the next one cannot read its state")
	}
	return nil
}

// note prints what the user has to know now.
func (c *change) note(text string) {
	c.done.Notes = append(c.done.Notes, text)
	fmt.Fprintln(c.how.Out, text)
}

// passphrasePlace says where the old passphrase comes from.
func (c *change) passphrasePlace() string {
	for _, name := range []string{encryption.PassphraseVariable, encryption.PassphraseFileVariable} {
		if value := c.Sources.Lookup(name); value.IsSet() {
			return ": change " + value.Origin.String()
		}
	}
	return ""
}
