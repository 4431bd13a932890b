package query

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Rows makes rows of results that are all objects; ok is false if one is not.
// The columns that the query names come first, then others by name.
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

// Cell is a value as text in one line: lists of texts with commas, and as JSON
// what has no shorter form.
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
		return "?" // jq makes nothing that is no JSON, but for numbers that are none
	}
	return strings.TrimSpace(text.String())
}
