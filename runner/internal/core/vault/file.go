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
	"mara/runner/internal/core/encryption"
	"mara/runner/internal/core/lock"
	"mara/runner/internal/machine/atomicfile"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/layout"
)

// editFile changes the secrets file as it is now.
func (o Options) editFile(sealer encryption.Sealer, changes []config.Change) error {
	file, err := config.ReadSecrets(o.Settings.Root, o.stack())
	if err != nil {
		return err
	}
	if string(file.Content) != string(o.Settings.Secrets.Content) && !sameScheme(file, o.Settings.Secrets) {
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
	if err := o.writeFile(file.Content); err != nil {
		return err
	}
	o.Settings.Secrets, err = config.ReadSecrets(o.Settings.Root, o.stack())
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

// writeFile replaces the secrets file in one step. It removes a directory that it made
// for nothing.
func (o Options) writeFile(content []byte) error {
	path := filepath.Join(o.Settings.Root, o.Settings.Secrets.File)
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
		Text: fmt.Sprintf("%s cannot be written: %v", o.Settings.Secrets.File, err),
		Next: failure.WriteRemedy(err, "the directory") + ", or choose another root with --root; nothing was changed",
	}
}

// lockWait is how long to wait for another process that writes secrets, which
// takes moments.
const lockWait = 30 * time.Second

// lockFile locks the secrets file, so that one process at a time changes it.
func (o Options) lockFile(ctx context.Context) (release func() error, err error) {
	held, err := lock.Acquire(ctx, lock.Options{
		Path:  o.Directory.SecretsLock(o.stack()),
		Owner: lock.Self("secrets", "secrets", o.Now()),
		Wait:  lockWait,
	})
	if err != nil {
		return nil, err
	}
	layout.IgnoreInGit(o.Settings.Root)
	return held.Release, nil
}
