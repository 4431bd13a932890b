package configuration

import (
	"context"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/environment/inventory"
	"mara/runner/internal/environment/session"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/secrets/encryption"
)

// renameOptions are the options of `runner adopt --rename`.
type renameOptions struct {
	cmd.Common
	Old, New string // names of projects
}

func parseRename(c *cli.Context, _ cmd.Deps, common cmd.Common) (o renameOptions, err error) {
	o = renameOptions{Common: common, Old: c.String("rename"), New: c.Args().First()}
	if o.Old == "" || o.New == "" {
		return o, failure.Usagef("adopt", "--rename takes two names: --rename OLD NEW")
	}
	if c.Bool("print") {
		return o, failure.Usagef("adopt", "--rename and --print: choose one")
	}
	o.LockTimeout, err = cmd.ParseLock(c)
	return o, err
}

// renamed is the result of a rename.
type renamed struct {
	Old   string `json:"old"`
	New   string `json:"new"`
	Stack string `json:"stack"`
}

func runRename(ctx context.Context, d cmd.Deps, o renameOptions, s *session.Session) error {
	held, err := s.Lock(ctx, "adopt")
	if err != nil {
		return err
	}
	if err := held.OpenStacks(ctx, encryption.Copies{}, false); err != nil {
		return err
	}
	if err := checkRename(ctx, o, s); err != nil {
		return err
	}
	if err := s.Leftovers().RefuseLockedProjects(ctx, []string{o.Old, o.New}); err != nil {
		return err
	}
	question := fmt.Sprintf("Let project %s take over the resources deployed as %s in %s?", o.New, o.Old,
		s.Settings.Stack.Text)
	if err := cmd.Confirm(ctx, d, o.Common, "adopt", question); err != nil {
		return err
	}
	if err := s.Stacks.Rename(ctx, o.Old, o.New); err != nil {
		return err
	}
	text := fmt.Sprintf("the resources deployed as %s belong to %s now\nNext: `%s` shows the differences\n", o.Old, o.New,
		s.Command("preview"))
	return o.Show(d, renamed{Old: o.Old, New: o.New, Stack: s.Settings.Stack.Text}, text)
}

// checkRename refuses a rename that would take a stack from another project or overwrite a
// deployed stack.
func checkRename(ctx context.Context, o renameOptions, s *session.Session) error {
	own := s.Scope()
	if !slices.Contains(own.Projects, o.New) {
		return &failure.Environment{
			Text: fmt.Sprintf("no project of this environment is named %s%s", o.New, config.DidYouMean(o.New, own.Projects)),
			Next: "rename the project in its Pulumi.yaml and in " + config.MaraFile + " first",
		}
	}
	if slices.Contains(own.Projects, o.Old) {
		return &failure.Environment{
			Text: fmt.Sprintf("%s is a project of this environment, and its stack belongs to it", o.Old),
			Next: "name the project that no longer exists; `" + s.Command("status") + "` lists such stacks",
		}
	}
	if n := s.Stacks.Summary(o.New).Resources; n > 0 {
		return &failure.Environment{
			Text: fmt.Sprintf("%s is deployed already, with %d resources", o.New, n),
			Next: fmt.Sprintf("if they were created by mistake, destroy them first with `%s`",
				s.Command("destroy --only "+o.New)),
		}
	}
	found, err := inventory.FindUnclaimed(ctx, s)
	if err != nil {
		return err
	}
	var names []string
	for _, orphan := range found.Orphans {
		names = append(names, orphan.Project)
	}
	switch {
	case slices.Contains(names, o.Old):
		return nil
	case slices.Contains(found.Strangers, o.Old):
		return &failure.Environment{
			Text: fmt.Sprintf("the stack of %s may belong to another repository: it is not encrypted with the key of this "+
				"environment", o.Old),
			Next: "if it belongs to this one, move it with `pulumi stack rename`",
		}
	}
	return &failure.Environment{
		Text: fmt.Sprintf("nothing is deployed as %s in %s%s", o.Old, s.Settings.Stack.Text, config.DidYouMean(o.Old, names)),
		Next: "`" + s.Command("status") + "` lists the stacks that no project claims",
	}
}
