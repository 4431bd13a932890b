package vault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"mara/config"
	"mara/runner/internal/atomicfile"
	"mara/runner/internal/encryption"
	"mara/runner/internal/failure"
	"mara/runner/internal/layout"
	"mara/runner/internal/lock"
)

// Sealer opens what the secrets file is encrypted with: the passphrase's key, or
// the key service that the file names, which Pulumi asks.
func (v *Vault) Sealer(ctx context.Context) (encryption.Sealer, error) {
	if err := v.RefuseHalfChanged(); err != nil {
		return nil, err
	}
	if err := v.adoptSalt(ctx); err != nil {
		return nil, err
	}
	return v.openSealer(ctx)
}

// Unsealer is a Sealer for a command that only reads.
func (v *Vault) Unsealer(ctx context.Context) (encryption.Sealer, error) {
	if err := v.RefuseHalfChanged(); err != nil {
		return nil, err
	}
	if _, _, err := v.passphraseScheme(ctx); err != nil {
		return nil, err
	}
	return v.openSealer(ctx)
}

func (v *Vault) openSealer(ctx context.Context) (encryption.Sealer, error) {
	if err := v.AskPassphrase(ctx); err != nil {
		return nil, err
	}
	schemes, err := v.schemes()
	if err != nil {
		return nil, err
	}
	sealer, err := v.sealerOf(ctx, schemes.Secrets)
	return sealer, v.failedUnless(ctx, err)
}

// sealerOf opens a scheme.
func (v *Vault) sealerOf(ctx context.Context, scheme encryption.Scheme) (encryption.Sealer, error) {
	if !v.options().UsesPassphrase(scheme) {
		return v.service(ctx, scheme)
	}
	passphrase, set, err := encryption.Passphrase(v.Env)
	if err != nil {
		return nil, err
	}
	if !set {
		return nil, encryption.ErrNoPassphrase
	}
	v.Masker.Add(passphrase)
	return encryption.NewKeySealer(passphrase, scheme)
}

// service opens a scheme that Pulumi itself has to encrypt with, in a folder of
// its own.
func (v *Vault) service(ctx context.Context, scheme encryption.Scheme) (encryption.Sealer, error) {
	e, err := v.Engine(ctx)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "mara-secrets-*")
	if err != nil {
		return nil, err
	}
	v.closers = append(v.closers, func() error { return os.RemoveAll(dir) })
	o := encryption.ServiceOptions{Command: e, Env: v.Env, Dir: dir, Stack: v.stack(), Scheme: scheme}
	if scheme.Provider == "" {
		if o.Organization, err = v.Organization(ctx, dir); err != nil {
			return nil, err
		}
	}
	return encryption.NewService(ctx, o)
}

// Has reports whether the secrets file has an encrypted value.
func (v *Vault) Has(key string) bool {
	entry, ok := v.Settings.Secrets.Lookup(key)
	ciphertext, encrypted := entry.Value.(config.Ciphertext)
	return ok && encrypted && ciphertext != ""
}

// Unseal decrypts values of the secrets file, and lets the masker know them.
func (v *Vault) Unseal(ctx context.Context, sealer encryption.Sealer, keys []string) (map[string]string, error) {
	ciphertexts := map[string]string{}
	for _, entry := range v.Settings.Secrets.Entries {
		if ciphertext, ok := entry.Value.(config.Ciphertext); ok && ciphertext != "" && slices.Contains(keys, entry.Key) {
			ciphertexts[entry.Key] = string(ciphertext)
		}
	}
	values, err := sealer.Unseal(ctx, ciphertexts)
	for _, value := range values {
		v.Masker.Add(value)
	}
	return values, v.failedUnless(ctx, err)
}

// Store encrypts values into the secrets file, and takes keys out of it. Nothing
// else in the file changes, and either all of it is written or nothing. A nil
// sealer only removes.
func (v *Vault) Store(ctx context.Context, sealer encryption.Sealer, values map[string]string, remove ...string) error {
	for _, value := range values {
		v.Masker.Add(value)
	}
	var ciphertexts map[string]string
	if len(values) > 0 {
		var err error
		if ciphertexts, err = sealer.Seal(ctx, values); err != nil {
			return v.failedUnless(ctx, err)
		}
	}
	release, err := v.lock(ctx)
	if err != nil {
		return err
	}
	return errors.Join(v.edit(sealer, ciphertexts, remove), release())
}

// edit changes the secrets file as it is now.
func (v *Vault) edit(sealer encryption.Sealer, ciphertexts map[string]string, remove []string) error {
	file, err := config.ReadSecrets(v.Settings.Root, v.stack())
	if err != nil {
		return err
	}
	if string(file.Content) != string(v.Settings.Secrets.Content) && !sameScheme(file, v.Settings.Secrets) {
		return &failure.Environment{Text: file.File + " was encrypted in another way in the meantime", Next: "try again"}
	}
	if len(file.Content) == 0 {
		file.Content = []byte("# The values of the secrets project, encrypted: safe to commit.\n")
	}
	changes := make([]config.Change, 0, len(ciphertexts)+len(remove))
	for _, secret := range v.Known { // in their own order
		if ciphertext, ok := ciphertexts[secret.Key]; ok {
			changes = append(changes, config.Change{Key: secret.Key, Value: config.Ciphertext(ciphertext)})
		}
	}
	for _, key := range remove {
		changes = append(changes, config.Change{Key: key, Unset: true})
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
	if err := v.write(file.Content); err != nil {
		return err
	}
	v.Settings.Secrets, err = config.ReadSecrets(v.Settings.Root, v.stack())
	return err
}

// sameScheme reports whether two versions of a file are encrypted alike.
func sameScheme(a, b config.StackFile) bool {
	of := func(f config.StackFile) encryption.Scheme {
		schemes, err := encryption.SchemesOf(encryption.Options{Secrets: encryption.File{Path: f.File, Content: f.Content}, Managed: true})
		if err != nil {
			return encryption.Scheme{}
		}
		return schemes.Secrets
	}
	return of(a) == of(b)
}

// write replaces the secrets file in one step. It removes a folder that it made
// for nothing.
func (v *Vault) write(content []byte) error {
	path := filepath.Join(v.Settings.Root, v.Settings.Secrets.File)
	folder := filepath.Dir(path)
	_, missing := os.Stat(folder)
	err := os.MkdirAll(folder, 0o755)
	if err == nil {
		err = atomicfile.Write(path, content, 0o600)
	}
	if err == nil {
		return nil
	}
	if errors.Is(missing, fs.ErrNotExist) {
		_ = os.Remove(folder)
	}
	return &failure.Environment{
		Text: fmt.Sprintf("%s cannot be written: %v", v.Settings.Secrets.File, err),
		Next: failure.WriteRemedy(err, "the folder") + ", or choose another root with --root; nothing was changed",
	}
}

// lockWait is how long to wait for another process that writes secrets, which
// takes moments.
const lockWait = 30 * time.Second

// lock lets one process at a time change the secrets file.
func (v *Vault) lock(ctx context.Context) (release func() error, err error) {
	held, err := lock.Acquire(ctx, lock.Options{
		Path:  v.Folder.SecretsLock(v.stack()),
		Owner: lock.Self("secrets", "secrets", v.Now()),
		Wait:  lockWait,
	})
	if err != nil {
		return nil, lock.Failed(ctx, err)
	}
	layout.IgnoreInGit(v.Settings.Root)
	return held.Release, nil
}
