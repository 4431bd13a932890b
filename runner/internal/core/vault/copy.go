package vault

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"

	"mara/config"
	"mara/config/files"
	"mara/runner/internal/core/encryption"
)

// NewFile is a file that is to be written, below the root.
type NewFile struct {
	Path    string
	Content []byte
}

// CopyTo makes the files of another environment from those of this one: the
// description, the stack file, and the secrets file. What is encrypted is
// encrypted anew, with the key of the other one. Nothing is written.
func (v *Vault) CopyTo(ctx context.Context, other *Vault) ([]NewFile, error) {
	schemes, err := v.schemes()
	if err != nil {
		return nil, err
	}
	c := copier{from: v}
	stack, secrets := v.Settings.Config.Own(), v.Settings.Secrets
	described := config.StackFile{File: v.Settings.Described.File, Entries: slices.Clone(v.Settings.Described.Entries)}
	described.Entries = slices.DeleteFunc(described.Entries, func(e config.Entry) bool { return e.File != described.File })
	if len(stack.Ciphertexts())+len(secrets.Ciphertexts())+len(described.Ciphertexts()) > 0 {
		if err := errors.Join(v.RefuseHalfChanged(ctx), v.AskPassphrase(ctx)); err != nil {
			return nil, err
		}
		if c.to, err = other.Sealer(ctx); err != nil {
			return nil, err
		}
	}
	var files []NewFile
	for _, part := range []struct {
		file   config.StackFile
		scheme encryption.Scheme
		path   string
	}{{stack, schemes.Stack, config.StackPath(other.stack())}, {secrets, schemes.Secrets,
		config.SecretsPath(other.stack())}} {
		if !part.file.Exists {
			continue
		}
		content, err := c.file(ctx, part.file, part.scheme)
		if err != nil {
			return nil, v.failedUnless(ctx, err)
		}
		files = append(files, NewFile{part.path, content})
	}
	own, err := v.copyOwn(ctx, other)
	if err != nil {
		return nil, v.failedUnless(ctx, err)
	}
	files = append(files, own...)
	if described.File == "" {
		return files, nil
	}
	content, err := c.description(ctx, described, schemes.Stack)
	return append(files, NewFile{config.DescriptionPath(other.stack()), content}), err
}

// copyOwn makes the stack files next to projects of another environment.
func (v *Vault) copyOwn(ctx context.Context, other *Vault) (files []NewFile, err error) {
	for _, project := range slices.Sorted(maps.Keys(v.ProjectStackFiles)) {
		file, path := v.ProjectStackFiles[project], other.OwnPaths[project]
		if path == "" || filepath.IsAbs(path) {
			continue
		}
		content := file.Content
		if len(file.Ciphertexts()) == 0 {
			content, err = file.EditHeader(config.Header{}) // it gets a key when it needs one
		} else {
			content, err = v.resealOwn(ctx, other, project, file, path)
		}
		if err != nil {
			return nil, err
		}
		files = append(files, NewFile{path, content})
	}
	return files, nil
}

func (v *Vault) resealOwn(ctx context.Context, other *Vault, project string, file config.StackFile, path string) ([]byte,
	error) {
	if err := errors.Join(v.RefuseHalfChanged(ctx), v.AskPassphrase(ctx)); err != nil {
		return nil, err
	}
	maps.Copy(other.Env, v.Env) // with the passphrase, which may have been asked for
	from, err := v.ownSealer(ctx, Elsewhere{project, file})
	if err != nil {
		return nil, err
	}
	to, err := other.ownSealer(ctx, Elsewhere{project, config.StackFile{File: path}})
	if err != nil {
		return nil, err
	}
	return encryption.Reseal(ctx, file, from, to)
}

// copier copies files between two environments.
type copier struct {
	from *Vault
	to   encryption.Sealer // nil where nothing is encrypted
}

// file encrypts a stack file anew. Without anything encrypted it has no key: the
// other environment gets its own when it needs one.
func (c copier) file(ctx context.Context, file config.StackFile, scheme encryption.Scheme) ([]byte, error) {
	if len(file.Ciphertexts()) > 0 {
		from, err := c.from.sealerOf(ctx, scheme)
		if err != nil {
			return nil, err
		}
		return encryption.Reseal(ctx, file, from, c.to)
	}
	header := config.Header{}
	if c.to != nil {
		header = c.to.Scheme().Header()
	}
	return file.EditHeader(header)
}

// description encrypts the values in a description anew; the rest of its text
// stays.
func (c copier) description(ctx context.Context, described config.StackFile, scheme encryption.Scheme) ([]byte, error) {
	content, err := files.Read(filepath.Join(c.from.Settings.Root, described.File), files.Text)
	if err != nil || len(described.Ciphertexts()) == 0 {
		return content, err
	}
	from, err := c.from.sealerOf(ctx, scheme)
	if err != nil {
		return nil, err
	}
	for _, entry := range described.Entries {
		for _, old := range (config.StackFile{Entries: []config.Entry{entry}}).Ciphertexts() {
			if !bytes.Contains(content, []byte(old)) {
				return nil, &config.Error{Problems: []config.Problem{{
					File: entry.File, Line: entry.Line, Key: entry.Key, Text: "is encrypted in a form that cannot be copied; " +
						"write it as {secure: ...}",
				}}}
			}
			values, err := from.Unseal(ctx, map[string]string{entry.Key: old})
			if err != nil {
				return nil, err
			}
			c.from.Masker.Add(values[entry.Key])
			sealed, err := c.to.Seal(ctx, values)
			if err != nil {
				return nil, err
			}
			content = bytes.ReplaceAll(content, []byte(old), []byte(sealed[entry.Key]))
		}
	}
	return content, nil
}
