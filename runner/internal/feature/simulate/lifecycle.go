package simulate

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil/rpcerror"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"

	"mara/config/lists"
)

// Errors about one resource carry codes that the engine takes to mean that
// nothing has happened. With codes.Unknown it would fear for its state.

// target is the resource that an operation is about.
type target struct {
	r      described
	o      Object
	inputs resource.PropertyMap
	scope  Scope
	path   string // of its record; empty until it has an id
}

func (s *server) target(ctx context.Context, urn string, inputs *structpb.Struct) (target, error) {
	token := string(resource.URN(urn).Type())
	r, ok := s.types.resource(token)
	if !ok {
		return target{}, s.unknown("resource type", token, s.types.resources())
	}
	values, err := unmarshal(inputs)
	if err != nil {
		return target{}, err
	}
	values = r.inputs.coerced(values)
	_, scope := sessionOf(ctx).settings()
	return target{r: r, o: s.object(ctx, r.Token, urn, values), inputs: values, scope: scope}, nil
}

func (s *server) existing(ctx context.Context, urn, id string, inputs *structpb.Struct) (target, error) {
	t, err := s.target(ctx, urn, inputs)
	if err != nil {
		return target{}, err
	}
	return s.identify(t, id), nil
}

func (s *server) identify(t target, id string) target {
	t.o = t.o.withID(id)
	t.path = s.store.place(t.scope.Name, t.r.Token, id)
	return t
}

// earlier returns the resource as it was with its old inputs.
func (t target) earlier(inputs resource.PropertyMap) Object {
	before := newObject(t.r.Token, t.o.URN, inputs)
	before.Scope, before.config = t.o.Scope, t.o.config
	return before.withID(t.o.ID)
}

// Create makes a resource. In a preview it tells what is known beforehand.
func (s *server) Create(ctx context.Context, req *pulumirpc.CreateRequest) (*pulumirpc.CreateResponse, error) {
	t, err := s.target(ctx, req.GetUrn(), req.GetProperties())
	if err != nil {
		return nil, err
	}
	if req.GetPreview() {
		if err := s.admit(ctx, t, true); err != nil {
			return nil, err
		}
		outputs, err := marshal(forecast(t.r.show(s.pkg, t.o, t.inputs), t.inputs, nil))
		return &pulumirpc.CreateResponse{Properties: outputs}, err
	}
	t, err = s.allocate(t)
	if err != nil {
		return nil, err
	}
	outputs, err := s.apply(ctx, create, t)
	return &pulumirpc.CreateResponse{Id: t.o.ID, Properties: outputs}, err
}

// allocate gives a new resource an id that no other has. A resource that its
// own URN made before, in an operation whose end the engine did not live to
// see, is found again if its name is its id.
func (s *server) allocate(t target) (target, error) {
	named := t.r.uniqueByName(t.o)
	for attempt := 0; ; attempt++ {
		candidate := s.identify(t, t.r.ID(t.o.withAttempt(attempt)))
		other, ok := s.store.find(candidate.path)
		if !ok || named && other.URN == string(t.o.URN) {
			return candidate, nil
		}
		if named {
			return target{}, taken(s.pkg.Words, candidate, other.URN)
		}
	}
}

// taken returns the error for a name that another resource has, in the words of the cloud.
func taken(words map[string][]Words, t target, owner string) error {
	said := cmp.Or(Fault{kind: "name-taken"}.words(words, t.o), fmt.Sprintf("%s %q already exists", t.r.Token, t.o.ID))
	return status.Errorf(codes.AlreadyExists, "%s; it belongs to %s", said, owner)
}

// Update changes a resource. Its id and what was generated stay.
func (s *server) Update(ctx context.Context, req *pulumirpc.UpdateRequest) (*pulumirpc.UpdateResponse, error) {
	t, err := s.existing(ctx, req.GetUrn(), req.GetId(), req.GetNews())
	if err != nil {
		return nil, err
	}
	if err := t.refusal(req.GetOldInputs()); err != nil {
		return nil, err
	}
	if req.GetPreview() {
		if err := s.admit(ctx, t, true); err != nil {
			return nil, err
		}
		return s.previewUpdate(t, req)
	}
	if err := s.reachable(t); err != nil {
		return nil, err
	}
	if _, ok := s.store.find(t.path); !ok {
		return nil, status.Errorf(codes.NotFound,
			"%s %q does not exist any more; refresh the stack to see what is left", t.r.Token, t.o.ID)
	}
	outputs, err := s.apply(ctx, update, t)
	return &pulumirpc.UpdateResponse{Properties: outputs}, err
}

// refusal returns the error of a change that the cloud refuses. A real preview does not know it; a
// rehearsal says it as early as it can.
func (t target) refusal(oldInputs *structpb.Struct) error {
	if t.r.Refuses == nil || t.inputs.ContainsUnknowns() {
		return nil
	}
	before, err := unmarshal(oldInputs)
	if err != nil {
		return err
	}
	if refused := t.r.Refuses(t.earlier(before), t.o); refused != "" {
		return status.Error(codes.FailedPrecondition, refused)
	}
	return nil
}

func (s *server) previewUpdate(t target, req *pulumirpc.UpdateRequest) (*pulumirpc.UpdateResponse, error) {
	old, err := unmarshal(req.GetOlds())
	if err != nil {
		return nil, err
	}
	outputs, err := marshal(forecast(t.r.show(s.pkg, t.o, t.inputs), t.inputs, old))
	return &pulumirpc.UpdateResponse{Properties: outputs}, err
}

// Read reports whether a resource still exists. What it looks like is what the
// engine remembers: properties are not kept here.
func (s *server) Read(ctx context.Context, req *pulumirpc.ReadRequest) (*pulumirpc.ReadResponse, error) {
	t, err := s.existing(ctx, req.GetUrn(), req.GetId(), req.GetInputs())
	if err != nil {
		return nil, err
	}
	if gone, err := s.isGone(t); gone || err != nil {
		return &pulumirpc.ReadResponse{}, err
	}
	if fault := s.faults.strike(read, s.pkg.Words, t.o); fault != nil {
		return nil, status.Error(codes.Aborted, fault.message(t.r.Token))
	}
	found, ok := s.store.find(t.path)
	if !ok && !s.implied(t) {
		if len(req.GetProperties().GetFields()) == 0 { // an import, or a look at what no simulation has made
			return nil, status.Errorf(codes.NotFound, "%s %q does not exist: simulated clouds have only what was simulated, and import "+
				"and read nothing else; leave the project out with --skip, or run its preview without --simulate", t.r.Token, req.GetId())
		}
		return &pulumirpc.ReadResponse{}, nil
	}
	outputs := req.GetProperties()
	switch {
	case len(outputs.GetFields()) == 0:
		t.o.Remembered = found.Remember
		outputs, err = s.outputs(t)
	case !ok:
		outputs, err = reread(t, outputs)
	}
	return &pulumirpc.ReadResponse{Id: t.o.ID, Properties: outputs, Inputs: req.GetInputs()}, err
}

// reread makes the outputs of an implied object that was read before.
func reread(t target, before *structpb.Struct) (*structpb.Struct, error) {
	outputs, err := unmarshal(before)
	if err != nil {
		return nil, err
	}
	return marshal(overlay(outputs, t.r.Reread))
}

func (s *server) implied(t target) bool {
	return t.r.Implied != nil && s.store.holds(t.r.Implied(t.o))
}

// isGone says whether a resource counts as deleted, because what it is in cannot be
// reached.
func (s *server) isGone(t target) (bool, error) {
	err := s.reachable(t)
	if err != nil && t.scope.Forgiving {
		return true, nil
	}
	return false, err
}

// Delete removes a resource. One that is gone already counts as deleted.
func (s *server) Delete(ctx context.Context, req *pulumirpc.DeleteRequest) (*emptypb.Empty, error) {
	t, err := s.existing(ctx, req.GetUrn(), req.GetId(), req.GetOldInputs())
	if err != nil {
		return nil, err
	}
	if gone, err := s.isGone(t); gone || err != nil {
		return &emptypb.Empty{}, err
	}
	if _, ok := s.store.find(t.path); ok {
		if fault, err := s.work(ctx, remove, t); err != nil || fault != nil {
			return nil, failed(t, fault, err)
		}
	}
	if err := s.store.delete(t.path, t.links().Provides); err != nil {
		return nil, status.Error(codes.FailedPrecondition, err.Error())
	}
	return &emptypb.Empty{}, nil
}

// apply does the work of a creation or an update, and records the result.
func (s *server) apply(ctx context.Context, op operation, t target) (*structpb.Struct, error) {
	if err := s.permit(op, t); err != nil {
		return nil, err
	}
	if err := s.admit(ctx, t, false); err != nil {
		return nil, err
	}
	outputs, err := s.outputs(t)
	if err != nil {
		return nil, err
	}
	fault, err := s.work(ctx, op, t)
	if err != nil || fault != nil && !fault.partial {
		return nil, failed(t, fault, err)
	}
	if err := s.record(t); err != nil {
		return nil, err
	}
	if fault != nil {
		return nil, s.notReady(t, fault, outputs)
	}
	return outputs, nil
}

// outputs makes the outputs and holds them against the type: a description
// that is wrong must not pass for a cloud.
func (s *server) outputs(t target) (*structpb.Struct, error) {
	outputs := t.r.show(s.pkg, t.o, t.inputs)
	if problems := checkInputs(outputs, t.r.outputs); len(problems) > 0 {
		return nil, status.Errorf(codes.Internal, "the simulation of %s is wrong: output %s: %s",
			t.r.Token, problems[0].Path, problems[0].Reason)
	}
	return marshal(outputs)
}

// permit checks what a cloud would check before it starts to work.
func (s *server) permit(op operation, t target) error {
	for _, need := range t.links().Requires {
		needed := op == create || !need.Once
		if needed && !s.store.holds(need.Fact) {
			return status.Error(codes.FailedPrecondition, need.Missing)
		}
	}
	return nil
}

func (s *server) reachable(t target) error {
	if t.scope.Needs == "" || s.store.holds(t.scope.Needs) {
		return nil
	}
	return status.Error(codes.FailedPrecondition, t.scope.Unreachable)
}

func (t target) links() Links {
	var links Links
	if t.r.Links != nil {
		links = t.r.Links(t.o)
	}
	if t.scope.Needs != "" {
		reach := Requirement{Fact: t.scope.Needs, Missing: t.scope.Unreachable}
		links.Requires = append([]Requirement{reach}, links.Requires...)
	}
	return links
}

func (s *server) record(t target) error {
	links := t.links()
	r := Record{Token: t.r.Token, ID: t.o.ID, URN: string(t.o.URN), Remember: links.Remember}
	r.Provides = lists.Map(links.Provides, func(fact Fact) string { return fact.Name })
	for _, need := range links.Requires {
		if !need.Once {
			r.Requires = append(r.Requires, need.Fact)
		}
	}
	owner, err := s.store.put(t.path, r)
	if err != nil {
		return status.Error(codes.Internal, err.Error())
	}
	if owner != r.URN {
		return taken(s.pkg.Words, t, owner)
	}
	return nil
}

// work lets the time of an operation pass and returns the fault that hits it.
func (s *server) work(ctx context.Context, op operation, t target) (*Fault, error) {
	took := s.faults.pause(op, t.o, s.opts.Speed) + s.latency(op, t)
	err := sessionOf(ctx).wait(ctx, took)
	s.opts.Log.Debug("simulated", "operation", op, "type", t.r.Token, "id", t.o.ID, "took", took, "error", err)
	if err != nil {
		return nil, err
	}
	return s.faults.strike(op, s.pkg.Words, t.o), nil
}

func (s *server) latency(op operation, t target) time.Duration {
	for _, delay := range s.opts.Slow {
		if delay.Pattern.matches(t.r.Token, t.o.URN) {
			return delay.Duration
		}
	}
	if s.opts.Speed == 0 {
		return 0
	}
	reality := map[operation]time.Duration{
		create: t.r.Latency.Create, update: t.r.Latency.Update, remove: t.r.Latency.Delete,
	}
	return time.Duration(float64(reality[op]) / s.opts.Speed)
}

func failed(t target, fault *Fault, err error) error {
	if err != nil {
		return status.Errorf(codes.Canceled, "%v; %s %q is left as it was", err, t.r.Token, t.o.Name())
	}
	return status.Error(codes.Aborted, fault.message(t.r.Token))
}

// notReady says that the resource exists but did not become ready. The engine
// keeps it in its state and updates it the next time.
func (s *server) notReady(t target, fault *Fault, outputs *structpb.Struct) error {
	inputs, err := marshal(t.inputs)
	if err != nil {
		return err
	}
	message := fault.message(t.r.Token)
	return rpcerror.WithDetails(rpcerror.New(codes.Unknown, message), &pulumirpc.ErrorResourceInitFailed{
		Id: t.o.ID, Properties: outputs, Inputs: inputs, Reasons: []string{message},
	})
}

// uniqueByName reports whether the id leaves no room for a second resource.
func (r Resource) uniqueByName(o Object) bool {
	return r.ID(o.withAttempt(0)) == r.ID(o.withAttempt(1))
}
