package vault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"mara/config"
	"mara/runner/internal/machine/atomicfile"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/layout"
	"mara/runner/internal/secrets/encryption"
	"mara/runner/internal/state/lock"
)

// secretsFile is the file with the encrypted secrets of an environment.
type secretsFile struct {
	settings  *config.Settings // has what it was when it was last read
	directory layout.Runner
	now       func() time.Time
}

// edit changes the secrets file as it is now.
func (f secretsFile) edit(sealer encryption.Sealer, changes []config.Change) error {
	file, err := config.ReadSecrets(f.settings.Root, f.settings.Stack.Text)
	if err != nil {
		return err
	}
	if string(file.Content) != string(f.settings.Secrets.Content) && !sameScheme(file, f.settings.Secrets) {
		return &failure.Environment{Text: file.File + " was encrypted in another way in the meantime", Next: "try again"}
	}
	if len(file.Content) == 0 {
		file.Content = []byte("# The values of the secrets project, encrypted: safe to commit.\n")
	}
	if file.Content, err = file.Edit(changes...); err != nil {
		return err
	}
	if sealer != nil {
		if file, err = config.ParseStack(file.File, file.Content); err == nil {
			file.Content, err = file.EditHeader(sealer.Scheme().Header())
		}
		if err != nil {
			return err
		}
	}
	if err := f.write(file.Content); err != nil {
		return err
	}
	f.settings.Secrets, err = config.ReadSecrets(f.settings.Root, f.settings.Stack.Text)
	return err
}

// sameScheme reports whether two versions of a file are encrypted alike.
func sameScheme(a, b config.StackFile) bool {
	of := func(f config.StackFile) encryption.Scheme {
		schemes, err := encryption.SchemesOf(encryption.Options{Secrets: f, Managed: true})
		if err != nil {
			return encryption.Scheme{}
		}
		return schemes.Secrets
	}
	return of(a) == of(b)
}

// write replaces the secrets file in one step. It removes a directory that it made
// for nothing.
func (f secretsFile) write(content []byte) error {
	path := filepath.Join(f.settings.Root, f.settings.Secrets.File)
	directory := filepath.Dir(path)
	_, missing := os.Stat(directory)
	err := atomicfile.WriteDeep(path, content, 0o600, 0o755)
	if err == nil {
		return nil
	}
	if errors.Is(missing, fs.ErrNotExist) {
		_ = os.Remove(directory)
	}
	return &failure.Environment{
		Text: fmt.Sprintf("%s cannot be written: %v", f.settings.Secrets.File, err),
		Next: failure.WriteRemedy(err, "the directory") + ", or choose another root with --root; nothing was changed",
	}
}

// lockWait is how long to wait for another process that writes secrets, which
// takes moments.
const lockWait = 30 * time.Second

// lock locks the secrets file, so that one process at a time changes it.
func (f secretsFile) lock(ctx context.Context) (release func() error, err error) {
	held, err := lock.Acquire(ctx, lock.Options{
		Path:  f.directory.SecretsLock(f.settings.Stack.Text),
		Owner: lock.Self("secrets", "secrets", f.now()),
		Wait:  lockWait,
	})
	if err != nil {
		return nil, err
	}
	layout.IgnoreInGit(f.settings.Root)
	return held.Release, nil
}
