package simulate

import (
	"context"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Admission is asked before a resource is created or updated, also in a preview
// if all its inputs are known. Its error refuses the resource.
type Admission func(ctx context.Context, o Object, preview bool) error

// Inputs returns all inputs, secrets included. The caller must not change them.
func (o Object) Inputs() map[string]any { return o.inputs }

// Masked returns all inputs with secrets masked. The keys of a secret object are no
// secrets, and stay.
func (o Object) Masked(mask string) map[string]any {
	masked, _ := plain(maskSecrets(resource.NewObjectProperty(o.given), mask, false)).(map[string]any)
	return masked
}

// maskSecrets replaces secrets by mask; inside a secret, every value.
func maskSecrets(v resource.PropertyValue, mask string, inside bool) resource.PropertyValue {
	switch {
	case v.IsSecret():
		return maskSecrets(v.SecretValue().Element, mask, true)
	case v.IsOutput():
		output := v.OutputValue()
		return maskSecrets(output.Element, mask, inside || output.Secret)
	case inside && !v.IsNull() && !v.IsArray() && !v.IsObject():
		return resource.NewStringProperty(mask)
	}
	return mapItems(v, func(item resource.PropertyValue) resource.PropertyValue { return maskSecrets(item, mask, inside) })
}

// admit asks whether a resource may be as it is.
func (s *server) admit(ctx context.Context, t target, preview bool) error {
	if s.opts.Admit == nil || t.inputs.ContainsUnknowns() {
		return nil
	}
	if err := s.opts.Admit(ctx, t.o, preview); err != nil {
		return status.Error(codes.FailedPrecondition, err.Error())
	}
	return nil
}
