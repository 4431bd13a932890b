package tools

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/config/lists"
	"mara/projects/model"
	"mara/projects/model/operation"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/cli/help"
	"mara/runner/internal/cli/schema"
	"mara/runner/internal/core/journal"
	"mara/runner/internal/core/query"
	"mara/runner/internal/core/request"
	"mara/runner/internal/machine/failure"
)

// Completion returns `runner completion`. At each TAB the scripts call it with "--" and the
// words of the command line. It completes all commands.
func Completion(d cmd.Deps, all func() []*cli.Command) *cli.Command {
	return &cli.Command{
		Name: "completion", Usage: "print the completion script for a shell", ArgsUsage: "bash|zsh|fish|powershell",
		Description: "Load it in your shell's start-up file:\n\n  bash  source <(runner completion bash)\n" +
			"  zsh   source <(runner completion zsh)\n" +
			"  fish  runner completion fish | source\n" +
			"  PowerShell  runner completion powershell | Out-String | Invoke-Expression\n\n" +
			"Examples:\n  runner completion bash > /etc/bash_completion.d/runner\n" +
			"  runner completion zsh > ~/.zfunc/_runner\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitUsage),
		Action: func(c *cli.Context) error { return runCompletion(c, d, all()) },
	}
}

// bashScript splits the line itself: bash splits words at colons, too. It passes what follows
// a colon or "=" back to bash.
const bashScript = `# Completion of runner for bash.
_runner() {
  local line="${COMP_LINE:0:COMP_POINT}" IFS=$' \t\n' current words
  read -ra words <<<"$line"
  [[ "$line" != *[[:space:]] ]] || words+=("")
  current="${words[${#words[@]}-1]}"
  IFS=$'\n'
  COMPREPLY=($(runner completion bash -- "${words[@]:1}" 2>/dev/null))
  COMPREPLY=("${COMPREPLY[@]%%$'\t'*}")
  COMPREPLY=("${COMPREPLY[@]#"${current%"${current##*[:=]}"}"}")
}
complete -o default -F _runner runner
`

// zshScript works sourced and from fpath.
const zshScript = `#compdef runner
# Completion of runner for zsh.
_runner() {
  local -a found
  found=("${(@f)$(runner completion zsh -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "$found" ]]; then
    found=("${(@)found//:/\\:}")
    found=("${(@)found/$'\t'/:}")
    _describe runner found
  else
    _files
  fi
}
if [[ "$funcstack[1]" == _runner ]]; then
  _runner "$@"
else
  compdef _runner runner
fi
`

const fishScript = `# Completion of runner for fish.
function __runner_complete
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  set -l found (runner completion fish -- $words[2..-1] "$current" 2>/dev/null)
  if set -q found[1]
    printf '%s\n' $found
  else
    __fish_complete_path "$current"
  end
end
complete -c runner -f -a '(__runner_complete)'
`

// powershellScript passes an empty word as "", which versions before 7.3 would drop.
const powershellScript = `# Completion of runner for PowerShell.
Register-ArgumentCompleter -Native -CommandName runner -ScriptBlock {
  param($current, $ast, $cursor)
  $words = @($ast.CommandElements | Select-Object -Skip 1 |
    Where-Object { $_.Extent.StartOffset -lt $cursor } | ForEach-Object { $_.ToString() })
  if ($current -eq '') {
    if ($PSVersionTable.PSVersion -lt [version]'7.3') { $words += '""' } else { $words += '' }
  }
  runner completion powershell -- @words 2>$null | ForEach-Object {
    $name, $about = $_ -split [char]9, 2
    if (-not $about) { $about = $name }
    [System.Management.Automation.CompletionResult]::new($name, $name, 'ParameterValue', $about)
  }
}
`

func runCompletion(c *cli.Context, d cmd.Deps, all []*cli.Command) error {
	scripts := map[string]string{"bash": bashScript, "zsh": zshScript, "fish": fishScript, "powershell": powershellScript}
	script, known := scripts[c.Args().First()]
	switch {
	case !known:
		return failure.Usagef("completion", "name the shell: bash, zsh, fish or powershell")
	case c.NArg() == 1:
		return d.Print(script)
	}
	l := readLine(all, c.Args().Tail())
	if l.root != "" {
		d.Environ = append(slices.Clone(d.Environ), cmd.Variable("root")+"="+l.root)
	}
	o, err := cmd.ParseKnown(c, d)
	if err != nil {
		return err
	}
	for _, candidate := range l.candidates(o) {
		if strings.HasPrefix(candidate, l.current) {
			fmt.Fprintln(d.Stdout, l.prefix+candidate)
		}
	}
	return nil
}

// line is a command line up to the cursor.
type line struct {
	command   *cli.Command   // nil before its name
	path      string         // names of the command: "config get"
	commands  []*cli.Command // that may come next
	arguments int            // number of arguments before the cursor
	root      string         // value of --root, or ""
	flag      cli.Flag       // flag whose value is at the cursor, or nil
	prefix    string         // part of the word at the cursor that stays: "--output=", "vpc,"
	current   string         // rest of the word at the cursor
}

// readLine reads the words of a command line. The last one, at the cursor, may be incomplete.
func readLine(all []*cli.Command, words []string) line {
	l := line{commands: all, current: words[len(words)-1]}
	known := cmd.AllFlags(all)
	for _, word := range words[:len(words)-1] {
		name, value, hasValue := cmd.SplitFlag(word)
		flag, isFlag := cmd.FindFlag(known, name)
		switch {
		case l.flag != nil:
			l.setFlag(word)
		case isFlag && cmd.TakesValue(flag):
			if l.flag = flag; hasValue {
				l.setFlag(value)
			}
		case name == "":
			l.addArgument(word)
		}
	}
	if name, value, hasValue := cmd.SplitFlag(l.current); l.flag == nil && hasValue {
		l.flag, _ = cmd.FindFlag(known, name)
		l.prefix, l.current = strings.TrimSuffix(l.current, value), value
	}
	if l.flag != nil && l.command != nil { // known has the flag of another command
		l.flag, _ = cmd.FindFlag(l.command.Flags, l.flag.Names()[0])
	}
	if l.flag != nil && cmd.MayRepeat(l.flag) { // a list of names, or +NAME
		i := strings.LastIndexAny(l.current, ",+") + 1
		l.prefix, l.current = l.prefix+l.current[:i], l.current[i:]
	}
	return l
}

// setFlag ends a flag with its value.
func (l *line) setFlag(value string) {
	if l.flag.Names()[0] == "root" {
		l.root = value
	}
	l.flag = nil
}

// addArgument adds the name of a command, or an argument.
func (l *line) addArgument(word string) {
	command, ok := cmd.FindCommand(l.commands, word)
	switch {
	case ok:
		l.command, l.commands = command, command.Subcommands
		l.path = strings.TrimSpace(l.path + " " + command.Name)
	case l.command != nil || word != "help":
		l.arguments++
	}
}

// candidates returns the words that may be at the cursor, or none where it cannot know them. A
// description may follow after a tab.
func (l line) candidates(o cmd.Common) []string {
	switch {
	case l.flag != nil:
		return l.values(o)
	case l.command != nil && strings.HasPrefix(l.current, "-"):
		return lists.Map(l.command.Flags, func(flag cli.Flag) string {
			text, _, _ := strings.Cut(help.FlagRow(flag).Right, " [RUNNER_")
			return cmd.Dashed(flag.Names()[0]) + "\t" + text
		})
	case len(l.commands) > 0:
		return lists.Map(l.commands, func(c *cli.Command) string { return c.Name + "\t" + c.Usage })
	case l.command != nil && l.arguments < cmd.MostArguments(l.command):
		usage := strings.Fields(l.command.ArgsUsage)
		return l.names(o, strings.Trim(usage[min(l.arguments, len(usage)-1)], "[.]"))
	}
	return nil
}

// values returns the possible values of the flag at the cursor.
func (l line) values(o cmd.Common) []string {
	if generic, ok := l.flag.(*cli.GenericFlag); ok {
		return generic.Value.(*cmd.Choice).Allowed
	}
	switch l.flag.Names()[0] {
	case "provider":
		return o.Known().Names()
	case "stack":
		return l.names(o, "ENVIRONMENT")
	case "simulate-fail":
		return lists.Map(request.Faults(), func(f request.Fault) string { return f.Name + "\t" + f.About })
	case "selector":
		return labels(o)
	}
	typed := strings.Fields(help.FlagRow(l.flag).Left)
	return l.names(o, typed[len(typed)-1])
}

// labels returns the labels of all environments, as terms of a selector.
func labels(o cmd.Common) (found []string) {
	stacks, _ := o.Environments() // other commands report the error
	for _, stack := range stacks {
		_, described, err := o.ReadStack(stack)
		if err != nil {
			continue
		}
		for name, value := range described.Labels {
			if term := name + "=" + value.Text; !slices.Contains(found, term) {
				found = append(found, term)
			}
		}
	}
	slices.Sort(found)
	return found
}

// names returns the words that a placeholder in a help text stands for.
func (l line) names(o cmd.Common, placeholder string) []string {
	switch placeholder {
	case "ENVIRONMENT", "ENVIRONMENTS":
		stacks, _ := o.Environments() // other commands report the error
		return stacks
	case "KEY", "KEY|OUTPUT":
		return l.keys(o)
	case "OPERATION":
		return operation.Names()
	case "PROJECT", "PROJECTS":
		return lists.Map(o.Known().Projects, func(p model.Project) string { return p.Name + "\t" + p.Title })
	case "RUN":
		runs, _ := journal.List(o.Directory().Runs())
		return lists.Map(runs, func(r journal.Run) string { return r.ID })
	case "EXPR|NAME":
		queries, _ := query.All(o.Root)
		return lists.Map(queries, func(q query.Named) string { return q.Name + "\t" + q.Summary })
	case "APPLICATION":
		mara, _ := config.ReadMara(o.Root)
		return lists.Map(mara.Applications, func(a config.Application) string { return a.Name.Text })
	case schemaArgument:
		return schema.Names()
	}
	if placeholder == strings.ToLower(placeholder) {
		return strings.Split(placeholder, "|")
	}
	return nil
}

// keys returns the keys of secrets or of the configuration, depending on the command.
func (l line) keys(o cmd.Common) []string {
	switch group, _, _ := strings.Cut(l.path, " "); group {
	case "secrets":
		return lists.Map(o.Known().Secrets(), func(s model.Secret) string { return s.Key + "\t" + s.Doc })
	case "config", "fleet":
		return lists.Map(o.DeclaredKeys(), func(k config.Key) string { return k.Name + "\t" + k.Doc })
	}
	return nil
}
