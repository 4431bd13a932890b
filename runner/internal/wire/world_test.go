package wire_test

import (
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"mara/runner/internal/wire"
)

// TestGuards prints the guards in the order in which they are asked: a cluster that is gone comes before costs, and what
// an environment costs is reported before rules judge it.
func TestGuards(t *testing.T) {
	t.Parallel()
	var order []string
	for _, maker := range wire.Guards() {
		name := runtime.FuncForPC(reflect.ValueOf(maker).Pointer()).Name()
		order = append(order, name[strings.LastIndex(name, "/")+1:])
	}
	t.Log(strings.Join(order, ", "))
	if want := []string{"clusterlife.Guard", "bill.Guard", "policy.Guard"}; !slices.Equal(order, want) {
		t.Errorf("the guards are %q, want %q", order, want)
	}
}
