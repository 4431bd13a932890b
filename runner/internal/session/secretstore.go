package session

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
	"mara/runner/internal/lock"
)

// OpenSealer opens what the secrets file is encrypted with: the passphrase's
// key, or the key service that the file names, which Pulumi asks.
func (s *Session) OpenSealer(ctx context.Context) (encryption.Sealer, error) {
	if err := s.checkNoChange(); err != nil {
		return nil, err
	}
	if err := s.adoptSalt(ctx); err != nil {
		return nil, err
	}
	if err := s.providePassphrase(ctx); err != nil {
		return nil, err
	}
	options := s.encryptionOptions()
	schemes, err := encryption.SchemesOf(options)
	if err != nil {
		return nil, s.encryptionError(err)
	}
	sealer, err := s.sealerOf(ctx, schemes.Secrets)
	if err != nil && ctx.Err() == nil {
		err = s.encryptionError(err)
	}
	return sealer, err
}

// sealerOf opens a scheme.
func (s *Session) sealerOf(ctx context.Context, scheme encryption.Scheme) (encryption.Sealer, error) {
	if s.encryptionOptions().UsesPassphrase(scheme) {
		passphrase, set, err := encryption.Passphrase(s.Env)
		if err != nil {
			return nil, err
		}
		if !set {
			return nil, encryption.ErrNoPassphrase
		}
		s.Masker.Add(passphrase)
		return encryption.NewKeySealer(passphrase, scheme)
	}
	return s.newService(ctx, scheme)
}

// newService opens a scheme that Pulumi itself has to encrypt with, in a folder
// of its own.
func (s *Session) newService(ctx context.Context, scheme encryption.Scheme) (encryption.Sealer, error) {
	engine, err := s.engineOf(ctx)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "mara-secrets-*")
	if err != nil {
		return nil, err
	}
	s.closers = append(s.closers, func() error { return os.RemoveAll(dir) })
	options := encryption.ServiceOptions{Command: engine, Env: s.Env, Dir: dir, Stack: s.Settings.Stack.Text, Scheme: scheme}
	if scheme.Provider == "" {
		if options.Organization, err = s.organization(ctx, engine, dir); err != nil {
			return nil, err
		}
	}
	return encryption.NewService(ctx, options)
}

// engineOf is the engine, which commands about secrets start only if they need
// it.
func (s *Session) engineOf(ctx context.Context) (engine, error) {
	if s.engine != nil {
		return s.engine, nil
	}
	return s.startEngine(ctx)
}

// StoreSecrets encrypts values into the secrets file, and takes keys out of it.
// Nothing else in the file changes, and either all of it is written or nothing.
func (s *Session) StoreSecrets(ctx context.Context, sealer encryption.Sealer, values map[string]string, remove ...string) error {
	for _, value := range values {
		s.Masker.Add(value)
	}
	var ciphertexts map[string]string
	if len(values) > 0 {
		var err error
		if ciphertexts, err = sealer.Seal(ctx, values); err != nil {
			return s.sealError(ctx, err)
		}
	}
	release, err := s.lockSecrets(ctx)
	if err != nil {
		return err
	}
	return errors.Join(s.editSecrets(sealer, ciphertexts, remove), release())
}

// sealError marks what a key service refuses as a matter of the environment.
func (s *Session) sealError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	return s.encryptionError(err)
}

// editSecrets changes the secrets file as it is now.
func (s *Session) editSecrets(sealer encryption.Sealer, ciphertexts map[string]string, remove []string) error {
	file, err := config.ReadSecrets(s.Settings.Root, s.Settings.Stack.Text)
	if err != nil {
		return err
	}
	if string(file.Content) != string(s.Settings.Secrets.Content) && !sameScheme(file, s.Settings.Secrets) {
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
	s.Settings.Secrets, err = config.ReadSecrets(s.Settings.Root, s.Settings.Stack.Text)
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
func (s *Session) writeSecrets(content []byte) error {
	path := filepath.Join(s.Settings.Root, s.Settings.Secrets.File)
	folder := filepath.Dir(path)
	_, missing := os.Stat(folder)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return s.secretsFileError(err)
	}
	if err := atomicfile.Write(path, content, 0o600); err != nil {
		if errors.Is(missing, fs.ErrNotExist) {
			_ = os.Remove(folder)
		}
		return s.secretsFileError(err)
	}
	return nil
}

func (s *Session) secretsFileError(err error) error {
	return &failure.Environment{
		Text: fmt.Sprintf("%s cannot be written: %v", s.Settings.Secrets.File, err),
		Next: failure.WriteRemedy(err, "the folder") + ", or choose another root with --root; nothing was changed",
	}
}

// secretsLockWait is how long to wait for another call that writes secrets,
// which takes moments.
const secretsLockWait = 30 * time.Second

// lockSecrets lets one call at a time change the secrets file.
func (s *Session) lockSecrets(ctx context.Context) (release func() error, err error) {
	held, err := lock.Acquire(ctx, lock.Options{
		Path:  s.Folder.SecretsLock(s.Settings.Stack.Text),
		Owner: lock.Self("secrets", "secrets", s.deps.Now()),
		Wait:  secretsLockWait,
	})
	if _, taken := errors.AsType[*lock.HeldError](err); taken || ctx.Err() != nil {
		return nil, err
	}
	if err != nil {
		return nil, s.FolderError(err)
	}
	s.ignoreInGit()
	return held.Release, nil
}

// HasSecret says whether the secrets file has an encrypted value.
func (s *Session) HasSecret(key string) bool {
	entry, ok := s.Settings.Secrets.Lookup(key)
	ciphertext, encrypted := entry.Value.(config.Ciphertext)
	return ok && encrypted && ciphertext != ""
}

// UnsealSecrets decrypts values of the secrets file, and lets the masker know
// them.
func (s *Session) UnsealSecrets(ctx context.Context, sealer encryption.Sealer, keys []string) (map[string]string, error) {
	ciphertexts := map[string]string{}
	for _, entry := range s.Settings.Secrets.Entries {
		if ciphertext, ok := entry.Value.(config.Ciphertext); ok && ciphertext != "" && slices.Contains(keys, entry.Key) {
			ciphertexts[entry.Key] = string(ciphertext)
		}
	}
	values, err := sealer.Unseal(ctx, ciphertexts)
	if err != nil {
		return nil, s.sealError(ctx, err)
	}
	for _, value := range values {
		s.Masker.Add(value)
	}
	return values, nil
}
