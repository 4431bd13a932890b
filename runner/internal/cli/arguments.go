package cli

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/machine/failure"
)

// call is a sorted command line.
type call struct {
	command *cli.Command // nil for the program itself
	path    string       // names of the command: "plan"
	help    bool
	args    []string // command, its flags, "--" and its arguments
}

// arrange sorts a command line into the order that urfave needs: the command, its flags, its
// arguments. So flags may be anywhere, even before the command or after arguments. A flag
// takes a value in all commands or in none, so arrange can separate flags from arguments
// before it knows the command.
func arrange(all []*cli.Command, args []string) (call, error) {
	words, err := sortWords(cmd.AllFlags(all), args)
	if err != nil {
		return call{}, failure.Usagef(nearestCommand(all, args), "%v", err)
	}
	if len(args) == 0 || slices.Equal(words.arguments, []string{"help"}) {
		return call{help: true}, nil
	}
	if len(words.arguments) > 0 && words.arguments[0] == "help" {
		words.help, words.arguments = true, words.arguments[1:]
	}
	if len(words.arguments) == 0 {
		switch {
		case words.help:
			return call{help: true}, nil
		case words.version == "":
			return call{}, failure.Usagef("", "no command is given")
		}
		words.arguments, words.version = []string{"version"}, ""
	}
	c, rest, err := findCommand(all, words.arguments)
	if err != nil {
		return call{}, err
	}
	c.help = words.help || len(c.command.Subcommands) > 0
	if words.help {
		return c, nil
	}
	if err := words.check(c); err != nil {
		return call{}, err
	}
	c.args = strings.Fields(c.path)
	for _, flag := range words.flags {
		c.args = append(c.args, flag.word)
	}
	c.args = slices.Concat(c.args, []string{"--"}, rest)
	return c, nil
}

// check refuses flags that the command does not have, or that contradict each other.
func (w words) check(c call) error {
	if w.version != "" {
		return notAFlag(c, w.version)
	}
	for _, flag := range w.flags {
		if !cmd.HasFlag(c.command, flag.name) {
			return notAFlag(c, cmd.Dashed(flag.name))
		}
	}
	return w.contradiction(c.path)
}

func notAFlag(c call, flag string) error {
	return failure.Usagef(c.path, "%s is not a flag of `%s %s`", flag, cmd.Program, c.path)
}

// nearestCommand returns the first word that is a command. An error about a command line that
// cannot be sorted points to its help.
func nearestCommand(all []*cli.Command, args []string) string {
	for _, word := range args {
		if slices.ContainsFunc(all, func(c *cli.Command) bool { return c.HasName(word) }) {
			return word
		}
	}
	return ""
}

// words are the parts of a command line.
type words struct {
	flags     []flagWord
	arguments []string
	help      bool
	version   string // --version as typed, or ""
}

// flagWord is a flag that was given.
type flagWord struct {
	name, word string
	value      string // "true" for a flag without a value
	typed      string // the flag with its value, as typed
	repeats    bool   // may be given several times
}

// contradiction returns an error for a flag with two different values: one would be ignored.
func (w words) contradiction(path string) error {
	given := map[string]flagWord{}
	for _, flag := range w.flags {
		before, twice := given[flag.name]
		if twice && before.value != flag.value && !flag.repeats {
			return failure.Usagef(path, "%s and %s contradict each other: give one", before.typed, flag.typed)
		}
		given[flag.name] = flag
	}
	return nil
}

// sortWords separates flags and their values from arguments.
func sortWords(known []cli.Flag, args []string) (words, error) {
	var w words
	for i := 0; i < len(args); i++ {
		word := args[i]
		if word == "--" {
			w.arguments = append(w.arguments, args[i+1:]...)
			break
		}
		if len(word) < 2 || word[0] != '-' {
			w.arguments = append(w.arguments, word)
			continue
		}
		given, value, hasValue := splitFlag(word)
		if isSpecial(given) {
			if hasValue {
				return words{}, failure.Usagef("", "%s takes no value", cmd.Dashed(given))
			}
			w.special(given)
			continue
		}
		flag, ok := cmd.FindFlag(known, given)
		if !ok {
			return words{}, failure.Usagef("", "unknown flag %s%s", cmd.Dashed(given), flagSuggestion(given, known))
		}
		entry := flagWord{name: flag.Names()[0], value: "true", typed: cmd.Dashed(given), repeats: cmd.MayRepeat(flag)}
		entry.word = "--" + entry.name
		switch {
		case hasValue:
			entry.value = value
			entry.word += "=" + value
			entry.typed += "=" + value
		case cmd.TakesValue(flag):
			i++
			if i == len(args) || isKnownFlag(known, args[i]) {
				return words{}, failure.Usagef("", "%s needs a value", cmd.Dashed(given))
			}
			entry.value = args[i]
			entry.word += "=" + args[i]
			entry.typed += " " + args[i]
		}
		w.flags = append(w.flags, entry)
	}
	return w, nil
}

// splitFlag splits "--output=json" into output and json.
func splitFlag(word string) (flag, value string, hasValue bool) {
	return strings.Cut(strings.TrimPrefix(word[1:], "-"), "=")
}

// isSpecial reports whether a flag belongs to the program itself.
func isSpecial(flag string) bool {
	return slices.Contains([]string{"help", "h", "version", "v"}, flag)
}

// special records a flag of the program itself.
func (w *words) special(flag string) {
	if flag[0] == 'h' {
		w.help = true
		return
	}
	w.version = cmd.Dashed(flag)
}

// findCommand finds the command at the beginning of the arguments, and returns the rest.
func findCommand(all []*cli.Command, arguments []string) (call, []string, error) {
	var found call
	for len(arguments) > 0 && len(all) > 0 {
		i := slices.IndexFunc(all, func(c *cli.Command) bool { return c.HasName(arguments[0]) })
		if i < 0 {
			return call{}, nil, failure.Usagef(found.path, "unknown command %q%s", arguments[0],
				config.DidYouMean(arguments[0], cmd.CommandNames(all)))
		}
		found.command = all[i]
		found.path = strings.TrimSpace(found.path + " " + all[i].Name)
		all, arguments = all[i].Subcommands, arguments[1:]
	}
	return found, arguments, nil
}

// isKnownFlag reports whether a word is a flag, and not a value that begins with a hyphen.
func isKnownFlag(flags []cli.Flag, word string) bool {
	if len(word) < 2 || word[0] != '-' {
		return false
	}
	given, _, _ := splitFlag(word)
	_, known := cmd.FindFlag(flags, given)
	return known || isSpecial(given)
}

func flagSuggestion(given string, flags []cli.Flag) string {
	var names []string
	for _, flag := range flags {
		names = append(names, flag.Names()...)
	}
	if near := config.Suggest(given, names); near != "" {
		return "; did you mean " + cmd.Dashed(near) + "?"
	}
	return ""
}
