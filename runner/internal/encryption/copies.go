package encryption

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"mara/config"
	"mara/projects"
	"mara/runner/internal/atomicfile"
)

// Options is what Prepare works on. Of stack files only the path, for messages, and
// the content count.
type Options struct {
	Stack    config.StackFile // that all projects share
	Secrets  config.StackFile // of the secrets project
	SaltFile string           // where the salt is kept when no stack file has one
	// DeployedSalt is the salt of the deployed states; it counts where no file
	// has one, as in a fresh checkout.
	DeployedSalt string
	Provider     string             // kubernetes:infra_type of both copies
	Env          map[string]string  // tells the passphrase
	Managed      bool               // the backend encrypts by itself (Pulumi Cloud)
	Own          []string           // secrets of own projects, which read them from the shared file
	Beside       []config.StackFile // beside own projects, which may say how they are encrypted
	Covered      bool               // every project has such a file that says so: nothing else is encrypted
	Without      []string           // projects of the catalogue that are left out
	Skipped      []projects.Project // that this environment leaves out
	Simulate     *ThrowAway         // what a simulation makes up; nil for the real thing
	Keys         *Keyring           // keeps the keys that are made; it may be nil
}

// Copies are the stack files as Pulumi sees them.
type Copies struct {
	Stack   []byte
	Secrets []byte
	// Env has what Pulumi needs beyond the caller's environment.
	Env map[string]string
	// Secret values that are known now, for masking.
	Known []string
	// MadeUp lists the keys whose values a simulation has made up.
	MadeUp []string

	simulation *Key // of a simulation
	forgotten  bool // encrypted values, which nobody can read in this simulation
}

// Unread reports whether encrypted values were replaced by made-up ones, for a
// simulation that cannot read them.
func (c Copies) Unread() bool { return c.forgotten }

// Prepare makes the working copies of the two stack files. It finds a wrong
// passphrase before anything changes.
func Prepare(o Options) (Copies, error) {
	p, ok, err := prepare(o)
	if err != nil {
		return Copies{}, err
	}
	if err := p.namePassphraseFile(); err != nil {
		return Copies{}, err
	}
	if o.Simulate != nil && (!ok || !p.usesPassphrase(p.stack) || !p.usesPassphrase(p.secrets)) {
		p.forgetSecrets()
		ok = true
	}
	p.inherit()
	if !ok && p.needsPassphrase() {
		return Copies{}, ErrNoPassphrase
	}
	for _, step := range []func() error{p.unlock, p.makeUp, p.handOver} {
		if err := step(); err != nil {
			return Copies{}, err
		}
	}
	return p.copies()
}

// preparation is Prepare at work.
type preparation struct {
	Options
	stack, secrets stackFile
	passphrase     string
	stackKey       *Key // encrypts values of the shared file
	secretsKey     *Key // encrypts values of the secrets file
	result         Copies
}

// prepare reads the files and the passphrase; ok is false when there is none.
func prepare(o Options) (p preparation, ok bool, err error) {
	p.Options = o
	if p.stack, err = parse(o.Stack); err != nil {
		return p, false, err
	}
	if p.secrets, err = parse(o.Secrets); err != nil {
		return p, false, err
	}
	if hasIdleSalt(p.stack, p.secrets) {
		remove(p.stack.root, saltKey)
	}
	p.passphrase, ok, err = Passphrase(o.Env)
	return p, ok, err
}

// namePassphraseFile makes the path of a passphrase file absolute: Pulumi runs
// in the folders of the working copies.
func (p *preparation) namePassphraseFile() error {
	file := p.Env[PassphraseFileVariable]
	if file == "" || filepath.IsAbs(file) {
		return nil
	}
	path, err := filepath.Abs(file)
	if err != nil {
		return fmt.Errorf("reading the passphrase (%s): %w", PassphraseFileVariable, err)
	}
	p.result.Env = map[string]string{PassphraseFileVariable: path}
	return nil
}

// forgetSecrets lets a simulation run without the passphrase or a cloud's key
// service: it drops encrypted values, which nobody can read then, so that they
// are made up.
func (p *preparation) forgetSecrets() {
	p.passphrase, p.result.forgotten = simulatedPassphrase, true
	p.result.Env = map[string]string{PassphraseVariable: simulatedPassphrase}
	for _, file := range []stackFile{p.stack, p.secrets} {
		for _, key := range file.secureKeys() {
			remove(file.config(), key)
		}
		file.setScheme(Scheme{})
	}
}

// inherit lets the secrets project use the key service of the others, unless
// its own file says how it is encrypted.
func (p *preparation) inherit() {
	stack, secrets := p.stack.scheme(), p.secrets.scheme()
	if stack.Provider != "" && stack.Provider == secrets.Provider && stack.DataKey == "" {
		stack.DataKey = secrets.DataKey // the runner has made it for the secrets
		p.stack.setScheme(stack)
	}
	if secrets.Salt == "" && secrets.Provider == "" {
		p.secrets.setScheme(Scheme{Provider: stack.Provider, DataKey: stack.DataKey})
	}
}

func (p *preparation) usesPassphrase(file stackFile) bool {
	return p.UsesPassphrase(file.scheme())
}

// needsPassphrase says whether the passphrase encrypts one of the files.
func (p *preparation) needsPassphrase() bool {
	return p.usesPassphrase(p.stack) || p.usesPassphrase(p.secrets) || len(p.besideSalts()) > 0
}

// besideSalts are the files beside own projects that the passphrase has encrypted
// with salts of their own.
func (p *preparation) besideSalts() []saltedFile {
	var salted []saltedFile
	for _, file := range p.Beside {
		if parsed, err := parse(file); err == nil && p.saltOf(parsed) != "" { // what is wrong is told elsewhere
			salted = append(salted, saltedFile{file.File, p.saltOf(parsed), len(parsed.secureKeys()) > 0})
		}
	}
	return salted
}

// saltedFile is a file with a salt.
type saltedFile struct {
	path, salt string
	secrets    bool // it has encrypted values
}

// unlock checks the passphrase against all salts, and gives one to a file that
// has none.
func (p *preparation) unlock() error {
	if err := p.unlockShared(); err != nil || p.result.forgotten {
		return err
	}
	known := []string{p.saltOf(p.stack), p.saltOf(p.secrets)}
	for _, file := range p.besideSalts() {
		if !file.secrets || slices.Contains(known, file.salt) { // a key takes a moment to derive
			continue
		}
		_, err := p.open(file.salt, file.path)
		if p.Simulate != nil && errors.Is(err, ErrPassphrase) {
			p.result.forgotten, err = true, nil
		}
		if err != nil {
			return err
		}
		known = append(known, file.salt)
	}
	return nil
}

// unlockShared is unlock for the two files of the environment.
func (p *preparation) unlockShared() error {
	stackSalt, secretsSalt := p.saltOf(p.stack), p.saltOf(p.secrets)
	var key *Key
	var err error
	switch {
	case !p.usesPassphrase(p.stack) && !p.usesPassphrase(p.secrets):
		return nil
	case stackSalt != "":
		key, err = p.open(stackSalt, p.Stack.File)
	case secretsSalt != "":
		key, err = p.open(secretsSalt, p.Secrets.File)
	default:
		key, err = p.ownSalt()
	}
	if err != nil {
		return err
	}
	p.stackKey, p.secretsKey = key, key
	if secretsSalt != "" && secretsSalt != key.Salt() {
		if p.secretsKey, err = p.open(secretsSalt, p.Secrets.File); err != nil {
			return err
		}
	}
	if p.usesPassphrase(p.stack) {
		p.stack.setText(saltKey, key.Salt())
	}
	if p.usesPassphrase(p.secrets) {
		p.secrets.setText(saltKey, p.secretsKey.Salt())
	}
	return nil
}

// saltOf is the salt of a file that is encrypted with the passphrase.
func (p *preparation) saltOf(file stackFile) string {
	if !p.usesPassphrase(file) {
		return ""
	}
	return file.text(saltKey)
}

func (p *preparation) open(salt, path string) (*Key, error) {
	key, err := p.Keys.Open(p.passphrase, salt)
	if err != nil {
		return nil, wrongKey(err, path)
	}
	p.result.Known = append(p.result.Known, key.reveal(p.ciphertexts())...)
	return key, nil
}

// ciphertexts are all encrypted values that the copies may get.
func (p *preparation) ciphertexts() []string {
	contents := [][]byte{p.Stack.Content, p.Secrets.Content}
	for _, file := range p.Beside {
		contents = append(contents, file.Content)
	}
	if p.Simulate != nil {
		earlier, _ := os.ReadFile(p.Simulate.File) // there may be none
		contents = append(contents, earlier)
	}
	var all []string
	for _, content := range contents {
		if file, err := config.ParseStack("", content); err == nil { // what is wrong is told elsewhere
			all = append(all, file.Ciphertexts()...)
		}
	}
	return all
}

// wrongKey says which file a passphrase does not open.
func wrongKey(err error, path string) error {
	if errors.Is(err, ErrPassphrase) {
		return fmt.Errorf("%w: it does not open what %s was encrypted with; set PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE to the right one", err, path)
	}
	return fmt.Errorf("%s: %w", path, err)
}

// deployedState names the place of a salt that no file has.
const deployedState = "the deployed state"

// ownSalt opens the salt of an environment whose stack files have none. It is
// made once and kept below .runner, since the runner does not touch the user's
// files.
func (p *preparation) ownSalt() (*Key, error) {
	salt, found, err := p.savedSalt()
	if err != nil {
		return nil, err
	}
	if found {
		return p.open(salt, p.SaltFile)
	}
	if p.DeployedSalt != "" {
		return p.open(p.DeployedSalt, deployedState)
	}
	key, err := NewKey(p.passphrase)
	if err != nil {
		return nil, err
	}
	p.Keys.add(key)
	return key, SaveSalt(p.Options, key.Salt())
}

// handOver puts the secrets of own projects, which are kept with the others, into
// the copy of the shared file, as they are encrypted.
func (p *preparation) handOver() error {
	for _, key := range p.Own {
		value := get(p.secrets.config(), key)
		if value == nil || get(p.stack.config(), key) != nil {
			continue
		}
		value, err := p.forShared(key, value)
		if err != nil {
			return err
		}
		set(p.stack.config(), key, value)
	}
	return nil
}

// forShared returns a value of the secrets file as the shared file has to encrypt it.
func (p *preparation) forShared(key string, value *yaml.Node) (*yaml.Node, error) {
	stack, secrets := p.stack.scheme(), p.secrets.scheme()
	switch {
	case stack == Scheme{}:
		return nil, fmt.Errorf("%s: Pulumi Cloud encrypts each stack with a key of its own, so that the value cannot be handed on; "+
			"let a passphrase or a key service encrypt: `runner secrets change-provider`", key)
	case stack == secrets:
		return value, nil
	case p.stackKey == nil || !p.UsesPassphrase(stack) || !p.UsesPassphrase(secrets):
		return nil, fmt.Errorf("%s: %s and %s are encrypted in different ways, so that the value cannot be handed on; "+
			"have both encrypted alike: `runner secrets change-provider`", key, p.Stack.File, p.Secrets.File)
	}
	resealed, err := reseal(value, p.secretsKey, p.stackKey)
	if err != nil {
		return nil, fmt.Errorf("%s in %s: %w", key, p.Secrets.File, err)
	}
	return resealed, nil
}

// reseal returns a copy of a value whose encrypted parts another key encrypts.
func reseal(value *yaml.Node, from, to *Key) (*yaml.Node, error) {
	if sealed := get(value, "secure"); value.Kind == yaml.MappingNode && sealed != nil {
		text, err := from.Decrypt(sealed.Value)
		if err != nil {
			return nil, err
		}
		ciphertext, err := to.Encrypt(text)
		return secure(ciphertext), err
	}
	copied := *value
	copied.Content = slices.Clone(value.Content)
	for i, child := range copied.Content {
		var err error
		if copied.Content[i], err = reseal(child, from, to); err != nil {
			return nil, err
		}
	}
	return &copied, nil
}

// Over is a stack file of one project, with the values of the shared copy below
// its own. Where its own values are encrypted in another way, the encrypted
// values of the shared copy are left out: they could not be read.
func (c Copies) Over(own config.StackFile) ([]byte, error) {
	shared, err := parse(config.StackFile{Content: c.Stack})
	if err != nil {
		return nil, err
	}
	file, err := parse(own)
	if err != nil {
		return nil, err
	}
	if c.simulation != nil && (c.forgotten || file.text(providerKey) != "") {
		if err := file.makeUp(c.simulation); err != nil {
			return nil, err
		}
	}
	ownScheme := file.scheme() != (Scheme{})
	values := shared.config()
	for i := 0; i+1 < len(values.Content); i += 2 {
		key, value := values.Content[i].Value, values.Content[i+1]
		foreign := ownScheme && hasSecure(value) && !file.scheme().opens(shared.scheme())
		if get(file.config(), key) == nil && !foreign {
			set(file.config(), key, value)
		}
	}
	if !ownScheme {
		file.setScheme(shared.scheme())
	}
	file.keepTexts()
	return file.bytes()
}

// without names the projects whose namespaces the project secrets leaves out. What
// this environment skips may be deployed all the same: its namespace stays while its
// secrets do.
func (p *preparation) without() []string {
	names := slices.Clone(p.Without)
	isMissing := func(secret projects.Secret) bool {
		return secret.Default == "" && get(p.secrets.config(), secret.Key) == nil
	}
	for _, project := range p.Skipped {
		if slices.ContainsFunc(project.Secrets, isMissing) {
			names = append(names, project.Name)
		}
	}
	return names
}

// copies renders the working copies.
func (p *preparation) copies() (Copies, error) {
	if without := p.without(); len(without) > 0 {
		set(p.secrets.config(), projects.WithoutKey, scalar(strings.Join(without, ",")))
	}
	for _, file := range []stackFile{p.stack, p.secrets} {
		set(file.config(), config.InfraType, scalar(p.Provider))
		if p.Simulate != nil {
			set(file.config(), projects.SimulatedKey, scalar("true"))
		}
		file.keepTexts()
	}
	var err error
	if p.result.Stack, err = p.stack.bytes(); err != nil {
		return Copies{}, err
	}
	if p.result.Secrets, err = p.secrets.bytes(); err != nil {
		return Copies{}, err
	}
	if p.Simulate != nil {
		p.result.simulation = p.secretsKey
	}
	if p.passphrase != "" {
		p.result.Known = append(p.result.Known, p.passphrase)
	}
	return p.result, nil
}

// SaveSalt keeps the salt of an environment whose stack files have none.
func SaveSalt(o Options, salt string) error {
	text := "# The salt of this environment's passphrase key, until " + filepath.Base(o.Stack.File) + " has one.\n" +
		saltKey + ": " + salt + "\n"
	return atomicfile.WriteDeep(o.SaltFile, []byte(text), 0o600, 0o700)
}
