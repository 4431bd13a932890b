package operation_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/projects/model/operation"
)

func TestWhatIsTrueOfEach(t *testing.T) {
	t.Parallel()
	type truth struct{ deploys, destroys, changesResources, writes, runsPrograms, comparesState bool }
	want := map[operation.Operation]truth{
		operation.Up:      {deploys: true, changesResources: true, writes: true, runsPrograms: true},
		operation.Preview: {runsPrograms: true},
		operation.Refresh: {writes: true, comparesState: true},
		operation.Drift:   {comparesState: true},
		operation.Destroy: {destroys: true, changesResources: true, writes: true},
	}
	got := map[operation.Operation]truth{}
	for _, o := range operation.All() {
		got[o] = truth{o.Deploys(), o.Destroys(), o.ChangesResources(), o.Writes(), o.RunsPrograms(), o.ComparesState()}
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(truth{})); diff != "" {
		t.Error(diff)
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"up", "preview", "refresh", "drift", "destroy"} {
		if o, ok := operation.Parse(name); !ok || string(o) != name {
			t.Errorf("%s: %q, %t", name, o, ok)
		}
	}
	for _, name := range []string{"", "Up", "repair", "pulumi up"} {
		if _, ok := operation.Parse(name); ok {
			t.Errorf("%q is no operation", name)
		}
	}
}
