package request

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"mara/config"
	"mara/config/files"
	"mara/projects/model"
	"mara/runner/internal/machine/atomicfile"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/layout"
)

// The runner records the provider of an environment in
// .runner/environments/<stack>.provider.yaml, for stack files that do not name
// it.

type providerRecord struct {
	Provider string `yaml:"provider"`
}

// RememberedProvider returns the named provider, or else the recorded provider of the
// environment's first use. If both exist and differ, it returns an error. Without either, it
// returns the only provider of mara.yaml.
func (r Request) RememberedProvider(dir layout.Runner, stack string, named config.Value) (config.Value, error) {
	recorded, err := recordedProvider(dir, stack)
	return r.providerBy(recorded, err, stack, named)
}

// providerBy decides between a record, with the error of reading it, and the named provider.
func (r Request) providerBy(recorded config.Value, err error, stack string, named config.Value) (config.Value, error) {
	isOther := recorded.IsSet() && named.IsSet() && named.Text != recorded.Text
	switch {
	case err != nil:
		return config.Value{}, failure.RunnerDir(err)
	case isOther && !r.ChangeProvider:
		return config.Value{}, &failure.Environment{
			Text: fmt.Sprintf("the stack %q was deployed with the provider %s, but %s asks for %s; a stack never changes its "+
				"provider while something is deployed",
				stack, recorded.Text, named.Origin, named.Text),
			Next: fmt.Sprintf("use -p %s, or name another stack for %s with -s NAME", recorded.Text, named.Text),
		}
	case isOther:
		return named, nil
	}
	return cmp.Or(recorded, named, r.onlyProvider()), nil
}

// ProviderToLook returns what RememberedProvider does, for what changes nothing. A record that this user may not read, in a
// checkout of another user, does not count where the provider is known without it.
func (r Request) ProviderToLook(dir layout.Runner, stack string, named config.Value) (config.Value, error) {
	recorded, err := recordedProvider(dir, stack)
	if known := cmp.Or(named, r.onlyProvider()); errors.Is(err, fs.ErrPermission) && known.IsSet() {
		return known, nil
	}
	return r.providerBy(recorded, err, stack, named)
}

// onlyProvider returns the only provider of mara.yaml; it is unset if there are several.
func (r Request) onlyProvider() config.Value {
	name := r.Known().Default()
	if name == "" {
		return config.Value{}
	}
	return config.Value{Text: name, Origin: config.Origin{Source: config.FromMara, File: config.MaraFile}}
}

// recordedProvider returns the recorded provider of a stack; it is unset without a record.
func recordedProvider(dir layout.Runner, stack string) (config.Value, error) {
	file := dir.Provider(stack)
	content, err := files.Read(file, files.Text)
	if errors.Is(err, fs.ErrNotExist) {
		return config.Value{}, nil
	}
	if err != nil {
		return config.Value{}, err
	}
	var record providerRecord
	if err := yaml.Unmarshal(content, &record); err != nil || record.Provider == "" {
		return config.Value{}, nil
	}
	return config.Value{Text: record.Provider, Origin: config.Origin{Source: config.FromRecord, File: file}}, nil
}

// RecordedProvider reads the recorded provider of a stack, or "".
func RecordedProvider(dir layout.Runner, stack string) string {
	recorded, _ := recordedProvider(dir, stack) // "" for one that cannot be read
	return recorded.Text
}

// ProviderBefore returns the previous provider of the environment, from the stack file or the
// record of its first deployment, or "" if it is unchanged.
func ProviderBefore(dir layout.Runner, settings config.Settings, provider string) string {
	before := cmp.Or(RecordedProvider(dir, settings.Stack.Text), settings.Replaced.Text)
	if before == provider {
		return ""
	}
	return before
}

// RememberProvider records the provider of an environment.
func RememberProvider(dir layout.Runner, stack, provider string) error {
	return WriteRecord(dir.Provider(stack), providerRecord{Provider: provider})
}

// keysRecord has the keys of the stack files next to the projects with which the environment was deployed from here,
// or which were made here.
type keysRecord struct {
	Keys []string `yaml:"keys"` // salts of passphrases, and encrypted data keys
}

// RememberedKeys returns the recorded keys of an environment's stack files; recorded is false without a record.
func RememberedKeys(dir layout.Runner, stack string) (keys []string, recorded bool) {
	content, err := files.Read(dir.Keys(stack), files.Text)
	var record keysRecord
	if err != nil || yaml.Unmarshal(content, &record) != nil {
		return nil, false
	}
	return record.Keys, true
}

// RememberKeys adds keys to the record.
func RememberKeys(dir layout.Runner, stack string, keys ...string) error {
	before, _ := RememberedKeys(dir, stack)
	all := slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(before), keys...))))
	return WriteRecord(dir.Keys(stack), keysRecord{all})
}

// WriteRecord writes a file of the runner as YAML, unless it has this content already.
func WriteRecord(file string, record any) error {
	content, err := yaml.Marshal(record)
	if err != nil {
		return err
	}
	if existing, err := files.Read(file, files.Text); err == nil && string(existing) == string(content) {
		return nil
	}
	if err := atomicfile.WriteDeep(file, content, 0o600, 0o700); err != nil {
		return failure.RunnerDir(err)
	}
	return nil
}

// ProviderOf returns the named provider, or else the only provider of mara.yaml.
func (r Request) ProviderOf(name config.Value) (model.Provider, error) {
	known := r.Known()
	if !name.IsSet() {
		name = r.onlyProvider()
	}
	if err := r.nearlyNamed(); !name.IsSet() && err != nil {
		return model.Provider{}, err
	}
	if !name.IsSet() {
		return model.Provider{}, &config.FlagError{
			Flag: "--provider", Text: "no provider is named; known: " + strings.Join(known.Names(), ", "),
			Next: "name it with -p NAME, or with " + config.InfraType + " in the stack configuration",
		}
	}
	provider, err := known.ByName(name.Text)
	if err != nil {
		return model.Provider{}, name.Wrong(err.Error(), "`runner providers` lists them")
	}
	return provider, nil
}

// nearlyNamed returns an error about an environment that nothing names and whose name is nearly that of one that there is:
// without a provider it is no new one. It returns nil for others.
func (r Request) nearlyNamed() error {
	if r.Root == "" || !r.Stack.IsSet() {
		return nil
	}
	names, err := r.Environments()
	meant := config.DidYouMean(r.Stack.Text, names)
	if err != nil || meant == "" || slices.Contains(names, r.Stack.Text) {
		return nil // what cannot be read is reported elsewhere
	}
	return r.Stack.Wrong(fmt.Sprintf("there is no environment %q%s", r.Stack.Text, meant),
		"for a new environment, name its provider with -p NAME; known: "+strings.Join(r.Known().Names(), ", "))
}

// Write replaces a file below config/pulumi atomically, and creates its directory: a root may
// have only a mara.yaml. Only the user can read a new environment file, because it may
// contain credentials.
func Write(root, file string, content []byte) error {
	mode := os.FileMode(0o644)
	if file == config.EnvironmentFile {
		mode = 0o600
	}
	if err := atomicfile.WriteDeep(filepath.Join(root, file), content, mode, 0o755); err != nil {
		return &failure.Environment{Text: err.Error(), Next: "nothing was changed; " + failure.WriteRemedy(err,
			"the directory")}
	}
	return nil
}
