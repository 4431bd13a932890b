// Package checkout finds or makes the directories in which Pulumi works on a project of an
// environment, and reads the stack files in the directories of own projects.
package checkout

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"gopkg.in/yaml.v3"

	"mara/config"
	"mara/config/files"
	"mara/config/lists"
	"mara/projects/model"
	"mara/runner/internal/core/catalogue"
	"mara/runner/internal/core/encryption"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/stacks"
	"mara/runner/internal/core/statefiles"
	"mara/runner/internal/machine/failure"
)

// Maker makes directories for the projects of an environment.
type Maker struct {
	Settings config.Settings
	Files    Files
	States   statefiles.Directory
	Env      map[string]string      // of Pulumi
	Declared []string               // variables of the environment file, which override those of projects
	Plugins  map[string]string      // directories of resource providers next to the runner
	TempDir  func() (string, error) // makes a directory that the caller removes later
	// NodeCache is where Node.js may keep what it has compiled; "" leaves that to it.
	NodeCache string
}

// Own returns the directories of own projects by name, with the copies of their stack files.
func (m Maker) Own(all []model.Project, copies encryption.Copies) (map[string]stacks.Directory, error) {
	found := map[string]stacks.Directory{}
	for _, project := range all {
		content, err := m.stackFileOf(project, copies)
		if err != nil {
			return nil, err
		}
		found[project.Name] = stacks.Directory{
			Path: project.Own.Dir, Root: m.Settings.Root, StackFile: content,
			Env: m.withNodeCache(project, m.ProjectEnv(project)),
		}
	}
	return found, nil
}

// nodeCacheVariables are those by which a person says whether and where Node.js keeps what it has compiled.
var nodeCacheVariables = []string{"NODE_COMPILE_CACHE", "NODE_DISABLE_COMPILE_CACHE"}

// withNodeCache adds to the variables of a project where Node.js, from 22.1 on, keeps what it has compiled of the sources
// that a program loads. It compiles Pulumi's SDK at each start otherwise, which is a quarter of a program's start.
func (m Maker) withNodeCache(p model.Project, env map[string]string) map[string]string {
	said := func(name string) bool { return env[name] != "" || m.Env[name] != "" }
	if m.NodeCache == "" || p.Own.Runtime != "nodejs" || slices.ContainsFunc(nodeCacheVariables, said) {
		return env
	}
	if env == nil {
		env = map[string]string{}
	}
	env[nodeCacheVariables[0]] = m.NodeCache
	return env
}

// ProjectEnv returns the variables of Pulumi's commands on a project besides those of the environment.
func (m Maker) ProjectEnv(p model.Project) map[string]string {
	env := m.Variables(p)
	if passphrase := m.PassphraseEnv(p); env == nil {
		return passphrase
	} else {
		maps.Copy(env, passphrase)
	}
	return env
}

// Variables returns the variables that mara.yaml gives to a project, with its backend where that is not the one of the
// others. A line of the environment file comes first: it is a person's last word.
func (m Maker) Variables(p model.Project) map[string]string {
	env := p.Environ(m.Settings.Stack.Text)
	maps.DeleteFunc(env, func(name, _ string) bool { return slices.Contains(m.Declared, name) })
	if backend, ok := m.Settings.Elsewhere[p.Name]; ok {
		if env == nil {
			env = map[string]string{}
		}
		env[config.BackendVariable] = backend.Text
	}
	return env
}

// PassphraseEnv returns what Pulumi's commands on a project need instead of the environment's passphrase: nothing, or
// that of the project's own stack file.
func (m Maker) PassphraseEnv(p model.Project) map[string]string {
	if p.Own == nil || p.Own.StackFiles == "" || !encryption.HasPassphrase(m.Env, p.Name) {
		return nil
	}
	return map[string]string{encryption.PassphraseVariable: m.Env[encryption.PassphraseVariableOf(p.Name)]}
}

// stackFileOf returns the copy of the stack file that a project works on.
func (m Maker) stackFileOf(project model.Project, copies encryption.Copies) ([]byte, error) {
	switch {
	case hasSecretsFile(project):
		return copies.Secrets, nil
	case project.Own == nil || project.Own.StackFiles == "":
		return copies.Stack, nil
	}
	file, err := m.Files.Of(project)
	if err != nil {
		return nil, err
	}
	return copies.Over(file)
}

// Directory returns a directory in which Pulumi can work on the project: the project's directory in a
// checkout, or else a substitute. If there are copies of the stack files, Pulumi uses the copies
// and does not change the user's files.
func (m Maker) Directory(p model.Project, copies encryption.Copies) (string, error) {
	if err := m.States.Make(); err != nil {
		return "", failure.RunnerDir(err)
	}
	plain := len(copies.Stack) == 0
	if p.Own != nil && p.Own.StackFiles != "" && plain {
		return p.Own.Dir, nil
	}
	checkout := filepath.Join(m.Settings.Root, filepath.FromSlash(p.Directory()))
	if p.Own == nil && plain && hasProject(checkout, p.Name) {
		return checkout, nil
	}
	work, err := m.TempDir()
	if err != nil {
		return "", err
	}
	files := map[string][]byte{}
	stackFiles := ""
	if plain {
		stackFiles, err = m.stackFilesFrom(work, p)
	} else {
		files["Pulumi."+m.Stack(p)+".yaml"], err = m.stackFileOf(p, copies)
	}
	if err == nil {
		files[config.ManifestFile], err = m.manifest(p, work, stackFiles)
	}
	if err != nil {
		return "", err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(work, name), content, 0o600); err != nil {
			return "", failure.RunnerDir(err)
		}
	}
	return work, nil
}

// hasProject reports whether a directory is the project's directory.
func hasProject(directory, name string) bool {
	content, err := files.Read(filepath.Join(directory, "Pulumi.yaml"), files.Text)
	var manifest struct {
		Name string `yaml:"name"`
	}
	return err == nil && yaml.Unmarshal(content, &manifest) == nil && manifest.Name == name
}

// hasSecretsFile reports whether a project is the built-in one with the secrets, whose stack file is another one.
func hasSecretsFile(p model.Project) bool { return p.Own == nil && p.Name == model.SecretsProject }

// NeedsCopies reports whether plain Pulumi would miss values of the project: values of layers
// and, if its program runs, secrets that the runner stores.
func (m Maker) NeedsCopies(p model.Project, runs bool) bool {
	if m.Settings.Config.Described() || runs && m.lacksSalt(p) {
		return true
	}
	return runs && slices.ContainsFunc(p.Secrets, func(secret model.Secret) bool {
		_, kept := m.Settings.Secrets.Lookup(secret.Key)
		return kept && secret.Own
	})
}

// lacksSalt reports whether Pulumi would add a new salt to the shared stack file although the
// environment has one.
func (m Maker) lacksSalt(p model.Project) bool {
	if hasSecretsFile(p) || p.Own != nil && p.Own.StackFiles != "" || m.Settings.Managed() {
		return false
	}
	return !SaysHow(m.Settings.Config) && SaysHow(m.Settings.Secrets)
}

// Stack returns the name of a project's stack in the environment.
func (m Maker) Stack(p model.Project) string {
	return model.StackNamesOf([]model.Project{p}).Of(p.Name, m.Settings.Stack.Text)
}

// stackFilesFrom returns the path from the directory work to the directory of the user's stack files.
func (m Maker) stackFilesFrom(work string, p model.Project) (string, error) {
	directory := filepath.Join(m.Settings.Root, config.Directory)
	if hasSecretsFile(p) {
		directory = filepath.Join(directory, "secrets")
	}
	return relativeDir(work, directory)
}

// manifest returns the Pulumi.yaml of a project for the directory work. It refers to the stack files in stackFiles, or
// to the ones in work if that is "".
func (m Maker) manifest(p model.Project, work, stackFiles string) ([]byte, error) {
	if p.Own != nil {
		return ownManifest(p, work, stackFiles)
	}
	plugins := []map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(m.Plugins)) {
		plugins = append(plugins, map[string]string{"name": name, "path": m.Plugins[name]})
	}
	settings := map[string]any{
		"name": p.Name, "runtime": model.Runtime,
		"plugins": map[string]any{"providers": plugins},
	}
	if stackFiles != "" {
		settings["stackConfigDir"] = stackFiles
	}
	return yaml.Marshal(settings)
}

// ownManifest returns the Pulumi.yaml of an own project for another directory. It also refers to the
// program in the project's directory.
func ownManifest(project model.Project, work, stackFiles string) ([]byte, error) {
	content, err := files.Read(filepath.Join(project.Own.Dir, config.ManifestFile), files.Text)
	if err != nil {
		return nil, err
	}
	var document map[string]any
	if err := yaml.Unmarshal(content, &document); err != nil {
		return nil, err
	}
	dir := project.Own.Dir
	if main, ok := document["main"].(string); ok {
		dir = filepath.Join(dir, main)
	}
	if document["main"], err = relativeDir(work, dir); err != nil {
		return nil, err
	}
	delete(document, "stackConfigDir")
	if stackFiles != "" {
		document["stackConfigDir"] = stackFiles
	}
	return yaml.Marshal(document)
}

// relativeDir returns the relative path from one directory to another. It resolves links first,
// because Pulumi joins paths as strings.
func relativeDir(from, to string) (string, error) {
	from, err := filepath.EvalSymlinks(from)
	if err != nil {
		return "", err
	}
	if resolved, err := filepath.EvalSymlinks(to); err == nil { // secrets/ may be missing
		to = resolved
	}
	return filepath.Rel(from, to)
}

// Files are the stack files in the directories of an environment's own projects.
type Files struct {
	Root  string
	Stack string // the name of the environment
}

// Of reads the stack file in a project's directory, which may be missing.
func (f Files) Of(project model.Project) (config.StackFile, error) {
	return catalogue.Beside(f.Root, f.Stack, project)
}

// InPlan reads the stack files in the directories of own projects, by project. It skips unreadable
// files, which Check reports. covered says that every project of the plan has a stack file with
// an encryption scheme.
func (f Files) InPlan(p plan.Plan) (files map[string]config.StackFile, covered bool) {
	files, covered = map[string]config.StackFile{}, len(p.Steps) > 0
	for _, step := range p.Steps {
		if step.Project.Own != nil {
			if file, err := f.Of(step.Project); err == nil && file.Exists {
				files[step.Project.Name] = file
			}
		}
		covered = covered && SaysHow(files[step.Project.Name])
	}
	return files, covered
}

// SaysHow reports whether a stack file has an encryption scheme.
func SaysHow(file config.StackFile) bool {
	header, err := file.Header()
	return err == nil && header != (config.Header{})
}

// Placed moves the problems of missing keys from the shared file to the stack files next to the projects that read them.
func (f Files) Placed(invalid error, own []model.Project, shared string) error {
	wrong, ok := errors.AsType[*config.Error](invalid)
	if !ok {
		return invalid
	}
	moved := *wrong
	moved.Problems = slices.Clone(wrong.Problems)
	for i, p := range moved.Problems {
		reader, isOwn := lists.Find(own, func(project model.Project) bool {
			_, reads := project.Key(p.Key)
			return reads && project.Own.StackFiles != ""
		})
		if !isOwn || p.File != shared || p.Line != 0 {
			continue
		}
		if file, err := f.Of(reader); err == nil {
			moved.Problems[i].File = file.File
		}
	}
	return &moved
}

// Check returns the problems of the files, and the missing keys that are not in them either.
func (f Files) Check(all []model.Project, declared, missing []config.Key) (rest []config.Key,
	problems []config.Problem, err error) {
	var errs []error
	for _, project := range all {
		file, err := f.Of(project)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		problems = append(problems, file.CheckDeclared(declared)...)
		missing = slices.DeleteFunc(slices.Clone(missing), func(key config.Key) bool {
			_, declared := project.Key(key.Name)
			return declared && len(file.Missing([]config.Key{key})) == 0
		})
	}
	return missing, problems, config.Join(errs...)
}
