package languagehost

import (
	"context"
	"sync/atomic"

	"google.golang.org/grpc/stats"
)

// connections gives every connection a place for what its engine says about
// itself: one host serves several engines, and a call does not say whose it is.
type connections struct{}

// connection is one engine's.
type connection struct{ engine atomic.Value } // its address, a string

type connectionKey struct{}

// TagConn implements stats.Handler.
func (connections) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context {
	return context.WithValue(ctx, connectionKey{}, &connection{})
}

// TagRPC implements stats.Handler.
func (connections) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

// HandleRPC implements stats.Handler.
func (connections) HandleRPC(context.Context, stats.RPCStats) {}

// HandleConn implements stats.Handler.
func (connections) HandleConn(context.Context, stats.ConnStats) {}

// connectionOf returns the connection of a call.
func connectionOf(ctx context.Context) *connection {
	if c, ok := ctx.Value(connectionKey{}).(*connection); ok {
		return c
	}
	return &connection{} // in tests that call without one
}
