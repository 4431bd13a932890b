// Package help makes the help texts of commands.
package help

import (
	"cmp"
	"flag"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/config/lists"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/cli/guide"
	"mara/runner/internal/machine/typeset"
)

// Text returns the help of the program, or of one command.
// Flags that all commands share are folded into one line, unless they are asked for.
func Text(all []cmd.Placed, command *cli.Command, path string, everything bool) string {
	if command == nil {
		return programHelp(all, everything)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s.\n\nUsage: %s\n", Sentence(command.Usage), Synopsis(command, path))
	if len(command.Aliases) > 0 {
		fmt.Fprintf(&b, "Also:  %s %s\n", cmd.Program, strings.Join(command.Aliases, ", "))
	}
	if command.Description != "" {
		b.WriteString("\n" + strings.TrimSpace(command.Description) + "\n")
	}
	if len(command.Subcommands) > 0 {
		b.WriteString("\nCommands:\n" + table(lists.Map(command.Subcommands, commandRow)))
	}
	own, common := SplitFlags(command.Flags)
	writeFlags(&b, "Flags", own)
	if everything {
		writeFlags(&b, cmd.CommonCategory, common)
	} else {
		foldFlags(&b, common, path)
	}
	return b.String()
}

// foldFlags lists the names of flags, and how to see what they do.
func foldFlags(b *strings.Builder, flags []cli.Flag, path string) {
	if len(flags) == 0 {
		return
	}
	names := lists.Map(flags, func(flag cli.Flag) string { return cmd.Dashed(flag.Names()[0]) })
	fmt.Fprintf(b, "\n%s: %s. `%s %s --help-all` explains them.\n", cmd.CommonCategory, strings.Join(names, ", "),
		cmd.Program, path)
}

// About says what the runner is: in help, on the manual page, in the README and in packages.
const About = "Run many small Pulumi projects as one"

// programHelp lists the commands of a usual day, or all.
func programHelp(all []cmd.Placed, everything bool) string {
	var b strings.Builder
	b.WriteString(About + ".\n\n")
	fmt.Fprintf(&b, "Usage: %s COMMAND [flags]\n", cmd.Program)
	for _, group := range cmd.Groups() {
		var rows []row
		for _, placed := range all {
			if placed.Group == group && (placed.Daily || everything) {
				rows = append(rows, commandRow(placed.Command))
			}
		}
		if len(rows) > 0 {
			fmt.Fprintf(&b, "\n%s:\n%s", group, table(rows))
		}
	}
	if !everything {
		fmt.Fprintf(&b, "\n`%[1]s COMMAND --help` explains a command, `%[1]s help --all` lists all %[2]d.\n`%[1]s help WORD` answers: %[3]s.\n",
			cmd.Program, len(all), strings.Join(guide.Topics(), ", "))
		return b.String()
	}
	b.WriteString("\nFlags may come before or after the command. Each has an environment variable, shown in\n" +
		"brackets, which may also be set in config/pulumi/environment.\n\n")
	fmt.Fprintf(&b, "`%s COMMAND --help` explains a command.\n\n", cmd.Program)
	b.WriteString(cmd.ExitText(cmd.AllExitCodes()...) + "\n")
	return b.String()
}

type row struct{ Left, Right string }

func commandRow(command *cli.Command) row { return row{command.Name, command.Usage} }

func table(rows []row) string {
	t := typeset.Table{Columns: []typeset.Column{{}, {}}}
	for _, r := range rows {
		t.Rows = append(t.Rows, []string{"  " + r.Left, r.Right})
	}
	return t.Text(0)
}

// SplitFlags separates a command's own flags from common ones.
func SplitFlags(flags []cli.Flag) (own, common []cli.Flag) {
	for _, f := range flags {
		if categorized, ok := f.(cli.CategorizableFlag); ok && categorized.GetCategory() == cmd.CommonCategory {
			common = append(common, f)
		} else {
			own = append(own, f)
		}
	}
	return own, common
}

func writeFlags(b *strings.Builder, title string, flags []cli.Flag) {
	if len(flags) > 0 {
		b.WriteString("\n" + title + ":\n" + table(lists.Map(flags, FlagRow)))
	}
}

// FlagRow returns a flag as typed, and its description with default and variable.
func FlagRow(f cli.Flag) row {
	documented, ok := f.(cli.DocGenerationFlag)
	if !ok {
		return row{Left: cmd.Dashed(f.Names()[0])}
	}
	value, text := flag.UnquoteUsage(&flag.Flag{Usage: documented.GetUsage()})
	left := "    "
	if i := slices.IndexFunc(f.Names(), func(n string) bool { return len(n) == 1 }); i >= 0 {
		left = "-" + f.Names()[i] + ", "
	}
	left += "--" + f.Names()[0]
	if documented.TakesValue() {
		left += " " + value
	}
	if standard := documented.GetDefaultText(); documented.TakesValue() && standard != "" && standard != `""` &&
		!strings.Contains(text, "(default") {
		text += " (default: " + strings.Trim(standard, `"`) + ")"
	}
	return row{left, text + " [" + cmd.VariableOf(f) + "]"}
}

// Sentence capitalises the first letter.
func Sentence(text string) string {
	return strings.ToUpper(text[:1]) + text[1:]
}

// Synopsis returns the usage line of a command.
func Synopsis(command *cli.Command, path string) string {
	parts := []string{cmd.Program, path}
	switch {
	case len(command.Subcommands) > 0 && command.Action != nil:
		parts = append(parts, "[COMMAND]")
	case len(command.Subcommands) > 0:
		parts = append(parts, "COMMAND")
	}
	if command.ArgsUsage != "" {
		parts = append(parts, command.ArgsUsage)
	}
	if len(command.Flags) > 0 {
		parts = append(parts, "[flags]")
	}
	return strings.Join(parts, " ")
}

// Fit wraps a help text for the width of a terminal. Without one, for 0, only paragraphs are
// wrapped. Examples are never wrapped: they are to be copied.
func Fit(text string, width int) string {
	const usual = 100
	var b strings.Builder
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if strings.HasPrefix(line, " ") {
			if width > 0 {
				line = fitRow(line, width)
			}
			b.WriteString(line + "\n")
			continue
		}
		for i+1 < len(lines) && goesOn(lines[i], lines[i+1]) {
			i++
			line += " " + lines[i]
		}
		b.WriteString(typeset.Wrap(line, cmp.Or(width, usual), 0) + "\n")
	}
	return b.String()
}

// goesOn says whether a line of prose ends only because the next word did not fit.
func goesOn(line, next string) bool {
	const usual = 80 // at least this wide are the lines of help as it is written
	word, _, _ := strings.Cut(next, " ")
	return word != "" && typeset.Cells(line+" "+word) > usual
}

// fitRow wraps the right column of a line of a list or a table, or puts it below
// the left one if there is no room.
func fitRow(line string, width int) string {
	const (
		little = 24 // cells for the right column
		below  = 8
	)
	start := len(line) - len(strings.TrimLeft(line, " "))
	if number := regexp.MustCompile(`^[0-9]+\. `).FindString(line[start:]); number != "" {
		return typeset.Wrap(line, width, start+len(number))
	}
	gap := strings.Index(line[start:], "  ")
	if gap < 0 {
		return line
	}
	left := line[:start+gap]
	right := strings.TrimLeft(line[start+gap:], " ")
	indent := len(line) - len(right)
	if width-indent < little {
		return left + "\n" + typeset.Wrap(strings.Repeat(" ", below)+right, width, below)
	}
	return typeset.Wrap(line, width, indent)
}
