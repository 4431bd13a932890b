package contract

import (
	"fmt"
	"slices"
	"strings"

	"mara/config"
)

// String returns the place as file:line.
func (p Place) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}

// Missing is a read of an output that its owner does not export.
type Missing struct {
	Read
	Owner   string // the project
	Exports Exports
}

// String describes where the read is, what the owner exports, and where.
func (m Missing) String() string { return m.Place.String() + " " + m.Text() }

// Text describes the read without its place.
func (m Missing) Text() string {
	return fmt.Sprintf("reads output %q of %s, which %s%s", m.Output, m.Owner, m.Exports.words(),
		config.DidYouMean(m.Output, m.Exports.Names))
}

// words describes what is exported, and where.
func (e Exports) words() string {
	text := "exports no outputs"
	if len(e.Names) > 0 {
		text = "exports " + strings.Join(e.Names, ", ")
	}
	if e.File == "" {
		return text
	}
	return text + " (" + e.String() + ")"
}

// Check returns the reads of outputs that the owner does not export.
func Check(owner string, reads []Read, exports Exports) []Missing {
	var missing []Missing
	for _, read := range reads {
		if !slices.Contains(exports.Names, read.Output) && !slices.Contains(exports.Optional, read.Output) {
			missing = append(missing, Missing{Read: read, Owner: owner, Exports: exports})
		}
	}
	return missing
}

// Undeclared describes the outputs that mara.yaml lists for a project but its program does
// not export; "" if there are none.
func Undeclared(declared []string, at Place, exports Exports) string {
	exported := func(name string) bool { return slices.Contains(exports.Names, name) }
	lacking := slices.DeleteFunc(slices.Clone(declared), exported)
	if len(lacking) == 0 {
		return ""
	}
	return fmt.Sprintf("%s lists the output %s, but the program %s%s",
		at, strings.Join(lacking, ", "), exports.words(), config.DidYouMean(lacking[0], exports.Names))
}
