package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/runner/internal/event"
	"mara/runner/internal/failure"
	"mara/runner/internal/prompt"
	"mara/runner/internal/stacks"
)

func repairCommand(d Deps) *cli.Command {
	return &cli.Command{
		Name:  "repair",
		Usage: "put a state right that a run has left in the middle of creating something",
		Description: "A run that is killed while it creates a resource leaves a pending operation in the state: the resource may\n" +
			"exist, and Pulumi does not know it. For every project with such operations, repair\n\n" +
			"  1. exports the state to .runner/backups, from where `pulumi stack import` takes it;\n" +
			"  2. takes the resources that are named with --import into the state, and forgets the other creations;\n" +
			"  3. refreshes the state.\n\n" +
			"A state that was cut off while it was written, as on a full disk, is restored to the one before it; the\n" +
			"broken one is kept in .runner/backups, too.\n\n" +
			"What was created and is forgotten has to be deleted by hand: look for it first.\n\n" +
			"Examples:\n  runner repair -s dev\n  runner repair -s dev --import main=vpc-0a1b2c3d\n\n" +
			exitText(exitDone, exitFailed, exitUsage, exitConfig, exitLocked, exitInterrupted),
		Flags: joinFlags(
			[]cli.Flag{&cli.StringSliceFlag{Name: "import", Usage: "take the resource into the state that exists with this id, `NAME=ID`; may be repeated"}},
			selectionFlags(), policyFlags(), lockFlags(), outputFlag("text", "json"), showFlags(),
			environmentFlags(), confirmFlags(), simulationFlags(), pulumiFlags(), baseFlags(),
		),
		Action: func(c *cli.Context) error {
			options, err := parseRepair(c, d)
			if err != nil {
				return err
			}
			return runRepair(c.Context, d, options)
		},
	}
}

// repairOptions are a refresh that comes after what is in the state has been put
// right.
type repairOptions struct {
	operateOptions
	Import []string // NAME=ID
}

func parseRepair(c *cli.Context, d Deps) (repairOptions, error) {
	refresh, err := parseOperate(c, d, event.Refresh)
	refresh.clear, refresh.Restore = true, true
	return repairOptions{operateOptions: refresh, Import: c.StringSlice("import")}, err
}

func runRepair(ctx context.Context, d Deps, o repairOptions) (err error) {
	s, err := openSession(ctx, d, o.sessionOptions, toOperate)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	w, err := s.choose(o.operateOptions)
	if err != nil {
		return err
	}
	locks, err := s.leftLocks(w.plan)
	if err == nil && len(locks) > 0 {
		err = &lockedStacksError{locks: locks, unlock: s.command("unlock", o.operateOptions)}
	}
	if err != nil {
		return err
	}
	pending, err := s.leftPending(ctx, w.plan, true)
	if err != nil {
		return err
	}
	if s.restored && len(pending) > 0 {
		// What was cut off is known only now: the user has to look first.
		return &pendingError{pending: pending, repair: s.command("repair", o.operateOptions)}
	}
	if len(pending) == 0 {
		if s.restored {
			return nil // that was it, and it has been told
		}
		_, err := fmt.Fprintln(d.Stdout, "nothing to repair: no operation was cut off")
		return err
	}
	ids, err := idsOf(o.Import, pending)
	if err != nil {
		return err
	}
	if err := confirmRepair(ctx, d, o, pending, ids); err != nil {
		return err
	}
	broken := projectsOf(pending)
	if err := s.backUp(ctx, d, broken); err != nil {
		return err
	}
	if err := s.adopt(ctx, pending, ids); err != nil {
		return err
	}
	w.plan = w.plan.Limit(broken, "nothing to repair")
	return s.execute(ctx, d, o.operateOptions, w)
}

// adopt takes resources into the state that exist with these ids, and forgets
// the creation of those whose id is empty.
func (s *session) adopt(ctx context.Context, pending []stacks.Pending, ids map[string]string) error {
	existing := slices.DeleteFunc(slices.Clone(pending), func(p stacks.Pending) bool { _, told := ids[p.URN]; return !told })
	for _, project := range projectsOf(existing) {
		if err := s.stacks.Adopt(ctx, project, ids); err != nil {
			return err
		}
	}
	return nil
}

// idsOf maps the URNs of creations that were cut off to the ids that are given
// for their names.
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

func projectsOf(pending []stacks.Pending) []string {
	var names []string
	for _, p := range pending {
		if !slices.Contains(names, p.Project) {
			names = append(names, p.Project)
		}
	}
	return names
}

// confirmRepair shows what will become of what was cut off.
func confirmRepair(ctx context.Context, d Deps, o repairOptions, pending []stacks.Pending, ids map[string]string) error {
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
	if o.Yes {
		return nil
	}
	terminal, ok := prompt.NewTerminal(d.Stdin, d.Stderr)
	if !o.Interactive || !ok {
		return &failure.Usage{Text: "repair needs a confirmation, and there is nobody to ask", Next: "add --yes to do it without asking"}
	}
	yes, err := terminal.Confirm(ctx, "Repair the state like this?")
	if err == nil && !yes {
		err = &declined{"not confirmed; nothing was changed"}
	}
	return err
}

// backUp exports the state of projects.
func (s *session) backUp(ctx context.Context, d Deps, projects []string) error {
	folder := filepath.Join(s.folder, "backups", s.run)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return s.folderError(err)
	}
	for _, project := range projects {
		content, err := s.stacks.Export(ctx, project)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, project+".json"), content, 0o600); err != nil {
			return s.folderError(err)
		}
	}
	fmt.Fprintf(d.Stderr, "the state as it was is in %s\n", folder)
	return nil
}
