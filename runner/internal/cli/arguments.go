package cli

import (
	"cmp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/config/lists"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/cli/guide"
	"mara/runner/internal/machine/failure"
)

// call is a sorted command line.
type call struct {
	command    *cli.Command // nil for the program itself
	path       string       // names of the command: "plan"
	help       bool
	everything bool     // of the help: all commands, common flags, too
	topic      string   // what the help says about a topic
	args       []string // command, its flags, "--" and its arguments
}

// arrange sorts a command line into the order that urfave needs: the command, its flags, its
// arguments. So flags may be anywhere, even before the command or after arguments. A flag
// takes a value in all commands or in none, so arrange can separate flags from arguments
// before it knows the command.
func arrange(all []*cli.Command, args []string) (call, error) {
	helpAll := &cli.BoolFlag{Name: "help-all"} // explains common flags, too
	words, err := sortWords(append(cmd.AllFlags(all), cli.HelpFlag, helpAll, cli.VersionFlag), args)
	if err != nil {
		near := nearestCommand(all, args)
		if near == "" { // `apply -auto-approve`: one error about both words
			if _, _, unknown := findCommand(all, leadingWords(args)); unknown != nil {
				return call{}, failure.Usagef("", "%v; %v", unknown, err)
			}
		}
		return call{}, failure.Usagef(near, "%v", err)
	}
	version, everything := words.take(cli.VersionFlag), words.take(helpAll) != ""
	wantsHelp := words.take(cli.HelpFlag) != "" || everything
	if len(words.arguments) > 0 && words.arguments[0] == "help" {
		wantsHelp, words.arguments = true, words.arguments[1:]
	}
	switch {
	case len(words.arguments) > 0:
	case wantsHelp:
		return call{help: true, everything: everything || words.has("all")}, nil
	case version == "":
		return call{}, failure.Usagef("", "no command is given")
	default:
		words.arguments, version = []string{"version"}, ""
	}
	c, rest, err := findCommand(all, words.arguments)
	if topic, ok := guide.Help(words.arguments); wantsHelp && err != nil && ok {
		return call{help: true, topic: topic.Text()}, nil
	}
	if err != nil {
		return call{}, err
	}
	if c.help, c.everything = wantsHelp, everything; c.help {
		return c, nil
	}
	if version != "" {
		return call{}, notAFlag(c, version)
	}
	if err := words.check(c); err != nil {
		return call{}, err
	}
	c.help = len(c.command.Subcommands) > 0 && c.command.Action == nil
	c.args = strings.Fields(c.path)
	for _, flag := range words.flags {
		c.args = append(c.args, "--"+flag.Names()[0]+"="+flag.value)
	}
	c.args = slices.Concat(c.args, []string{"--"}, rest)
	return c, nil
}

func notAFlag(c call, flag string) error {
	if name := strings.TrimLeft(flag, "-"); slices.Contains(cmd.StackFlag("").Names(), name) && strings.Contains(c.command.ArgsUsage, "ENVIRONMENT") {
		return failure.Usagef(c.path, "%s is not a flag of `%s %s`: it takes environments as arguments, without a flag", flag, cmd.Program, c.path)
	}
	return failure.Usagef(c.path, "%s is not a flag of `%s %s`%s", flag, cmd.Program, c.path, foreignFlag(strings.TrimLeft(flag, "-")))
}

// leadingWords returns the arguments before the first flag.
func leadingWords(args []string) []string {
	if i := slices.IndexFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "-") }); i >= 0 {
		return args[:i]
	}
	return args
}

// nearestCommand returns the first word that is a command. An error about a command line that
// cannot be sorted points to its help.
func nearestCommand(all []*cli.Command, args []string) string {
	known := cmd.CommandNames(all)
	word, _ := lists.Find(args, func(word string) bool { return slices.Contains(known, word) })
	return word
}

// words are the parts of a command line.
type words struct {
	flags     []flagWord
	arguments []string
}

// flagWord is a flag that was given.
type flagWord struct {
	cli.Flag
	value string // "true" for a flag without a value
	typed string // the flag with its value, as typed
}

// take removes a flag of the program itself, and returns it as typed, or "".
func (w *words) take(flag cli.Flag) (typed string) {
	w.flags = slices.DeleteFunc(w.flags, func(f flagWord) bool {
		if f.Flag == flag {
			typed = f.typed
		}
		return f.Flag == flag
	})
	return typed
}

// has reports whether a flag was given.
func (w words) has(name string) bool {
	return slices.ContainsFunc(w.flags, func(f flagWord) bool { return slices.Contains(f.Names(), name) })
}

// check refuses flags that the command does not have, and a flag with two different values: one
// would be ignored.
func (w words) check(c call) error {
	given := map[string]flagWord{}
	for _, flag := range w.flags {
		name := flag.Names()[0]
		if !cmd.HasFlag(c.command, name) {
			typed, _, _ := strings.Cut(strings.ReplaceAll(flag.typed, "=", " "), " ")
			return notAFlag(c, typed)
		}
		before, twice := given[name]
		if twice && before.value != flag.value && !cmd.MayRepeat(flag.Flag) {
			return failure.Usagef(c.path, "%s and %s contradict each other: give one", before.typed, flag.typed)
		}
		given[name] = flag
	}
	return nil
}

// sortWords separates flags and their values from arguments.
func sortWords(known []cli.Flag, args []string) (words, error) {
	var w words
	for i := 0; i < len(args); i++ {
		given, value, hasValue := cmd.SplitFlag(args[i])
		if args[i] == "--" {
			w.arguments = append(w.arguments, args[i+1:]...)
			break
		}
		if given == "" && !hasValue {
			w.arguments = append(w.arguments, args[i])
			continue
		}
		flag, isKnown := cmd.FindFlag(known, given)
		typed := cmd.Dashed(given)
		switch {
		case !isKnown:
			return words{}, failure.Usagef("", "unknown flag %s%s", typed, cmp.Or(foreignFlag(given), flagSuggestion(given, known)))
		case hasValue && (flag == cli.HelpFlag || flag == cli.VersionFlag):
			return words{}, failure.Usagef("", "%s takes no value", typed)
		case hasValue:
			typed += "=" + value
		case cmd.TakesValue(flag):
			if i++; i == len(args) || isFlag(known, args[i]) {
				return words{}, failure.Usagef("", "%s needs a value", typed)
			}
			value = args[i]
			typed += " " + value
		default:
			value = "true"
		}
		w.flags = append(w.flags, flagWord{flag, value, typed})
	}
	return w, nil
}

// isFlag reports whether a word is a flag, and not a value that begins with a hyphen.
func isFlag(known []cli.Flag, word string) bool {
	given, _, _ := cmd.SplitFlag(word)
	_, found := cmd.FindFlag(known, given)
	return found
}

// findCommand finds the command at the beginning of the arguments, and returns the rest.
func findCommand(all []*cli.Command, arguments []string) (call, []string, error) {
	var found call
	program := all
	for len(arguments) > 0 && len(all) > 0 {
		command, known := cmd.FindCommand(all, arguments[0])
		if !known {
			hint := config.DidYouMean(arguments[0], cmd.CommandNames(all))
			if ours := guide.Command(cmd.CommandNames(program), append(strings.Fields(found.path), arguments...)); ours != "" {
				hint = "; " + ours
			}
			return call{}, nil, failure.Usagef(found.path, "unknown command %q%s", arguments[0], hint)
		}
		found.command, found.path = command, strings.TrimSpace(found.path+" "+command.Name)
		all, arguments = command.Subcommands, arguments[1:]
	}
	return found, arguments, nil
}

// foreignFlag returns the hint for a flag of another tool; near names of ours would mislead.
func foreignFlag(given string) string {
	if hint := guide.Flag(cmd.Dashed(given)); hint != "" {
		return "; " + hint
	}
	return ""
}

func flagSuggestion(given string, flags []cli.Flag) string {
	names := slices.Concat(lists.Map(flags, cli.Flag.Names)...)
	if near := config.Suggest(given, names); near != "" {
		return "; did you mean " + cmd.Dashed(near) + "?"
	}
	return ""
}
