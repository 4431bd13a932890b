package event

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// Unknown stands for a value that a preview does not know yet.
const Unknown = "[unknown]"

// OutputChange is an output of a project's stack that an up or a preview adds,
// changes or removes. Secret values read Masked, values that a preview does not
// know yet read Unknown.
type OutputChange struct {
	Name   string `json:"name"`
	Action Action `json:"action"` // create, update or delete
	Before any    `json:"before,omitempty"`
	After  any    `json:"after,omitempty"`
}

// withoutValues returns the change with NotShown in the place of each value.
func (c OutputChange) withoutValues() OutputChange {
	if c.Action != Create {
		c.Before = NotShown
	}
	if c.Action != Delete {
		c.After = NotShown
	}
	return c
}

// String renders the change as Pulumi does: ~ domain: "a" => "b". Long values are cut.
func (c OutputChange) String() string { return c.Text(LongestValue) }

// Text renders the change with values of at most so many characters.
func (c OutputChange) Text(most int) string {
	switch c.Action {
	case Create:
		return "+ " + c.Name + ": " + valueText(c.After, most)
	case Delete:
		return "- " + c.Name + ": " + valueText(c.Before, most)
	}
	return "~ " + c.Name + ": " + valueText(c.Before, most) + " => " + valueText(c.After, most)
}

// LongestValue is how many characters of a value are shown in a line.
const LongestValue = 120

// ValueText renders a value in one line, shortened if it is long. Masked, Hidden and Unknown
// stand without quotes, as they are not the value.
func ValueText(value any) string { return valueText(value, LongestValue) }

// valueText renders a value in one line of at most so many characters.
func valueText(value any, most int) string {
	if value == Masked || value == Unknown || value == Hidden || value == NotShown {
		return value.(string)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(value) != nil { // cannot happen: the value comes from JSON
		return "?"
	}
	text := []rune(string(bytes.TrimSpace(b.Bytes())))
	if len(text) > most {
		return string(text[:most]) + "…"
	}
	return string(text)
}

// withTexts returns the change with its free text changed.
func (c OutputChange) withTexts(change func(string) string) OutputChange {
	c.Before, c.After = valueWithTexts(c.Before, change), valueWithTexts(c.After, change)
	return c
}

// valueWithTexts returns a copy of a JSON value with its strings changed, the keys
// of objects included.
func valueWithTexts(value any, change func(string) string) any {
	switch value := value.(type) {
	case string:
		return change(value)
	case []any:
		copied := slices.Clone(value)
		for i := range copied {
			copied[i] = valueWithTexts(copied[i], change)
		}
		return copied
	case map[string]any:
		copied := make(map[string]any, len(value))
		for _, key := range slices.Sorted(maps.Keys(value)) {
			copied[change(key)] = valueWithTexts(value[key], change)
		}
		return copied
	}
	return value
}
