package simulate

import (
	"context"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Admission is asked before a resource is created or updated, also in a preview
// if all its inputs are known. Its error refuses the resource.
type Admission func(ctx context.Context, o Object, preview bool) error

// Inputs are all inputs, without their secrecy. They belong to the object.
func (o Object) Inputs() map[string]any { return o.inputs }

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
