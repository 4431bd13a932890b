// Package environments answers which environments a root has, from files alone: the list in mara.yaml, descriptions,
// shared stack files, secrets files, and the stack files next to the projects. It runs nothing and asks no backend.
package environments

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mara/config"
	"mara/config/lists"
	"mara/projects/model"
	"mara/runner/internal/core/catalogue"
)

// Evidence is a reason why an environment exists.
type Evidence struct {
	Text string // "stack file of net"
	File string // below the root
	Line int
}

// Known are the environments of a root.
type Known struct {
	names  map[string][]Evidence
	Doubts []config.Problem // stack files that belong to no environment
}

// Names returns the names of the environments, sorted.
func (k Known) Names() []string { return lists.Keys(k.names) }

// Evidence returns why an environment exists; nil if nothing names it.
func (k Known) Evidence(name string) []Evidence { return k.names[name] }

func (k Known) add(name string, e Evidence) { k.names[name] = append(k.names[name], e) }

// Names lists the environments of a root. An error is about files that cannot be read, or have the wrong name; the
// others are returned with it.
func Names(root string, known catalogue.Catalogue) ([]string, error) {
	k, err := Find(root, known)
	return k.Names(), err
}

// Find finds the environments of a root, with the evidence. If mara.yaml has a list of environments, it is complete:
// stack files next to projects with other names, such as templates, are doubts.
func Find(root string, known catalogue.Catalogue) (Known, error) {
	k := Known{names: map[string][]Evidence{}}
	for _, name := range known.Environments {
		k.add(name.Text, Evidence{"listed in " + known.File, known.File, name.Line})
	}
	shared, err := config.Stacks(root)
	for _, name := range shared {
		file := config.StackPath(name)
		if _, err := os.Stat(filepath.Join(root, file)); err != nil {
			file = config.DescriptionPath(name)
		}
		k.add(name, Evidence{Text: "configured in " + file, File: file})
	}
	k.addSecrets(root)
	errs := []error{err}
	for _, project := range known.Projects {
		errs = append(errs, k.addOwn(root, known, project))
	}
	return k, config.Join(errs...)
}

// addSecrets adds environments that have only secrets so far.
func (k Known) addSecrets(root string) {
	directory := filepath.Dir(config.SecretsPath("x"))
	for _, stack := range stackFiles(filepath.Join(root, directory)) {
		if config.CheckStackName(stack) == nil {
			file := config.SecretsPath(stack)
			k.add(stack, Evidence{Text: "secrets in " + file, File: file})
		}
	}
}

// addOwn adds the environments of the stack files in a project's directory.
func (k *Known) addOwn(root string, known catalogue.Catalogue, project model.Project) error {
	if project.Own == nil || project.Own.StackFiles == "" {
		return nil
	}
	shown := project.Own.StackFiles
	if relative, err := filepath.Rel(root, shown); err == nil && filepath.IsLocal(relative) {
		shown = filepath.ToSlash(relative)
	}
	if shown == config.Directory { // its stackConfigDir is that of the shared files
		return nil
	}
	entries, err := os.ReadDir(project.Own.StackFiles)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return &config.Error{Problems: []config.Problem{{File: shown, Text: fmt.Sprintf("cannot be read: %v", reason(err))}}}
	}
	names := model.StackNamesOf([]model.Project{project})
	for _, entry := range entries {
		file := filepath.ToSlash(filepath.Join(shown, entry.Name()))
		if stack, ok := strings.CutPrefix(entry.Name(), "Pulumi."); ok && strings.HasSuffix(stack, ".yml") && len(stack) > 4 {
			text := "is not read, because its name ends in .yml; rename it to " + strings.TrimSuffix(entry.Name(), "yml") + "yaml"
			k.doubt(file, text)
		}
		stack, ok := config.StackOfFile(entry)
		if !ok {
			continue
		}
		environment, fits := names.Environment(project.Name, stack)
		switch {
		case config.CheckStackName(stack) != nil:
			k.doubt(file, "is not named after a stack: "+config.CheckStackName(stack).Error())
		case !fits:
			k.doubt(file, fmt.Sprintf("is of no environment: the stacks of %s are named %s", project.Name, project.Own.Stack))
		case known.Environments != nil && k.Evidence(environment) == nil:
			k.doubt(file, fmt.Sprintf("is of no environment: %s lists %s", known.File,
				strings.Join(config.Words(known.Environments), ", "))+config.DidYouMean(environment, config.Words(known.Environments)))
		case IsTemplate(environment) && k.Evidence(environment) == nil:
			k.doubt(file, "is taken for a template; if it is of an environment, list that in "+config.MaraFile)
		default:
			k.add(environment, Evidence{Text: "stack file of " + project.Name, File: file})
		}
	}
	return nil
}

// IsTemplate reports whether a stack file next to a project is most likely there for people to copy or to read, by the
// name of its environment.
func IsTemplate(environment string) bool {
	return slices.Contains([]string{"example", "examples", "sample", "template", "readme", "tmpl"}, strings.ToLower(environment))
}

func (k *Known) doubt(file, text string) {
	p := config.Problem{File: file, Text: text}
	if !slices.Contains(k.Doubts, p) { // two projects may share a directory
		k.Doubts = append(k.Doubts, p)
	}
}

// stackFiles returns the names of the stacks with a file in a directory.
func stackFiles(directory string) (stacks []string) {
	entries, _ := os.ReadDir(directory) // other commands report a directory that cannot be read
	for _, entry := range entries {
		if stack, ok := config.StackOfFile(entry); ok {
			stacks = append(stacks, stack)
		}
	}
	return stacks
}

func reason(err error) error {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return failed.Err
	}
	return err
}

// HasOwnFiles reports whether projects keep stack files next to their programs.
func HasOwnFiles(known catalogue.Catalogue) bool {
	return slices.ContainsFunc(known.Projects, func(p model.Project) bool { return p.Own != nil && p.Own.StackFiles != "" })
}

// OwnFiles reads the stack files of an environment that are next to its projects. It skips those that cannot be read.
func OwnFiles(root, environment string, known catalogue.Catalogue) (files []config.StackFile) {
	for _, project := range known.Projects {
		if file, err := catalogue.Beside(root, environment, project); err == nil && file.Exists {
			files = append(files, file)
		}
	}
	return files
}

// OwnKeys returns the keys of those files: salts of passphrases, and encrypted data keys.
func OwnKeys(root, environment string, known catalogue.Catalogue) (keys []string) {
	for _, file := range OwnFiles(root, environment, known) {
		if header, err := file.Header(); err == nil && header.EncryptionSalt+header.EncryptedKey != "" {
			keys = append(keys, header.EncryptionSalt+header.EncryptedKey)
		}
	}
	return keys
}
