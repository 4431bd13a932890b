package tools

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/cli/help"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/output/schema"
)

// Completion returns `runner completion`. It completes all commands.
func Completion(d cmd.Deps, all func() []*cli.Command) *cli.Command {
	return &cli.Command{
		Name:      "completion",
		Usage:     "print the completion script for bash, zsh or fish",
		ArgsUsage: "bash|zsh|fish",
		Description: "Load it in your shell's start-up file:\n\n" +
			"  bash  source <(runner completion bash)\n" +
			"  zsh   source <(runner completion zsh)\n" +
			"  fish  runner completion fish | source\n\n" +
			"Example:\n  runner completion bash > /etc/bash_completion.d/runner\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitUsage),
		Action: cmd.CommonAction(d, cmd.ParseKnown, func(_ context.Context, d cmd.Deps, o cmd.Common) error {
			return runCompletion(d, o, all())
		}),
	}
}

// shells maps shells to the functions that write their scripts.
func shells() map[string]func([]completedCommand) string {
	return map[string]func([]completedCommand) string{
		"bash": bashCompletion,
		"zsh":  zshCompletion,
		"fish": fishCompletion,
	}
}

// The kinds of names that scripts complete, from the root they are used in.
const (
	projectNames  = "projects"
	providerNames = "providers"
)

func runCompletion(d cmd.Deps, o cmd.Common, all []*cli.Command) error {
	if names := namesOf(o); names != nil {
		_, err := io.WriteString(d.Stdout, strings.Join(names, "\n")+"\n")
		return err
	}
	if len(o.Args) == 0 || shells()[o.Args[0]] == nil {
		return failure.Usagef("completion", "name the shell: bash, zsh or fish")
	}
	_, err := io.WriteString(d.Stdout, shells()[o.Args[0]](completedCommands(all)))
	return err
}

// completedCommand has what completion scripts need of a command.
type completedCommand struct {
	names     []string
	usage     string
	flags     []completedFlag
	words     []string // possible arguments
	listed    string   // kind of names of its first argument, or ""
	directory bool     // its argument is a directory
}

// completedFlag has what completion scripts need of a flag.
type completedFlag struct {
	names      []string // without hyphens
	usage      string
	takesValue bool
	files      bool     // the value is a file or a directory
	values     []string // allowed values, or nil
	listed     string   // kind of names of its value, or ""
}

func completedCommands(all []*cli.Command) []completedCommand {
	var completed []completedCommand
	for _, command := range all {
		if command.Hidden {
			continue
		}
		c := completedCommand{names: command.Names(), usage: command.Usage, words: cmd.CommandNames(command.Subcommands)}
		switch {
		case command.ArgsUsage == "[DIR]":
			c.directory = true
		case strings.HasPrefix(strings.TrimLeft(command.ArgsUsage, "["), "PROJECT"):
			c.listed = projectNames
		case command.ArgsUsage == schemaArgument:
			c.words = append(c.words, schema.Names()...)
		case strings.Contains(command.ArgsUsage, "|"):
			c.words = append(c.words, strings.Split(command.ArgsUsage, "|")...)
		}
		for _, flag := range cmd.JoinFlags(command.Flags, cmd.AllFlags(command.Subcommands)) {
			c.flags = append(c.flags, completeFlag(flag))
		}
		completed = append(completed, c)
	}
	return completed
}

func completeFlag(flag cli.Flag) completedFlag {
	row := help.FlagRow(flag)
	usage, _, _ := strings.Cut(row.Right, " [RUNNER_")
	completed := completedFlag{names: flag.Names(), usage: usage, takesValue: cmd.TakesValue(flag)}
	completed.files = strings.HasSuffix(row.Left, " DIR") || strings.HasSuffix(row.Left, " PATH")
	switch typed := flag.(type) {
	case *cli.GenericFlag:
		if chosen, ok := typed.Value.(*cmd.Choice); ok {
			completed.values = chosen.Allowed
		}
	case *cli.StringFlag:
		if typed.Name == "provider" {
			completed.listed = providerNames
		}
	case *cli.StringSliceFlag:
		if strings.HasSuffix(row.Left, " PROJECTS") {
			completed.listed = projectNames
		}
	}
	return completed
}

// namesOf returns the names of the kind that a script asks for, or nil for other arguments.
func namesOf(o cmd.Common) []string {
	switch {
	case len(o.Args) == 1 && o.Args[0] == providerNames:
		return o.Known().Names()
	case len(o.Args) == 1 && o.Args[0] == projectNames:
		names := []string{}
		for _, p := range o.Known().Projects {
			names = append(names, p.Name)
		}
		slices.Sort(names)
		return names
	}
	return nil
}

// asking returns the command with which a script lists names. Other commands report the errors.
func asking(names string) string { return cmd.Program + " completion " + names + " 2>/dev/null" }

// typed returns the names of a flag with their hyphens.
func (f completedFlag) typed() []string {
	var typed []string
	for _, name := range f.names {
		typed = append(typed, cmd.Dashed(name))
	}
	return typed
}

// offered returns the words that may follow a command.
func (c completedCommand) offered() []string {
	words := slices.Clone(c.words)
	if c.listed != "" {
		words = append(words, "$("+asking(c.listed)+")")
	}
	for _, flag := range c.flags {
		words = append(words, cmd.Dashed(flag.names[0]))
	}
	return words
}
