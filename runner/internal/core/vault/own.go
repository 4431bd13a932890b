package vault

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"mara/config"
	"mara/config/files"
	"mara/runner/internal/core/encryption"
	"mara/runner/internal/core/request"
	"mara/runner/internal/machine/atomicfile"
	"mara/runner/internal/machine/failure"
)

// Elsewhere is the stack file next to a project that a secret belongs in, where plain Pulumi looks for it.
type Elsewhere struct {
	Project string
	File    config.StackFile // it may not exist yet
}

// FileOf returns the file that has the value of a secret, or is to get it.
func (o Options) FileOf(key string) string {
	if at, ok := o.Elsewhere[key]; ok {
		return at.File.File
	}
	return o.Settings.Secrets.File
}

// SealerFor opens what values of some keys are encrypted with: the secrets file, and the stack files next to projects.
// The sealer is that of the secrets file; nil if it gets none of them.
func (v *Vault) SealerFor(ctx context.Context, keys ...string) (encryption.Sealer, error) {
	isShared := func(key string) bool { _, own := v.Elsewhere[key]; return !own }
	var sealer encryption.Sealer
	if slices.ContainsFunc(keys, isShared) {
		var err error
		if sealer, err = v.Sealer(ctx); err != nil {
			return nil, err
		}
	} else if err := errors.Join(v.refuseKnownChange(), v.AskPassphrase(ctx)); err != nil {
		return nil, err
	}
	for _, key := range keys {
		if at, own := v.Elsewhere[key]; own {
			if _, err := v.ownSealer(ctx, at); err != nil {
				return nil, err
			}
		}
	}
	return sealer, nil
}

// ownSealer opens what a stack file next to a project is encrypted with. A file without a key gets that of the
// environment.
func (v *Vault) ownSealer(ctx context.Context, at Elsewhere) (encryption.Sealer, error) {
	if sealer, ok := v.own[at.File.File]; ok {
		return sealer, nil
	}
	scheme, err := v.ownScheme(at)
	if err != nil {
		return nil, err
	}
	var sealer encryption.Sealer
	switch byService := scheme.Salt == "" && scheme.Provider != "passphrase" && v.Settings.Managed(); {
	case scheme.NamesService():
		sealer, err = v.service(ctx, scheme)
	case byService:
		sealer, err = ownServiceKey(ctx, v, at.Project)
	default:
		sealer, err = v.ownKey(at, scheme)
	}
	if err != nil {
		return nil, v.failedUnless(ctx, err)
	}
	if v.own == nil {
		v.own = map[string]encryption.Sealer{}
	}
	v.own[at.File.File] = sealer
	return sealer, nil
}

// ownScheme returns the scheme of a stack file next to a project, or else that of the environment's other files.
func (v *Vault) ownScheme(at Elsewhere) (encryption.Scheme, error) {
	scheme, err := schemeOf(at.File)
	if err != nil || scheme != (encryption.Scheme{File: at.File.File}) {
		return scheme, err
	}
	if v.Settings.Managed() && v.Service != nil {
		return scheme, nil
	}
	if v.Settings.Managed() {
		return scheme, &failure.Environment{
			Text: at.File.File + " has no key yet, and Pulumi Cloud has one for each stack",
			Next: fmt.Sprintf("`runner pulumi %s -s %s -- config set --secret KEY` makes it", at.Project, v.stack()),
		}
	}
	schemes, err := v.schemes()
	if err != nil {
		return scheme, err
	}
	for _, other := range append([]encryption.Scheme{schemes.Secrets, schemes.Stack}, schemes.Projects...) {
		if other.Salt != "" || other.Provider != "" {
			return other, nil
		}
	}
	return scheme, nil
}

func schemeOf(file config.StackFile) (encryption.Scheme, error) {
	header, err := file.Header()
	return encryption.Scheme{Salt: header.EncryptionSalt, Provider: header.SecretsProvider, DataKey: header.EncryptedKey,
		File: file.File}, err
}

// ownKey opens a scheme with the passphrase of a project, or else that of the environment.
func (v *Vault) ownKey(at Elsewhere, scheme encryption.Scheme) (encryption.Sealer, error) {
	passphrase := v.Env[encryption.PassphraseVariableOf(at.Project)]
	if !encryption.HasPassphrase(v.Env, at.Project) {
		var set bool
		var err error
		if passphrase, set, err = encryption.Passphrase(v.Env); err != nil {
			return nil, err
		}
		if !set {
			return nil, encryption.ErrNoPassphrase
		}
	}
	v.Masker.Add(passphrase)
	return encryption.NewKeySealer(passphrase, scheme)
}

// ownValues groups values by the stack files next to projects that they belong in, and returns the rest.
func (v *Vault) ownValues(values map[string]string) (own map[string]map[string]string, rest map[string]string) {
	own, rest = map[string]map[string]string{}, map[string]string{}
	for key, value := range values {
		at, isOwn := v.Elsewhere[key]
		if !isOwn {
			rest[key] = value
			continue
		}
		if own[at.File.File] == nil {
			own[at.File.File] = map[string]string{}
		}
		own[at.File.File][key] = value
	}
	return own, rest
}

// storeOwn encrypts values into a stack file next to a project, and takes keys out of it. The file is created if it
// does not exist.
func (v *Vault) storeOwn(ctx context.Context, at Elsewhere, values map[string]string, remove []string) error {
	if filepath.IsAbs(at.File.File) {
		return &failure.Environment{Text: at.File.File + " is outside of this root, and is not changed",
			Next: "change it there"}
	}
	path := v.Settings.Absolute(at.File.File)
	content, err := files.ReadCommitted(path, files.Text)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &failure.Environment{Text: err.Error()}
	}
	file, err := config.ParseStack(at.File.File, content)
	if err != nil {
		return err
	}
	before, err := schemeOf(file)
	if known, _ := schemeOf(at.File); err != nil || before != known {
		return cmp.Or(err, error(&failure.Environment{Text: file.File + " was encrypted in another way in the meantime",
			Next: "try again"}))
	}
	var changes []config.Change
	if len(values) > 0 {
		sealer, err := v.ownSealer(ctx, at)
		if err != nil {
			return err
		}
		ciphertexts, err := sealer.Seal(ctx, values)
		if err != nil {
			return v.failedUnless(ctx, err)
		}
		for _, key := range slices.Sorted(maps.Keys(ciphertexts)) {
			changes = append(changes, config.Change{Key: key, Value: config.Ciphertext(ciphertexts[key])})
		}
		header := sealer.Scheme().Header()
		if file.Content, err = file.EditHeader(header); err != nil {
			return err
		}
		if file, err = config.ParseStack(file.File, file.Content); err != nil {
			return err
		}
		if key := header.EncryptionSalt + header.EncryptedKey; key != "" && before.Salt == "" && before.Provider == "" { // made here: it is no sign of a deployment elsewhere
			if err := request.RememberKeys(v.Directory, v.stack(), key); err != nil {
				return err
			}
		}
	}
	for _, key := range remove {
		changes = append(changes, config.Change{Key: key, Unset: true})
	}
	if file.Content, err = file.Edit(changes...); err != nil {
		return err
	}
	if err := atomicfile.WriteDeep(path, file.Content, 0o644, 0o755); err != nil {
		return &failure.Environment{Text: fmt.Sprintf("%s cannot be written: %v", file.File, err),
			Next: failure.WriteRemedy(err, "the directory") + "; nothing was changed"}
	}
	if file, err = config.ParseStack(file.File, file.Content); err != nil {
		return err
	}
	file.Exists = true
	v.knowOwn(file)
	return nil
}

// knowOwn replaces what is known of a stack file next to a project.
func (v *Vault) knowOwn(file config.StackFile) {
	for key, at := range v.Elsewhere {
		if at.File.File == file.File {
			v.Elsewhere[key] = Elsewhere{at.Project, file}
			if v.ProjectStackFiles == nil {
				v.ProjectStackFiles = map[string]config.StackFile{}
			}
			v.ProjectStackFiles[at.Project] = file
		}
	}
}

// ownCiphertext returns the encrypted value that the stack file next to a project has.
func (o Options) ownCiphertext(key string) (string, bool) {
	entry, _ := o.Elsewhere[key].File.Lookup(key)
	ciphertext, encrypted := entry.Value.(config.Ciphertext)
	return string(ciphertext), encrypted && ciphertext != ""
}
