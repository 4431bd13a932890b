package simulate_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"mara/runner/internal/simulate"
)

// TestAdmission refuses a resource before it exists, and is asked in a preview only
// about what is known.
func TestAdmission(t *testing.T) {
	t.Parallel()
	var asked []string
	admit := func(_ context.Context, o simulate.Object, preview bool) error {
		text, _ := o.Inputs()["range"].(string)
		if preview {
			text += " in a preview"
		}
		asked = append(asked, o.Token+" "+o.Name()+" "+text)
		if text == "bad" {
			return errors.New("no room")
		}
		return nil
	}
	e := connect(t, start(t, simulate.Options{Admit: admit}), "fake", nil)
	known := func(text string) resource.PropertyMap {
		return resource.PropertyMap{"range": resource.MakeSecret(resource.NewStringProperty(text))}
	}
	e.preview(networkType, "net", known("good"))
	e.preview(networkType, "net", resource.PropertyMap{"range": resource.MakeComputed(resource.NewStringProperty(""))})
	if _, _, err := e.tryCreate(t.Context(), networkType, "net", known("bad")); err == nil || !strings.Contains(err.Error(), "no room") {
		t.Errorf("error %v", err)
	}
	if id, _, err := e.tryCreate(t.Context(), networkType, "net", known("good")); err != nil || !e.exists(networkType, "net", id) {
		t.Errorf("error %v", err)
	}
	want := []string{networkType + " net good in a preview", networkType + " net bad", networkType + " net good"}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}
