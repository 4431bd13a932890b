package query

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"mara/config/lists"
	"mara/runner/internal/machine/typeset"
)

// Rows converts results that are objects into rows of values; ok is false if one is not an
// object. The columns of the query come first, then other keys by name.
func Rows(results []any, columns []string) (titles []string, rows [][]any, ok bool) {
	titles = slices.Clone(columns)
	found := map[string]bool{}
	for _, result := range results {
		object, ok := result.(map[string]any)
		if !ok {
			return nil, nil, false
		}
		for key := range object {
			found[key] = true
		}
	}
	for _, key := range slices.Sorted(maps.Keys(found)) {
		if !slices.Contains(titles, key) {
			titles = append(titles, key)
		}
	}
	for _, result := range results {
		object, _ := result.(map[string]any)
		rows = append(rows, lists.Map(titles, func(title string) any { return object[title] }))
	}
	return titles, rows, true
}

// Cell formats a value on one line, for people.
func Cell(value any) string { return strings.Join(strings.Fields(text(value)), " ") }

// Field formats a value for CSV. Newlines stay. An absent value and null are empty, and an
// empty string is a pair of quotes.
func Field(value any) string {
	field := text(value)
	if value != nil && (field == "" || strings.ContainsAny(field, ",\"\r\n")) {
		return `"` + strings.ReplaceAll(field, `"`, `""`) + `"`
	}
	return field
}

// text formats a value: lists of strings with commas, other lists and objects as JSON.
func text(value any) string {
	switch value := value.(type) {
	case nil:
		return ""
	case string:
		return typeset.Visible(value)
	case []any:
		var parts []string
		for _, part := range value {
			text, ok := part.(string)
			if !ok {
				return asJSON(value)
			}
			parts = append(parts, typeset.Visible(text))
		}
		return strings.Join(parts, ", ")
	}
	return asJSON(value)
}

func asJSON(value any) string {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return "?" // NaN and infinities, which are not JSON
	}
	return typeset.Visible(strings.TrimSpace(text.String()))
}
