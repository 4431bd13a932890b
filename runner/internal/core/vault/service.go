package vault

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"

	"mara/projects/model"
	"mara/runner/internal/core/encryption"
	"mara/runner/internal/core/gitsource"
	"mara/runner/internal/core/pulumicli/wire"
	"mara/runner/internal/machine/atomicfile"
	"mara/runner/internal/machine/failure"
)

// Pulumi Cloud has a key for each stack. What the files of an environment hold is encrypted with the key of one stack, that
// of the project secrets, which the runner creates for it if the environment has no such project. A project that reads a
// value gets it encrypted with the key of its own stack, in its working copy (see Sealed).

// Service encrypts and decrypts with the keys of stacks at Pulumi Cloud. The engine inside does; an installed Pulumi
// only encrypts what it is told with a command.
type Service interface {
	Seal(ctx context.Context, question wire.SealValues) (wire.SealedValues, error)
	Unseal(ctx context.Context, question wire.SealValues) (wire.SealedValues, error)
}

// serviceSealer is a Sealer with the key of one stack.
type serviceSealer struct {
	service Service
	stack   string // its full name
}

// Scheme implements encryption.Sealer: no line of a file names the encryption of Pulumi Cloud.
func (s serviceSealer) Scheme() encryption.Scheme { return encryption.Scheme{} }

// named is a Sealer of Pulumi Cloud for files that say so, as those do that were encrypted in another way before.
type named struct{ encryption.Sealer }

// Scheme implements encryption.Sealer.
func (named) Scheme() encryption.Scheme {
	return encryption.Scheme{Provider: encryption.DefaultProvider}
}

// Seal implements encryption.Sealer.
func (s serviceSealer) Seal(ctx context.Context, values map[string]string) (map[string]string, error) {
	keys := slices.Sorted(maps.Keys(values))
	question := wire.SealValues{Stack: s.stack, Create: true}
	for _, key := range keys {
		question.Values = append(question.Values, []byte(values[key]))
	}
	sealed, err := s.service.Seal(ctx, question)
	if err == nil && len(sealed) != len(keys) {
		err = fmt.Errorf("it has answered with %d values", len(sealed))
	}
	if err != nil {
		return nil, fmt.Errorf("encrypting with the key of %s: %w", s.stack, err)
	}
	ciphertexts := map[string]string{}
	for i, key := range keys {
		ciphertexts[key] = base64.StdEncoding.EncodeToString(sealed[i])
	}
	return ciphertexts, nil
}

// Unseal implements encryption.Sealer.
func (s serviceSealer) Unseal(ctx context.Context, ciphertexts map[string]string) (map[string]string, error) {
	if len(ciphertexts) == 0 {
		return map[string]string{}, nil
	}
	keys := slices.Sorted(maps.Keys(ciphertexts))
	question := wire.SealValues{Stack: s.stack}
	for _, key := range keys {
		ciphertext, err := base64.StdEncoding.DecodeString(ciphertexts[key])
		if err != nil {
			return nil, fmt.Errorf("decrypting %s: it is not encrypted by Pulumi Cloud", key)
		}
		question.Values = append(question.Values, ciphertext)
	}
	unsealed, err := s.service.Unseal(ctx, question)
	if err == nil && len(unsealed) != len(keys) {
		err = fmt.Errorf("it has answered with %d values", len(unsealed))
	}
	if err != nil {
		return nil, fmt.Errorf("decrypting with the key of %s: %w", s.stack, err)
	}
	values := map[string]string{}
	for i, key := range keys {
		values[key] = string(unsealed[i])
	}
	return values, nil
}

// keyStack returns the full name of a project's stack.
func keyStack(ctx context.Context, v *Vault, project, stack string) (string, error) {
	organization, err := v.Organization(ctx, v.Settings.Root)
	return organization + "/" + project + "/" + stack, err
}

// Sealed returns the values that the shared files hold, by their ciphertexts, where Pulumi Cloud encrypts them: each
// project that reads them needs them encrypted with the key of its own stack. It is empty otherwise.
func Sealed(ctx context.Context, v *Vault) (map[string]string, error) {
	if v.sealed != nil || v.Simulated || !v.Settings.Managed() {
		return v.sealed, nil
	}
	schemes, err := v.schemes()
	if err != nil {
		return nil, err
	}
	sealed := map[string]string{}
	if schemes.Stack != (encryption.Scheme{}) {
		v.sealed = sealed // one key for all projects
		return sealed, nil
	}
	for _, part := range []part{{content: v.Settings.Config, scheme: schemes.Stack}, {content: v.Settings.Secrets, scheme: schemes.Secrets}} {
		if len(part.content.Ciphertexts()) == 0 {
			continue
		}
		sealer, err := v.sealerOf(ctx, part.scheme)
		if err != nil {
			return nil, v.failedUnless(ctx, err)
		}
		byCiphertext := map[string]string{}
		for _, ciphertext := range part.content.Ciphertexts() {
			byCiphertext[ciphertext] = ciphertext
		}
		values, err := sealer.Unseal(ctx, byCiphertext)
		if err != nil {
			return nil, v.failedUnless(ctx, fmt.Errorf("%s: %w", part.content.File, err))
		}
		maps.Copy(sealed, values)
	}
	v.Masker.Add(slices.Collect(maps.Values(sealed))...)
	v.sealed = sealed
	return sealed, nil
}

// learnBeside lets the masker know what Pulumi Cloud has encrypted in the stack files of own projects, each with the key
// of its stack.
func learnBeside(ctx context.Context, v *Vault) error {
	if !v.Settings.Managed() || v.Service == nil {
		return nil
	}
	for _, project := range slices.Sorted(maps.Keys(v.ProjectStackFiles)) {
		file := v.ProjectStackFiles[project]
		scheme, err := schemeOf(file)
		if err != nil || scheme.Salt != "" || scheme.NamesService() || len(file.Ciphertexts()) == 0 {
			continue // the checks of the configuration report errors
		}
		service, err := v.Service(ctx)
		if err != nil || service == nil {
			return err
		}
		stack, err := keyStack(ctx, v, project, v.StackOf(project))
		if err != nil {
			return err
		}
		values, err := encryption.Reveal(ctx, file, serviceSealer{service, stack})
		if err != nil {
			return v.failedUnless(ctx, err)
		}
		v.Masker.Add(slices.Collect(maps.Values(values))...)
	}
	return nil
}

// openServiceKey returns the Sealer of the environment's files at Pulumi Cloud; nil for an installed Pulumi.
func openServiceKey(ctx context.Context, v *Vault) (encryption.Sealer, error) {
	if v.Service == nil {
		return nil, nil
	}
	service, err := v.Service(ctx)
	if err != nil || service == nil {
		return nil, err
	}
	stack, err := keyStack(ctx, v, model.SecretsProject, v.stack())
	return serviceSealer{service, stack}, err
}

// ownServiceKey returns the Sealer of the stack file next to a project at Pulumi Cloud, with the key of its own stack.
func ownServiceKey(ctx context.Context, v *Vault, project string) (encryption.Sealer, error) {
	service, err := v.Service(ctx)
	if err != nil {
		return nil, err
	}
	stack, err := keyStack(ctx, v, project, v.StackOf(project))
	return serviceSealer{service, stack}, err
}

// SchemeOf returns how the shared files of an environment are encrypted.
func SchemeOf(v *Vault) (encryption.Scheme, error) {
	schemes, err := v.schemes()
	return schemes.Stack, err
}

// Own is how the stack file next to a project says that it is encrypted.
type Own struct {
	Named      bool // it says how: a move to another backend leaves it so
	Service    bool // with a key service
	Passphrase bool // with a passphrase of the project's own
}

// OwnEncryption returns how the stack file next to a project is encrypted. One that says nothing, or that is not there,
// has the encryption of its environment.
func OwnEncryption(v *Vault, project string) Own {
	file, there := v.ProjectStackFiles[project]
	scheme, err := schemeOf(file)
	if !there || err != nil { // the checks of the configuration report errors
		return Own{}
	}
	service := scheme.NamesService()
	return Own{
		Named: scheme.Salt != "" || service || scheme.Provider == "passphrase", Service: service,
		Passphrase: encryption.HasPassphrase(v.Env, project),
	}
}

// ResealFor encrypts the values that Pulumi Cloud has encrypted in the shared files of an environment for the encryption
// of another backend. It returns the files that it has changed; those that are done already it leaves alone.
func ResealFor(ctx context.Context, v, other *Vault) ([]string, error) {
	if !v.Settings.Managed() || len(v.Settings.Config.Ciphertexts())+len(v.Settings.Secrets.Ciphertexts()) == 0 {
		return nil, nil
	}
	schemes, err := v.schemes()
	if err != nil {
		return nil, err
	}
	var to encryption.Sealer
	var done []string
	for _, part := range []part{{content: v.Settings.Config.Own(), scheme: schemes.Stack},
		{content: v.Settings.Secrets, scheme: schemes.Secrets}} {
		if len(part.content.Ciphertexts()) == 0 || part.scheme != (encryption.Scheme{}) {
			continue
		}
		if to == nil {
			if to, err = other.openSealer(ctx); err != nil {
				return done, err
			}
		}
		from, err := v.sealerOf(ctx, part.scheme)
		if err != nil {
			return done, v.failedUnless(ctx, err)
		}
		content, err := encryption.Reseal(ctx, part.content, from, to)
		if err != nil {
			return done, v.failedUnless(ctx, err)
		}
		if err := atomicfile.WriteDeep(filepath.Join(v.Settings.Root, part.content.File), content, 0o600, 0o755); err != nil {
			return done, &failure.Environment{Text: err.Error(), Next: failure.WriteRemedy(err, "the file")}
		}
		done = append(done, part.content.File)
	}
	return done, nil
}

// tagForm is what Pulumi Cloud takes as the name of a tag.
var tagForm = regexp.MustCompile(`^[a-zA-Z0-9-_.:]{1,40}$`)

// maxTag is how long the value of a tag may be.
const maxTag = 256

// TagOfRepository returns the tag of the stacks that are deployed from the repository of a root. One without a remote has
// none.
func TagOfRepository(ctx context.Context, root string) (tag wire.Tag, ok bool) {
	tag = wire.Tag{Name: "mara:repository", Value: gitsource.AddressOf(ctx, root)}
	return tag, tag.Value != "" && len(tag.Value) <= maxTag
}

// tags returns the tags of the environment's stacks: its name, its repository and its labels, as far as they can be tags.
func (v *Vault) tags(ctx context.Context) map[string]string {
	tags := map[string]string{"mara:environment": v.stack()}
	if tag, ok := TagOfRepository(ctx, v.Settings.Root); ok {
		tags[tag.Name] = tag.Value
	}
	for name, label := range v.Settings.Described.Labels {
		if tagForm.MatchString(name) && len(label.Text) <= maxTag {
			tags[name] = label.Text
		}
	}
	return tags
}
