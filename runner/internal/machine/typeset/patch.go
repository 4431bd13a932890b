package typeset

import (
	"fmt"
	"slices"
	"strings"
)

// Patch returns the change of a text file as a unified diff with one hunk, which `git apply` takes.
func Patch(file, before, after string) string {
	old, changed := slices.Collect(strings.Lines(before)), slices.Collect(strings.Lines(after))
	start := 0
	for start < min(len(old), len(changed)) && old[start] == changed[start] {
		start++
	}
	end := 0
	for end < min(len(old), len(changed))-start && old[len(old)-1-end] == changed[len(changed)-1-end] {
		end++
	}
	if start == len(old) && start == len(changed) {
		return ""
	}
	const context = 3
	from, tail := max(0, start-context), max(0, end-context)
	var b strings.Builder
	name := "a/" + file
	if before == "" {
		name = "/dev/null"
	}
	fmt.Fprintf(&b, "--- %s\n+++ b/%s\n@@ -%s +%s @@\n", name, file, span(from, len(old)-tail),
		span(from, len(changed)-tail))
	write := func(mark string, lines []string) {
		for _, line := range lines {
			b.WriteString(mark + line)
			if !strings.HasSuffix(line, "\n") {
				b.WriteString("\n\\ No newline at end of file\n")
			}
		}
	}
	write(" ", old[from:start])
	write("-", old[start:len(old)-end])
	write("+", changed[start:len(changed)-end])
	write(" ", old[len(old)-end:len(old)-tail])
	return b.String()
}

// span returns a range of lines as a patch writes it.
func span(from, to int) string {
	if to == from {
		return fmt.Sprintf("%d,0", from)
	}
	return fmt.Sprintf("%d,%d", from+1, to-from)
}
