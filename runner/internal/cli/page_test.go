package cli_test

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/cli/help"
)

// page is the documentation of a command, taken from the declarations
// that --help prints. The reference in Markdown and the manual pages are two
// ways to write it.
type page struct {
	path      string // names of the command: "plan"
	use       string // what it does, in a sentence
	synopsis  string
	aliases   []string
	prose     []string // paragraphs; lines that begin with two spaces stay as they are
	examples  []string // lines to type
	codes     []string // lines about the exit codes
	own, more []flagText
	parts     []page // of a command with commands of its own
}

// flagText is a flag as it is typed, what it does and its environment variable.
type flagText struct{ typed, text, variable string }

// pages describe all commands.
func pages(all []*cli.Command, above string) []page {
	var out []page
	for _, command := range all {
		if command.Hidden {
			continue
		}
		out = append(out, newPage(command, strings.TrimSpace(above+" "+command.Name)))
	}
	return out
}

func newPage(command *cli.Command, path string) page {
	p := page{path: path, use: help.Sentence(command.Usage) + ".", synopsis: help.Synopsis(command, path), aliases: command.Aliases}
	for _, block := range strings.Split(strings.TrimSpace(help.Fit(command.Description, 0)), "\n\n") {
		heading, rest, _ := strings.Cut(block, "\n")
		switch {
		case heading == "Example:" || heading == "Examples:":
			p.examples = append(p.examples, dedent(rest)...)
		case strings.HasPrefix(heading, "Exit codes:"):
			if extra := strings.TrimSpace(strings.TrimPrefix(heading, "Exit codes:")); extra != "" {
				p.codes = append(p.codes, extra)
			}
			p.codes = append(p.codes, dedent(strings.ReplaceAll(rest, "Exit codes:\n", ""))...)
		default:
			p.prose = append(p.prose, block)
		}
	}
	own, common := help.SplitFlags(command.Flags)
	p.own, p.more = flagTexts(own), flagTexts(common)
	p.parts = pages(command.Subcommands, path)
	return p
}

func dedent(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimPrefix(strings.TrimRight(line, "\n"), "  "))
	}
	return lines
}

func flagTexts(flags []cli.Flag) []flagText {
	var out []flagText
	for _, f := range flags {
		r := help.FlagRow(f)
		text := strings.TrimSuffix(r.Right, " ["+cmd.VariableOf(f)+"]")
		out = append(out, flagText{typed: strings.TrimSpace(r.Left), text: text, variable: cmd.VariableOf(f)})
	}
	return out
}

// introduction stands before the commands, in both forms.
func introduction() []string {
	return []string{
		help.About + ".",
		"Flags may stand before or behind the command and its arguments. Each has an environment variable, which may also be set in " +
			"config/pulumi/environment.",
	}
}

// markdown writes the reference of all commands.
func markdown(all []page) string {
	var b strings.Builder
	b.WriteString("# Commands\n\nThis page is made from what `" + cmd.Program + " COMMAND --help` prints, by `make golden`.\n\n")
	b.WriteString(strings.Join(introduction(), "\n\n") + "\n\n| command | what it does |\n|---|---|\n")
	for _, p := range all {
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s |\n", p.path, anchor(p), cell(p.use))
	}
	b.WriteString("\n| exit code | meaning |\n|---|---|\n")
	for _, code := range cmd.AllExitCodes() {
		fmt.Fprintf(&b, "| %d | %s |\n", code, cell(cmd.ExitMeanings()[code]))
	}
	for _, p := range all {
		p.markdown(&b)
	}
	return b.String()
}

func anchor(p page) string { return cmd.Program + "-" + strings.ReplaceAll(p.path, " ", "-") }

func (p page) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "\n## %s %s\n\n%s\n\n```\n%s\n```\n", cmd.Program, p.path, p.use, p.synopsis)
	if len(p.aliases) > 0 {
		fmt.Fprintf(b, "\nAlso `%s %s`.\n", cmd.Program, strings.Join(p.aliases, "`, `"+cmd.Program+" "))
	}
	for _, block := range p.prose {
		prose, listed := splitBlock(block)
		if prose != "" {
			b.WriteString("\n" + prose + "\n")
		}
		fence(b, listed)
	}
	if len(p.examples) > 0 {
		b.WriteString("\nExamples:\n")
		fence(b, p.examples)
	}
	if len(p.codes) > 0 {
		b.WriteString("\nExit codes:\n")
		fence(b, p.codes)
	}
	markdownFlags(b, "flag", p.own)
	markdownFlags(b, "common flag", p.more)
	for _, part := range p.parts {
		part.markdown(b)
	}
}

// splitBlock tells running text from lines that stay as they are.
func splitBlock(block string) (prose string, listed []string) {
	var words []string
	for line := range strings.Lines(block) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "  ") {
			listed = append(listed, strings.TrimPrefix(line, "  "))
			continue
		}
		words = append(words, line)
	}
	return strings.Join(words, "\n"), listed
}

func fence(b *strings.Builder, lines []string) {
	if len(lines) > 0 {
		b.WriteString("\n```\n" + strings.Join(lines, "\n") + "\n```\n")
	}
}

func markdownFlags(b *strings.Builder, title string, flags []flagText) {
	if len(flags) == 0 {
		return
	}
	fmt.Fprintf(b, "\n| %s | | environment |\n|---|---|---|\n", title)
	for _, f := range flags {
		fmt.Fprintf(b, "| `%s` | %s | `%s` |\n", cell(f.typed), cell(f.text), f.variable)
	}
}

// cell returns a text in a table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "\n", " ").Replace(text)
}
