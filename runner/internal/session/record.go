package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"gopkg.in/yaml.v3"

	"mara/config"
	"mara/operation"
	"mara/providers"
	"mara/runner/internal/atomicfile"
	"mara/runner/internal/failure"
	"mara/runner/internal/layout"
)

// The runner keeps what belongs to an environment as a whole, and is not the
// user's to write, in .runner/environments/<stack>.yaml: its salt, if the stack
// file has none (see package encryption), and its provider, if the stack file
// does not name it.

// recordFile is the environment's salt file.
func (s *Session) recordFile() string {
	return s.Folder.Salt(s.Settings.Stack.Text)
}

// providerFile keeps the provider the environment was first used with.
func (s *Session) providerFile() string { return s.Folder.Provider(s.Settings.Stack.Text) }

type providerRecord struct {
	Provider string `yaml:"provider"`
}

// rememberedProvider is the provider that was named, else the one the
// environment was first used with. The two never differ: a stack does not
// change its provider.
func (s *Session) rememberedProvider(named config.Value) (config.Value, error) {
	return RememberedProvider(s.Folder, s.Settings.Stack.Text, named)
}

// RememberedProvider reads the record of an environment's provider.
func RememberedProvider(folder layout.Runner, stack string, named config.Value) (config.Value, error) {
	file := folder.Provider(stack)
	content, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return named, nil
	}
	if err != nil {
		return config.Value{}, runnerFolderError(err)
	}
	var record providerRecord
	if err := yaml.Unmarshal(content, &record); err != nil || record.Provider == "" {
		return named, nil
	}
	if named.IsSet() && named.Text != record.Provider {
		return config.Value{}, &failure.Environment{
			Text: fmt.Sprintf("the stack %q was deployed with the provider %s, but %s asks for %s; a stack never changes its provider",
				stack, record.Provider, named.Origin, named.Text),
			Next: fmt.Sprintf("go on with -p %s, or name another stack for %s with -s NAME", record.Provider, named.Text),
		}
	}
	return config.Value{Text: record.Provider, Origin: config.Origin{Source: config.FromRecord, File: file}}, nil
}

// RememberProvider notes the provider before anything is deployed with it.
func (s *Session) RememberProvider(op operation.Operation) error {
	if !op.Deploys() {
		return nil
	}
	content, err := yaml.Marshal(providerRecord{Provider: s.Provider.Name})
	if err != nil {
		return err
	}
	file := s.providerFile()
	if existing, err := os.ReadFile(file); err == nil && string(existing) == string(content) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return s.FolderError(err)
	}
	if err := atomicfile.Write(file, content, 0o600); err != nil {
		return s.FolderError(err)
	}
	return nil
}

// FolderError says that the runner's folder cannot be used.
func (s *Session) FolderError(err error) error { return runnerFolderError(err) }

func runnerFolderError(err error) error {
	return &failure.Environment{
		Text: fmt.Sprintf("the folder .runner cannot be used: %v", err),
		Next: "the runner keeps state and runs there; " + failure.WriteRemedy(err, "it") + ", or choose another root with --root",
	}
}

// ProviderOf is the provider of a name that was given somewhere.
func ProviderOf(name config.Value) (providers.Provider, error) {
	if !name.IsSet() {
		return providers.Provider{}, &config.FlagError{
			Flag: "--provider", Text: "no provider is named; known: " + strings.Join(providers.Names(), ", "),
			Next: "name it with -p NAME, or with " + config.InfraType + " in the stack configuration",
		}
	}
	provider, err := providers.ByName(name.Text)
	if err != nil {
		return providers.Provider{}, name.Wrong(err.Error(), "`runner providers` lists them")
	}
	return provider, nil
}
