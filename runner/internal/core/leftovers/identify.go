package leftovers

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mara/config/lists"
	"mara/projects/model/cloud"
	"mara/runner/internal/core/stacks"
	"mara/runner/internal/machine/failure"
)

// Identity is what a cloud says about a creation that was cut off.
type Identity struct {
	stacks.Pending
	ID      string // of the resource that exists; "" if none does, or that is unclear
	Absent  bool   // the cloud has no such resource
	Unclear string // why the cloud cannot tell; "" where it can, or where no cloud can be asked
}

// IsKnown reports whether the cloud knows the result of the creation.
func (i Identity) IsKnown() bool { return i.ID != "" || i.Absent }

// String says what the cloud knows of the creation.
func (i Identity) String() string {
	switch {
	case i.ID != "":
		return fmt.Sprintf("%s: %s exists as %s", i.Project, i.Pending, i.ID)
	case i.Absent:
		return fmt.Sprintf("%s: %s does not exist in the cloud", i.Project, i.Pending)
	case i.Unclear != "":
		return fmt.Sprintf("%s: %s: %s", i.Project, i.Pending, i.Unclear)
	}
	return i.Project + ": " + i.Pending.String()
}

// Identify asks the cloud what has become of creations that were cut off. projects
// are all of the environment: what one of them has in its state is none of these.
func (f Finder) Identify(ctx context.Context, projects []string, pending []stacks.Pending) ([]Identity, error) {
	identities := lists.Map(pending, func(p stacks.Pending) Identity { return Identity{Pending: p} })
	if f.Locate == nil || len(pending) == 0 {
		return identities, nil
	}
	located, err := f.Locate(ctx, lists.Map(pending, func(p stacks.Pending) string { return typeOf(p.URN) }))
	if err != nil {
		for i := range identities {
			identities[i].Unclear = "the cloud cannot be asked: " + err.Error()
		}
		return identities, nil
	}
	known := map[string]bool{}
	for _, project := range projects {
		resources, err := f.Stacks.Resources(ctx, project)
		if err != nil {
			return nil, err
		}
		for _, r := range resources {
			known[r.Type+" "+r.ID] = true
		}
	}
	located.Resources = slices.DeleteFunc(located.Resources, func(r cloud.Resource) bool { return known[r.Type+" "+r.ID] })
	for i := range identities {
		identities[i].identify(located, pending)
	}
	return identities, nil
}

// identify finds the resource that a creation has made: the only one of its type
// that is in no state.
func (i *Identity) identify(located cloud.Located, pending []stacks.Pending) {
	own := typeOf(i.URN)
	candidates, _ := split(located.Resources, func(r cloud.Resource) bool {
		return r.URN == i.URN || r.URN == "" && r.Type == own
	})
	alike, _ := split(pending, func(p stacks.Pending) bool { return typeOf(p.URN) == own })
	switch {
	case len(candidates) == 1 && (len(alike) == 1 || candidates[0].URN != ""):
		i.ID = candidates[0].ID
	case len(candidates) == 0:
		i.Absent = located.Every || slices.Contains(located.Types, own)
	default:
		names := lists.Map(candidates, func(r cloud.Resource) string { return fmt.Sprintf("%s (%s)", r.ID, r.Name) })
		i.Unclear = "it may be one of " + strings.Join(names, ", ")
	}
}

// typeOf returns the type in a URN, urn:pulumi:STACK::PROJECT::PARENT$TYPE::NAME.
func typeOf(urn string) string {
	parts := strings.SplitN(urn, "::", 4)
	if len(parts) < 4 {
		return ""
	}
	return parts[2][strings.LastIndex(parts[2], "$")+1:]
}

// Unlock removes locks: from their store, which asks nothing of the states, or the way Pulumi does. It returns the
// projects that it has unlocked, also with an error.
func (f Finder) Unlock(ctx context.Context, locks []Lock) ([]string, error) {
	unlocked := []string{}
	for _, l := range locks {
		isDone := slices.Contains(unlocked, l.Project)
		var err error
		switch {
		case l.key != "":
			err = f.Remove(ctx, []Lock{l})
		case isDone:
		case l.update != "":
			err = stacks.AtService{Set: f.Stacks}.Cancel(ctx, l.Project, l.update)
		default:
			err = f.Stacks.Cancel(ctx, l.Project)
		}
		if err != nil {
			return unlocked, err
		}
		if !isDone {
			unlocked = append(unlocked, l.Project)
		}
	}
	return unlocked, nil
}

// HasJournal reports whether a project has a journal whose entries its state may lack. Where states are not files, only the
// engine knows.
func (f Finder) HasJournal(project string) (bool, error) {
	lags, err := f.Stacks.Lags(project)
	return lags || f.States.HasJournal(project), err
}

// TakeOver takes what the journal of a project has into its state, and says on w that it did; with forget it drops a journal
// that does not belong to the state. It reports whether the state lagged behind its journal. Nobody may work on the stack.
func (f Finder) TakeOver(ctx context.Context, project string, forget bool, w io.Writer) (taken bool, err error) {
	lags, err := f.Stacks.Lags(project)
	if err == nil {
		err = f.Stacks.TakeOver(ctx, project, forget)
	}
	if err != nil || !lags {
		return false, err
	}
	fmt.Fprintf(w, "%s: a run was cut off; what its journal has is in the state now\n", project)
	return true, nil
}

// Adopt takes resources into the state that exist with these ids, by URN, and
// forgets the creation of those whose id is empty.
func (f Finder) Adopt(ctx context.Context, pending []stacks.Pending, ids map[string]string) error {
	identified, _ := split(pending, func(p stacks.Pending) bool { _, ok := ids[p.URN]; return ok })
	for _, project := range Projects(identified) {
		if err := f.Stacks.Adopt(ctx, project, ids); err != nil {
			return err
		}
	}
	return nil
}

// Projects names the projects that operations belong to, each once. Those of one
// project follow one another.
func Projects(pending []stacks.Pending) []string {
	return slices.Compact(lists.Map(pending, func(p stacks.Pending) string { return p.Project }))
}

// BackUp exports the states of projects to a directory.
func (f Finder) BackUp(ctx context.Context, projects []string, dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return failure.RunnerDir(err)
	}
	for _, project := range projects {
		content, err := f.Stacks.Export(ctx, project)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, project+".json"), content, 0o600); err != nil {
			return failure.RunnerDir(err)
		}
	}
	return nil
}
