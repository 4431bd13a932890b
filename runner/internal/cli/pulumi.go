package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/urfave/cli/v2"
	"gopkg.in/yaml.v3"

	"mara/config"
	"mara/projects"
	"mara/runner/internal/encryption"
	"mara/runner/internal/event"
	"mara/runner/internal/failure"
	"mara/runner/internal/programhost"
	"mara/runner/internal/stacks"
)

func pulumiCommand(d Deps) *cli.Command {
	return &cli.Command{
		Name:      "pulumi",
		Usage:     "run any Pulumi command on one project",
		ArgsUsage: "PROJECT -- ARGS...",
		Description: "Runs Pulumi (the engine inside, or --pulumi) with the environment's state, stack and configuration, in the\n" +
			"project's folder if there is a checkout, else in a working copy. It works on your own stack file, as plain\n" +
			"pulumi does. The programs are those of this runner: `up`, `preview`, `refresh` and `destroy` need no Go.\n\n" +
			"With --simulate the clouds are simulated while the command runs, and it works on a copy of the\n" +
			"configuration: what it writes there is lost.\n\n" +
			"Examples:\n  runner pulumi certmgr -- stack output\n  runner pulumi certmgr -s dev -- preview --diff\n" +
			"  runner pulumi aws-vpc --simulate -- stack export\n\n" +
			"Exit codes: those of the Pulumi command, and\n" + exitText(exitUsage, exitConfig),
		Flags: joinFlags(environmentFlags(), simulationFlags(), pulumiFlags(), baseFlags()),
		Action: func(c *cli.Context) error {
			options, err := parsePulumi(c, d)
			if err != nil {
				return err
			}
			return runPulumi(c.Context, d, options)
		},
	}
}

type pulumiOptions struct {
	sessionOptions
	Project string
	Args    []string // of the Pulumi command
}

func parsePulumi(c *cli.Context, d Deps) (pulumiOptions, error) {
	session, err := parseSession(c, d)
	if err != nil {
		return pulumiOptions{}, err
	}
	given := c.Args().Slice()
	if len(given) < 2 {
		return pulumiOptions{}, failure.Usagef(c.Command.Name, "a project and a Pulumi command are needed: `%s pulumi PROJECT -- ARGS...`", name)
	}
	return pulumiOptions{sessionOptions: session, Project: given[0], Args: given[1:]}, nil
}

// runPulumi runs the command as a child that has the terminal to itself.
func runPulumi(ctx context.Context, d Deps, o pulumiOptions) (err error) {
	path, err := enginePath(d, o.Pulumi)
	if err != nil {
		return &failure.Environment{Text: err.Error()}
	}
	s := &session{masker: event.NewMasker()}
	defer func() { err = errors.Join(err, s.close()) }()
	dir, err := s.openProject(ctx, d, o)
	if err != nil {
		return err
	}
	args := o.Args
	if at := programArgument(args); at >= 0 {
		host, err := s.hostProgram(d, o)
		if err != nil {
			return err
		}
		s.closers = append(s.closers, host.Close)
		args = slices.Insert(slices.Clone(args), at, "--client="+host.Address)
	}
	command := exec.Command(path, args...)
	command.Dir, command.Env = dir, environ(s.env)
	command.Stdin, command.Stdout, command.Stderr = d.Stdin, direct(d.Stdout), d.Stderr
	return passThrough(ctx, d, command)
}

// enginePath is where the engine is; the command runs in another folder.
func enginePath(d Deps, installed string) (string, error) {
	found, err := findEngine(d, installed)
	if err != nil {
		return "", err
	}
	path, err := exec.LookPath(found.path)
	if err != nil {
		return "", fmt.Errorf("no pulumi at %s: %w", found.path, err)
	}
	return filepath.Abs(path)
}

// openProject opens the environment as far as one project needs it, and is the
// folder to run Pulumi in.
func (s *session) openProject(ctx context.Context, d Deps, o pulumiOptions) (string, error) {
	why := toLook
	if o.Simulation.On {
		why = toOperate
	}
	if err := s.resolve(o.sessionOptions, why); err != nil {
		return "", err
	}
	if _, err := s.projectNames(o.Project); err != nil {
		return "", err
	}
	copies, err := s.prepareFiles(ctx, o.sessionOptions, nil, why)
	if err != nil {
		return "", err
	}
	if o.Simulation.On {
		if err := s.startClouds(ctx, d, o.sessionOptions); err != nil {
			return "", err
		}
	}
	if err := s.makeStateFolder(toOperate); err != nil {
		return "", err
	}
	project, _ := projects.ByName(o.Project)
	if !o.Simulation.On && s.inCheckout(project) {
		return s.projectFolder(project), nil
	}
	work, err := s.workFolder(why)
	if err != nil {
		return "", err
	}
	if o.Simulation.On {
		return s.simulatedCopy(work, project, copies)
	}
	s.findPlugins(d, o.Simulation.On)
	return s.plainCopy(work, project)
}

// projectFolder is where a checkout has a project.
func (s *session) projectFolder(project projects.Project) string {
	return filepath.Join(s.settings.Root, "projects", filepath.FromSlash(project.Path))
}

// inCheckout says whether the root is a checkout that has the project.
func (s *session) inCheckout(project projects.Project) bool {
	content, err := os.ReadFile(filepath.Join(s.projectFolder(project), "Pulumi.yaml"))
	var manifest struct {
		Name string `yaml:"name"`
	}
	return err == nil && yaml.Unmarshal(content, &manifest) == nil && manifest.Name == project.Name
}

// simulatedCopy is a folder with copies of the stack files: a simulation leaves
// the user's alone.
func (s *session) simulatedCopy(work string, project projects.Project, copies encryption.Copies) (string, error) {
	content := copies.Stack
	if project.Name == projects.Secrets().Name {
		content = copies.Secrets
	}
	manifest := fmt.Sprintf("name: %s\nruntime: go\n", project.Name)
	return work, s.writeCopy(work, map[string]string{
		"Pulumi.yaml": manifest,
		"Pulumi." + s.settings.Stack.Text + ".yaml": string(content),
	})
}

// plainCopy is a folder that stands for a project's in a checkout: Pulumi finds
// the user's own stack files from there.
func (s *session) plainCopy(work string, project projects.Project) (string, error) {
	folder := filepath.Join(s.settings.Root, config.Folder)
	if project.Name == projects.Secrets().Name {
		folder = filepath.Join(folder, "secrets")
	}
	relative, err := relativeFolder(work, folder)
	if err != nil {
		return "", err
	}
	manifest, err := yaml.Marshal(map[string]any{
		"name": project.Name, "runtime": "go", "stackConfigDir": relative,
		"plugins": map[string]any{"providers": pluginList(s.plugins)},
	})
	if err != nil {
		return "", err
	}
	return work, s.writeCopy(work, map[string]string{"Pulumi.yaml": string(manifest)})
}

// relativeFolder is the way from one folder to another, which Pulumi follows
// by the text: links on the way are taken first.
func relativeFolder(from, to string) (string, error) {
	from, err := filepath.EvalSymlinks(from)
	if err != nil {
		return "", err
	}
	if resolved, err := filepath.EvalSymlinks(to); err == nil { // secrets/ may be missing
		to = resolved
	}
	return filepath.Rel(from, to)
}

func (s *session) writeCopy(folder string, files map[string]string) error {
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			return s.folderError(err)
		}
	}
	return nil
}

// hostProgram serves the project's program, with the provider that the runner
// knows even where the stack file does not name it.
func (s *session) hostProgram(d Deps, o pulumiOptions) (*programhost.Host, error) {
	program, ok := rooted(d.Programs, s.settings.Root)(o.Project)
	if !ok {
		return nil, fmt.Errorf("this runner has no program for the project %s", o.Project)
	}
	return programhost.Start(programhost.Options{
		Program: program,
		Config:  map[string]string{config.InfraType: s.provider.Name},
	})
}

// rooted lets programs know the root, where paths in the configuration start.
func rooted(all stacks.Programs, root string) stacks.Programs {
	return func(project string) (pulumi.RunFunc, bool) {
		program, ok := all(project)
		if !ok {
			return nil, false
		}
		return func(ctx *pulumi.Context) error { return program(ctx.WithValue(projects.RootKey{}, root)) }, true
	}
}

// programArgument is where --client goes among a Pulumi command's arguments:
// behind the name of a command that runs the program, -1 for any other.
func programArgument(args []string) int {
	for i := 0; i < len(args); i++ {
		word := args[i]
		switch {
		case slices.Contains([]string{"-C", "--cwd", "--color", "-v", "--verbose"}, word):
			i++ // its value
		case strings.HasPrefix(word, "-"):
		case slices.Contains([]string{"up", "update", "preview", "pre", "refresh", "destroy", "down", "dn"}, word):
			return i + 1
		default:
			return -1
		}
	}
	return -1
}

// environ is a map of variables as a process takes them.
func environ(variables map[string]string) []string {
	var entries []string
	for name, value := range variables {
		entries = append(entries, name+"="+value)
	}
	slices.Sort(entries)
	return entries
}

// passThrough runs a command in the foreground and takes over its exit code. A
// Ctrl-C reaches it from the terminal; a signal to the runner alone is passed
// on as one, once.
func passThrough(ctx context.Context, d Deps, command *exec.Cmd) error {
	_, release := d.gentle()
	defer release()
	if err := command.Start(); err != nil {
		return &failure.Environment{Text: fmt.Sprintf("starting %s: %v", command.Path, err)}
	}
	stop := context.AfterFunc(ctx, func() { _ = command.Process.Signal(syscall.SIGINT) })
	defer stop()
	err := command.Wait()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.Exited():
		return &reported{code: exit.ExitCode()}
	case errors.As(err, &exit):
		return fmt.Errorf("pulumi ended in the middle of the command: %w", err)
	}
	return err
}
