package vault

import (
	"context"
	"maps"

	"mara/runner/internal/encryption"
	"mara/runner/internal/engine"
)

// Copies makes the working copies of the stack files for an operation. A wrong
// passphrase is found here, before anything changes. An environment that is
// encrypted for the first time gets a salt, which is kept.
func (v *Vault) Copies(ctx context.Context, e engine.Engine) (encryption.Copies, error) {
	options := v.options()
	options.Open = engine.Opener(ctx, e)
	copies, err := encryption.Prepare(options)
	if err != nil {
		return copies, v.failed(err)
	}
	v.Masker.Add(copies.Known...)
	maps.Copy(v.Env, copies.Env)
	return copies, nil
}

// CopiesToRead makes the working copies for a command that only reads: it asks
// for the passphrase of what is encrypted, but never for a new one, and keeps
// no salt.
func (v *Vault) CopiesToRead(ctx context.Context, e engine.Engine) (encryption.Copies, error) {
	if err := v.RefuseHalfChanged(); err != nil {
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
