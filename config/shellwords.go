package config

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// shellSyntax returns what of a command only a shell understands, or "" if there is nothing. The command is split into
// words, and no shell reads it. kubernetes says that Kubernetes replaces $(NAME) in it.
func shellSyntax(text string, kubernetes bool) string {
	text = strings.TrimSpace(text)
	words := strings.Fields(text)
	switch {
	case len(words) == 0:
		return ""
	case assignment.MatchString(words[0]):
		return words[0]
	case isOfShell(words[0]):
		return words[0]
	}
	for _, piece := range pieces(text) {
		switch found := piece.syntax(kubernetes, isShell(words[0])); {
		case found != "":
			return found
		case piece.quote == 0 && strings.Contains(piece.text, "\n"):
			return "a second line"
		}
	}
	return ""
}

// isShell reports whether a program reads the text that follows -c.
func isShell(program string) bool {
	return slices.Contains([]string{"sh", "bash", "dash", "ash", "zsh", "busybox"}, path.Base(program))
}

// isOfShell reports whether a command is a shell's own: there is no program of the name, or it would change nothing.
func isOfShell(command string) bool {
	return slices.Contains([]string{"cd", "export", "source", ".", "set", "if", "for", "while", "case", "{", "("}, command)
}

var (
	assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)
	// operator matches a word that joins commands, or that redirects what they read or write.
	operator = regexp.MustCompile(`(?:^|\s)(&&|\|\|?|;|&|(?:[0-9]|&)?(?:>>?|<<?)(?:&[0-9]|[^=\s]\S*)?)(?:\s|$)`)
	// closed matches a word with a semicolon at its end.
	closed = regexp.MustCompile(`\S(;)(?:\s|$)`)
	// variable matches what a shell would replace.
	variable    = regexp.MustCompile("`|\\$(?:[A-Za-z_][A-Za-z0-9_]*|\\{[^}]*\\}|\\([^)]*\\))")
	ofContainer = regexp.MustCompile(`^\$\([A-Za-z_][A-Za-z0-9_.-]*\)$`)
	home        = regexp.MustCompile(`(?:^|\s)(~/)`)
)

// piece is a part of a command within one kind of quotes; 0 for none.
type piece struct {
	text  string
	quote byte
}

// pieces splits a command at its quotes.
func pieces(text string) (all []piece) {
	current := piece{}
	end := func(next byte) {
		all = append(all, current)
		current = piece{quote: next}
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\' && current.quote != '\'' && i+1 < len(text):
			current.text += "x" // any character: it is escaped
			i++
		case current.quote == 0 && (c == '"' || c == '\''):
			end(c)
		case c == current.quote && c != 0:
			end(0)
		default:
			current.text += string(c)
		}
	}
	return append(all, current)
}

// syntax returns what of a piece a shell would not pass on as it is written.
func (p piece) syntax(kubernetes, inShell bool) string {
	if p.quote == '\'' || p.quote == '"' && inShell {
		return ""
	}
	for _, found := range variable.FindAllString(p.text, -1) {
		if !kubernetes || !ofContainer.MatchString(found) {
			return found
		}
	}
	if p.quote != 0 {
		return ""
	}
	for _, form := range []*regexp.Regexp{operator, closed, home} {
		if found := form.FindStringSubmatch(p.text); found != nil {
			return found[1]
		}
	}
	return ""
}

// forShell returns the list with which a shell reads a command.
func forShell(text string) string {
	text, flags := strings.TrimSpace(text), "-c"
	if strings.Contains(text, "\n") {
		flags = "-ec"
	}
	return "[sh, " + flags + ", " + strconv.Quote(text) + "]"
}

// joined returns the first item of a list that joins commands in a shell, or "".
func joined(words []string) string {
	if len(words) == 0 || isShell(words[0]) {
		return ""
	}
	for _, word := range words {
		if word == "&&" || word == "||" {
			return word
		}
	}
	return ""
}
