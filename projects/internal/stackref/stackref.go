// Package stackref reads the outputs of another project's stack in the same
// environment. It is the only way a program learns about another one.
package stackref

import (
	"fmt"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/internal/contain"
	"mara/projects/internal/stackref/stackoutputs"
	"mara/projects/model"
	"mara/projects/monitor"
)

// Reference gives typed access to the outputs of one stack.
type Reference struct {
	project model.Project
	stack   string
	preview bool
	source  stackoutputs.Reader
	err     error // why there is none: what comes instead of every output
}

// New refers to the stack of another project that has the same name as the
// stack being deployed. The project must be in the catalogue.
func New(ctx *pulumi.Context, project string) *Reference {
	target, ok := projects.ByName(project)
	if !ok {
		return &Reference{err: fmt.Errorf("stack reference to %q: there is no such project in the catalogue", project)}
	}
	name := fmt.Sprintf("%s/%s/%s", ctx.Organization(), project, ctx.Stack())
	source, err := stackoutputs.New(ctx, name)
	if err != nil {
		err = fmt.Errorf("stack reference to %q: %w", name, err)
	}
	return &Reference{project: target, stack: ctx.Stack(), preview: ctx.DryRun(), source: source, err: err}
}

// String returns a string output.
func (r *Reference) String(name string) pulumi.StringOutput {
	return r.Output(name).ApplyT(contain.Try(func(value any) (string, error) {
		text, ok := value.(string)
		if !ok {
			return "", r.mistyped(name, "text", value)
		}
		return text, nil
	})).(pulumi.StringOutput)
}

// StringMap returns an output that maps names to strings.
func (r *Reference) StringMap(name string) pulumi.StringMapOutput {
	return r.Output(name).ApplyT(contain.Try(func(value any) (map[string]string, error) {
		object, ok := value.(map[string]any)
		if !ok {
			return nil, r.mistyped(name, "a map", value)
		}
		texts := make(map[string]string, len(object))
		for key, item := range object {
			text, ok := item.(string)
			if !ok {
				return nil, r.mistyped(name+"."+key, "text", item)
			}
			texts[key] = text
		}
		return texts, nil
	})).(pulumi.StringMapOutput)
}

// Entry returns one entry of an output that maps names to strings. A missing entry is an error
// like a missing output.
func (r *Reference) Entry(name, key string) pulumi.StringOutput {
	return r.StringMap(name).ApplyT(contain.Try(func(entries map[string]string) (string, error) {
		entry, ok := entries[key]
		if !ok {
			return "", r.missing(name + "." + key)
		}
		return entry, nil
	})).(pulumi.StringOutput)
}

// StringList returns an output that is a list of strings.
func (r *Reference) StringList(name string) pulumi.StringArrayOutput {
	return r.Output(name).ApplyT(contain.Try(func(value any) ([]string, error) {
		items, ok := value.([]any)
		if !ok {
			return nil, r.mistyped(name, "a list", value)
		}
		texts := make([]string, len(items))
		for i, item := range items {
			text, ok := item.(string)
			if !ok {
				return nil, r.mistyped(fmt.Sprintf("%s[%d]", name, i), "text", item)
			}
			texts[i] = text
		}
		return texts, nil
	})).(pulumi.StringArrayOutput)
}

// Output returns an output of any type. A secret stays secret. During a preview a missing
// output is unknown, unless the preview of its project found that it will not exist; otherwise
// it is an error.
func (r *Reference) Output(name string) pulumi.Output {
	if r.err != nil {
		return pulumi.Bool(false).ToBoolOutput().ApplyT(contain.Try(func(bool) (any, error) {
			return nil, r.err
		}))
	}
	if _, ok := r.project.Output(name); !ok {
		panic(fmt.Sprintf("project %s declares no output %q in the catalogue", r.project.Name, name))
	}
	// The reader already makes a missing output unknown during a preview, so
	// the function below does not run then; and it keeps secrets secret.
	output := r.source.Output(name)
	if r.preview {
		output = r.checkForeseen(name, output)
	}
	return output.ApplyT(contain.Try(func(value any) (any, error) {
		if value == nil {
			return nil, r.missing(name)
		}
		return value, nil
	}))
}

// checkForeseen returns the output, or an error if the preview of its project has
// found that the project will not export it.
func (r *Reference) checkForeseen(name string, output pulumi.Output) pulumi.Output {
	checked := pulumi.Unsecret(r.source.All().ApplyT(contain.Try(func(outputs map[string]any) (bool, error) {
		names, foreseen := outputs[monitor.ForeseenNames].([]any)
		if foreseen && !slices.Contains(names, any(name)) {
			return false, r.missing(name)
		}
		return true, nil
	})))
	return pulumi.All(checked, output).ApplyT(contain.Try(func(both []any) (any, error) {
		return both[1], nil
	}))
}

// Has reports whether the output exists now. A program asks where it cannot go
// on with an unknown value, which is rare: only in a preview may it be false.
func (r *Reference) Has(name string) (bool, error) {
	if r.err != nil {
		return false, r.err
	}
	has, err := r.source.Has(name)
	if err != nil {
		return false, fmt.Errorf("reading output %q of project %q: %w", name, r.project.Name, err)
	}
	return has, nil
}

func (r *Reference) missing(name string) error {
	return fmt.Errorf("stack %q of project %q has no output %q: deploy that project first, with `runner up -s %s`",
		r.stack, r.project.Name, name, r.stack)
}

func (r *Reference) mistyped(name, want string, got any) error {
	return fmt.Errorf("output %q of project %q, stack %q, is a %T, not %s: deploy that project again with this version",
		name, r.project.Name, r.stack, got, want)
}
