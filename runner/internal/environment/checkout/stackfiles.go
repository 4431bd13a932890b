package checkout

import (
	"fmt"
	"slices"

	"mara/config"
	"mara/projects/model"
	"mara/runner/internal/repo/catalogue"
	"mara/runner/internal/run/plan"
)

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

// WithoutOwn returns the secrets of a project that its stack file does not have.
func WithoutOwn(secrets []model.Secret, file config.StackFile) []model.Secret {
	return slices.DeleteFunc(slices.Clone(secrets), func(secret model.Secret) bool {
		entry, _ := file.Lookup(secret.Key)
		_, encrypted := entry.Value.(config.Ciphertext)
		return encrypted
	})
}

// missing returns the missing secrets of a stack file with its own encryption. The secrets that
// the runner stores are encrypted with another key.
func (f Files) missing(project model.Project, file config.StackFile) []config.Problem {
	var problems []config.Problem
	for _, secret := range WithoutOwn(project.Secrets, file) {
		if _, plain := file.Lookup(secret.Key); secret.Optional || plain {
			continue
		}
		problems = append(problems, config.Problem{File: file.File, Key: secret.Key, Text: fmt.Sprintf(
			"is missing: %s; the file has an encryption of its own, so set it with %s", secret.Doc,
			f.Setting(project, secret.Key))})
	}
	return problems
}

// Setting returns the command that sets a secret in the stack file of a project.
func (f Files) Setting(project model.Project, key string) string {
	return fmt.Sprintf("`runner pulumi %s -s %s -- config set --secret %s`", project.Name, f.Stack, key)
}

// Check returns the problems of the files, and the missing keys that are not in them either.
// If programs will run, it also requires their secrets.
func (f Files) Check(all []model.Project, declared, missing []config.Key, wantSecrets bool) (rest []config.Key,
	problems []config.Problem, err error) {
	var errs []error
	for _, project := range all {
		file, err := f.Of(project)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		problems = append(problems, file.CheckDeclared(declared)...)
		if wantSecrets && SaysHow(file) {
			problems = append(problems, f.missing(project, file)...)
		}
		missing = slices.DeleteFunc(slices.Clone(missing), func(key config.Key) bool {
			_, declared := project.Key(key.Name)
			return declared && len(file.Missing([]config.Key{key})) == 0
		})
	}
	return missing, problems, config.Join(errs...)
}
