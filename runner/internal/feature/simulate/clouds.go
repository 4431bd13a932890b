package simulate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"

	"mara/runner/internal/machine/parallel"
)

// maxMessage is the size of a message that Pulumi's own providers accept.
const maxMessage = 400 << 20

// Clouds are running stand-ins.
type Clouds struct {
	attach  []string // NAME:PORT, as PULUMI_DEBUG_PROVIDERS wants it
	serving sync.WaitGroup
	stop    context.CancelFunc
}

// Start serves the packages, each on a port of its own, until ctx ends or
// Close is called.
func Start(ctx context.Context, packages []Package, opts Options) (*Clouds, error) {
	if opts.Speed < 0 {
		return nil, fmt.Errorf("the speed of a simulation cannot be %v; 1 is real time, 0 is instant", opts.Speed)
	}
	// Schemas are read at the same time: some are large.
	catalogues, err := parallel.Limited(ctx, len(packages), packages,
		func(_ context.Context, pkg Package) (catalogue, error) { return newCatalogue(pkg) })
	if err != nil {
		return nil, err
	}
	if err := verify(catalogues, opts); err != nil {
		return nil, err
	}
	store, err := openStore(opts.Dir)
	if err != nil {
		return nil, err
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	ctx, stop := context.WithCancel(ctx)
	c := &Clouds{stop: stop}
	faults := newFaults(opts.Fail)
	for _, types := range catalogues {
		s := &server{pkg: types.pkg, types: types, opts: opts, store: store, faults: faults}
		if err := c.serve(ctx, s); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	return c, nil
}

// serve serves one package until ctx ends.
func (c *Clouds) serve(ctx context.Context, s *server) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("serving the simulated %s: %w", s.pkg.Name, err)
	}
	served := grpc.NewServer(grpc.MaxRecvMsgSize(maxMessage), grpc.StatsHandler(sessions{}))
	pulumirpc.RegisterResourceProviderServer(served, s)
	context.AfterFunc(ctx, served.Stop)
	c.attach = append(c.attach, fmt.Sprintf("%s:%d", s.pkg.Name, listener.Addr().(*net.TCPAddr).Port))
	c.serving.Go(func() {
		if err := served.Serve(listener); err != nil {
			s.opts.Log.Error("simulated provider stopped", "package", s.pkg.Name, "error", err)
		}
	})
	return nil
}

// Env returns the environment that attaches the engine to the stand-ins rather than
// real providers, and prevents downloads.
func (c *Clouds) Env() map[string]string {
	attach := slices.Sorted(slices.Values(c.attach))
	return map[string]string{
		"PULUMI_DEBUG_PROVIDERS":                      strings.Join(attach, ","),
		"PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
		"PULUMI_IGNORE_AMBIENT_PLUGINS":               "true",
	}
}

// Close stops serving. Operations that still run are cancelled.
func (c *Clouds) Close() error {
	c.stop()
	c.serving.Wait()
	return nil
}
