package operate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mara/config"
	"mara/runner/internal/core/leftovers"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/relay"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/stacks"
	"mara/runner/internal/core/statefiles"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/prompt"
)

// Creations says what becomes of creations that were cut off.
type Creations struct {
	Import []string // NAME=ID
	Forget []string // names that the cloud is not asked about
	// ForgetJournal drops journals that do not belong to their states.
	ForgetJournal bool
}

// Repair repairs the states of projects whose creations were cut off: it looks the resources up in the cloud,
// imports or forgets them, and refreshes the projects. The request is one for a refresh.
func Repair(ctx context.Context, d session.Deps, r Request, view relay.View, given Creations) (err error) {
	s, err := open(ctx, d, r)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	j := newJob(d, r, view, s)
	if err := j.choose(ctx); err != nil {
		return err
	}
	left := s.Leftovers()
	locks, err := left.Locks(ctx, j.w.plan.Names())
	if err != nil {
		return err
	}
	dead, held := leftovers.Dead(locks)
	taken := 0
	if len(held) == 0 {
		if taken, err = j.takeOver(ctx, left, given.ForgetJournal); err != nil {
			return err
		}
		if locks, err = left.Locks(ctx, j.w.plan.Names()); err != nil {
			return err
		}
		dead, _ = leftovers.Dead(locks)
	}
	pending, err := left.Pending(ctx, j.w.plan, true)
	switch {
	case len(held) > 0, err == nil && len(pending) == 0 && len(dead) > 0:
		return left.Locked(locks)
	case err != nil:
		return err
	case s.Restored && len(pending) > 0:
		// The interrupted creations are only known now; the user has to check them first.
		return &leftovers.PendingError{Pending: pending, Repair: s.Command("repair")}
	case taken > 0 && len(pending) == 0:
		return nil // that was reported as well
	case s.Restored:
		return nil // the restored states were reported before
	case len(pending) == 0:
		out := view.Stdout
		if view.JSON { // a stream without an event
			out = d.Stderr
		}
		_, err := fmt.Fprintln(out, "nothing to repair: no operation was cut off")
		return err
	}
	ids, err := idsOf(given.Import, pending)
	if err != nil {
		return err
	}
	identities, err := identify(ctx, s.Reading, pending, ids, given.Forget)
	if err != nil {
		return err
	}
	if err := j.confirmRepair(ctx, identities, ids); err != nil {
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
	j.w.plan = j.w.plan.Limit(broken, "nothing to repair")
	_, err = j.carryOut(ctx)
	return err
}

// takeOver takes what journals have into the states of projects that lag behind them. It returns how many did. Where
// states are not files only the engine knows, and what follows takes them over.
func (j *job) takeOver(ctx context.Context, left leftovers.Finder, forget bool) (taken int, err error) {
	for _, project := range j.w.plan.Names() {
		has, err := left.HasJournal(project) // which may not belong to the state
		if err != nil {
			return taken, err
		}
		if !has && !forget || !j.s.Stacks.Summary(project).Exists {
			continue
		}
		lagged, err := left.TakeOver(ctx, project, forget, j.d.Stderr)
		if err != nil {
			return taken, err
		}
		if lagged {
			taken++
		}
	}
	return taken, nil
}

// identify asks the cloud about the creations that the flags do not name. If the answer
// is not clear, the error names the flags.
func identify(
	ctx context.Context, s *session.Reading, pending []stacks.Pending, ids map[string]string, forget []string,
) ([]leftovers.Identity, error) {
	dropped := map[string]bool{}
	for _, name := range forget {
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
func (r Request) selectCutOff(s *session.Resolved) plan.Selection {
	selected, err := plan.Select(s.Plan, r.Selection)
	if err != nil || !s.States().IsFile() {
		return r.Selection
	}
	var names []string
	for _, name := range selected.Names() {
		var state struct {
			Pending []json.RawMessage `json:"pending_operations"`
		}
		content, err := s.States().Read(name)
		if err != nil || len(content) > 0 && json.Unmarshal(content, &state) != nil {
			return r.Selection // open reports it
		}
		if len(state.Pending) > 0 || statefiles.Lags(content) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return r.Selection
	}
	return plan.Selection{Only: names}
}

// findCreation returns the URN of the creation that was cut off, by its name or URN.
func findCreation(flag, name string, pending []stacks.Pending) (string, error) {
	var names, found []string
	for _, p := range pending {
		if !p.Blocks() {
			continue
		}
		names = append(names, nameOf(p))
		if (nameOf(p) == name || p.URN == name) && !slices.Contains(found, p.URN) {
			found = append(found, p.URN)
		}
	}
	switch len(found) {
	case 0:
		return "", failure.Usagef("repair", "%s: no creation of %q was cut off%s", flag, name, config.DidYouMean(name, names))
	case 1:
		return found[0], nil
	}
	return "", failure.Usagef("repair", "%s: several creations of %q were cut off; give a URN, one of\n%s", flag, name,
		strings.Join(found, "\n"))
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
func (j *job) confirmRepair(
	ctx context.Context, identities []leftovers.Identity, ids map[string]string,
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
		fmt.Fprintf(j.d.Stderr, "%s: %s %s\n", i.Project, i.Pending, fate)
	}
	if j.Yes {
		return nil
	}
	return prompt.Confirm(ctx, j.d.Stdin, j.d.Stderr, j.Interactive, "repair", "Repair the state like this?")
}
