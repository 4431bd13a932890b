package model_test

import (
	"testing"

	"mara/projects/model"
)

// TestPlace: where projects of the user's own are, no provider is named.
func TestPlace(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ provider, place, where string }{
		{"kind", "kind/dev", "kind, stack dev"}, {model.OwnProvider, "dev", "stack dev"},
	} {
		if place, where := model.Place(test.provider, "dev"), model.Where(test.provider, "dev"); place != test.place || where != test.where {
			t.Errorf("%s: %q, %q", test.provider, place, where)
		}
	}
}
