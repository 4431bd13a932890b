// Package harborconfiguration is the project "linode-harbor-configuration": it
// waits until the environment's Harbor answers, and makes the project that
// holds the images private.
//
// There is no resource for this: the program talks to Harbor itself, with each
// `up` that is not a preview. That changes nothing when all is as it should be.
// In a simulation there is no Harbor to talk to, which the runner tells by a
// configuration key; the log then says so.
package harborconfiguration

import (
	"context"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/internal/contain"
	"mara/projects/internal/settings"
	"mara/projects/internal/stackref"
)

// Program sets the registry up.
func Program(ctx *pulumi.Context) error {
	return run(ctx, connect)
}

// run sets up the registry that dial leads to.
func run(ctx *pulumi.Context, dial func(host, user, password string) *client) error {
	wanted, err := readConfiguration(ctx)
	if err != nil {
		return err
	}
	harbor := stackref.New(ctx, projects.LinodeHarbor().Name)
	login := pulumi.All(harbor.String("harbor_hostname"), harbor.String("harbor_user"), harbor.String("harbor_password"))
	calls := ctx.Context()
	private := login.ApplyTWithContext(calls, contain.TryContext(func(c context.Context, parts []any) (bool, error) {
		registry := dial(parts[0].(string), parts[1].(string), parts[2].(string))
		return true, wanted.apply(c, ctx, registry)
	})).(pulumi.BoolOutput)
	ctx.Export("harbor_project", pulumi.String(wanted.project))
	// The output depends on the secret login, but does not reveal it.
	ctx.Export("harbor_project_private", pulumi.Unsecret(private))
	return nil
}

// configuration is how to wait, and what for.
type configuration struct {
	project           string
	timeout, interval time.Duration
	simulated         bool
}

func readConfiguration(ctx *pulumi.Context) (configuration, error) {
	cfg := settings.New(ctx, projects.LinodeHarborConfiguration())
	wanted := configuration{
		project:  cfg.String("harbor:project"),
		timeout:  time.Duration(cfg.Int("harbor:ready_timeout")) * time.Second,
		interval: time.Duration(cfg.Int("harbor:poll_interval")) * time.Second, simulated: cfg.Simulated(),
	}
	return wanted, cfg.Err()
}

// apply waits for the registry and sets it up, unless nothing may be done.
func (w configuration) apply(ctx context.Context, program *pulumi.Context, registry *client) error {
	switch {
	case program.DryRun():
		return nil
	case w.simulated:
		return program.Log.Info(
			"SIMULATED: no request is sent to Harbor; it counts as healthy and its project as private", nil)
	}
	say := func(message string) {
		// A message that is lost is no reason to stop.
		_ = program.Log.Info(message, nil)
	}
	if err := registry.wait(ctx, w.timeout, w.interval, say); err != nil {
		return err
	}
	return registry.makePrivate(ctx, w.project, say)
}
