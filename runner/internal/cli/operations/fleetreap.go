package operations

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/projects/model/operation"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/environment/inventory"
	"mara/runner/internal/environment/session"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/parallel"
	"mara/runner/internal/repo/fleet"
	"mara/runner/internal/run/event"
	"mara/runner/internal/workflow/rollout"
)

// FleetReap returns `runner fleet reap`.
func FleetReap(d cmd.Deps) *cli.Command {
	command := rolloutCommand(d, operation.Destroy, spec{
		use:   "destroy the environments that are past their time",
		flags: []string{"remove-stacks", "force-forget", "leave-behind", "unknown-age"},
	})
	command.Name = rollout.ReapName
	command.Description = "Destroys environments that have `runner:ttl` and were created longer ago than that: the\n" +
		"oldest resource in the states of their projects counts. It lists them before it asks; without a terminal,\n" +
		"as in a cron job, it needs --yes. A protected environment is never destroyed. An environment that\n" +
		"another run has locked is a failure, as is one whose states have no dates, unless --unknown-age\n" +
		"says what to do with it. Without names or labels it looks at all environments.\n\n" +
		"Examples:\n  runner fleet reap --yes\n  runner fleet reap 'review-*'\n\n" +
		cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig, cmd.ExitLocked, cmd.ExitInterrupted)
	command.Action = cmd.Action(d, func(c *cli.Context, d cmd.Deps, common cmd.Common) (reapOptions, error) {
		o, err := parseRollout(c, d, common, operation.Destroy)
		return reapOptions{o, cmd.Chosen(c, "unknown-age")}, err
	}, runReap)
	return command
}

type reapOptions struct {
	rolloutOptions
	UnknownAge string // what happens to environments of an unknown age
}

// The values of --unknown-age.
const (
	refuseUnknown  = "refuse"
	keepUnknown    = "keep"
	destroyUnknown = "destroy"
)

func unknownAgeFlag() cli.Flag {
	return &cli.GenericFlag{
		Name:  "unknown-age",
		Value: &cmd.Choice{Allowed: []string{refuseUnknown, keepUnknown, destroyUnknown}, Value: refuseUnknown},
		Usage: "`WHAT` to do with environments whose states have no dates: refuse (a failure), keep, destroy",
	}
}

func runReap(ctx context.Context, d cmd.Deps, o reapOptions) error {
	all, _, err := o.Request.Fleet()
	if err != nil {
		return err
	}
	chosen, err := fleet.Select(all, o.Chosen)
	if err != nil {
		return err
	}
	lives, err := parallel.Each(ctx, chosen, func(ctx context.Context, e fleet.Environment) (life, error) {
		return lifeOf(ctx, d, o.Request.Options, e.Stack)
	})
	if err != nil {
		return err
	}
	past, refused := o.judge(d, chosen, lives)
	if len(past) == 0 && refused == nil {
		fmt.Fprintln(d.Stderr, "there is nothing to destroy: no environment is past its time")
	}
	if len(past) == 0 {
		return refused
	}
	rest := o.rolloutOptions
	rest.Chosen = fleet.Selection{Names: past}
	return errors.Join(runRollout(ctx, d, rest), refused)
}

// judge prints the environments that are past their time, and returns the names of the ones that may be destroyed.
// The error names environments of unknown age.
func (o reapOptions) judge(d cmd.Deps, chosen []fleet.Environment, lives []life) (past []string, refused error) {
	var unknown []string
	for i, e := range chosen {
		l := lives[i]
		text := ""
		switch {
		case l.isPast(d.Now()):
			text = fmt.Sprintf(
				"%s: %s old, %s is %s", e.Stack, event.FormatDuration(d.Now().Sub(l.born).Truncate(time.Second)), l.origin,
				event.FormatDuration(l.ttl),
			)
		case l.ttl > 0 && l.isUnknown:
			text = fmt.Sprintf(
				"%s: of unknown age, because its states have no dates; %s is %s", e.Stack, l.origin, event.FormatDuration(l.ttl),
			)
		default:
			continue
		}
		if l.protected != (config.Origin{}) {
			fmt.Fprintf(d.Stderr, "%s; it is protected, and stays: %s\n", text, l.protected)
			continue
		}
		fmt.Fprintln(d.Stderr, text)
		switch {
		case !l.isUnknown || o.UnknownAge == destroyUnknown:
			past = append(past, e.Stack)
		case o.UnknownAge == refuseUnknown:
			unknown = append(unknown, e.Stack)
		}
	}
	if len(unknown) > 0 {
		refused = &failure.Environment{
			Text: "not destroyed, because their age is unknown: " + strings.Join(unknown, ", "),
			Next: "look at them with `runner status -s NAME`; --unknown-age keep or destroy says what to do",
		}
	}
	return past, refused
}

// life is how long an environment lives.
type life struct {
	born      time.Time // zero if nothing is deployed, or the age is unknown
	isUnknown bool      // resources are deployed, and their states have no dates
	ttl       time.Duration
	origin    config.Origin // of the ttl
	protected config.Origin
}

func (l life) isPast(now time.Time) bool {
	return l.ttl > 0 && !l.born.IsZero() && now.Sub(l.born) >= l.ttl
}

// lifeOf reads when an environment was created, if it has a ttl.
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
	states, err := inventory.OfEnvironment(ctx, s)
	if err != nil {
		return l, &failure.Environment{Text: fmt.Sprintf("reading the age of %s: %v", stack, err)}
	}
	resources := 0
	for _, state := range states {
		n, err := l.add(state)
		if err != nil {
			return l, fmt.Errorf("reading the age of %s: %w", stack, err)
		}
		resources += n
	}
	l.isUnknown = resources > 0 && l.born.IsZero()
	return l, nil
}

// add counts the resources of a state, and notes when the oldest was created.
func (l *life) add(state json.RawMessage) (resources int, err error) {
	var content struct {
		Resources []struct {
			Created *time.Time `json:"created"`
		} `json:"resources"`
	}
	if len(state) == 0 {
		return 0, nil
	}
	if err := json.Unmarshal(state, &content); err != nil {
		return 0, err
	}
	for _, r := range content.Resources {
		if r.Created != nil && !r.Created.IsZero() && (l.born.IsZero() || r.Created.Before(l.born)) {
			l.born = *r.Created
		}
	}
	return len(content.Resources), nil
}
