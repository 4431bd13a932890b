package providers

import (
	"fmt"
	"strings"

	"mara/config"
)

// Rule describes the values of its kind that a key allows; it returns "" if it allows all.
func Rule(key config.Key) string {
	switch {
	case len(key.Allowed) > 0:
		return "Allowed: " + strings.Join(key.Allowed, ", ")
	case key.Form != nil && key.Kind == config.List:
		return "Each is " + key.Form.Title
	case key.Form != nil:
		return "Takes " + key.Form.Title
	case key.Min != nil && key.Max != nil:
		return fmt.Sprintf("From %d to %d", *key.Min, *key.Max)
	case key.Min != nil:
		return fmt.Sprintf("%d or more", *key.Min)
	case key.Max != nil:
		return fmt.Sprintf("%d or less", *key.Max)
	}
	return ""
}
