package cli

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
	"mara/runner/internal/encryption"
	"mara/runner/internal/failure"
	"mara/runner/internal/lock"
)

// openSealer opens what the secrets file is encrypted with: the passphrase's
// key, or the key service that the file names, which Pulumi asks.
func (s *session) openSealer(ctx context.Context, d Deps, o sessionOptions) (encryption.Sealer, error) {
	if err := s.checkNoChange(); err != nil {
		return nil, err
	}
	if err := s.adoptSalt(ctx, d, o); err != nil {
		return nil, err
	}
	if err := s.providePassphrase(ctx, d, o); err != nil {
		return nil, err
	}
	options := s.encryptionOptions(o)
	schemes, err := encryption.SchemesOf(options)
	if err != nil {
		return nil, s.encryptionError(err)
	}
	sealer, err := s.sealerOf(ctx, d, o, schemes.Secrets)
	if err != nil && ctx.Err() == nil {
		err = s.encryptionError(err)
	}
	return sealer, err
}

// sealerOf opens a scheme.
func (s *session) sealerOf(ctx context.Context, d Deps, o sessionOptions, scheme encryption.Scheme) (encryption.Sealer, error) {
	if s.encryptionOptions(o).UsesPassphrase(scheme) {
		passphrase, set, err := encryption.Passphrase(s.env)
		if err != nil {
			return nil, err
		}
		if !set {
			return nil, encryption.ErrNoPassphrase
		}
		s.masker.Add(passphrase)
		return encryption.NewKeySealer(passphrase, scheme)
	}
	return s.newService(ctx, d, o, scheme)
}

// newService opens a scheme that Pulumi itself has to encrypt with, in a folder
// of its own.
func (s *session) newService(ctx context.Context, d Deps, o sessionOptions, scheme encryption.Scheme) (encryption.Sealer, error) {
	engine, err := s.engineOf(ctx, d, o)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "mara-secrets-*")
	if err != nil {
		return nil, err
	}
	s.closers = append(s.closers, func() error { return os.RemoveAll(dir) })
	options := encryption.ServiceOptions{Command: engine, Env: s.env, Dir: dir, Stack: s.settings.Stack.Text, Scheme: scheme}
	if scheme.Provider == "" {
		if options.Organization, err = s.organization(ctx, engine, dir); err != nil {
			return nil, err
		}
	}
	return encryption.NewService(ctx, options)
}

// engineOf is the engine, which commands about secrets start only if they need
// it.
func (s *session) engineOf(ctx context.Context, d Deps, o sessionOptions) (engine, error) {
	if s.engine != nil {
		return s.engine, nil
	}
	return s.startEngine(ctx, d, o)
}

// storeSecrets encrypts values into the secrets file, and takes keys out of it.
// Nothing else in the file changes, and either all of it is written or nothing.
func (s *session) storeSecrets(ctx context.Context, d Deps, sealer encryption.Sealer, values map[string]string, remove ...string) error {
	for _, value := range values {
		s.masker.Add(value)
	}
	var ciphertexts map[string]string
	if len(values) > 0 {
		var err error
		if ciphertexts, err = sealer.Seal(ctx, values); err != nil {
			return s.sealError(ctx, err)
		}
	}
	release, err := s.lockSecrets(ctx, d)
	if err != nil {
		return err
	}
	return errors.Join(s.editSecrets(sealer, ciphertexts, remove), release())
}

// sealError marks what a key service refuses as a matter of the environment.
func (s *session) sealError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	return s.encryptionError(err)
}

// editSecrets changes the secrets file as it is now.
func (s *session) editSecrets(sealer encryption.Sealer, ciphertexts map[string]string, remove []string) error {
	file, err := config.ReadSecrets(s.settings.Root, s.settings.Stack.Text)
	if err != nil {
		return err
	}
	if string(file.Content) != string(s.settings.Secrets.Content) && !sameScheme(file, s.settings.Secrets) {
		return &failure.Environment{Text: file.File + " was encrypted in another way in the meantime", Next: "try again"}
	}
	if len(file.Content) == 0 {
		file.Content = []byte("# The values of the secrets project, encrypted: safe to commit.\n")
	}
	changes := make([]config.Change, 0, len(ciphertexts)+len(remove))
	for _, secret := range allSecrets() { // in their own order
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
	if err := s.writeSecrets(file.Content); err != nil {
		return err
	}
	s.settings.Secrets, err = config.ReadSecrets(s.settings.Root, s.settings.Stack.Text)
	return err
}

// sameScheme says whether two versions of a file are encrypted alike.
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

// writeSecrets replaces the secrets file in one step. What is made on the way
// goes again when it cannot be written.
func (s *session) writeSecrets(content []byte) error {
	path := filepath.Join(s.settings.Root, s.settings.Secrets.File)
	folder := filepath.Dir(path)
	_, missing := os.Stat(folder)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return s.secretsFileError(err)
	}
	if err := config.WriteFile(path, content, 0o600); err != nil {
		if errors.Is(missing, fs.ErrNotExist) {
			_ = os.Remove(folder)
		}
		return s.secretsFileError(err)
	}
	return nil
}

func (s *session) secretsFileError(err error) error {
	return &failure.Environment{
		Text: fmt.Sprintf("%s cannot be written: %v", s.settings.Secrets.File, err),
		Next: "make the folder writable, or choose another root with --root; nothing was changed",
	}
}

// secretsLockWait is how long to wait for another call that writes secrets,
// which takes moments.
const secretsLockWait = 30 * time.Second

// lockSecrets lets one call at a time change the secrets file.
func (s *session) lockSecrets(ctx context.Context, d Deps) (release func() error, err error) {
	held, err := lock.Acquire(ctx, lock.Options{
		Path:  filepath.Join(s.folder, "locks", "secrets-"+s.settings.Stack.Text+".lock"),
		Owner: lock.Self("secrets", "secrets", d.Now()),
		Wait:  secretsLockWait,
	})
	if isA[*lock.HeldError](err) || ctx.Err() != nil {
		return nil, err
	}
	if err != nil {
		return nil, s.folderError(err)
	}
	s.ignoreInGit()
	return held.Release, nil
}

// hasSecret says whether the secrets file has an encrypted value.
func (s *session) hasSecret(key string) bool {
	entry, ok := s.settings.Secrets.Lookup(key)
	ciphertext, encrypted := entry.Value.(config.Ciphertext)
	return ok && encrypted && ciphertext != ""
}

// unsealSecrets decrypts values of the secrets file, and lets the masker know
// them.
func (s *session) unsealSecrets(ctx context.Context, sealer encryption.Sealer, keys []string) (map[string]string, error) {
	ciphertexts := map[string]string{}
	for _, entry := range s.settings.Secrets.Entries {
		if ciphertext, ok := entry.Value.(config.Ciphertext); ok && ciphertext != "" && slices.Contains(keys, entry.Key) {
			ciphertexts[entry.Key] = string(ciphertext)
		}
	}
	values, err := sealer.Unseal(ctx, ciphertexts)
	if err != nil {
		return nil, s.sealError(ctx, err)
	}
	for _, value := range values {
		s.masker.Add(value)
	}
	return values, nil
}
