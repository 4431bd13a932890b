package engine

import (
	"context"
	"errors"
	"io"

	"github.com/blang/semver"
	"github.com/pulumi/pulumi/sdk/v3"
)

// None stands for an engine where nothing is to be done. It refuses all commands.
type None struct{}

// Run implements auto.PulumiCommand.
func (None) Run(context.Context, string, io.Reader, []io.Writer, []io.Writer, []string, ...string) (string, string, int, error) {
	return "", "", -1, errors.New("internal error: nothing has changed, but somebody wants to run Pulumi; --force runs all projects")
}

// Version implements auto.PulumiCommand.
func (None) Version() semver.Version { return sdk.Version }
