package ask

import (
	"testing"

	"mara/runner/internal/core/query"
)

// TestExamples: what the page offers to ask has answers.
func TestExamples(t *testing.T) {
	t.Parallel()
	document := map[string]any{"items": []any{map[string]any{
		"source": "state", "environment": "eu", "project": "net", "type": "aws:s3/bucket:Bucket", "name": "logs", "modified": "2026-11-20T10:00:00Z",
		"inputs": map[string]any{"ranges": []any{"0.0.0.0/0"}},
	}}}
	for _, e := range examples() {
		q, err := query.Compile(e.Query)
		if err != nil {
			t.Errorf("%s: %v", e.Query, err)
			continue
		}
		found, err := q.Run(t.Context(), document)
		if err != nil || len(found) != 1 {
			t.Errorf("%s: %v, %v", e.Query, found, err)
		}
		if empty, err := q.Run(t.Context(), map[string]any{"items": []any{}}); err != nil || len(empty) > 0 {
			t.Errorf("%s on nothing: %v, %v", e.Query, empty, err)
		}
	}
}
