// Package stackoutputs reads the outputs of another stack. It alone mentions Pulumi's StackReference and AnyOutput:
// a package that does so compiles eight thousand functions for their sake, which takes five seconds. What it exports
// names neither, and is not inlined.
package stackoutputs

import "github.com/pulumi/pulumi/sdk/v3/go/pulumi"

// Reader reads the outputs of one stack.
type Reader interface {
	// Output returns an output of any type. A secret stays secret; during a preview a missing output is unknown.
	Output(name string) pulumi.Output
	// All returns all outputs, which are secret if one of them is.
	All() pulumi.MapOutput
	// Has reports whether the output exists now.
	Has(name string) (bool, error)
}

// New reads the stack of that name, ORGANIZATION/PROJECT/STACK, as a resource of the program.
//
//go:noinline
func New(ctx *pulumi.Context, name string) (Reader, error) {
	source, err := pulumi.NewStackReference(ctx, name, nil)
	if err != nil {
		return nil, err
	}
	return reader{source}, nil
}

type reader struct{ source *pulumi.StackReference }

func (r reader) Output(name string) pulumi.Output { return r.source.GetOutput(pulumi.String(name)) }

func (r reader) All() pulumi.MapOutput { return r.source.Outputs }

func (r reader) Has(name string) (bool, error) {
	details, err := r.source.GetOutputDetails(name)
	if err != nil {
		return false, err
	}
	return details.Value != nil || details.SecretValue != nil, nil
}
