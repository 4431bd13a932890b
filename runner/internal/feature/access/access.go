// Package access has the command that says what groups of people may do in a cluster, and makes kubeconfigs that
// expire.
package access

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/config/lists"
	"mara/projects"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/session"
	"mara/runner/internal/kube/kubeapi"
	"mara/runner/internal/kube/kubeconfig"
	"mara/runner/internal/machine/atomicfile"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/typeset"
)

// Command returns `runner access` with its subcommands.
func Command(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "access", Usage: "show what groups may do in a cluster, and make kubeconfigs that expire",
		Description: "Works with the optional project access: name it in `with` of mara.yaml, list groups in access:groups, " +
			"and deploy it.\n\n" + cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig),
		Subcommands: []*cli.Command{listCommand(d), kubeconfigCommand(d)},
	}
}

// options are the options of both subcommands.
type options struct {
	cmd.Common
	Group string
	Valid time.Duration // how long a token is valid
	File  string        // for the kubeconfig; "" for standard output
}

// flags returns the flags of a subcommand.
func flags(own ...cli.Flag) []cli.Flag {
	return cmd.JoinFlags(own, cmd.OutputFlag("text", "json"),
		[]cli.Flag{cmd.SimulateFlag("ask the simulated environment")}, cmd.EnvironmentFlags(), cmd.PulumiFlags(), cmd.BaseFlags())
}

func parse(c *cli.Context, _ cmd.Deps, common cmd.Common) (options, error) {
	return options{Common: common, Group: c.Args().First(), Valid: c.Duration("for"), File: c.String("file")}, nil
}

func listCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "list", Usage: "show what each group of access:groups may do",
		Description: "Asks the API server, for each group and namespace, and compares the answers with the group's role. A " +
			"group that may do more has another binding in the cluster. Whoever may start Pods in a namespace can read " +
			"its Secrets, whatever the table says. Ends with 1 where a role and an answer differ.\n\n" +
			"Examples:\n  runner access list -s prod\n  runner access list -s prod -o json\n" +
			"  runner access list -s prod -p linode\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig),
		Flags: flags(), Action: cmd.Action(d, parse, runList),
	}
}

func runList(ctx context.Context, d cmd.Deps, o options) error {
	return inCluster(ctx, d, o, func(ctx context.Context, c cluster) error {
		rows, err := Ask(ctx, c.Cluster, c.groups)
		if err != nil {
			return err
		}
		if err := o.Show(d, rows, rowsTable(rows).Text(d.Width())); err != nil {
			return err
		}
		if lines := Differences(rows); len(lines) > 0 {
			return errors.New(strings.Join(lines, "\n"))
		}
		return nil
	})
}

// rowsTable shows what groups may do, a line for each group and namespace.
func rowsTable(rows []Row) typeset.Table {
	table := typeset.Table{Columns: []typeset.Column{{Title: "GROUP"}, {Title: "ROLE"}, {Title: "NAMESPACE"}}}
	for _, power := range Powers() {
		table.Columns = append(table.Columns, typeset.Column{Title: strings.ToUpper(power.Name)})
	}
	for _, row := range rows {
		cells := []string{row.Group, row.Role, cmp.Or(row.Namespace, "(all)")}
		for _, power := range Powers() {
			answer := "-"
			if row.May[power.Name] {
				answer = "yes"
			}
			cells = append(cells, answer)
		}
		table.Rows = append(table.Rows, cells)
	}
	return table
}

func kubeconfigCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "kubeconfig", Usage: "make a kubeconfig with the rights of a group, which expires", ArgsUsage: "GROUP",
		Description: "Its token is one of the group's ServiceAccount. The API server may issue it for a shorter time than " +
			"--for; the time that is printed is its own. Deleting the ServiceAccount takes all its tokens back.\n\n" +
			"Examples:\n  runner access kubeconfig team-a -s dev --file team-a.yaml\n" +
			"  runner access kubeconfig team-a -s dev --for 1h > team-a.yaml\n" +
			"  runner access kubeconfig audit -s prod -o json\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig),
		Flags: flags(
			&cli.DurationFlag{Name: "for", Value: 8 * time.Hour, Usage: "how long it is valid, as a `DURATION` from 10m on"},
			&cli.StringFlag{Name: "file", Usage: "write it to this new `FILE`, for you alone to read (default: standard output)"},
		),
		Action: cmd.Action(d, parseKubeconfig, runKubeconfig),
	}
}

func parseKubeconfig(c *cli.Context, d cmd.Deps, common cmd.Common) (options, error) {
	o, err := parse(c, d, common)
	switch {
	case o.Group == "":
		return o, failure.Usagef(cmd.Path(c), "which group? `%s access list` shows them", cmd.Program)
	case o.Valid < Shortest:
		return o, failure.Usagef(cmd.Path(c), "--for takes %s or more: Kubernetes issues no shorter tokens", Shortest)
	}
	return o, err
}

// issued is a kubeconfig that has been made.
type issued struct {
	Group      string    `json:"group"`
	Expires    time.Time `json:"expires"`
	File       string    `json:"file,omitempty"`
	Kubeconfig string    `json:"kubeconfig,omitempty"`
}

func runKubeconfig(ctx context.Context, d cmd.Deps, o options) error {
	return inCluster(ctx, d, o, func(ctx context.Context, c cluster) error {
		group, err := c.group(o.Group)
		if err != nil {
			return err
		}
		token, expires, err := Token(ctx, c.Cluster, projects.Access().Namespace, group.Object(), o.Valid)
		if err != nil {
			return err
		}
		namespace := ""
		if len(group.Namespaces) > 0 {
			namespace = group.Namespaces[0]
		}
		content, err := kubeconfig.WithToken(c.kubeconfig, c.name+"-"+group.Object(), namespace, token)
		if err != nil {
			return err
		}
		made := issued{Group: group.Name, Expires: expires.UTC(), File: o.File, Kubeconfig: string(content)}
		text := made.Kubeconfig
		if o.File != "" {
			if err := atomicfile.Create(o.File, content, 0o600); err != nil {
				return err
			}
			made.Kubeconfig = ""
			text = fmt.Sprintf("%s: expires %s\n", o.File, expires.Local().Format("2006-01-02 15:04"))
		}
		return o.Show(d, made, text)
	})
}

// cluster is the cluster of an environment, with its groups.
type cluster struct {
	*kubeapi.Cluster
	kubeconfig []byte
	name       string // of a context for it
	groups     []projects.Group
}

// group returns the group of a name.
func (c cluster) group(name string) (projects.Group, error) {
	names := lists.Map(c.groups, func(g projects.Group) string { return g.Name })
	if i := slices.Index(names, name); i >= 0 {
		return c.groups[i], nil
	}
	return projects.Group{}, &failure.Usage{
		Text: fmt.Sprintf("access:groups has no group %s%s", name, config.DidYouMean(name, names)),
		Next: "its groups: " + strings.Join(names, ", "),
	}
}

// inCluster opens the environment, and calls work with its cluster.
func inCluster(ctx context.Context, d cmd.Deps, o options, work func(context.Context, cluster) error) error {
	return session.Use(d.Deps, o.Options, session.Resolve, func(s *session.Resolved) error {
		groups, problems := projects.Groups(s.Provider.Values(s.Settings.Config).Map("access:groups"))
		switch {
		case !slices.Contains(s.Plan.Names(), projects.Access().Name):
			return &failure.Environment{Text: "the environment does not have the project access",
				Next: "name access in `with` of mara.yaml, list groups in access:groups, and run `" + s.Command("up") + "`"}
		case len(problems) > 0:
			return &failure.Environment{Text: "access:groups: " + strings.Join(problems, "; "), Next: "correct the stack file"}
		case len(groups) == 0:
			return &failure.Environment{Text: "access:groups has no group", Next: "list groups there, each with its role"}
		}
		api, content, err := cmd.ConnectCluster(ctx, s, Changes()...)
		if err != nil {
			return err
		}
		name := kubeconfig.Name(s.Provider.Name, s.Settings.Stack.Text)
		return work(ctx, cluster{Cluster: api, kubeconfig: content, name: name, groups: groups})
	})
}
