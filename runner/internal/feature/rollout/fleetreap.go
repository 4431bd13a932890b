package rollout

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/projects/model/operation"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/cli/operations"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/fleet"
	"mara/runner/internal/core/refusal"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/view"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/parallel"
)

// FleetReap returns `runner fleet reap`.
func FleetReap(d cmd.Deps) *cli.Command {
	command := rolloutCommand(d, operation.Destroy, operations.Spec{
		Use:   "destroy the environments that are past their time",
		Flags: []string{"remove-stacks", "force-forget", "leave-behind", "unknown-age"},
	})
	command.Name = ReapName
	command.Description = "Destroys environments that have `runner:ttl` and were created longer ago than that: the\n" +
		"oldest resource in the states of their projects counts. It lists them before it asks; without a terminal,\n" +
		"as in a cron job, it needs --yes. A protected environment is never destroyed. An environment that\n" +
		"another run has locked is a failure, as is one whose states have no dates, unless --unknown-age\n" +
		"says what to do with it. Without names or labels it looks at all environments.\n\n" +
		"Examples:\n  runner fleet reap --yes\n  runner fleet reap 'review-*'\n" +
		"  runner fleet reap -l stage=review -o json --yes\n\n" +
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

func runReap(ctx context.Context, d cmd.Deps, o reapOptions) error {
	chosen, err := o.choose()
	if err != nil {
		return err
	}
	lives, err := parallel.Each(ctx, chosen, func(ctx context.Context, e fleet.Environment) (l life, err error) {
		options := o.Request.Options
		options.Request, options.Operation = options.Of(e.Stack), operation.Destroy
		err = session.Use(d.Deps, options, session.ResolveStack, func(s *session.Resolved) (err error) {
			l.Life, err = view.LifeOf(ctx, s, d.Now())
			return err
		})
		if problems, ok := errors.AsType[*config.Error](err); ok { // the others are reaped all the same
			return life{invalid: fmt.Errorf("%s stays: %w", e.Stack, problems)}, nil
		}
		return l, err
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
	o.Chosen = fleet.Selection{Names: past}
	return errors.Join(runRollout(ctx, d, o.rolloutOptions), refused)
}

// life is how long an environment lives; invalid if its settings do not tell.
type life struct {
	view.Life
	invalid error
}

// judge prints the environments that are past their time, and returns the names of the ones that may be destroyed.
// The error names environments of unknown age, and those whose settings are invalid.
func (o reapOptions) judge(d cmd.Deps, chosen []fleet.Environment, lives []life) (past []string, refused error) {
	var unknown []string
	var invalid []error
	for i, e := range chosen {
		l := lives[i]
		invalid = append(invalid, l.invalid)
		age := "of unknown age, because its states have no dates;"
		switch {
		case l.IsPast(d.Now()):
			age = event.FormatDuration(d.Now().Sub(l.Born).Truncate(time.Second)) + " old,"
		case l.TTL <= 0 || !l.Unknown:
			continue
		}
		text := fmt.Sprintf("%s: %s %s is %s", e.Stack, age, l.Origin, event.FormatDuration(l.TTL))
		if l.Protected != "" {
			fmt.Fprintf(d.Stderr, "%s; it is protected, and stays: %s\n", text, l.Protected)
			continue
		}
		fmt.Fprintln(d.Stderr, text)
		switch {
		case !l.Unknown || o.UnknownAge == operations.DestroyUnknown:
			past = append(past, e.Stack)
		case o.UnknownAge == operations.RefuseUnknown:
			unknown = append(unknown, e.Stack)
		}
	}
	if len(unknown) > 0 {
		refused = refusal.By(refusal.UnknownAge, &failure.Environment{
			Text: "not destroyed, because their age is unknown: " + strings.Join(unknown, ", "),
			Next: "look at them with `runner status -s NAME`; --unknown-age keep or destroy says what to do",
		})
	}
	return past, errors.Join(append(invalid, refused)...)
}
