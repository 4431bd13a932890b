package stackref_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects/internal/programtest"
	"mara/projects/internal/stackref"
	"mara/projects/model"
	"mara/projects/monitor"
)

// reader makes a program that exports one output of the kubeconfig project.
func reader(read func(*stackref.Reference) pulumi.Input) pulumi.RunFunc {
	return func(ctx *pulumi.Context) error {
		ref := stackref.New(ctx, "kubeconfig")
		ctx.Export("value", read(ref))
		return nil
	}
}

func readString(ref *stackref.Reference) pulumi.Input { return ref.String("kubeconfig") }

func run(t *testing.T, program pulumi.RunFunc, outputs resource.PropertyMap, preview bool) programtest.Result {
	t.Helper()
	return programtest.Run(t, programtest.Case{
		Project: model.Project{Name: "secrets"},
		Program: program,
		Stacks:  map[string]resource.PropertyMap{"kubeconfig": outputs},
		Preview: preview,
	})
}

func TestOutput(t *testing.T) {
	t.Parallel()
	secret := resource.MakeSecret(resource.NewProperty("token"))
	nested := resource.NewProperty(resource.PropertyMap{"a": resource.NewProperty("b")})
	list := resource.NewProperty([]resource.PropertyValue{resource.NewProperty("x"), resource.NewProperty("y")})
	tests := []struct {
		name    string
		read    func(*stackref.Reference) pulumi.Input
		outputs resource.PropertyMap
		preview bool
		want    programtest.Export
	}{
		{
			name: "plain text", read: readString,
			outputs: resource.PropertyMap{"kubeconfig": resource.NewProperty("text")},
			want:    programtest.Export{Value: "text", Known: true},
		},
		{
			name: "a secret stays secret", read: readString,
			outputs: resource.PropertyMap{"kubeconfig": secret},
			want:    programtest.Export{Value: "token", Known: true, Secret: true},
		},
		{
			name: "a secret stays secret in a preview", read: readString, preview: true,
			outputs: resource.PropertyMap{"kubeconfig": secret},
			want:    programtest.Export{Value: "token", Known: true, Secret: true},
		},
		{
			name: "missing in a preview is unknown", read: readString, preview: true,
			want: programtest.Export{},
		},
		{
			name: "unknown in a preview that knows the names", read: readString, preview: true,
			outputs: resource.PropertyMap{monitor.ForeseenNames: namesOf("other", "kubeconfig"), "other": secret},
			want:    programtest.Export{},
		},
		{
			name: "known in a preview that knows the names, next to a secret", read: readString, preview: true,
			outputs: resource.PropertyMap{
				monitor.ForeseenNames: namesOf("other", "kubeconfig"), "other": secret, "kubeconfig": resource.NewProperty("text"),
			},
			want: programtest.Export{Value: "text", Known: true},
		},
		{
			name:    "map",
			read:    func(ref *stackref.Reference) pulumi.Input { return ref.StringMap("context") },
			outputs: resource.PropertyMap{"context": nested},
			want:    programtest.Export{Value: map[string]string{"a": "b"}, Known: true},
		},
		{
			name:    "entry of a map",
			read:    func(ref *stackref.Reference) pulumi.Input { return ref.Entry("context", "a") },
			outputs: resource.PropertyMap{"context": nested},
			want:    programtest.Export{Value: "b", Known: true},
		},
		{
			name:    "missing map in a preview is unknown",
			read:    func(ref *stackref.Reference) pulumi.Input { return ref.StringMap("context") },
			preview: true,
			want:    programtest.Export{},
		},
		{
			name:    "list",
			read:    func(ref *stackref.Reference) pulumi.Input { return ref.StringList("context") },
			outputs: resource.PropertyMap{"context": list},
			want:    programtest.Export{Value: []string{"x", "y"}, Known: true},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			result := run(t, reader(tt.read), tt.outputs, tt.preview)
			if result.Err != nil {
				t.Fatal(result.Err)
			}
			got := result.Export(t, "value")
			if !got.Known {
				got.Value = nil // what an unknown output holds does not matter
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("output differs (-want +got):\n%s", diff)
			}
		})
	}
}

func namesOf(names ...string) resource.PropertyValue {
	var list []resource.PropertyValue
	for _, name := range names {
		list = append(list, resource.NewProperty(name))
	}
	return resource.NewProperty(list)
}

func TestErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		program pulumi.RunFunc
		outputs resource.PropertyMap
		preview bool
		want    string
	}{
		{
			name: "missing by the preview of its project", program: reader(readString), preview: true,
			outputs: resource.PropertyMap{monitor.ForeseenNames: namesOf("other")},
			want:    `stack "dev" of project "kubeconfig" has no output "kubeconfig"`,
		},
		{
			name: "missing output", program: reader(readString),
			want: "stack \"dev\" of project \"kubeconfig\" has no output \"kubeconfig\": " +
				"deploy that project first, with `runner up -s dev`",
		},
		{
			name: "other type", program: reader(readString),
			outputs: resource.PropertyMap{"kubeconfig": resource.NewProperty(7.0)},
			want:    `output "kubeconfig" of project "kubeconfig", stack "dev", is a float64, not text`,
		},
		{
			name: "map with another type inside",
			program: reader(func(ref *stackref.Reference) pulumi.Input {
				return ref.StringMap("context")
			}),
			outputs: resource.PropertyMap{"context": resource.NewProperty(resource.PropertyMap{"a": resource.NewProperty(true)})},
			want:    `output "context.a" of project "kubeconfig", stack "dev", is a bool, not text`,
		},
		{
			name: "missing entry of a map",
			program: reader(func(ref *stackref.Reference) pulumi.Input {
				return ref.Entry("context", "a")
			}),
			outputs: resource.PropertyMap{"context": resource.NewProperty(resource.PropertyMap{})},
			want:    `stack "dev" of project "kubeconfig" has no output "context.a"`,
		},
		{
			name: "unknown project",
			program: func(ctx *pulumi.Context) error {
				ctx.Export("value", stackref.New(ctx, "nothing").String("value"))
				return nil
			},
			want: `stack reference to "nothing": there is no such project in the catalogue`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			result := run(t, tt.program, tt.outputs, tt.preview)
			result.CheckRefused(t, tt.want)
		})
	}
}

func TestUndeclaredOutputPanics(t *testing.T) {
	t.Parallel()
	var got any
	run(t, func(ctx *pulumi.Context) error {
		ref := stackref.New(ctx, "kubeconfig")
		defer func() { got = recover() }()
		ref.Output("nothing")
		return nil
	}, nil, false)
	if got != `project kubeconfig declares no output "nothing" in the catalogue` {
		t.Errorf("panic %v", got)
	}
}

func TestQualifiedName(t *testing.T) {
	t.Parallel()
	result := run(t, reader(readString), resource.PropertyMap{"kubeconfig": resource.NewProperty("k")}, false)
	ref := result.All("pulumi:pulumi:StackReference")[0]
	if want := "organization/kubeconfig/dev"; ref.Name != want || ref.ID != want {
		t.Errorf("stack reference is named %q with id %q, want %q", ref.Name, ref.ID, want)
	}
}
