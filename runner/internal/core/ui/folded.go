package ui

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"mara/runner/internal/machine/typeset"
)

// environmentMark stands for the name of an environment where several differ in the same way.
const environmentMark = "{env}"

// shortestMarked is the length of the shortest name that the mark stands for: shorter ones are parts of other words.
const shortestMarked = 3

// Folded renders what differs in the environments of a fleet, as Differences has rendered it for each: the same once,
// with the environments that it is about. Environments that lose something come first.
func Folded(texts map[string]string, o Options) string {
	same := map[string][]string{}
	for _, environment := range slices.Sorted(maps.Keys(texts)) {
		text := texts[environment]
		if len(environment) >= shortestMarked {
			text = strings.ReplaceAll(text, environment, environmentMark)
		}
		same[text] = append(same[text], environment)
	}
	delete(same, "")
	groups := slices.SortedFunc(maps.Keys(same), func(a, b string) int {
		if loses := strings.Contains(a, lostHeading); loses != strings.Contains(b, lostHeading) {
			if loses {
				return -1
			}
			return 1
		}
		return strings.Compare(same[a][0], same[b][0])
	})
	var b strings.Builder
	for _, text := range groups {
		environments := same[text]
		heading := environments[0]
		if n := len(environments); n > 1 {
			heading = fmt.Sprintf("The same in %s: %s", typeset.Counted(n, "environment"), strings.Join(environments, ", "))
		} else {
			text = strings.ReplaceAll(text, environmentMark, environments[0])
		}
		b.WriteString("\n" + palette{on: o.Colour}.bold(typeset.Wrap(heading, o.Width, 2)) + "\n")
		for line := range strings.Lines(strings.TrimPrefix(text, "\n")) {
			if line != "\n" {
				line = "  " + line
			}
			b.WriteString(line)
		}
	}
	return b.String()
}
