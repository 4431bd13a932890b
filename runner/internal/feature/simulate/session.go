package simulate

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"google.golang.org/grpc/stats"
)

var errCancelled = errors.New("cancelled")

// session is one connection of the engine, which stands for one configured
// provider. Operations of different stacks run in the same process at the same
// time: cancelling one must not touch the others.
type session struct {
	cancel    context.CancelFunc
	cancelled <-chan struct{}

	mu     sync.Mutex // protects what follows
	config resource.PropertyMap
	scope  Scope
	named  map[string]string // generated names of resources that there are, by URN
}

// keepName remembers that a resource has a generated name.
func (s *session) keepName(urn, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.named == nil {
		s.named = map[string]string{}
	}
	s.named[urn] = name
}

// keptName returns the generated name that a resource has; "" for a new resource, and for one whose program names it.
func (s *session) keptName(urn string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.named[urn]
}

func (s *session) configure(config resource.PropertyMap, scope Scope) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.config, s.scope = config, scope
}

func (s *session) settings() (resource.PropertyMap, Scope) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.config, s.scope
}

// wait lets simulated time pass. It ends early with an error when the engine
// cancels, or is gone.
func (s *session) wait(ctx context.Context, d time.Duration) error {
	select {
	case <-s.cancelled:
		return errCancelled
	default:
	}
	select {
	case <-time.After(d):
		return nil
	case <-s.cancelled:
		return errCancelled
	case <-ctx.Done():
		return errCancelled
	}
}

type sessionKey struct{}

// sessions gives every connection its session; gRPC hands the connection's
// context on to its calls.
type sessions struct{}

func (sessions) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context {
	cancelled, cancel := context.WithCancel(context.WithoutCancel(ctx))
	return context.WithValue(ctx, sessionKey{}, &session{cancel: cancel, cancelled: cancelled.Done()})
}

func (sessions) HandleConn(ctx context.Context, event stats.ConnStats) {
	if _, ended := event.(*stats.ConnEnd); ended {
		sessionOf(ctx).cancel()
	}
}

func (sessions) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

func (sessions) HandleRPC(context.Context, stats.RPCStats) {}

func sessionOf(ctx context.Context) *session {
	return ctx.Value(sessionKey{}).(*session)
}
