package operations

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/projects/model/operation"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/environment/leftovers"
	"mara/runner/internal/environment/session"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/pulumi/stacks"
	"mara/runner/internal/run/plan"
)

// Repair returns `runner repair`.
func Repair(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name:  "repair",
		Usage: "repair a state after a run was cut off while it created something",
		Description: "A run that is killed while it creates a resource leaves a pending operation in the state: the " +
			"resource may\n" +
			"exist without Pulumi knowing it. For every project with such operations, repair\n\n" +
			"  1. exports the state to .runner/backups, where `pulumi stack import` can get it;\n" +
			"  2. asks the cloud, by the name or the tags that the\n" +
			"     resource would have; imports what exists and what\n" +
			"     --import names; forgets what does not exist;\n" +
			"  3. refreshes the state.\n\n" +
			"Where the cloud cannot be asked, or more than one resource fits, repair stops\n" +
			"until --import or --forget says what to do. Clouds are asked for clusters,\n" +
			"machines, firewalls, registries and networks of the built-in projects.\n\n" +
			"A state that was cut off while it was written, as on a full disk, is replaced with the one before it; the\n" +
			"broken one is kept in .runner/backups as well.\n\n" +
			"Other creations are forgotten, and have to be deleted by hand if they exist: look for them first.\n\n" +
			"Examples:\n  runner repair -s dev\n  runner repair -s dev --import main=vpc-0a1b2c3d\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig, cmd.ExitLocked, cmd.ExitInterrupted),
		Flags: cmd.JoinFlags(
			[]cli.Flag{
				&cli.StringSliceFlag{
					Name: "import", Usage: "import the existing resource with this id into the state, `NAME=ID`; may be repeated",
				},
				&cli.StringSliceFlag{
					Name: "forget", Usage: "forget the creation of the resource `NAME` without asking the cloud; may be repeated",
				},
			},
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
	Drop   []string // names of creations to drop without asking the cloud
}

func parseRepair(c *cli.Context, d cmd.Deps, common cmd.Common) (repairOptions, error) {
	refresh, err := parseOperate(c, d, common, operation.Refresh)
	refresh.clear, refresh.restore = true, true
	refresh.Narrow = refresh.selectCutOff
	return repairOptions{operateOptions: refresh, Import: c.StringSlice("import"), Drop: c.StringSlice("forget")}, err
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
		// The interrupted creations are only known now; the user has to check them first.
		return &leftovers.PendingError{Pending: pending, Repair: s.Command("repair")}
	}
	if len(pending) == 0 {
		if s.Held.Restored {
			return nil // the restored states were reported before
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
	identities, err := o.identify(ctx, s, pending, ids)
	if err != nil {
		return err
	}
	if err := confirmRepair(ctx, d, o, identities, ids); err != nil {
		return err
	}
	for _, i := range identities {
		if i.ID != "" {
			ids[i.URN] = i.ID
		}
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

// identify asks the cloud about the creations that the flags do not name. If the answer
// is not clear, the error names the flags.
func (o repairOptions) identify(
	ctx context.Context, s *session.Session, pending []stacks.Pending, ids map[string]string,
) ([]leftovers.Identity, error) {
	dropped := map[string]bool{}
	for _, name := range o.Drop {
		urn, err := findCreation("--forget", name, pending)
		if err != nil {
			return nil, err
		}
		dropped[urn] = true
	}
	var ask []stacks.Pending
	identities := []leftovers.Identity{}
	for _, p := range pending {
		if p.Blocks() && ids[p.URN] == "" && !dropped[p.URN] {
			ask = append(ask, p)
		} else {
			identities = append(identities, leftovers.Identity{Pending: p})
		}
	}
	asked, err := s.Leftovers().Identify(ctx, s.Scope().Projects, ask)
	if err != nil {
		return nil, err
	}
	for _, i := range asked {
		if i.Unclear != "" {
			name := nameOf(i.Pending)
			return nil, &failure.Environment{
				Text: i.String(),
				Next: fmt.Sprintf(
					"look in the cloud, then `%s --import %s=ID`, or --forget %s if it does not exist", s.Command("repair"), name,
					name,
				),
			}
		}
	}
	return append(identities, asked...), nil
}

// nameOf returns the name in the program of a resource.
func nameOf(p stacks.Pending) string {
	_, own, _ := strings.Cut(p.Resource, " ")
	return own
}

// selectCutOff selects the projects with interrupted operations, for the checks before
// the environment is locked: they need not check what only other projects use. It reads
// the states of a backend of files; with another it selects what the user has.
func (o operateOptions) selectCutOff(s *session.Session) plan.Selection {
	own := o.Selection.Selection
	selected, err := plan.Select(s.Plan, own)
	if err != nil || !s.States().IsFile() {
		return own
	}
	var names []string
	for _, name := range selected.Names() {
		var state struct {
			Pending []json.RawMessage `json:"pending_operations"`
		}
		content, err := s.States().Read(name)
		if err != nil || len(content) > 0 && json.Unmarshal(content, &state) != nil {
			return own // open reports it
		}
		if len(state.Pending) > 0 {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return own
	}
	return plan.Selection{Only: names}
}

// findCreation returns the URN of the creation that was cut off, by its name or URN.
func findCreation(flag, name string, pending []stacks.Pending) (string, error) {
	var names []string
	found := ""
	for _, p := range pending {
		if !p.Blocks() {
			continue
		}
		names = append(names, nameOf(p))
		if nameOf(p) == name || p.URN == name {
			found = p.URN
		}
	}
	if found == "" {
		return "", failure.Usagef("repair", "%s: no creation of %q was cut off%s", flag, name, config.DidYouMean(name, names))
	}
	return found, nil
}

// idsOf maps the URNs of interrupted creations to the ids given for their names.
func idsOf(given []string, pending []stacks.Pending) (map[string]string, error) {
	ids := map[string]string{}
	for _, text := range given {
		name, id, ok := strings.Cut(text, "=")
		if !ok || name == "" || id == "" {
			return nil, failure.Usagef("repair", "--import: %q is not NAME=ID", text)
		}
		found, err := findCreation("--import", name, pending)
		if err != nil {
			return nil, err
		}
		ids[found] = id
	}
	return ids, nil
}

// confirmRepair shows what will be done about each interrupted operation, and asks.
func confirmRepair(
	ctx context.Context, d cmd.Deps, o repairOptions, identities []leftovers.Identity, ids map[string]string,
) error {
	for _, i := range identities {
		fate := "is looked up by the refresh"
		switch id := ids[i.URN]; {
		case id != "":
			fate = "is imported as " + id
		case i.ID != "":
			fate = "exists in the cloud, and is imported as " + i.ID
		case i.Absent:
			fate = "does not exist in the cloud, and is forgotten"
		case i.Blocks():
			fate = "is forgotten"
		}
		fmt.Fprintf(d.Stderr, "%s: %s %s\n", i.Project, i.Pending, fate)
	}
	return cmd.Confirm(ctx, d, o.Common, "repair", "Repair the state like this?")
}
