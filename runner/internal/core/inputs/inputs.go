// Package inputs knows what the fingerprints of the projects of an environment are
// made of: programs, files, values and variables.
package inputs

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mara/config"
	"mara/config/files"
	"mara/config/lists"
	"mara/projects/model"
	"mara/runner/internal/core/catalogue"
	"mara/runner/internal/core/engine"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/fingerprint"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/programhost"
	"mara/runner/internal/core/session"
)

// NewMaker returns a maker of fingerprints. It computes the digests of the files that all projects share.
func NewMaker(s *session.Resolved) (*fingerprint.Maker, error) {
	basis, err := BasisOf(s)
	if err != nil {
		return nil, err
	}
	return fingerprint.NewMaker(basis)
}

// BasisOf returns what the fingerprints of all projects are made of.
func BasisOf(s *session.Resolved) (fingerprint.Basis, error) {
	programs, err := programFiles(s)
	if err != nil {
		return fingerprint.Basis{}, err
	}
	environ := s.Settings.Environ()
	for name := range environ {
		if strings.HasPrefix(name, "RUNNER_") { // flags of the runner's
			delete(environ, name)
		}
	}
	home := s.Settings.Environ() // the same for commands that only look
	if s.Options.Simulation.On {
		home = s.Env
	}
	mara, _ := config.ReadMara(s.Settings.Root) // the catalogue has reported what cannot be read
	return fingerprint.Basis{
		Ignored: config.Words(mara.Fingerprint.Ignore), Only: config.Words(mara.Fingerprint.Only),
		Root: s.Settings.Root, Directories: []string{filepath.Join(s.Settings.Root, config.Directory)},
		Programs:   append(programs, s.Options.Simulation.Schemas...),
		PluginDirs: []string{filepath.Join(programhost.PulumiHome(home), "plugins")},
		Environ:    environ,
		Declared:   declaredVariables(s),
		IsSecret:   func(name string) bool { return len(event.SecretsOf(map[string]string{name: ""})) > 0 },
		Setting: map[string]string{
			"backend": s.Settings.Backend.Text, "stack": s.Settings.Stack.Text, "provider": s.Provider.Name,
			"simulated": strconv.FormatBool(s.Options.Simulation.On), "without": strings.Join(s.Provider.Without(), ","),
		},
	}, nil
}

// declaredVariables returns the names of the variables in the environment file.
func declaredVariables(s *session.Resolved) []string {
	return lists.Map(s.Options.Sources.File.Variables(), func(v config.Variable) string { return v.Name })
}

// programFiles returns the programs that take part in running a project.
func programFiles(s *session.Resolved) ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	found, err := engine.Find(s.Deps.Engines, s.Options.Pulumi)
	if err != nil {
		return nil, err
	}
	host, err := s.Deps.ProgramHost()
	if err != nil {
		return nil, err
	}
	programs := []string{self, found.Path, host}
	for _, directory := range s.Deps.PluginDirs {
		more, err := files.Glob(directory, "pulumi-*")
		if err != nil {
			return nil, err
		}
		programs = append(programs, more...)
	}
	return slices.Compact(slices.Sorted(slices.Values(programs))), nil
}

// Of returns what the fingerprint of a project is made of, except for the outputs that it reads. Skipping projects
// does not change it.
func Of(s *session.Resolved, step plan.Step) (fingerprint.Subject, error) {
	step = Planned(s, step)
	project := step.Project
	subject := fingerprint.Subject{Config: configOf(s, project), Plan: step.Needs}
	if project.Own == nil && project.Name != model.SecretsProject {
		return subject, nil
	}
	made, _ := files.Read(s.Directory.Secrets(s.Settings.Stack.Text), files.Text) // only a simulation has it
	subject.Secrets = [][]byte{s.Settings.Secrets.Content, made}
	if project.Own == nil {
		return subject, nil
	}
	subject.Variables = s.Checkouts().Variables(project)
	file, err := catalogue.Beside(s.Settings.Root, s.Settings.Stack.Text, project)
	subject.Secrets = append(subject.Secrets, file.Content)
	own := filepath.Join(s.Settings.Root, "config")
	subject.Source = &fingerprint.Source{
		Dir: project.Own.Dir, Runtime: project.Own.Runtime, Root: s.Settings.Root, Inputs: project.Own.Inputs,
		// Programs may read files in the other directories of config.
		Outside: []string{filepath.Join(own, "pulumi"), filepath.Join(own, "environments"), filepath.Join(own, "layers")},
	}
	return subject, err
}

// ImportsOf returns which environments of Pulumi ESC the stack of a project imports, in YAML: those of the stack file in
// its directory, or else of the shared one; nil for none. Only Pulumi Cloud knows what they hold.
func ImportsOf(s *session.Resolved, project model.Project) []byte {
	if file, err := catalogue.Beside(s.Settings.Root, s.Settings.Stack.Text, project); err == nil {
		if own := file.Imports(); own != nil {
			return own
		}
	}
	return s.Settings.Config.Imports()
}

// NamedFiles returns the files that values of a project's configuration name.
func NamedFiles(s *session.Resolved, subject fingerprint.Subject) (fingerprint.Files, error) {
	return fingerprint.Basis{
		Root: s.Settings.Root, Directories: []string{filepath.Join(s.Settings.Root, config.Directory)},
	}.NamedFiles(subject)
}

// Parts computes the fingerprint of a project, except for the outputs that it reads. Files outside are no part of its
// program.
func Parts(
	s *session.Resolved, maker *fingerprint.Maker, step plan.Step, outside ...string,
) (fingerprint.Fingerprint, error) {
	subject, err := Of(s, step)
	if err != nil {
		return nil, err
	}
	if subject.Source != nil {
		subject.Source.Outside = append(subject.Source.Outside, outside...)
	}
	return maker.Of(subject)
}

// configOf returns the configuration that a project may read. A program of the
// catalogue reads the keys that it declares, keys that no project declares, and keys
// that Pulumi passes to plugins; a program of the user may read everything.
func configOf(s *session.Resolved, project model.Project) map[string]any {
	values := map[string]any{}
	for _, entry := range s.Settings.Config.Entries {
		if !strings.HasPrefix(entry.Key, "runner:") && (project.Own != nil || MayRead(s, project, entry.Key)) {
			values[entry.Key] = entry.Value
		}
	}
	return values
}

// MayRead reports whether a project may read a key. It may not if only other projects
// of the environment declare it.
func MayRead(s *session.Resolved, project model.Project, name string) bool {
	if _, ok := project.Key(name); ok {
		return true
	}
	for _, step := range s.Provider.Steps {
		if key, ok := step.Project.Key(name); ok && !key.OfPlugin {
			return false
		}
	}
	return true
}

// Configuration returns the fingerprint of the configuration: the stack files, in which secrets are encrypted, and of
// the environment file the names of its variables and the values that say where things are deployed. Other values may
// be secrets, which could be guessed from a digest.
func Configuration(s *session.Resolved) fingerprint.Fingerprint {
	names := slices.Sorted(slices.Values(declaredVariables(s)))
	parts := Places(s)
	parts[s.Settings.Config.File] = bytes.TrimSpace(s.Settings.Config.Content)
	parts[s.Settings.Secrets.File] = bytes.TrimSpace(s.Settings.Secrets.Content)
	parts[config.EnvironmentFile+" (its names)"] = []byte(strings.Join(names, "\n"))
	return fingerprint.New(parts)
}

// places are variables that say where something is deployed, and hold no secret.
var places = []string{
	"ARM_ENVIRONMENT", "ARM_LOCATION", "ARM_SUBSCRIPTION_ID", "ARM_TENANT_ID", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_REGION",
	"AWS_ROLE_ARN", "AZURE_LOCATION", "CLOUDSDK_ACTIVE_CONFIG_NAME", "CLOUDSDK_COMPUTE_REGION", "CLOUDSDK_COMPUTE_ZONE",
	"CLOUDSDK_CORE_PROJECT", "GOOGLE_CLOUD_PROJECT", "GOOGLE_PROJECT", "GOOGLE_REGION", "GOOGLE_ZONE", "KUBECONFIG", "KUBE_CONTEXT",
}

// Places returns the values of the environment file that say where things are deployed, each with a name for people.
func Places(s *session.Resolved) map[string][]byte {
	parts := map[string][]byte{}
	for _, v := range s.Options.Sources.File.Variables() {
		if slices.Contains(places, v.Name) {
			parts[v.Name+" in "+config.EnvironmentFile] = []byte(v.Value)
		}
	}
	return parts
}

// PlannedConfiguration returns the fingerprint of the configuration for a saved plan: with all values of the environment
// file, of those that may be secrets as one digest that is slow to guess.
func PlannedConfiguration(s *session.Resolved) (fingerprint.Fingerprint, error) {
	parts := Configuration(s)
	var others strings.Builder
	for _, v := range s.Options.Sources.File.Variables() {
		if !slices.Contains(places, v.Name) {
			fmt.Fprintf(&others, "%s=%q\n", v.Name, v.Value)
		}
	}
	header, err := s.Settings.Config.Header()
	if err != nil || others.Len() == 0 {
		return parts, err
	}
	digest, err := fingerprint.SlowDigest(others.String(), header.EncryptionSalt+header.EncryptedKey)
	parts[config.EnvironmentFile+" (its values)"] = digest
	return parts, err
}

// Planned returns a step as it is in the plan of the whole environment: skipping a project does not change what its
// readers depend on.
func Planned(s *session.Resolved, step plan.Step) plan.Step {
	isSame := func(other plan.Step) bool { return other.Project.Name == step.Project.Name }
	if planned, ok := lists.Find(s.Plan.Steps, isSame); ok {
		return planned
	}
	return step
}

// The parts of a fingerprint that are about the program of a project.
const (
	RunnerPart  = "programs"
	ProgramPart = "program"
	FilesPart   = "files"
)

// ProgramOnly returns the parts of a project's fingerprint that are about its program; nil for none.
func ProgramOnly(parts fingerprint.Fingerprint) fingerprint.Fingerprint {
	return OnlyParts(parts, RunnerPart, ProgramPart, FilesPart)
}

// OnlyParts returns a fingerprint without all other parts; nil for none.
func OnlyParts(parts fingerprint.Fingerprint, names ...string) fingerprint.Fingerprint {
	own := maps.Clone(parts)
	maps.DeleteFunc(own, func(part, _ string) bool { return !slices.Contains(names, part) })
	return own
}

// RecordsOf returns the records of the projects' last successes.
func RecordsOf(s *session.Resolved) fingerprint.Records {
	return fingerprint.Records(s.Directory.Fingerprints(s.Provider.Name, s.Settings.Stack.Text))
}
