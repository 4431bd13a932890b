package stacks

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"

	"mara/projects/model"
	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/pulumicli"
	"mara/runner/internal/core/pulumicli/wire"
)

// foreseeing is a fake whose previews have foresight.
type foreseeing struct {
	*fakePulumi
	found map[string]wire.Found // by full name of the stack that is previewed
	given []string              // what each preview was given: stacks and values
}

func (f *foreseeing) WithForesight(foresight *pulumicli.Foresight) Command {
	return foreseeingOne{f, foresight}
}

type foreseeingOne struct {
	*foreseeing
	foresight *pulumicli.Foresight
}

// Run implements auto.PulumiCommand.
func (f foreseeingOne) Run(ctx context.Context, dir string, stdin io.Reader, stdout, stderr []io.Writer, env []string, args ...string) (string, string, int, error) {
	out, errs, code, err := f.fakePulumi.Run(ctx, dir, stdin, stdout, stderr, env, args...)
	if args[0] != "preview" {
		f.t.Errorf("foresight for %v", args)
	}
	var given []string
	for _, stack := range slices.Sorted(maps.Keys(f.foresight.Foreseen)) {
		given = append(given, stack+"="+string(f.foresight.Foreseen[stack]))
	}
	f.given = append(f.given, strings.Join(given, " "))
	if found, ok := f.found[flag(args, "--stack")]; ok && err == nil {
		f.foresight.Found = &found
	}
	return out, errs, code, err
}

// TestForesight: each preview is given what the earlier ones have found, under the
// full names of their stacks, until the project is deployed or its preview fails. A
// preview is partial only where an output that it reads is unknown.
func TestForesight(t *testing.T) {
	t.Parallel()
	outputs := map[string]any{"id": "1"}
	changed := []apitype.EngineEvent{ofStack(outputs, map[string]any{"id": "2"}), summed(nil)}
	unknown := []apitype.EngineEvent{ofStack(outputs, map[string]any{"id": plugin.UnknownStringValue}), summed(nil)}
	preview := func(project string, events []apitype.EngineEvent) call {
		return call{args: "preview", events: events, check: func(_ string, _, args []string) {
			if got := flag(args, "--stack"); got != "organization/"+project+"/dev" {
				t.Errorf("a preview of %s, want %s", got, project)
			}
		}}
	}
	fake := &foreseeing{fakePulumi: newFake(t,
		call{args: "stack ls --all --json", stdout: listing("organization/vpc/dev", "organization/eks/dev", "organization/app/dev", "organization/web/dev")},
		preview("vpc", changed), preview("eks", unknown), preview("app", changed), preview("web", changed),
		call{args: "preview", err: failed(), stderr: "error: broken"},
		preview("eks", changed),
		call{args: "up", events: changed},
		preview("app", changed),
	), found: map[string]wire.Found{
		"organization/vpc/dev": {Values: wire.Values("v"), Outputs: []wire.Output{{Name: "id", Change: wire.Changed}}},
		"organization/eks/dev": {Values: wire.Values("e"), Outputs: []wire.Output{{Name: "id", Change: wire.Changed, Unknown: true}},
			Reads: []string{"elsewhere/x/y", "organization/vpc/dev"}},
		"organization/app/dev": {Values: wire.Values("a"), Outputs: []wire.Output{{Name: "id", Change: wire.Changed}}, Reads: []string{"organization/eks/dev"}},
		"organization/web/dev": {},
	}}
	e := openWith(t, fake, nil)
	var partial []string
	operate := func(op operation.Operation, project string, reads ...string) {
		one := step(project)
		one.Reads = reads
		outcome, err := e.Operate(t.Context(), Task{Operation: op, Step: one}, func(event.Event) {})
		partial = append(partial, fmt.Sprintf("%s %s: %v %v", op, project, outcome.Unknown, err))
	}
	operate(operation.Preview, "vpc")
	operate(operation.Preview, "eks", "vpc")
	operate(operation.Preview, "app") // which reads eks, and does not say so
	operate(operation.Preview, "web", "app", "vpc")
	if reads := e.ReadsOf("eks"); !slices.Equal(reads, []string{"vpc"}) {
		t.Errorf("eks reads %v", reads)
	}
	operate(operation.Preview, "vpc") // which fails
	if _, ok := e.previewedOutputs("vpc"); ok {
		t.Error("the outputs of a failed preview are known")
	}
	operate(operation.Preview, "eks", "vpc")
	operate(operation.Up, "eks", "vpc")
	if _, ok := e.previewedOutputs("eks"); ok {
		t.Error("the outputs of the preview before an up are known")
	}
	operate(operation.Preview, "app", "eks")
	if diff := cmp.Diff([]string{
		"preview vpc: [] <nil>", "preview eks: [] <nil>", "preview app: [eks] <nil>", "preview web: [] <nil>",
		"preview vpc: [] broken", "preview eks: [vpc] <nil>", "up eks: [] <nil>", "preview app: [] <nil>",
	}, partial); diff != "" {
		t.Error(diff)
	}
	v, ee, a := "organization/vpc/dev=v", "organization/eks/dev=e", "organization/app/dev=a"
	if diff := cmp.Diff([]string{"", v, ee + " " + v, a + " " + ee + " " + v, a + " " + ee, a, ""}, fake.given); diff != "" {
		t.Error(diff)
	}
}

// TestForesightOfOtherNames: the outputs of a stack with a name of its own are given
// under that name, until an up leaves its project out.
func TestForesightOfOtherNames(t *testing.T) {
	t.Parallel()
	same := []apitype.EngineEvent{ofStack(nil, map[string]any{"id": "1"}), summed(nil)}
	fake := &foreseeing{fakePulumi: newFake(t,
		call{args: "stack ls --all --json", stdout: listing("organization/vpc/prod-of-dev", "organization/eks/dev")},
		call{args: "preview", events: same}, call{args: "preview", events: same}, call{args: "preview", events: same},
	), found: map[string]wire.Found{
		"organization/vpc/prod-of-dev": {Values: wire.Values("v")},
		"organization/eks/dev":         {Values: wire.Values("e"), Reads: []string{"organization/vpc/prod-of-dev"}},
	}}
	e := openWith(t, fake, func(o *Options) { o.Names = model.StackNames{"vpc": "prod-of-" + model.StackPlaceholder} })
	preview := func(project string) {
		if _, err := e.Operate(t.Context(), Task{Operation: operation.Preview, Step: step(project)}, func(event.Event) {}); err != nil {
			t.Fatal(err)
		}
	}
	preview("vpc")
	preview("eks")
	if reads := e.ReadsOf("eks"); !slices.Equal(reads, []string{"vpc"}) {
		t.Errorf("eks reads %v", reads)
	}
	e.Recall("vpc", map[string]any{"id": "1"})
	preview("eks")
	if diff := cmp.Diff([]string{"", "organization/vpc/prod-of-dev=v", ""}, fake.given); diff != "" {
		t.Error(diff)
	}
}

// TestPreviewedOutputs: what the events and the engine say of outputs, and what the
// events alone say.
func TestPreviewedOutputs(t *testing.T) {
	t.Parallel()
	asset := map[string]any{"4dabf18193072939515e22adb298388d": "c44067f5952c0a294b673a41bacd8c17", "hash": "h"}
	before := map[string]any{"same": 1.0, "other": "a", "gone": "x", "s": secret(), "file": asset, "deep": map[string]any{"p": secret(), "n": 1.0}}
	after := map[string]any{"same": 1.0, "other": []any{"b", plugin.UnknownStringValue}, "new": "y", "s": secret(), "file": asset, "deep": map[string]any{"p": secret(), "n": 1.0}}
	events := func() *engineEvents { return &engineEvents{outputs: &stackOutputs{before: before, after: after}} }
	want := []wire.Output{
		{Name: "deep", Secret: true},
		{Name: "file"},
		{Name: "gone", Change: wire.Removed},
		{Name: "new", Change: wire.Added},
		{Name: "other", Unknown: true, Change: wire.Changed},
		{Name: "s", Secret: true},
		{Name: "same"},
	}
	if diff := cmp.Diff(want, events().previewedOutputs(nil)); diff != "" {
		t.Errorf("an installed Pulumi:\n%s", diff)
	}
	want[5].Change, want[5].Unknown = wire.Changed, true
	got := events().previewedOutputs([]wire.Output{
		{Name: "deep", Secret: true}, {Name: "file"}, {Name: "gone", Change: wire.Removed}, {Name: "new", Change: wire.Added},
		{Name: "other", Unknown: true, Change: wire.Changed}, {Name: "s", Secret: true, Unknown: true, Change: wire.Changed}, {Name: "same"},
	})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := (&engineEvents{}).previewedOutputs(nil); got != nil {
		t.Errorf("a program without outputs: %v", got)
	}
}
