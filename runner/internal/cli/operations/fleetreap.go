package operations

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/providers/operation"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/event"
	"mara/runner/internal/failure"
	"mara/runner/internal/fleet"
	"mara/runner/internal/inventory"
	"mara/runner/internal/session"
)

// FleetReap is `runner fleet reap`.
func FleetReap(d cmd.Deps) *cli.Command {
	command := rolloutCommand(d, operation.Destroy, spec{
		use: "destroy the environments that are past their time", flags: []string{"remove-stacks", "force-forget"},
	})
	command.Name, command.Description = reapName, "Destroys environments that have `runner:ttl` and were created longer ago than that: their oldest resource counts, as\n"+
		"their states have it. It says which ones before it asks; without a terminal it needs --yes, as in a cron job. One\n"+
		"that is protected is never destroyed, and one that is locked by another run makes it fail. Without names or\n"+
		"labels it looks at all environments.\n\n"+
		"Examples:\n  runner fleet reap --yes\n  runner fleet reap 'review-*'\n\n"+
		cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig, cmd.ExitLocked, cmd.ExitInterrupted)
	command.Action = rolloutAction(d, operation.Destroy, runReap)
	return command
}

const reapName = "reap"

func runReap(ctx context.Context, d cmd.Deps, o rolloutOptions) error {
	all, _, err := o.Fleet()
	if err != nil {
		return err
	}
	chosen, err := fleet.Select(all, o.Chosen)
	if err != nil {
		return err
	}
	lives, err := cmd.Each(ctx, chosen, func(ctx context.Context, e fleet.Environment) (life, error) {
		return lifeOf(ctx, d, o.Options, e.Stack)
	})
	if err != nil {
		return err
	}
	var past []string
	for i, e := range chosen {
		l := lives[i]
		if !l.isPast(d.Now()) {
			continue
		}
		text := fmt.Sprintf("%s: %s old, %s is %s", e.Stack, event.FormatDuration(d.Now().Sub(l.born).Truncate(time.Second)), l.origin, event.FormatDuration(l.ttl))
		if l.protected != (config.Origin{}) {
			fmt.Fprintf(d.Stderr, "%s; it is protected, and stays: %s\n", text, l.protected)
			continue
		}
		fmt.Fprintln(d.Stderr, text)
		past = append(past, e.Stack)
	}
	if len(past) == 0 {
		fmt.Fprintln(d.Stderr, "there is nothing to destroy: no environment is past its time")
		return nil
	}
	o.Chosen = fleet.Selection{Names: past}
	return runRollout(ctx, d, o)
}

// life is how long an environment lives.
type life struct {
	born      time.Time // zero if nothing is deployed
	ttl       time.Duration
	origin    config.Origin // of the ttl
	protected config.Origin
}

func (l life) isPast(now time.Time) bool {
	return l.ttl > 0 && !l.born.IsZero() && now.Sub(l.born) >= l.ttl
}

// lifeOf reads when an environment was created, if it is not to live for ever.
func lifeOf(ctx context.Context, d cmd.Deps, o session.Options, stack string) (l life, err error) {
	o.Request, o.Operation = o.Of(stack), operation.Destroy
	s := session.New(d.Deps, o)
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.ResolveStack(); err != nil {
		return l, err
	}
	l.protected = s.Settings.Config.Protected()
	if l.ttl, l.origin = s.Settings.Config.TTL(); l.ttl == 0 || !s.States().MayHaveStates() {
		return l, nil
	}
	states, err := inventory.States(ctx, s, func(name string, projects []string) []string {
		if name != stack {
			return nil
		}
		return projects
	})
	if err != nil {
		return l, &failure.Environment{Text: fmt.Sprintf("looking how old %s is: %v", stack, err)}
	}
	for _, state := range states[stack] {
		if l.born, err = older(l.born, state); err != nil {
			return l, fmt.Errorf("looking how old %s is: %w", stack, err)
		}
	}
	return l, nil
}

// older is the time of the oldest resource, in a state or so far.
func older(so time.Time, state json.RawMessage) (time.Time, error) {
	var content struct {
		Resources []struct {
			Created *time.Time `json:"created"`
		} `json:"resources"`
	}
	if len(state) == 0 {
		return so, nil
	}
	if err := json.Unmarshal(state, &content); err != nil {
		return so, err
	}
	for _, r := range content.Resources {
		if r.Created != nil && !r.Created.IsZero() && (so.IsZero() || r.Created.Before(so)) {
			so = *r.Created
		}
	}
	return so, nil
}
