package operations

import (
	"context"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/identity"
	"mara/runner/internal/core/session"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/typeset"
)

// State returns `runner state`.
func State(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name:  "state",
		Usage: "move the states of environments to another backend",
		Description: "The states of an environment are in the backend that PULUMI_BACKEND_URL names, else in that of\n" +
			"`pulumi login`, else in .runner/state.\n\n" + cmd.ExitText(cmd.ExitDone, cmd.ExitUsage),
		Subcommands: []*cli.Command{stateMove(d)},
	}
}

func stateMove(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name:  "move",
		Usage: "move the states of all projects of an environment to another backend",
		Description: "Copies the state of each stack of the environment with `pulumi stack export` and `pulumi stack\n" +
			"import`, reads it back and compares it with the original. The environment is locked in both\n" +
			"backends. A state with the name of one of its stacks that is there already, and is not the same,\n" +
			"stops the move: nothing is overwritten. At the end the root records the new backend, so that\n" +
			"operations refuse the old one, and the command prints what to set.\n\n" +
			"If the move is cut off, run the command again: it continues where it was. Until it is done,\n" +
			"operations use the old backend. The old states stay there as a backup, with the history of\n" +
			"updates, which is not moved; the command prints how to delete them. Secrets stay encrypted with\n" +
			"the same passphrase or key service. Where no file names one, Pulumi Cloud encrypts them with a key\n" +
			"of each stack; on the way from there a passphrase does, and the secrets in the files change, too.\n\n" +
			"The states come from the backend that the environment was last deployed to from this root, also\n" +
			"where another one is configured already.\n\n" +
			"Examples:\n  runner state move -s dev --to s3://acme-environments/state\n" +
			"  runner state move --all --to file:///srv/state --yes\n" +
			"  runner state move -s dev --from file:///srv/state --to s3://acme-environments/state\n" +
			"  runner state move -s dev --to https://api.pulumi.com\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig, cmd.ExitLocked),
		Flags: cmd.JoinFlags(
			[]cli.Flag{
				&cli.StringFlag{
					Name: "to",
					Usage: "move the states to the backend at `URL` (default: the configured one, where the environment was " +
						"deployed to another)",
				},
				&cli.BoolFlag{Name: "all", Usage: "move all environments of the root, one after the other"},
				&cli.StringFlag{
					Name: "from", Usage: "move them from the backend at `URL` (default: the one that the environment was deployed to)",
				},
			},
			cmd.LockFlags(), cmd.OutputFlag("text", "json"), cmd.EnvironmentFlags(), cmd.ConfirmFlags(), cmd.PulumiFlags(),
			cmd.BaseFlags(),
		),
		Action: cmd.Action(d, parseStateMove, runStateMove),
	}
}

type stateMoveOptions struct {
	cmd.Common
	From, To string
	All      bool // environments of the root
}

func parseStateMove(c *cli.Context, _ cmd.Deps, common cmd.Common) (o stateMoveOptions, err error) {
	o = stateMoveOptions{Common: common, From: c.String("from"), To: c.String("to"), All: c.Bool("all")}
	if o.All && o.Stack.IsSet() {
		return o, failure.Usagef(cmd.Path(c), "--all and --stack: choose one")
	}
	o.LockTimeout, err = cmd.ParseLock(c)
	return o, err
}

// stateMoved is the result of a move.
type stateMoved struct {
	Stack    string           `json:"stack"`
	From     string           `json:"from"`
	To       string           `json:"to"`
	Projects []identity.Moved `json:"projects"`
	Files    []string         `json:"files,omitempty"`   // whose secrets are encrypted for the new backend
	Setting  string           `json:"setting,omitempty"` // that the user has to make
	Removal  string           `json:"removal,omitempty"` // the command that deletes the old states
}

func runStateMove(ctx context.Context, d cmd.Deps, o stateMoveOptions) error {
	if !o.All {
		done, text, err := moveOne(ctx, d, o)
		if err != nil {
			return err
		}
		return o.Show(d, done, text)
	}
	names, err := environments(o)
	if err != nil {
		return err
	}
	all, text := []stateMoved{}, ""
	for _, name := range names {
		o.Request = o.Of(name)
		done, one, err := moveOne(ctx, d, o)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		all, text = append(all, done), text+one
	}
	return o.Show(d, all, text)
}

// environments lists the environments of the root: the configured ones, and the ones
// that were deployed from here.
func environments(o stateMoveOptions) ([]string, error) {
	names, err := o.Environments()
	if err != nil {
		return nil, err
	}
	deployed, err := o.Directory().Stacks()
	if err != nil {
		return nil, failure.RunnerDir(err)
	}
	names = append(names, deployed...)
	slices.Sort(names)
	return slices.Compact(names), nil
}

// moveOne moves one environment, and returns the text to show.
func moveOne(ctx context.Context, d cmd.Deps, o stateMoveOptions) (done stateMoved, text string, err error) {
	err = session.Use(d.Deps, o.Options, session.Resolve, func(s *session.Resolved) error {
		done, text, err = moveStates(ctx, d, o, s)
		return err
	})
	return done, text, err
}

func moveStates(
	ctx context.Context, d cmd.Deps, o stateMoveOptions, s *session.Resolved,
) (done stateMoved, text string, err error) {
	move, err := identity.NewMove(ctx, s, o.From, o.To)
	if err != nil {
		return done, "", err
	}
	done = stateMoved{
		Stack: s.Settings.Stack.Text, From: move.From, To: move.To, Projects: []identity.Moved{}, Setting: move.Setting(),
	}
	if move.IsDone() {
		return done, fmt.Sprintf("%s is in %s already\n%s", done.Stack, done.To, done.next()), nil
	}
	if err := move.Open(ctx); err != nil {
		return done, "", err
	}
	if len(move.Projects) == 0 {
		return done, fmt.Sprintf("%s has no stacks in %s\n%s", done.Stack, done.From, done.next()), nil
	}
	question := fmt.Sprintf(
		"Move %s of %s from %s to %s?", typeset.Counted(len(move.Projects), "state"), done.Stack, done.From, done.To,
	)
	if err := cmd.Confirm(ctx, d, o.Common, "state move", question); err != nil {
		return done, "", err
	}
	err = move.Carry(ctx, func(moved identity.Moved) {
		done.Projects = append(done.Projects, moved)
		fmt.Fprintln(d.Stderr, moved)
	})
	if err != nil {
		return done, "", err
	}
	done.Removal, done.Files = move.Removal(), move.Resealed
	resealed := ""
	for _, file := range done.Files {
		resealed += "The secrets in " + file + " are encrypted anew\n"
	}
	return done, fmt.Sprintf("%s of %s moved from %s to %s\n%s%sThe old states stay in %s, with their history. "+
		"Once everything works, delete them with\n  %s\n",
		typeset.Counted(len(done.Projects), "state"), done.Stack, done.From, done.To, resealed, done.next(), done.From,
		done.Removal), nil
}

// next returns the line that says what to set.
func (m stateMoved) next() string {
	if m.Setting == "" {
		return ""
	}
	return "Next: " + m.Setting + "\n"
}
