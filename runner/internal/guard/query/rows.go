package query

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Rows converts results that are objects into rows; ok is false if one is not an object.
// The columns of the query come first, then other keys by name.
func Rows(results []any, columns []string) (titles []string, rows [][]string, ok bool) {
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
		row := make([]string, len(titles))
		for i, title := range titles {
			row[i] = Cell(object[title])
		}
		rows = append(rows, row)
	}
	return titles, rows, true
}

// Cell formats a value on one line: lists of strings with commas, other lists and objects
// as JSON.
func Cell(value any) string {
	switch value := value.(type) {
	case nil:
		return ""
	case string:
		return strings.Join(strings.Fields(value), " ")
	case []any:
		var parts []string
		for _, part := range value {
			text, ok := part.(string)
			if !ok {
				return asJSON(value)
			}
			parts = append(parts, text)
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
	return strings.TrimSpace(text.String())
}
