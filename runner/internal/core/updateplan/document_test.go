package updateplan

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
)

func TestNewStep(t *testing.T) {
	t.Parallel()
	const urn = "urn:pulumi:dev::p::aws:rds/instance:Instance::db"
	mask := func(text string) string { return strings.ReplaceAll(text, "hidden", "[secret]") }
	step, ok := NewStep(apitype.StepEventMetadata{
		Op: apitype.OpReplace, Type: "aws:rds/instance:Instance", URN: urn, Keys: []string{"engine"},
		Old: &apitype.StepEventStateMetadata{ID: "db-1", Custom: true, Protect: true, Inputs: map[string]any{"engine": "mysql", "n": unknownValue}},
		New: &apitype.StepEventStateMetadata{Inputs: map[string]any{
			"engine": "postgres", "tags": []any{map[string]any{"a": "x" + unknownValue}, "hidden!"}, "size": 10.0, "subnet": unknownValue,
		}},
	}, mask)
	secret, _ := NewStep(apitype.StepEventMetadata{
		Op: apitype.OpUpdate, Type: "a:b:C", URN: "urn::hidden", Old: &apitype.StepEventStateMetadata{ID: "id-hidden", Inputs: map[string]any{"hidden": "x"}},
		New: &apitype.StepEventStateMetadata{Inputs: map[string]any{"hidden": []any{unknownValue}}},
	}, mask)
	if content, err := json.Marshal(secret); err != nil || strings.Contains(string(content), "hidden") {
		t.Errorf("%v: a secret in a key, a name or an id: %s", err, content)
	}
	want := Step{
		Op: "replace", Type: "aws:rds/instance:Instance", Name: "db", URN: urn, ID: "db-1", Stateful: true, Protected: true, Replaces: []string{"engine"},
		Old:     map[string]any{"engine": "mysql", "n": Unknown},
		Inputs:  map[string]any{"engine": "postgres", "tags": []any{map[string]any{"a": Unknown}, "[secret]!"}, "size": 10.0, "subnet": Unknown},
		Unknown: []string{"subnet", "tags[0].a"},
	}
	if diff := cmp.Diff(want, step); diff != "" || !ok {
		t.Error(ok, diff)
	}
}

func TestWhatIsNoStep(t *testing.T) {
	t.Parallel()
	for _, m := range []apitype.StepEventMetadata{
		{Op: apitype.OpCreateReplacement, Type: "a:b:C"},
		{Op: apitype.OpDeleteReplaced, Type: "a:b:C"},
		{Op: apitype.OpCreate, Type: "pulumi:pulumi:Stack"},
		{Op: apitype.OpCreate, Type: "pulumi:providers:aws"},
		{Op: apitype.OpRead, Type: "pulumi:pulumi:StackReference"},
	} {
		if step, ok := NewStep(m, strings.TrimSpace); ok {
			t.Errorf("%s of %s is %+v", m.Op, m.Type, step)
		}
	}
	stash := apitype.StepEventMetadata{Op: apitype.OpReplace, Type: "pulumi:index:Stash", URN: "urn:pulumi:dev::p::pulumi:index:Stash::key"}
	if step, ok := NewStep(stash, strings.TrimSpace); !ok || step.Name != "key" {
		t.Errorf("a stash is no step: %+v", step)
	}
}

func TestWriteAndRead(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "plan.json")
	want := Document{
		Version: Version, Created: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC), Runner: "1.2.3", Provider: "kind", Stack: "dev",
		Projects: []Project{{Name: "a", Title: "A", Steps: []Step{{Op: "create", Type: "a:b:C", Name: "c", URN: "u::c"}}}},
	}
	digest, err := want.Write(file)
	if want.Digest = digest; err != nil || len(digest) != len("sha256:")+64 {
		t.Fatal(digest, err)
	}
	got, err := Read(file)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	for content, want := range map[string]string{
		"{}":            "is not a plan of",
		"no JSON":       "is not a plan of",
		`{"version":2}`: "version 2 of the format; this runner reads version 1",
	} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", content, err)
		}
	}
}

// TestComponents: a resource without a provider of its own is a component. Where the
// engine does not tell, it is none.
func TestComponents(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		old  *apitype.StepEventStateMetadata
		want bool
	}{
		{&apitype.StepEventStateMetadata{Custom: false}, true}, {&apitype.StepEventStateMetadata{Custom: true}, false}, {nil, false},
	} {
		m := apitype.StepEventMetadata{Op: apitype.OpDelete, Type: "a:b:C", URN: "urn:pulumi:dev::p::a:b:C::n", Old: test.old}
		if step, _ := NewStep(m, func(s string) string { return s }); step.IsComponent != test.want {
			t.Errorf("%+v: %v", test.old, step.IsComponent)
		}
	}
}
