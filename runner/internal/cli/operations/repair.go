package operations

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/providers/operation"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/failure"
	"mara/runner/internal/leftovers"
	"mara/runner/internal/stacks"
)

// Repair is `runner repair`.
func Repair(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name:  "repair",
		Usage: "repair a state after a run was cut off while it created something",
		Description: "A run that is killed while it creates a resource leaves a pending operation in the state: the resource may\n" +
			"exist without Pulumi knowing it. For every project with such operations, repair\n\n" +
			"  1. exports the state to .runner/backups, where `pulumi stack import` can get it;\n" +
			"  2. imports the resources named with --import into the state, and forgets the other creations;\n" +
			"  3. refreshes the state.\n\n" +
			"A state that was cut off while it was written, as on a full disk, is replaced with the one before it; the\n" +
			"broken one is kept in .runner/backups as well.\n\n" +
			"Resources that were created and are forgotten have to be deleted by hand: look for them first.\n\n" +
			"Examples:\n  runner repair -s dev\n  runner repair -s dev --import main=vpc-0a1b2c3d\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig, cmd.ExitLocked, cmd.ExitInterrupted),
		Flags: cmd.JoinFlags(
			[]cli.Flag{&cli.StringSliceFlag{Name: "import", Usage: "import the existing resource with this id into the state, `NAME=ID`; may be repeated"}},
			cmd.SelectionFlags(), policyFlags(), cmd.LockFlags(), cmd.OutputFlag("text", "json"), showFlags(),
			cmd.EnvironmentFlags(), cmd.ConfirmFlags(), cmd.SimulationFlags(), cmd.PulumiFlags(), cmd.BaseFlags(),
		),
		Action: cmd.Action(d, parseRepair, runRepair),
	}
}

// repairOptions are the options of repair, which ends with a refresh.
type repairOptions struct {
	operateOptions
	Import []string // NAME=ID
}

func parseRepair(c *cli.Context, d cmd.Deps, common cmd.Common) (repairOptions, error) {
	refresh, err := parseOperate(c, d, common, operation.Refresh)
	refresh.clear, refresh.restore = true, true
	return repairOptions{operateOptions: refresh, Import: c.StringSlice("import")}, err
}

func runRepair(ctx context.Context, d cmd.Deps, o repairOptions) (err error) {
	s, err := open(ctx, d, o.operateOptions)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	w, err := choose(s, o.operateOptions)
	if err != nil {
		return err
	}
	left := s.Leftovers()
	locks, err := left.Locks(ctx, w.plan)
	if err != nil {
		return err
	}
	dead, held := leftovers.Dead(locks)
	pending, err := left.Pending(ctx, w.plan, true)
	switch {
	case len(held) > 0, err == nil && len(pending) == 0 && len(dead) > 0:
		return left.Locked(locks)
	case err != nil:
		return err
	}
	if s.Held.Restored && len(pending) > 0 {
		// What was cut off is known only now, and the user has to look first.
		return &leftovers.PendingError{Pending: pending, Repair: s.Command("repair")}
	}
	if len(pending) == 0 {
		if s.Held.Restored {
			return nil // that was it, and it has been told
		}
		out := d.Stdout
		if o.Output == "json" { // a stream without an event
			out = d.Stderr
		}
		_, err := fmt.Fprintln(out, "nothing to repair: no operation was cut off")
		return err
	}
	ids, err := idsOf(o.Import, pending)
	if err != nil {
		return err
	}
	if err := confirmRepair(ctx, d, o, pending, ids); err != nil {
		return err
	}
	if err := left.Remove(ctx, dead); err != nil {
		return err
	}
	broken := leftovers.Projects(pending)
	if err := left.BackUp(ctx, broken, s.Held.Backups()); err != nil {
		return err
	}
	fmt.Fprintf(d.Stderr, "the previous state is in %s\n", s.Held.Backups())
	if err := left.Adopt(ctx, pending, ids); err != nil {
		return err
	}
	w.plan = w.plan.Limit(broken, "nothing to repair")
	return carryOut(ctx, d, o.operateOptions, s, w)
}

// idsOf maps the URNs of interrupted creations to the ids given for their names.
func idsOf(given []string, pending []stacks.Pending) (map[string]string, error) {
	ids := map[string]string{}
	for _, text := range given {
		name, id, ok := strings.Cut(text, "=")
		if !ok || name == "" || id == "" {
			return nil, failure.Usagef("repair", "--import: %q is not NAME=ID", text)
		}
		var names []string
		found := ""
		for _, p := range pending {
			if !p.Blocks() {
				continue
			}
			_, own, _ := strings.Cut(p.Resource, " ")
			names = append(names, own)
			if own == name || p.URN == name {
				found = p.URN
			}
		}
		if found == "" {
			return nil, failure.Usagef("repair", "--import: no creation of %q was cut off%s", name, config.DidYouMean(name, names))
		}
		ids[found] = id
	}
	return ids, nil
}

// confirmRepair shows what will be done about each interrupted operation, and asks.
func confirmRepair(ctx context.Context, d cmd.Deps, o repairOptions, pending []stacks.Pending, ids map[string]string) error {
	for _, p := range pending {
		fate := "is looked up by the refresh"
		switch id := ids[p.URN]; {
		case id != "":
			fate = "is imported as " + id
		case p.Blocks():
			fate = "is forgotten"
		}
		fmt.Fprintf(d.Stderr, "%s: %s %s\n", p.Project, p, fate)
	}
	return cmd.Confirm(ctx, d, o.Common, "repair", "Repair the state like this?")
}
