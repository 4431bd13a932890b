package vault

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"mara/config"
	"mara/config/lists"
	"mara/runner/internal/core/encryption"
)

// Sealer opens what the secrets file is encrypted with: the passphrase's key, or
// the key service that the file names, which Pulumi asks.
func (v *Vault) Sealer(ctx context.Context) (encryption.Sealer, error) {
	if _, err := v.readShared(ctx); err != nil { // a value can be set without the backend
		fmt.Fprintf(v.Stderr, "warning: %s\n", v.Masker.Mask(err.Error()))
	}
	if err := v.refuseKnownChange(); err != nil {
		return nil, err
	}
	if err := v.adoptSalt(ctx); err != nil {
		return nil, err
	}
	return v.openSealer(ctx)
}

// Unsealer returns a Sealer for a command that only reads.
func (v *Vault) Unsealer(ctx context.Context) (encryption.Sealer, error) {
	if err := v.refuseKnownChange(); err != nil {
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

// service opens a scheme that Pulumi itself has to encrypt with, in a directory of
// its own.
func (v *Vault) service(ctx context.Context, scheme encryption.Scheme) (encryption.Sealer, error) {
	if scheme.Provider == "" {
		if sealer, err := openServiceKey(ctx, v); err != nil || sealer != nil {
			return sealer, err
		}
	}
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

// IsSet reports whether a secret has a value, in a file or on the command line.
func (o Options) IsSet(key string) bool {
	_, here := o.Settings.Secrets.Lookup(key)
	_, shared := o.Settings.Config.Lookup(key)
	_, own := o.Elsewhere[key].File.Lookup(key)
	return here || shared || own || o.Given.has(key)
}

// Has reports whether the secrets file, or the stack file next to the project, has an encrypted value.
func (v *Vault) Has(key string) bool {
	if _, own := v.ownCiphertext(key); own {
		return true
	}
	entry, ok := v.Settings.Secrets.Lookup(key)
	ciphertext, encrypted := entry.Value.(config.Ciphertext)
	return ok && encrypted && ciphertext != ""
}

// Unseal decrypts values of the secrets file and of stack files next to projects, and lets the masker know them.
func (v *Vault) Unseal(ctx context.Context, sealer encryption.Sealer, keys []string) (map[string]string, error) {
	ciphertexts := map[string]string{}
	for _, entry := range v.Settings.Secrets.Entries {
		if ciphertext, ok := entry.Value.(config.Ciphertext); ok && ciphertext != "" && slices.Contains(keys, entry.Key) {
			ciphertexts[entry.Key] = string(ciphertext)
		}
	}
	values := map[string]string{}
	if len(ciphertexts) > 0 && sealer != nil {
		var err error
		if values, err = sealer.Unseal(ctx, ciphertexts); err != nil {
			return nil, v.failedUnless(ctx, err)
		}
	}
	for _, key := range keys {
		ciphertext, isOwn := v.ownCiphertext(key)
		if !isOwn {
			continue
		}
		own, err := v.ownSealer(ctx, v.Elsewhere[key])
		if err != nil {
			return nil, err
		}
		opened, err := own.Unseal(ctx, map[string]string{key: ciphertext})
		if err != nil {
			return nil, v.failedUnless(ctx, err)
		}
		maps.Copy(values, opened)
	}
	v.Masker.Add(slices.Collect(maps.Values(values))...)
	return values, nil
}

// Store encrypts values into the secrets file, or into the stack file next to the project that reads them, and takes
// keys out of it. Nothing else in a file changes, and either all of it is written or nothing. A nil sealer only removes
// from the secrets file.
func (v *Vault) Store(ctx context.Context, sealer encryption.Sealer, values map[string]string, remove ...string) error {
	v.Masker.Add(slices.Collect(maps.Values(values))...)
	own, values := v.ownValues(values)
	gone := map[string][]string{} // by file
	remove = slices.DeleteFunc(slices.Clone(remove), func(key string) bool {
		_, isOwn := v.ownCiphertext(key)
		if isOwn {
			file := v.Elsewhere[key].File.File
			gone[file] = append(gone[file], key)
		}
		return isOwn
	})
	if len(own)+len(gone) > 0 {
		if err := v.storeInOwn(ctx, own, gone); err != nil || len(values)+len(remove) == 0 {
			return err
		}
	}
	var ciphertexts map[string]string
	if len(values) > 0 {
		var err error
		if ciphertexts, err = sealer.Seal(ctx, values); err != nil {
			return v.failedUnless(ctx, err)
		}
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
	release, err := v.lockFile(ctx)
	if err != nil {
		return err
	}
	return errors.Join(v.editFile(sealer, changes), release())
}

// storeInOwn changes stack files next to projects, one after the other.
func (v *Vault) storeInOwn(ctx context.Context, own map[string]map[string]string, gone map[string][]string) error {
	release, err := v.lockFile(ctx)
	if err != nil {
		return err
	}
	at := map[string]Elsewhere{}
	for _, one := range v.Elsewhere {
		at[one.File.File] = one
	}
	for _, file := range lists.Keys(at) {
		if len(own[file])+len(gone[file]) > 0 {
			err = errors.Join(err, v.storeOwn(ctx, at[file], own[file], gone[file]))
		}
	}
	return errors.Join(err, release())
}
