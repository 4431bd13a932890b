package ui

import "strings"

// indented puts spaces before every line of a text.
func indented(text string, indent int) string {
	pad := strings.Repeat(" ", indent)
	return pad + strings.ReplaceAll(text, "\n", "\n"+pad)
}

// names joins names as a sentence does.
func names(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " and " + list[last]
}
