package pulumicli

import (
	"context"
	"io"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"

	"mara/runner/internal/pulumi/pulumicli/wire"
)

// Foresight gives a preview the outputs of earlier previews, and takes its own.
type Foresight struct {
	Foreseen map[string]wire.Values // outputs of earlier previews, by full stack name
	Found    *wire.Found            // nil until the preview has succeeded
}

// giveTo adds the foreseen outputs to the request for a preview.
func (f *Foresight) giveTo(request *wire.Request) {
	if f != nil && slices.Contains(request.Args, "preview") {
		request.Preview = &wire.Preview{Foreseen: f.Foreseen}
	}
}

// take stores the outputs of a preview.
func (f *Foresight) take(found *wire.Found) {
	if f != nil && found != nil {
		f.Found = found
	}
}

// WithForesight returns the pool as a command whose previews have foresight. An installed
// Pulumi has no such method: its previews only read states.
func (p *Pool) WithForesight(f *Foresight) auto.PulumiCommand { return foreseeing{p, f} }

// foreseeing is a pool whose previews have foresight.
type foreseeing struct {
	*Pool
	foresight *Foresight
}

// Run implements auto.PulumiCommand.
func (f foreseeing) Run(ctx context.Context, dir string, stdin io.Reader, stdout, stderr []io.Writer,
	env []string, args ...string,
) (string, string, int, error) {
	return f.run(ctx, f.foresight, dir, stdin, stdout, stderr, env, args)
}
