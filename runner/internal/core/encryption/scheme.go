package encryption

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"mara/config"
	"mara/config/files"
	"mara/config/lists"
)

// Scheme is how values are encrypted, according to the top-level keys of a stack file: with
// a passphrase and a salt, or with a key service and a data key. On Pulumi Cloud the zero
// Scheme is the backend's encryption; elsewhere it is a passphrase that was not used yet.
type Scheme struct {
	Salt     string `yaml:"encryptionsalt,omitempty"`
	Provider string `yaml:"secretsprovider,omitempty"`
	DataKey  string `yaml:"encryptedkey,omitempty"` // of a key service
	File     string `yaml:"-"`                      // file with this scheme, or ""
}

// opens reports whether both schemes have the same key: the same salt, or the same data key of
// the same key service.
func (s Scheme) opens(other Scheme) bool {
	if s.Salt != "" || other.Salt != "" {
		return s.Salt == other.Salt
	}
	return s.Provider == other.Provider && s.DataKey == other.DataKey
}

// DefaultProvider is Pulumi's name of a backend's own encryption: that of Pulumi Cloud, or a passphrase.
const DefaultProvider = "default"

// plain returns the scheme without Pulumi's "default", which without a salt says as much as no line.
func (s Scheme) plain() Scheme {
	if s.Provider == DefaultProvider && s.Salt == "" {
		s.Provider = ""
	}
	return s
}

// NamesService reports whether the scheme names a key service. As in Pulumi, "default" names none.
func (s Scheme) NamesService() bool {
	return !slices.Contains([]string{"", DefaultProvider, "passphrase"}, s.Provider)
}

// Header returns the scheme as the lines of a stack file.
func (s Scheme) Header() config.Header {
	return config.Header{EncryptionSalt: s.Salt, SecretsProvider: s.Provider, EncryptedKey: s.DataKey}
}

// Schemes are the schemes of an environment.
type Schemes struct {
	Stack    Scheme   // of the shared stack file
	Secrets  Scheme   // of the secrets project's file; by default that of the shared file
	Projects []Scheme // of stack files in directories of own projects that have no passphrase of their own
}

// SchemesOf reads the schemes of an environment. If no stack file has a salt, it reads the
// salt file.
func SchemesOf(o Options) (Schemes, error) {
	stackFile, secretsFile, err := o.shared()
	if err != nil {
		return Schemes{}, err
	}
	stack := stackFile.schemeIn(o.Stack.File)
	secrets := cmp.Or(secretsFile.schemeIn(o.Secrets.File), stack)
	if o.UsesPassphrase(stack) && stack.Salt == "" && o.UsesPassphrase(secrets) {
		stack.Salt, stack.File = secrets.Salt, secrets.File
	}
	if o.UsesPassphrase(stack) && stack.Salt == "" {
		salt, _, err := o.savedSalt()
		if err != nil {
			return Schemes{}, err
		}
		stack.Salt, stack.File = salt, o.SaltFile
		if salt == "" && o.DeployedSalt != "" {
			stack.Salt, stack.File = o.DeployedSalt, deployedState
		}
	}
	if o.UsesPassphrase(secrets) && secrets.Salt == "" {
		secrets.Salt, secrets.File = stack.Salt, stack.File
	}
	schemes := Schemes{Stack: stack, Secrets: secrets}
	for _, project := range slices.Sorted(maps.Keys(o.ProjectStackFiles)) {
		parsed, err := parse(o.ProjectStackFiles[project])
		if err != nil {
			return Schemes{}, err
		}
		scheme := parsed.schemeIn(o.ProjectStackFiles[project].File)
		if scheme != (Scheme{}) && (scheme.Salt == "" || !HasPassphrase(o.Env, project)) {
			schemes.Projects = append(schemes.Projects, scheme)
		}
	}
	return schemes, nil
}

// shared reads the two files of the environment. It removes a salt that encrypts nothing.
func (o Options) shared() (stack, secrets stackFile, err error) {
	if stack, err = parse(o.Stack); err != nil {
		return stack, secrets, err
	}
	if secrets, err = parse(o.Secrets); err == nil && hasIdleSalt(stack, secrets) {
		config.RemoveChild(stack.Root, saltKey)
	}
	return stack, secrets, err
}

// schemeIn returns the scheme of the file with its path.
func (f stackFile) schemeIn(path string) Scheme {
	s := f.scheme().plain()
	if s != (Scheme{}) {
		s.File = path
	}
	return s
}

// hasIdleSalt reports whether the shared file has a salt but no encrypted values, and the
// secrets file has another salt: plain Pulumi adds a salt whenever it runs a program.
func hasIdleSalt(stack, secrets stackFile) bool {
	scheme, other := stack.scheme(), secrets.scheme().Salt
	return scheme.Salt != "" && scheme.Provider == "" && len(stack.secureKeys()) == 0 && other != "" &&
		other != scheme.Salt
}

// savedSalt reads the salt file of an environment.
func (o Options) savedSalt() (salt string, found bool, err error) {
	content, err := files.Read(o.SaltFile, files.Text)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("reading the environment's salt: %w", err)
	}
	file, err := parse(config.StackFile{File: o.SaltFile, Content: content})
	if err != nil {
		return "", false, err
	}
	return file.text(saltKey), true, nil
}

// Passphrase returns the scheme to check a passphrase against, which has no salt in a new
// environment. needed is false if no passphrase encrypts anything.
func (s Schemes) Passphrase(o Options) (scheme Scheme, needed bool) {
	return lists.Find(append([]Scheme{s.Stack, s.Secrets}, s.Projects...), o.UsesPassphrase)
}

// UsesPassphrase reports whether a passphrase encrypts values, and not a key service or Pulumi
// Cloud. The rules are Pulumi's.
func (o Options) UsesPassphrase(s Scheme) bool {
	switch s.Provider {
	case "passphrase":
		return true
	case "", DefaultProvider:
		return s.Salt != "" || !o.Managed && !o.ProjectsEncrypt || o.Simulate != nil
	}
	return false
}
