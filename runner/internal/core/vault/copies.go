package vault

import (
	"context"
	"maps"
	"slices"

	"mara/runner/internal/core/encryption"
	"mara/runner/internal/core/engine"
)

// Copies makes the working copies of the stack files for an operation. A wrong
// passphrase is found here, before anything changes. An environment that is
// encrypted for the first time gets a salt, which is kept. The engine gets the
// keys; nil is for commands that run without one.
func (v *Vault) Copies(ctx context.Context, e engine.Engine) (encryption.Copies, error) {
	o := v.options()
	if o.Managed && !v.Simulated {
		o.Tags = v.tags(ctx)
	}
	copies, err := encryption.Prepare(o)
	if err != nil {
		return copies, v.failed(err)
	}
	if e != nil {
		for _, key := range v.keys.Keys() {
			e.Unlock(key.Salt(), key.Raw())
		}
	}
	v.Masker.Add(copies.Known...)
	maps.Copy(v.Env, copies.Env)
	return copies, nil
}

// Learn lets the masker know the values that a key service has encrypted, before
// a program can say them. What the passphrase encrypts is known with the copies.
func (v *Vault) Learn(ctx context.Context) error {
	schemes, err := v.schemes()
	if err != nil || v.Simulated { // which drops them
		return err
	}
	if _, err := Sealed(ctx, v); err != nil {
		return err
	}
	if err := learnBeside(ctx, v); err != nil {
		return err
	}
	parts := []part{{content: v.Settings.Config, scheme: schemes.Stack}, {content: v.Settings.Secrets, scheme: schemes.Secrets}}
	for _, scheme := range schemes.Projects {
		for _, file := range v.ProjectStackFiles {
			if file.File == scheme.File {
				parts = append(parts, part{content: file, scheme: scheme})
			}
		}
	}
	for _, part := range parts {
		known := len(v.sealed) > 0 && part.scheme == (encryption.Scheme{}) // see Sealed
		if known || len(part.content.Ciphertexts()) == 0 || v.options().UsesPassphrase(part.scheme) {
			continue
		}
		service, err := v.service(ctx, part.scheme)
		if err != nil {
			return v.failedUnless(ctx, err)
		}
		values, err := encryption.Reveal(ctx, part.content, service)
		if err != nil {
			return v.failedUnless(ctx, err)
		}
		v.Masker.Add(slices.Collect(maps.Values(values))...)
	}
	return nil
}

// CopiesToRead makes the working copies for a command that only reads: it asks
// for the passphrase of what is encrypted, but never for a new one, and keeps
// no salt.
func (v *Vault) CopiesToRead(ctx context.Context, e engine.Engine) (encryption.Copies, error) {
	if err := v.RefuseHalfChanged(ctx); err != nil {
		return encryption.Copies{}, err
	}
	scheme, needed, err := v.passphraseScheme(ctx)
	if err != nil {
		return encryption.Copies{}, err
	}
	if needed && scheme.Salt == "" && !v.Simulated { // no value was ever encrypted
		return encryption.Copies{Stack: v.Settings.Config.Content, Secrets: v.Settings.Secrets.Content}, nil
	}
	if err := v.AskPassphrase(ctx); err != nil {
		return encryption.Copies{}, err
	}
	return v.Copies(ctx, e)
}

// Verify finds what would keep Copies from working, and writes nothing.
func (v *Vault) Verify() (encryption.Verified, error) {
	o := v.options()
	o.Simulate = nil
	return encryption.Verify(o)
}
