// Package vault keeps the secrets of an environment. It asks for the passphrase
// and for secrets that are missing, encrypts them into the secrets file, makes
// the working copies of the stack files, and changes the key that encrypts
// everything.
package vault

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mara/config"
	"mara/config/lists"
	"mara/projects/model"
	"mara/runner/internal/core/encryption"
	"mara/runner/internal/core/engine"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/lock"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/layout"
)

// Console is where questions are asked and answered.
type Console struct {
	Stdin           io.Reader
	Stderr          io.Writer
	StdinIsTerminal bool
	Dir             string // working directory, where the paths of files start
	Now             func() time.Time
}

// Absolute makes a path from the command line absolute; "" stays "".
func (c Console) Absolute(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(c.Dir, path)
}

// Options describe the environment whose secrets are kept.
type Options struct {
	Console
	Settings  *config.Settings // its secrets file is read anew when it has changed
	Sources   config.Sources
	Env       map[string]string // of Pulumi; learns the passphrase
	Masker    *event.Masker     // learns every value
	Provider  string
	Directory layout.Runner
	Keys      []config.Key
	Secrets   []model.Secret  // that the plan's projects declare
	Known     []model.Secret  // that any project declares
	Without   []string        // projects of the catalogue that are not used
	Skipped   []model.Project // projects that this environment skips
	OwnFiles
	Interactive bool // questions may be asked
	Simulated   bool
	Needed      bool // the operation runs programs that read secrets
	Given       Given
	Backend
}

// OwnFiles are the stack files next to the user's own projects.
type OwnFiles struct {
	ProjectStackFiles map[string]config.StackFile // of the projects of the operation
	Elsewhere         map[string]Elsewhere        // secrets that belong in such files
	OwnPaths          map[string]string           // of such files, existing or not, by project
	ProjectsEncrypt   bool                        // each project of the plan has such a file with a scheme
	OwnStackFiles     bool                        // each project of the plan has stack files of its own, existing or not
}

// Backend is what the vault asks of the engine and of the backend.
type Backend struct {
	Engine       func(context.Context) (engine.Engine, error)
	Organization func(ctx context.Context, dir string) (string, error)
	// Service returns Pulumi Cloud, nil for other backends and for an installed Pulumi; StackOf returns the stack of a
	// project.
	Service func(context.Context) (Service, error)
	StackOf func(project string) string
	// DeployedSalt is the salt of the deployed states, "" when there is none.
	DeployedSalt func(context.Context) (string, error)
	// Shared returns where the backend keeps the note of an unfinished change of the key provider for others who share
	// it; nil where there is no place for it.
	Shared func(context.Context) (lock.Store, error)
}

// Given are the secrets that the command line gives.
type Given struct {
	Sources  []Source
	Generate bool // what is missing and can be made
}

func (g Given) has(key string) bool {
	return slices.ContainsFunc(g.Sources, func(s Source) bool { return s.Secret.Key == key })
}

// Vault keeps the secrets of one environment.
type Vault struct {
	Options
	salt string // of the deployed states, where no file has one
	// sharedChange is an unfinished change of the key provider that the backend knows; nil for none.
	sharedChange *encryption.Scheme
	sharedRead   bool
	asked        bool // for that salt, which may take commands
	keys         encryption.Keyring
	sealed       map[string]string            // see Sealed; nil until it is known
	own          map[string]encryption.Sealer // of stack files next to projects, by their paths
	closers      []func() error
}

// Key derives the key of a passphrase for a salt.
func (v *Vault) Key(passphrase, salt string) (*encryption.Key, error) {
	return v.keys.Open(passphrase, salt)
}

// New returns the vault of an environment. Close it after use.
func New(o Options) *Vault { return &Vault{Options: o} }

// Close removes the directories that the vault has worked in.
func (v *Vault) Close() error {
	return errors.Join(lists.Map(v.closers, func(closer func() error) error { return closer() })...)
}

func (o Options) stack() string { return o.Settings.Stack.Text }

// options say how the environment is encrypted.
func (v *Vault) options() encryption.Options {
	o := encryption.Options{
		Stack:        v.Settings.Config,
		Secrets:      v.Settings.Secrets,
		SaltFile:     v.Directory.Salt(v.stack()),
		DeployedSalt: v.salt,
		Keys:         &v.keys,
		Provider:     v.Provider,
		Env:          v.Env,
		Managed:      v.Settings.Managed(),
		Seals:        v.Service != nil,
		Without:      v.Without,
		Skipped:      v.Skipped,

		ProjectStackFiles: v.ProjectStackFiles,
	}
	o.ProjectsEncrypt = v.ProjectsEncrypt &&
		len(v.Settings.Config.Ciphertexts())+len(v.Settings.Secrets.Ciphertexts()) == 0
	for _, secret := range v.Secrets {
		if secret.Own {
			o.Own = append(o.Own, secret.Key)
		}
	}
	if v.Simulated {
		o.Simulate = &encryption.ThrowAway{Keys: v.Keys, Secrets: v.Secrets, File: v.Directory.Secrets(v.stack())}
	}
	return o
}

// schemes reads how the environment's files are encrypted.
func (v *Vault) schemes() (encryption.Schemes, error) {
	schemes, err := encryption.SchemesOf(v.options())
	return schemes, v.failed(err)
}

// failed makes what is wrong with the passphrase, a key service or the files a
// matter of the environment.
func (v *Vault) failed(err error) error {
	if err == nil {
		return nil
	}
	if path, ok := errors.AsType[*fs.PathError](err); ok && strings.HasPrefix(path.Path, string(v.Directory)) {
		return failure.RunnerDir(err)
	}
	return &failure.Environment{Text: err.Error()}
}

// failedUnless returns failed, except if the user has interrupted.
func (v *Vault) failedUnless(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	return v.failed(err)
}
