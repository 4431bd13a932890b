package promote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/cli/configuration"
	"mara/runner/internal/core/gitsource"
	"mara/runner/internal/core/request"
	"mara/runner/internal/core/session"
	"mara/runner/internal/feature/mirror"
	"mara/runner/internal/kube/examine"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/typeset"
)

// Promote returns `runner promote`.
func Promote(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "promote", Usage: "give an environment the image that an application runs in another one, by its digest",
		ArgsUsage: "APPLICATION",
		Description: "Asks the cluster of --from which image the ready Pods of the application run, by its digest and not " +
			"by its tag, and writes it into the stack file of --to. With --image, it asks the registry for the digest of a " +
			"new image instead. Nothing is deployed: review the change, and deploy " +
			"it with `runner up`, or roll it out. --patch prints the change, for `git apply`, and writes nothing; --git-commit " +
			"commits it.\n\n" +
			"It refuses an image without a digest of a registry, and Pods that run several images.\n\n" +
			"Examples:\n  runner promote shop --image ghcr.io/acme/shop:1.2.3 --to dev\n" +
			"  runner promote shop --from stage --to prod\n" +
			"  runner promote shop --from stage --to prod --patch > shop.patch\n" +
			"  runner promote shop --from stage --to prod --git-commit\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig),
		Flags: cmd.JoinFlags([]cli.Flag{
			&cli.StringFlag{Name: "from", Usage: "take the image that runs in the environment `STACK`"},
			&cli.StringFlag{Name: "image", Usage: "take `IMAGE` by the digest that its registry has for it, instead of --from"},
			&cli.StringFlag{Name: "to", Usage: "change the configuration of the environment `STACK`"},
			&cli.BoolFlag{Name: "patch", Usage: "print the change as a patch, and write nothing"},
			&cli.BoolFlag{Name: "git-commit", Usage: "commit the change with git"},
		}, cmd.OutputFlag("text", "json"), cmd.RootFlags(), cmd.PulumiFlags(), cmd.BaseFlags()),
		Action: cmd.Action(d, parsePromote, runPromote),
	}
}

// promoteOptions are the options of promote.
type promoteOptions struct {
	cmd.Common
	Application, From, Image, To string // one of From and Image is set
	Patch, Commit                bool
}

func parsePromote(c *cli.Context, _ cmd.Deps, common cmd.Common) (promoteOptions, error) {
	o := promoteOptions{
		Common: common, Application: c.Args().First(), From: c.String("from"), Image: c.String("image"), To: c.String("to"),
		Patch: c.Bool("patch"), Commit: c.Bool("git-commit"),
	}
	switch {
	case o.Application == "":
		return o, failure.Usagef(cmd.Path(c), "which application? They are below applications in %s", config.MaraFile)
	case o.From != "" && o.Image != "":
		return o, failure.Usagef(cmd.Path(c), "--from and --image: choose one")
	case o.From+o.Image == "" || o.To == "":
		return o, failure.Usagef(cmd.Path(c), "name two environments: --from STACK --to STACK, or --image IMAGE --to STACK")
	case o.From == o.To:
		return o, failure.Usagef(cmd.Path(c), "--from and --to are both %s", o.From)
	case o.Patch && o.Commit:
		return o, failure.Usagef(cmd.Path(c), "--patch and --git-commit: choose one")
	}
	return o, nil
}

// promoted is the JSON form of a promotion.
type promoted struct {
	Application string `json:"application"`
	From        string `json:"from,omitempty"` // "" if the registry was asked
	To          string `json:"to"`
	File        string `json:"file"`
	Key         string `json:"key"`
	Image       string `json:"image"`
	Was         string `json:"was"`  // "" if it was not set
	Pods        int    `json:"pods"` // of From that run it
	Changed     bool   `json:"changed"`
}

func runPromote(ctx context.Context, d cmd.Deps, o promoteOptions) error {
	application, err := cmd.FindApplication(o.Root, o.Application)
	if err != nil {
		return err
	}
	if err := configuration.CheckEnvironments("promote", o.Request, cmp.Or(o.From, o.To), o.To); err != nil {
		return err
	}
	key := application.Key("image")
	to, err := configuration.Open(o.Of(o.To))
	if err != nil {
		return err
	}
	if err := to.RefuseOverridden(key); err != nil {
		return err
	}
	ask := askCluster
	if o.Image != "" {
		ask = askRegistry
	}
	running, err := ask(ctx, d, o)
	if err != nil {
		return err
	}
	done := promoted{
		Application: o.Application, From: o.From, To: o.To, File: to.File.File, Key: key, Image: running.Reference(),
		Pods: running.Pods,
	}
	entry, _ := to.File.Lookup(key)
	done.Was, _ = entry.Value.(string)
	done.Changed = done.Was != done.Image
	if !done.Changed {
		return o.Show(d, done, fmt.Sprintf("%s: %s is %s already\n", done.File, key, done.Image))
	}
	before := to.File.Own().Content
	after, err := to.File.Own().Edit(config.Change{Key: key, Value: done.Image})
	if err != nil {
		return err
	}
	if o.Patch {
		return d.Print(typeset.Patch(filepath.ToSlash(done.File), string(before), string(after)))
	}
	if err := request.Write(o.Root, done.File, after); err != nil {
		return err
	}
	if o.Commit {
		if err := o.commit(ctx, done); err != nil {
			return err
		}
	}
	return o.Show(d, done, done.text(o.Commit))
}

// askCluster returns what runs in the environment of --from.
func askCluster(ctx context.Context, d cmd.Deps, o promoteOptions) (found examine.Running, err error) {
	options := o.Options
	options.Request = o.Of(o.From)
	err = session.Use(d.Deps, options, session.Resolve, func(s *session.Resolved) error {
		cluster, _, err := cmd.ConnectCluster(ctx, s)
		if err == nil {
			found, err = examine.RunningImage(ctx, cluster, o.Application)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", o.From, err)
		}
		return nil
	})
	return found, err
}

// askRegistry returns the image of --image, with the digest that its registry has for it.
func askRegistry(ctx context.Context, _ cmd.Deps, o promoteOptions) (found examine.Running, err error) {
	network := mirror.NewNetwork(o.Proxy(), "")
	defer func() { err = errors.Join(err, network.Close()) }()
	digest, err := network.Digest(ctx, o.Image)
	if err != nil {
		return found, fmt.Errorf("%s: %w", o.Image, err)
	}
	name, _, _ := strings.Cut(o.Image, "@")
	return examine.Running{Image: name, Digest: digest}, nil
}

// commit commits the stack file alone.
func (o promoteOptions) commit(ctx context.Context, done promoted) error {
	from := ""
	if done.From != "" {
		from = " from " + done.From
	}
	message := fmt.Sprintf("Promote %s%s to %s\n\n%s\n", done.Application, from, done.To, done.Image)
	for _, args := range [][]string{
		{"add", "--", done.File}, {"commit", "--quiet", "-m", message, "--", done.File},
	} {
		if err := gitsource.Change(ctx, o.Root, args...); err != nil {
			return &failure.Environment{
				Text: fmt.Sprintf("%s is written, but not committed: git %s: %v", done.File, args[0], err),
				Next: "commit it yourself",
			}
		}
	}
	return nil
}

// text describes the promotion.
func (p promoted) text(committed bool) string {
	what := "written; review it with `git diff`"
	if committed {
		what = "committed"
	}
	says := "as its registry has it"
	if p.From != "" {
		says = fmt.Sprintf("as %s of %s run it", typeset.Counted(p.Pods, "Pod"), p.From)
	}
	return fmt.Sprintf("%s: %s is %s now (was %s), %s: %s\n"+
		"Nothing is deployed yet: `runner preview -s %s`, then `runner up -s %s`.\n", p.File, p.Key, p.Image,
		cmp.Or(p.Was, "not set"), says, what, p.To, p.To)
}
