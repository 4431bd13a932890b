package operations

import "github.com/urfave/cli/v2"

// newBackendName names the flag that lets an environment go to another backend.
const newBackendName = "new-backend"

func newBackendFlag() cli.Flag {
	return &cli.BoolFlag{
		Name:  newBackendName,
		Usage: "work in the configured backend, although the environment was deployed to another; see runner state move",
	}
}
