package tools

import (
	"fmt"
	"strings"
)

// bashCompletion returns the script for bash. It needs nothing but bash itself.
func bashCompletion(all []completedCommand) string {
	var names, detect, values, offered strings.Builder
	for _, c := range all {
		names.WriteString(" " + c.names[0])
		fmt.Fprintf(&detect, "      %s) command=%s; break ;;\n", strings.Join(c.names, "|"), c.names[0])
		condition := ""
		if c.directory { // bash itself completes directories where nothing is offered
			condition = `[[ "$current" != -* ]] || `
		}
		fmt.Fprintf(&offered, "    %s) %soffered=\"%s\" ;;\n", c.names[0], condition, strings.Join(c.offered(), " "))
		for _, flag := range c.flags {
			if !flag.takesValue {
				continue
			}
			var patterns []string
			for _, name := range flag.typed() {
				patterns = append(patterns, fmt.Sprintf("%q", c.names[0]+" "+name))
			}
			offers := strings.Join(flag.values, " ")
			if flag.listed != "" {
				offers = "$(" + asking(flag.listed) + ")"
			}
			fmt.Fprintf(&values, "    %s) offered=\"%s\"; known=1 ;;\n", strings.Join(patterns, "|"), offers)
		}
	}
	return `# Completion of runner for bash.
_runner() {
  local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}"
  local command="" offered="" known="" word
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in
` + detect.String() + `    esac
  done
  case "$command $previous" in
` + values.String() + `  esac
  [[ -n "$known" ]] || case "$command" in
    "") offered="` + strings.TrimSpace(names.String()) + ` help" ;;
` + offered.String() + `  esac
  COMPREPLY=($(compgen -W "$offered" -- "$current"))
}
complete -o default -F _runner runner
`
}

// zshCompletion returns the script for zsh; it works sourced and from fpath.
func zshCompletion(all []completedCommand) string {
	var described, cases strings.Builder
	for _, c := range all {
		fmt.Fprintf(&described, "    '%s:%s'\n", c.names[0], zshText(c.usage))
		fmt.Fprintf(&cases, "    %s)\n      _arguments", strings.Join(c.names, "|"))
		for _, flag := range c.flags {
			cases.WriteString(" \\\n        " + zshFlag(flag))
		}
		switch {
		case c.directory:
			cases.WriteString(" \\\n        '1:directory:_files -/'")
		case c.listed != "":
			fmt.Fprintf(&cases, " \\\n        '1:argument:%s'", zshNames(c.listed))
		case len(c.words) > 0:
			fmt.Fprintf(&cases, " \\\n        '1:argument:(%s)'", strings.Join(c.words, " "))
		}
		cases.WriteString("\n      ;;\n")
	}
	return `#compdef runner
# Completion of runner for zsh.
_runner() {
  local -a commands
  commands=(
` + described.String() + `  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  shift words
  (( CURRENT-- ))
  case "$words[1]" in
` + cases.String() + `  esac
}
if [[ "$funcstack[1]" == _runner ]]; then
  _runner "$@"
else
  compdef _runner runner
fi
`
}

// zshFlag returns a flag for _arguments: '(-o --output)'{-o,--output}'[text]:value:(a b)'.
func zshFlag(flag completedFlag) string {
	typed := flag.typed()
	text := "'[" + zshText(flag.usage) + "]"
	if flag.takesValue {
		text += ":value:"
		switch {
		case flag.files:
			text += "_files"
		case flag.listed != "":
			text += zshNames(flag.listed)
		case len(flag.values) > 0:
			text += "(" + strings.Join(flag.values, " ") + ")"
		}
	}
	if len(typed) == 1 {
		return "'" + typed[0] + strings.TrimPrefix(text, "'") + "'"
	}
	return "'(" + strings.Join(typed, " ") + ")'{" + strings.Join(typed, ",") + "}" + text + "'"
}

// zshNames returns the action that completes names of a kind.
func zshNames(names string) string { return "{compadd -- $(" + asking(names) + ")}" }

// zshText escapes a text for use inside quotes, brackets and colons.
func zshText(text string) string {
	return strings.NewReplacer("'", `'\''`, ":", `\:`, "[", `\[`, "]", `\]`).Replace(text)
}

func fishCompletion(all []completedCommand) string {
	var b strings.Builder
	b.WriteString("# Completion of runner for fish.\ncomplete -c runner -f\n")
	for _, c := range all {
		fmt.Fprintf(&b, "complete -c runner -n __fish_use_subcommand -a %s -d %s\n", c.names[0], fishText(c.usage))
		within := fmt.Sprintf("-n '__fish_seen_subcommand_from %s'", strings.Join(c.names, " "))
		switch {
		case c.directory:
			fmt.Fprintf(&b, "complete -c runner %s -a '(__fish_complete_directories)'\n", within)
		case c.listed != "":
			fmt.Fprintf(&b, "complete -c runner %s -a '(%s)'\n", within, asking(c.listed))
		case len(c.words) > 0:
			fmt.Fprintf(&b, "complete -c runner %s -a '%s'\n", within, strings.Join(c.words, " "))
		}
		for _, flag := range c.flags {
			fmt.Fprintf(&b, "complete -c runner %s%s\n", within, fishFlag(flag))
		}
	}
	return b.String()
}

func fishFlag(flag completedFlag) string {
	var text string
	for _, n := range flag.names {
		if len(n) == 1 {
			text += " -s " + n
			continue
		}
		text += " -l " + n
	}
	switch {
	case flag.files:
		text += " -r -F"
	case flag.takesValue:
		text += " -x"
	}
	if flag.listed != "" {
		text += " -a '(" + asking(flag.listed) + ")'"
	}
	if len(flag.values) > 0 {
		text += " -a '" + strings.Join(flag.values, " ") + "'"
	}
	return text + " -d " + fishText(flag.usage)
}

func fishText(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text) + "'"
}
