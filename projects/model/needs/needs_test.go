package needs_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/projects/model/needs"
)

func TestAll(t *testing.T) {
	t.Parallel()
	n := needs.Needs{Reads: []string{"b", "a"}, After: []string{"c", "a"}}
	if diff := cmp.Diff([]string{"b", "a", "c"}, n.All()); diff != "" {
		t.Error(diff)
	}
	if all := (needs.Needs{}).All(); all != nil {
		t.Errorf("needs nothing, got %v", all)
	}
}
