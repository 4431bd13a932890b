package pulumicli

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"mara/config"
	"mara/runner/internal/core/pulumicli/wire"
)

// ConnectionsVariable limits the connections to a backend in PostgreSQL.
const ConnectionsVariable = "RUNNER_DATABASE_CONNECTIONS"

// connections is how many connections a runner has to a backend in PostgreSQL at once, unless ConnectionsVariable says
// otherwise. A server has 100 by default, for all of its users.
const connections = 20

// connectionsEach is how many of them a worker may have. As many as two workers have are for the runner's own objects.
const connectionsEach = 2

// enterDatabase waits until a command may connect to its backend, if that is in PostgreSQL. Commands on the runner's
// own objects do not wait: they are short, and tell others that the lock of a run is alive.
func (p *workers) enterDatabase(ctx context.Context, request wire.Request) (leave func(), err error) {
	variables := config.Environment{}.Merge(request.Env) // the last one of a name counts
	isDatabase := strings.HasPrefix(variables["PULUMI_BACKEND_URL"], "postgres://")
	if !isDatabase || slices.Contains(request.Args, "objects") {
		return func() {}, nil
	}
	p.mu.Lock()
	if p.database == nil {
		most, err := strconv.Atoi(variables[ConnectionsVariable])
		if err != nil {
			most = connections
		}
		p.database = make(chan struct{}, max(1, most/connectionsEach-2))
	}
	room := p.database
	p.mu.Unlock()
	select {
	case room <- struct{}{}:
		return func() { <-room }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
