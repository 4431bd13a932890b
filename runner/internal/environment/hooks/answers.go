package hooks

import (
	"context"
	"fmt"
	"time"

	"mara/runner/internal/machine/reach"
	"mara/runner/internal/run/event"
)

// How often an application is asked, and for how long: a load balancer of a
// cloud and its name take some minutes.
const (
	askEvery = 2 * time.Second
	askLimit = 5 * time.Minute
)

// How long the DNS may not know the application's name. That of a new load
// balancer appears after a minute or two, and resolvers remember for one that it
// did not exist. On this machine no name is made, so that one that is missing
// was never registered.
const (
	cloudName = 2 * time.Minute
	localName = 10 * time.Second
)

// awaitAnswer waits until the application answers, and tells where it is. On
// this machine it has to; elsewhere there may be no way from here, which is a
// warning.
func (h Hooks) awaitAnswer(ctx context.Context, project string, emit func(event.Event)) error {
	outputs, err := h.Stacks.Outputs(ctx, project, false)
	if err != nil {
		return err
	}
	address, _ := outputs["application_url"].(string)
	if address == "" {
		return fmt.Errorf("%s has no output application_url", project)
	}
	if h.Simulated {
		say(emit, event.Info, "SIMULATED: nothing answers at %s, and it is not requested", address)
		return nil
	}
	unknown := cloudName
	if h.Provider.Local {
		unknown = localName
	}
	say(emit, event.Info, "waiting until %s answers", address)
	err = reach.Until(ctx, address, reach.Options{Ask: h.request(), Every: askEvery, Limit: askLimit, Unknown: unknown})
	switch {
	case err == nil:
		say(emit, event.Info, "%s answers", address)
	case ctx.Err() == nil && !h.Provider.Local:
		say(emit, event.Warning, "%v; perhaps it cannot be reached from this machine", err)
		return nil
	}
	return err
}
