package simulate

import (
	"context"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Check compares a resource's inputs with its type.
func (s *server) Check(ctx context.Context, req *pulumirpc.CheckRequest) (*pulumirpc.CheckResponse, error) {
	t, err := s.target(ctx, req.GetUrn(), req.GetNews())
	if err != nil {
		return nil, err
	}
	olds, err := unmarshal(req.GetOlds())
	if err != nil {
		return nil, err
	}
	problems := checkInputs(t.inputs, t.r.inputs)
	if s.opts.Unknown != nil && s.types.isUnknown(t.r.Token) {
		s.opts.Unknown(t.r.Token)
	}
	if t.r.Check != nil && len(problems) == 0 {
		problems = t.r.Check(t.o)
	}
	inputs, err := marshal(t.named(olds, sessionOf(ctx)))
	return &pulumirpc.CheckResponse{Inputs: inputs, Failures: inputFailures(problems)}, err
}

// named returns the inputs with the name that a provider would make up when
// there is none. It stays the same for the life of the resource. For one that
// replaces it the engine asks again, without old inputs: that gets another
// name, so that both can exist at a time. It follows from the old name, so that
// a preview, the operation and its repetition agree.
func (t target) named(olds resource.PropertyMap, kept *session) resource.PropertyMap {
	if t.r.AutoName == "" || isSet(t.inputs, t.r.AutoName) {
		return t.inputs
	}
	urn := string(t.o.URN)
	name := as[string](lookup(plainMap(olds), t.r.AutoName))
	if name == "" {
		name = t.o.Name() + "-" + newObject(t.r.Token, t.o.URN, nil).Hex("name"+kept.keptName(urn), 8)
	} else {
		kept.keepName(urn, name)
	}
	parent, key, nested := strings.Cut(t.r.AutoName, ".")
	if !nested {
		return overlay(t.inputs, map[string]any{parent: name})
	}
	return overlay(t.inputs, map[string]any{parent: map[string]any{key: name}})
}

// isSet reports whether there is a value at a path, or may be once it is known.
func isSet(m resource.PropertyMap, path string) bool {
	key, rest, nested := strings.Cut(path, ".")
	v := reveal(m[resource.PropertyKey(key)])
	switch {
	case isUnknown(v):
		return true
	case nested && v.IsObject():
		return isSet(v.ObjectValue(), rest)
	}
	return !nested && !v.IsNull()
}

// Admission is asked before a resource is created or updated, also in a preview
// if all its inputs are known. Its error refuses the resource.
type Admission func(ctx context.Context, o Object, preview bool) error

// Inputs returns all inputs, secrets included. The caller must not change them.
func (o Object) Inputs() map[string]any { return o.inputs }

// HasUnknowns reports whether some of the inputs are not known yet; Inputs does not have them.
func (o Object) HasUnknowns() bool { return o.given.ContainsUnknowns() }

// Masked returns all inputs with secrets masked. The keys of a secret object are no
// secrets, and stay.
func (o Object) Masked(mask string) map[string]any {
	return as[map[string]any](plain(maskSecrets(resource.NewObjectProperty(o.given), mask, false)))
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
