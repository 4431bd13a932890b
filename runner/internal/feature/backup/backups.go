// Package backup has the command that makes, lists and restores backups of a cluster.
package backup

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"mara/projects"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/session"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/typeset"
)

// Command returns `runner backup` with its subcommands.
func Command(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "backup", Usage: "make, list and restore backups of an environment's cluster",
		Description: "Works with the optional project backup: name it in `with` of mara.yaml, and deploy it. Scheduled " +
			"backups need no command.\n\n" + cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig),
		Subcommands: []*cli.Command{listCommand(d), nowCommand(d), restoreCommand(d)},
	}
}

// options are the options of all subcommands.
type options struct {
	cmd.Common
	Name       string // of a backup
	Namespaces []string
	Timeout    time.Duration
	Skip       bool // make a backup without the volumes that Velero skips
}

// flags returns the flags of a subcommand.
func flags(own ...cli.Flag) []cli.Flag {
	return cmd.JoinFlags(own, cmd.OutputFlag("text", "json"),
		[]cli.Flag{cmd.SimulateFlag("work in the simulated environment, whose Velero ends all work at once")}, cmd.EnvironmentFlags(), cmd.PulumiFlags(), cmd.BaseFlags())
}

// workFlags returns the flags of subcommands that wait.
func workFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "namespace", Aliases: []string{"n"},
			Usage: "only the namespaces `NAMES`, with commas (default: all)"},
		&cli.DurationFlag{Name: "timeout", Value: time.Hour, Usage: "wait up to `DURATION`; the work continues in the cluster"},
	}
}

func parse(c *cli.Context, _ cmd.Deps, common cmd.Common) (options, error) {
	return options{
		Common: common, Name: c.Args().First(), Namespaces: names(c.String("namespace")), Timeout: c.Duration("timeout"),
		Skip: c.Bool("without-node-volumes"),
	}, nil
}

// names splits a list with commas.
func names(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
}

func listCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "list", Usage: "list the backups of a cluster, the newest first",
		Description: "Asks the cluster. PROBLEM says why a backup is not complete.\n\n" +
			"Examples:\n  runner backup list -s prod\n  runner backup list -s prod -o json\n" +
			"  runner backup list -s prod -p linode\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig),
		Flags: flags(), Action: cmd.Action(d, parse, runList),
	}
}

func runList(ctx context.Context, d cmd.Deps, o options) error {
	return inCluster(ctx, d, o, func(ctx context.Context, s Server) error {
		found, err := s.List(ctx)
		if err != nil {
			return err
		}
		table := typeset.Table{Columns: []typeset.Column{
			{Title: "NAME"}, {Title: "PHASE"}, {Title: "STARTED"}, {Title: "NAMESPACES", Min: 12},
			{Title: "PROBLEM", Min: 12, Wrap: true},
		}}
		for _, b := range found {
			started := "-"
			if !b.Started.IsZero() {
				started = b.Started.Local().Format("2006-01-02 15:04")
			}
			table.Rows = append(table.Rows, []string{
				b.Name, b.Phase, started, cmp.Or(strings.Join(b.Namespaces, ", "), "all"), cmd.OrDash(b.Problem),
			})
		}
		text := table.Text(d.Width())
		if len(found) == 0 {
			text = "no backups\n"
		}
		return o.Show(d, found, text)
	})
}

func nowCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "now", Usage: "make a backup now, and wait for its end", ArgsUsage: "[NAME]",
		Description: "Refuses to make a backup while there are volumes that are directories of a node, as kind's and k3s' " +
			"default class makes them: Velero skips them, and still calls the backup complete. It fails if a volume is not " +
			"in the backup.\n\n" +
			"Examples:\n  runner backup now -s prod\n" +
			"  runner backup now before-upgrade -s prod --namespace shop\n" +
			"  runner backup now -s prod --timeout 2h --without-node-volumes\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig),
		Flags: flags(append(workFlags(), &cli.BoolFlag{
			Name: "without-node-volumes", Usage: "make the backup without the volumes that are directories of a node",
		})...),
		Action: cmd.Action(d, parse, runNow),
	}
}

func runNow(ctx context.Context, d cmd.Deps, o options) error {
	return inCluster(ctx, d, o, func(ctx context.Context, s Server) error {
		skipped, err := s.Skipped(ctx, o.Namespaces)
		if err != nil {
			return err
		}
		if len(skipped) > 0 && !o.Skip {
			return &failure.Environment{
				Text: "these claims have volumes that are directories of a node, which no backup has: " +
					strings.Join(skipped, ", "),
				Next: "move them to another StorageClass, or to claims with the annotation volumeType: local; or make a backup " +
					"without them: --without-node-volumes",
			}
		}
		name := cmp.Or(o.Name, "now-"+time.Now().UTC().Format("20060102-150405"))
		done, err := s.Back(ctx, name, o.Namespaces)
		if err != nil {
			return err
		}
		lost, err := s.Lost(ctx, name)
		if err != nil {
			return err
		}
		if len(lost) > 0 {
			return fmt.Errorf("the backup %s lacks volumes: %s", name, strings.Join(lost, "; "))
		}
		return o.Show(d, done, fmt.Sprintf("the backup %s is complete\n", name))
	})
}

func restoreCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "restore", Usage: "restore a backup, and wait for its end", ArgsUsage: "NAME",
		Description: "Makes the objects and volumes that are missing. It changes nothing that is there: to go back to a " +
			"backup, delete the namespace first.\n\n" +
			"Examples:\n  runner backup restore velero-daily-20261125030000 -s prod --namespace shop\n" +
			"  runner backup restore before-upgrade -s prod\n" +
			"  runner backup restore before-upgrade -s prod --timeout 2h\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig),
		Flags: flags(workFlags()...), Action: cmd.Action(d, parse, runRestore),
	}
}

func runRestore(ctx context.Context, d cmd.Deps, o options) error {
	if o.Name == "" {
		return failure.Usagef("backup restore", "which backup? `runner backup list` shows them")
	}
	return inCluster(ctx, d, o, func(ctx context.Context, s Server) error {
		found, err := s.List(ctx)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(found, func(b Backup) bool { return b.Name == o.Name }) {
			return &failure.Usage{Text: "there is no backup " + o.Name, Next: "`runner backup list` shows the backups"}
		}
		name := o.Name + "-" + time.Now().UTC().Format("20060102-150405")
		if err := s.Restore(ctx, name, o.Name, o.Namespaces); err != nil {
			return err
		}
		done := map[string]string{"restore": name, "backup": o.Name}
		return o.Show(d, done, fmt.Sprintf("the backup %s is restored\n", o.Name))
	})
}

// inCluster opens the environment, and calls work with its Velero.
func inCluster(ctx context.Context, d cmd.Deps, o options, work func(context.Context, Server) error) error {
	if o.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, o.Timeout, fmt.Errorf("%s are over; --timeout waits longer", o.Timeout))
		defer cancel()
	}
	return session.Use(d.Deps, o.Options, session.Resolve, func(s *session.Resolved) error {
		cluster, _, err := cmd.ConnectCluster(ctx, s, Changes()...)
		if err != nil {
			return err
		}
		return work(ctx, Server{Cluster: cluster, Namespace: projects.Backup().Namespace, Interval: 2 * time.Second})
	})
}
