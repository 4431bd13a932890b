package export

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/config/lists"
	"mara/projects/model"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/environments"
	"mara/runner/internal/core/fleet"
	"mara/runner/internal/core/gitsource"
	"mara/runner/internal/core/request"
	"mara/runner/internal/core/session"
	"mara/runner/internal/machine/failure"
)

// Export returns `runner export`, with its subcommands.
func Export(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "export", Usage: "generate CI pipelines or manifests for the operator",
		Description: "Writes files with which other machines run environments. They need a backend that they can " +
			"reach: a state in a directory of this machine is an error. Values of secrets are never written.\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitUsage, cmd.ExitConfig),
		Subcommands: []*cli.Command{ciCommand(d), operatorCommand(d)},
	}
}

// environment is an environment to export.
type environment struct {
	*session.Resolved
}

func (e environment) name() string { return e.Settings.Stack.Text }

// resolveAll resolves the environments of waves, or without waves the one of the options; the caller closes them.
// origin says where the names come from. Its error lists the problems of all environments. With stateCounts other
// machines must be able to reach their backend.
func resolveAll(
	d cmd.Deps, o session.Options, waves [][]string, origin config.Origin, stateCounts bool,
) ([]environment, error) {
	chosen := []config.Value{o.Stack}
	if names := slices.Concat(waves...); len(names) > 0 {
		chosen = lists.Map(names, func(name string) config.Value { return config.Value{Text: name, Origin: origin} })
	}
	var all []environment
	var problems []error
	for _, stack := range chosen {
		o.Stack = stack
		s, err := session.ResolveToOperate(d.Deps, o)
		all = append(all, environment{s})
		if err != nil {
			problems = append(problems, err)
			continue
		}
		for _, settings := range s.Settings.InEach() {
			if dir, ok := settings.StateDir(); ok && stateCounts {
				problems = append(problems, &failure.Environment{
					Text: fmt.Sprintf("the state of %s is in %s (%s), which other machines cannot reach", s.Settings.Stack.Text, dir,
						settings.Backend.Origin),
					Next: "name a backend that they can reach, such as s3://..., there or as PULUMI_BACKEND_URL in " +
						config.EnvironmentFile,
				})
			}
		}
	}
	return all, errors.Join(problems...)
}

func closeAll(all []environment) error { return errors.Join(lists.Map(all, environment.Close)...) }

// needsPassphrase reports whether a passphrase encrypts the environment's values.
func (e environment) needsPassphrase() (bool, error) {
	header, err := e.Settings.Config.Header()
	return !e.Settings.Managed() && (header.SecretsProvider == "" || header.SecretsProvider == "passphrase"), err
}

// usesAWS reports whether the provider, the backend or the key is on AWS.
func (e environment) usesAWS() bool {
	for _, file := range environments.OwnFiles(e.Settings.Root, e.Settings.Stack.Text, e.Options.Known()) {
		if header, err := file.Header(); err == nil && strings.HasPrefix(header.SecretsProvider, "awskms:") {
			return true
		}
	}
	header, _ := e.Settings.Config.Header() // needsPassphrase reports the error
	isOnS3 := func(s config.Settings) bool { return strings.HasPrefix(s.Backend.Text, "s3://") }
	return e.Provider.InfraType() == "aws" || slices.ContainsFunc(e.Settings.InEach(), isOnS3) ||
		strings.HasPrefix(header.SecretsProvider, "awskms:")
}

// tokens returns the variables with credentials. AWS uses roles instead.
func (e environment) tokens() []string {
	if e.Provider.InfraType() == "aws" {
		return nil
	}
	variables := lists.Map(e.Provider.Account.Credentials, func(c model.Credential) string { return c.Variable })
	return slices.DeleteFunc(variables, func(name string) bool { return name == "" })
}

// wavesOf returns the selected environments of the fleet in the waves of config/rollout.yaml, or
// in one wave without it. held reports whether a wave has a soak or a gate.
func wavesOf(r request.Request, s fleet.Selection) (waves [][]string, held bool, err error) {
	all, rollout, err := r.Fleet()
	if err != nil {
		return nil, false, err
	}
	chosen, err := fleet.Select(all, s)
	if err != nil {
		return nil, false, err
	}
	members := map[string][]string{}
	for _, e := range chosen {
		wave, err := rollout.WaveOf(e)
		if err != nil {
			return nil, false, err
		}
		members[wave.Name] = append(members[wave.Name], e.Stack)
	}
	if len(rollout.Waves) == 0 {
		return [][]string{members[""]}, false, nil
	}
	for _, wave := range rollout.Waves {
		if len(members[wave.Name]) > 0 {
			waves = append(waves, members[wave.Name])
			held = held || wave.Soak > 0 || len(wave.Gates) > 0
		}
	}
	return waves, held, nil
}

// stackPlaceholder stands for the environment in a namespace.
const stackPlaceholder = "{stack}"

// namespaceOf returns the namespace of an environment.
func namespaceOf(pattern, stack string) string {
	return strings.ReplaceAll(pattern, stackPlaceholder, strings.ToLower(strings.NewReplacer("_", "-", ".",
		"-").Replace(stack)))
}

// checkShared refuses environments that would share objects: the operator names a project after its Program, so that
// environments in one namespace have the same one, and a wave would replace the program of those after it.
func checkShared(all []operatorDocument) error {
	owner := map[string]string{}
	for _, e := range all {
		objects := lists.Map(e.programs, func(name string) string { return "Program " + name })
		for _, name := range slices.Sorted(maps.Values(e.Stacks)) {
			objects = append(objects, "Stack "+name)
		}
		for _, object := range objects {
			key := e.Namespace + " " + object
			if other, taken := owner[key]; taken {
				return &failure.Environment{
					Text: fmt.Sprintf("%s and %s would share the %s in the namespace %s", other, e.Stack, object, e.Namespace),
					Next: "give each environment a namespace of its own with -n 'pulumi-" + stackPlaceholder +
						"', or take the programs from --repo or --flux",
				}
			}
			owner[key] = e.Stack
		}
	}
	return nil
}

const projectFile = "Pulumi.yaml"

// uncommittedNotes asks git which of the files that others read it ignores or does not track: they are missing there.
// A file that git has already is not ignored. Outside of a repository, or without git, there is nothing to note.
func uncommittedNotes(ctx context.Context, first environment, reader string, files []string) ([]string, error) {
	slices.Sort(files)
	files = slices.Compact(files)
	ask := func(files []string, args ...string) ([]string, error) {
		return gitsource.List(ctx, first.Settings.Root, first.Options.Sources.Process, files, args...)
	}
	ignored, ignoredErr := ask(files, "check-ignore")
	within := slices.Clone(files) // of a project: all of its directory
	for i, file := range within {
		if filepath.Base(file) == projectFile {
			within[i] = filepath.Dir(file)
		}
	}
	untracked, untrackedErr := ask(within, "ls-files", "--others", "--exclude-standard", "--directory",
		"--no-empty-directory")
	noted := func(names []string, format string) []string {
		return lists.Map(names, func(name string) string { return fmt.Sprintf(format, name, reader) })
	}
	notes := noted(ignored,
		"commit %s, which %s reads and git ignores: `git add -f %[1]s`, and take it out of .gitignore")
	notes = append(notes, noted(untracked, "commit %s, which %s reads and git does not have: `git add %[1]s`")...)
	return notes, errors.Join(ignoredErr, untrackedErr)
}

// projectFiles lists the Pulumi.yaml of the user's projects in the checkout that reads reports.
func (e environment) projectFiles(reads func(model.Project) bool) []string {
	var files []string
	for _, step := range e.Plan.Steps {
		if own := step.Project.Own; own != nil && own.Git == "" && reads(step.Project) {
			files = append(files, filepath.Join(own.Path, projectFile))
		}
	}
	return files
}

// files lists the existing files below the root that an environment is made from.
func (e environment) files() []string {
	s := e.Settings
	names := []string{config.EnvironmentFile, config.MaraFile, config.StackPath(s.Stack.Text), s.Config.File,
		s.Secrets.File}
	for _, entry := range s.Described.Entries {
		names = append(names, entry.File)
	}
	for _, file := range environments.OwnFiles(s.Root, s.Stack.Text, e.Options.Known()) {
		names = append(names, file.File)
	}
	names = append(names, e.projectFiles(func(model.Project) bool { return true })...)
	return slices.DeleteFunc(names, func(name string) bool {
		if name == "" || filepath.IsAbs(name) {
			return true
		}
		_, err := os.Stat(filepath.Join(s.Root, name))
		return err != nil
	})
}
