package simulate_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"mara/runner/internal/feature/simulate"
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

// TestMasked has secrets at several depths: only they are masked, and the keys of a
// secret object stay.
func TestMasked(t *testing.T) {
	t.Parallel()
	var got map[string]any
	admit := func(_ context.Context, o simulate.Object, _ bool) error {
		got = o.Masked("***")
		return nil
	}
	e := connect(t, start(t, simulate.Options{Admit: admit}), "fake", nil)
	text := resource.NewStringProperty
	_, _, err := e.tryCreate(t.Context(), networkType, "net", resource.PropertyMap{
		"range": text("open"),
		"tags": resource.NewObjectProperty(resource.PropertyMap{
			"plain": text("open"), "hidden": resource.MakeSecret(text("secret")),
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"range": "open", "tags": map[string]any{"plain": "open", "hidden": "***"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	_, _, err = e.tryCreate(t.Context(), networkType, "other", resource.PropertyMap{
		"range": resource.MakeSecret(text("secret")), "tags": resource.MakeSecret(resource.NewObjectProperty(resource.PropertyMap{"a": text("secret")})),
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{"range": "***", "tags": map[string]any{"a": "***"}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
