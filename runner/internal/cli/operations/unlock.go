package operations

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/config/lists"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/encryption"
	"mara/runner/internal/core/identity"
	"mara/runner/internal/core/leftovers"
	"mara/runner/internal/core/lock"
	"mara/runner/internal/core/session"
)

// Unlock returns `runner unlock`.
func Unlock(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name:  "unlock",
		Usage: "remove the locks that a run has left behind",
		Description: "A run that is killed may leave locks on its stacks. Shows the runner's own lock, here and in the\n" +
			"backend, and Pulumi's, with their age, and removes them after confirmation. Locks whose holders\n" +
			"may still work, as those of another machine, take --force: first make sure that nothing is\n" +
			"working on the environment any more. What a run has left in the journal of a state is in the state\n" +
			"then, where plain Pulumi finds it.\n\n" +
			"Examples:\n  runner unlock -s dev\n  runner unlock -s dev --yes\n  runner unlock -s dev --force\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig, cmd.ExitLocked),
		Flags: cmd.JoinFlags(
			cmd.OutputFlag("text", "json"),
			[]cli.Flag{
				forceUnlockFlag{&cli.BoolFlag{Name: "force", Usage: "also remove the locks whose holders may still work"}},
			},
			cmd.EnvironmentFlags(), cmd.ConfirmFlags(), cmd.SimulationFlags(), cmd.PulumiFlags(), cmd.BaseFlags(),
		),
		Action: cmd.Action(d, parseUnlock, cmd.InSession(session.Resolve, runUnlock)),
	}
}

// forceUnlockFlag has a variable of its own: RUNNER_FORCE, which is for up, is not
// meant to break locks.
type forceUnlockFlag struct{ *cli.BoolFlag }

// Variable returns the name of the flag's environment variable.
func (forceUnlockFlag) Variable() string { return "RUNNER_FORCE_UNLOCK" }

type unlockOptions struct {
	cmd.Common
	Force bool
}

func parseUnlock(c *cli.Context, _ cmd.Deps, common cmd.Common) (unlockOptions, error) {
	return unlockOptions{Common: common, Force: c.Bool("force")}, nil
}

func runUnlock(ctx context.Context, d cmd.Deps, o unlockOptions, s *session.Resolved) error {
	// A state that cannot be read keeps no lock in place: `runner repair` needs the environment unlocked.
	open, unread := s.Read(ctx, encryption.Copies{})
	if ctx.Err() != nil {
		return unread
	}
	if unread == nil {
		if err := identity.CheckKnown(open); err != nil {
			return err
		}
	}
	d.Note(config.Apart(s.Settings.Backend.Text))
	state, owner, err := s.RunLock().Inspect()
	if err != nil {
		return err
	}
	if state == lock.Held {
		return &lock.HeldError{Owner: owner}
	}
	store, shared, err := s.RunLock().InBackend(ctx)
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(shared, lock.Left.IsHeld); i >= 0 {
		return &lock.HeldError{Owner: shared[i].Owner}
	}
	left := open.Leftovers()
	locks, err := left.Locks(ctx, s.Plan.Names())
	if err != nil && unread != nil {
		return unread
	}
	if err != nil {
		return err
	}
	if state == lock.Free && len(locks)+len(shared) == 0 {
		if unread != nil {
			return unread
		}
		return errors.Join(takeOver(ctx, d, open, nil), writeUnlocked(d, o, unlocked{Projects: []string{}}))
	}
	if state != lock.Free {
		fmt.Fprintln(d.Stderr, lockText(d, "the environment is locked", owner))
	}
	for _, left := range shared {
		fmt.Fprintln(d.Stderr, lockText(d, "the environment is locked in the backend", left.Owner))
	}
	for _, l := range locks {
		fmt.Fprintln(d.Stderr, l)
	}
	if unsure := mayBeHeld(state, owner, shared, locks); len(unsure) > 0 && !o.Force {
		return &leftovers.LockedError{Locks: unsure, Unlock: s.Command("unlock") + " --force"}
	}
	if err := cmd.Confirm(ctx, d, o.Common, "unlock", "Remove these locks?"); err != nil {
		return err
	}
	var done unlocked
	if owner, err = lock.Break(s.RunLock().Path); err == nil { // first, for it fails where a run has the lock
		done.Environment = owner != (lock.Owner{})
		done.Projects, err = left.Unlock(ctx, locks)
	}
	for _, left := range shared {
		if err == nil {
			err = store.Delete(ctx, left.Key)
			done.Environment = err == nil
		}
	}
	if err == nil && unread == nil {
		err = takeOver(ctx, d, open, done.Projects)
	}
	if unread != nil {
		fmt.Fprintf(d.Stderr, "warning: %v\n", unread)
		if advised, ok := errors.AsType[interface {
			error
			NextStep() string
		}](unread); ok {
			fmt.Fprintf(d.Stderr, "hint: %s\n", advised.NextStep())
		}
	}
	return errors.Join(writeUnlocked(d, o, done), err)
}

// takeOver takes what operations that were cut off have left in journals into the states, so that plain Pulumi works on them
// again. Those are the states that have a journal and, where only the engine can tell, of the projects that were unlocked
// just now. What cannot be taken over is a warning: the locks are gone, and the next operation says what to do.
func takeOver(ctx context.Context, d cmd.Deps, s *session.Reading, unlocked []string) error {
	left, projects := s.Leftovers(), []string{}
	for _, project := range s.Plan.Names() {
		has, err := left.HasJournal(project)
		if err != nil {
			return err
		}
		if has || !s.States().IsFile() && slices.Contains(unlocked, project) {
			projects = append(projects, project)
		}
	}
	if len(projects) == 0 {
		return nil
	}
	if _, err := s.Lock(ctx, "unlock"); err != nil { // until the session closes: nobody may work on the stacks meanwhile
		return err
	}
	for _, project := range projects {
		if _, err := left.TakeOver(ctx, project, false, d.Stderr); err != nil {
			fmt.Fprintf(d.Stderr, "warning: %v\n", err)
		}
	}
	return ctx.Err()
}

// mayBeHeld returns the locks whose holders may still work: the runner's of other
// machines and containers, and Pulumi's of processes that are not known to be gone.
func mayBeHeld(state lock.State, owner lock.Owner, shared []lock.Left, locks []leftovers.Lock) []leftovers.Lock {
	_, unsure := leftovers.Dead(locks)
	const environment = "the environment"
	if state == lock.Foreign {
		unsure = append(unsure, leftovers.Lock{Project: environment, Holder: owner.String()})
	}
	for _, left := range shared {
		if !left.IsDead() {
			unsure = append(unsure, leftovers.Lock{Project: environment, Holder: left.Owner.String() + " in the backend"})
		}
	}
	return unsure
}

// lockText describes the run that holds a lock.
func lockText(d cmd.Deps, what string, owner lock.Owner) string {
	return fmt.Sprintf("%s by %s: %s, run %s, %s", what, owner, owner.Operation, owner.Run, owner.Age(d.Now()))
}

type unlocked struct {
	Projects    []string `json:"projects"`
	Environment bool     `json:"environment"` // the runner's own lock
}

func writeUnlocked(d cmd.Deps, o unlockOptions, done unlocked) error {
	lines := lists.Map(done.Projects, func(project string) string { return "unlocked " + project + "\n" })
	if done.Environment {
		lines = append(lines, "unlocked the environment\n")
	}
	return o.Show(d, done, cmp.Or(strings.Join(lines, ""), "nothing is locked\n"))
}
