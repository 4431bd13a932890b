package event

import (
	"strings"

	"mara/config/lists"
)

// Hidden stands for a value that its program has not marked as secret, and that its name or its form says is one.
const Hidden = "[hidden: not marked as secret]"

// NotShown stands for a value where the root or the command says that values are not to be shown.
const NotShown = "[not shown]"

// ValueChange is a value of a resource that differs. Secret values read Masked or Hidden, and values that a preview does
// not know yet read Unknown. Long values are cut.
type ValueChange struct {
	Path   string `json:"path"`   // "spec.replicas"; "rules[]" is an element of a list whose length differs
	Action Action `json:"action"` // create, update or delete
	Before any    `json:"before,omitempty"`
	After  any    `json:"after,omitempty"`
	// Line is the first line that differs in a text of several lines, from 1; Before and After are the lines that differ.
	Line int `json:"line,omitempty"`
	// Replaces means that the change forces a replacement of the resource.
	Replaces bool `json:"replaces,omitempty"`
}

// String renders the change in one line: spec.replicas: 2 => 3. Long values are cut.
func (c ValueChange) String() string { return c.Text(LongestValue) }

// Text renders the change in one line, with values of at most so many characters.
func (c ValueChange) Text(most int) string {
	text := valueText(c.Before, most) + " => " + valueText(c.After, most)
	switch c.Action {
	case Create:
		text = "+ " + valueText(c.After, most)
	case Delete:
		text = "- " + valueText(c.Before, most)
	}
	return c.Path + ": " + text
}

// Lines returns the lines of a text that differ, if Line is set.
func (c ValueChange) Lines() (before, after []string) {
	side := func(value any) []string {
		text, _ := value.(string)
		if text == "" {
			return nil
		}
		return strings.Split(text, "\n")
	}
	return side(c.Before), side(c.After)
}

// withTexts returns the change with its free text changed. Paths have the keys of maps in them.
func (c ValueChange) withTexts(change func(string) string) ValueChange {
	c.Path = change(c.Path)
	c.Before, c.After = valueWithTexts(c.Before, change), valueWithTexts(c.After, change)
	return c
}

// valuesWithTexts returns changes with their free text changed.
func valuesWithTexts(changes []ValueChange, change func(string) string) []ValueChange {
	return lists.Map(changes, func(c ValueChange) ValueChange { return c.withTexts(change) })
}
