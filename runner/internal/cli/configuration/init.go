package configuration

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"al.essio.dev/pkg/shellescape"
	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/machine/atomicfile"
	"mara/runner/internal/machine/failure"
)

// Init returns `runner init`.
func Init(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "init", Usage: "create a directory for the configuration of environments", ArgsUsage: "[DIR]",
		Description: "Creates config/pulumi with examples below DIR (default: the working directory). It " +
			"overwrites nothing.\n\n" +
			"Example:\n  runner init my-environments\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig),
		Flags:  cmd.JoinFlags(cmd.OutputFlag("text", "json"), cmd.BaseFlags()),
		Action: cmd.Action(d, parseInit, runInit),
	}
}

type initOptions struct {
	cmd.Common
	Given string // DIR as typed, or ""
	Root  string
}

func parseInit(c *cli.Context, d cmd.Deps, common cmd.Common) (initOptions, error) {
	given, root, err := directoryArgument(c, d)
	return initOptions{Common: common, Given: given, Root: root}, err
}

// directoryArgument returns the directory that the first argument names, by default the working
// directory. given is the directory as typed, or "" for the working directory.
func directoryArgument(c *cli.Context, d cmd.Deps) (given, root string, err error) {
	given = c.Args().First()
	if c.NArg() > 0 && given == "" {
		return "", "", failure.Usagef(cmd.Path(c), "the directory has no name")
	}
	if root = filepath.Clean(d.Absolute(cmp.Or(given, "."))); root == filepath.Clean(d.Dir) {
		given = ""
	}
	return given, root, nil
}

func runInit(_ context.Context, d cmd.Deps, options initOptions) error {
	files, err := config.Examples()
	if err != nil {
		return err
	}
	if err := checkAbsent(options.Root, files); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(options.Root, config.Directory), 0o755); err != nil {
		return &failure.Environment{Text: fmt.Sprintf("creating %s: %v", config.Directory, err),
			Next: "choose a writable directory"}
	}
	for _, file := range files {
		if err := atomicfile.Write(filepath.Join(options.Root, file.Path), file.Data, 0o644); err != nil {
			return &failure.Environment{Text: err.Error(), Next: "choose a writable directory, on a disk with free space"}
		}
	}
	created := initDocument{Root: options.Root}
	for _, file := range files {
		created.Files = append(created.Files, file.Path)
	}
	return options.Show(d, created, initText(options, created.Files))
}

type initDocument struct {
	Root  string   `json:"root"`
	Files []string `json:"files"`
}

// checkAbsent returns an error that lists the files that would be overwritten.
func checkAbsent(root string, files []config.Example) error {
	var problems []config.Problem
	for _, file := range files {
		if _, err := os.Lstat(filepath.Join(root, file.Path)); err == nil {
			problems = append(problems, config.Problem{File: file.Path, Text: "exists already; nothing was changed"})
		}
	}
	if len(problems) == 0 {
		return nil
	}
	return &config.Error{Problems: problems, Next: "the directory is ready to use; to create another one, run `runner " +
		"init DIR`"}
}

func initText(options initOptions, files []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "created in %s:\n", options.Root)
	for _, file := range files {
		b.WriteString("  " + file + "\n")
	}
	b.WriteString("\nnext, deploy an environment on simulated clouds:\n")
	if options.Given != "" {
		b.WriteString("  cd " + shellescape.Quote(options.Given) + "\n")
	}
	b.WriteString("  runner up -p kind -s dev --simulate --yes\n")
	return b.String()
}
