package query

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/config/lists"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/query"
	"mara/runner/internal/core/session"
	"mara/runner/internal/kube/live"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/typeset"
)

// Query returns `runner query`.
func Query(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "query", Usage: "query everything that is deployed, in jq", ArgsUsage: "EXPR|NAME",
		Description: "Runs a jq program, or the query NAME, over all environments of the root, or over one with " +
			"-s. --list shows the named queries; files queries/*.jq at the root add to them.\n\n" +
			"A program reads a document of the form {items: [...]}. Each item has source, environment, provider, " +
			"type and name. The source \"state\" is a resource in Pulumi's state, with project, urn, inputs and " +
			"outputs. Nothing is decrypted, no passphrase is needed, and secret values are [secret]. The source " +
			"\"live\" is an object in a cluster: --live reads the clusters instead of the states, and needs the " +
			"passphrase. A cluster that does not answer is reported, and the query continues without it. In both, " +
			"object is a Kubernetes object.\n\n" +
			"In addition to jq's functions there are images, image, containers, running, place, kind(\"Pod\") and " +
			"private.\n\n" +
			"Examples:\n  runner query mysql\n  runner query exposed -o csv\n" +
			"  runner query '.items[] | select(.type == \"aws:s3/bucket:Bucket\") | {environment, name}'\n" +
			"  runner query --live 'kind(\"Pod\") | select(.object.status.phase != \"Running\") | {environment, " +
			"namespace, name}'\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig, cmd.ExitChanges),
		Flags: cmd.JoinFlags(
			[]cli.Flag{
				&cli.BoolFlag{Name: "list", Usage: "list the named queries"},
				&cli.BoolFlag{Name: "live", Usage: "read the clusters instead of the states"},
				&cli.BoolFlag{Name: "watch",
					Usage: "print the results, and then new (+) and removed (-) ones, until Ctrl-C; needs -s"},
				&cli.StringFlag{Name: "namespace", Aliases: []string{"n"},
					Usage: "read only objects in the namespace `NAME` from the clusters"},
				&cli.StringFlag{Name: "selector", Aliases: []string{"l"},
					Usage: "read only objects with these `LABELS` from the clusters"},
				&cli.DurationFlag{Name: "timeout", Value: 30 * time.Second, Usage: "wait up to `DURATION` for each cluster"},
				&cli.DurationFlag{Name: "max-time", Value: query.DefaultTime,
					Usage: "stop the program after `DURATION` of computing"},
				&cli.BoolFlag{Name: "exit-code", Usage: "exit with code 5 if there are results"},
				cmd.StackFlag("query only the stack `NAME` (default: all)"),
				cmd.SimulateFlag("query the simulated environments"),
			},
			cmd.OutputFlag("table", "json", "ndjson", "csv"), cmd.RootFlags(), cmd.PulumiFlags(), cmd.BaseFlags(),
		),
		Action: cmd.Action(d, parseQuery, runQuery),
	}
}

type Options struct {
	cmd.Common
	Expression          string // jq program or name of a query
	List                bool
	Live                bool
	Watch               bool
	Namespace, Selector string
	Timeout             time.Duration // for each cluster
	MaxTime             time.Duration // of computing; 0 for the default
	ExitCode            bool
}

func parseQuery(c *cli.Context, _ cmd.Deps, common cmd.Common) (Options, error) {
	o := Options{
		Common: common, Expression: c.Args().First(), List: c.Bool("list"), Live: c.Bool("live") || c.Bool("watch"),
		Watch: c.Bool("watch"), Namespace: c.String("namespace"), Selector: c.String("selector"),
		Timeout: c.Duration("timeout"), MaxTime: c.Duration("max-time"), ExitCode: c.Bool("exit-code"),
	}
	switch {
	case !o.List && o.Expression == "":
		return o, failure.Usagef(cmd.Path(c), "name a query or give a jq program; --list shows the names")
	case o.List && o.Expression != "":
		return o, failure.Usagef(cmd.Path(c), "--list takes no argument")
	case o.Watch && !o.Stack.IsSet():
		return o, failure.Usagef(cmd.Path(c), "--watch follows one cluster; name its environment with -s")
	case o.Watch && o.ExitCode:
		return o, failure.Usagef(cmd.Path(c), "--watch and --exit-code: choose one")
	case o.Timeout <= 0:
		return o, failure.Usagef(cmd.Path(c), "--timeout: %s is not greater than 0", o.Timeout)
	case o.MaxTime <= 0:
		return o, failure.Usagef(cmd.Path(c), "--max-time: %s is not greater than 0", o.MaxTime)
	}
	return o, nil
}

func runQuery(ctx context.Context, d cmd.Deps, o Options) error {
	all, err := query.All(o.Root)
	if err != nil {
		return err
	}
	if o.List {
		return writeQueries(d, o, all)
	}
	named, compiled, err := findQuery(all, o)
	if err != nil {
		return err
	}
	if o.Watch {
		return watchQuery(ctx, d, o, named, compiled)
	}
	document, err := Collect(ctx, d, o, named)
	if err != nil {
		return err
	}
	count, err := answer(ctx, d, o, compiled, document.Value())
	if err != nil {
		return longer(err)
	}
	if err := document.Incomplete(); err != nil {
		return err
	}
	if o.ExitCode && count > 0 {
		return cmd.Exit(cmd.ExitChanges)
	}
	return nil
}

// answer runs a program, prints its results and returns their number. It prints ndjson
// results one by one, until stdout has no reader.
func answer(ctx context.Context, d cmd.Deps, o Options, compiled *query.Query, document any) (count int,
	err error) {
	limits := query.Limits{Time: o.MaxTime}
	if o.Output != "ndjson" {
		results, err := compiled.RunWithin(ctx, limits, document)
		if err != nil {
			return 0, err
		}
		return len(results), writeResults(d, o, results, compiled.Columns)
	}
	err = compiled.Each(ctx, limits, document, func(result any) error {
		count++
		if err := writeLines(d.Stdout, []any{result}); err != nil {
			return err
		}
		if !cmd.HasReader(d.Stdout) {
			return query.ErrStop
		}
		return nil
	})
	return count, err
}

// longer adds advice to the error of a program that was stopped.
func longer(err error) error {
	if _, ok := errors.AsType[*query.LimitError](err); !ok {
		return err
	}
	return failure.Advise(err, "raise --max-time if the program terminates, or use -o ndjson, which does not limit the "+
		"number of results")
}

// queryName matches names of queries.
var queryName = regexp.MustCompile(`^[A-Za-z][\w-]*$`)

// findQuery finds a query by name, or compiles a jq program.
func findQuery(all []query.Named, o Options) (query.Named, *query.Query, error) {
	found := query.Named{Source: o.Expression, State: true}
	names := lists.Map(all, func(n query.Named) string { return n.Name })
	if i := slices.Index(names, o.Expression); i >= 0 {
		found = all[i]
	}
	if o.Live {
		found.State, found.Live = found.State && found.Live, true
	}
	if found.Live && o.Simulation.On {
		return found, nil, failure.Usagef("query", "simulated clusters have no objects; remove --live to query the states")
	}
	compiled, err := query.Compile(found.Source)
	switch {
	case err == nil:
		return found, compiled, nil
	case found.Name == "" && queryName.MatchString(o.Expression):
		return found, nil, &failure.Usage{
			Text: fmt.Sprintf("no query %q%s", o.Expression, config.DidYouMean(o.Expression, names)),
			Next: "`runner query --list` shows the queries",
		}
	case found.File != "":
		return found, nil, failure.Usagef("query", "%s: %v", found.File, err)
	}
	return found, nil, failure.Usagef("query", "the query: %v", err)
}

// watchQuery repeats a query whenever objects in a cluster change, and prints new and removed
// results, until it is interrupted or stdout has no reader.
func watchQuery(ctx context.Context, d cmd.Deps, o Options, named query.Named, compiled *query.Query) error {
	err := inCluster(ctx, d, o, o.Stack.Text, named, func(s *session.Resolved, options live.Options) error {
		e := query.Environment{Stack: o.Stack.Text, Provider: s.Provider.Name}
		var before []string
		return live.Watch(ctx, options, func(objects [][]byte) error {
			now, err := resultsOf(ctx, o, e, objects, compiled)
			if err != nil {
				return err
			}
			err = printChanges(d, o, before, now)
			before = now
			if err == nil && !cmd.HasReader(d.Stdout) {
				err = cmd.Exit(cmd.ExitDone)
			}
			return err
		})
	})
	if err != nil && ctx.Err() != nil {
		return cmd.Exit(cmd.ExitInterrupted) // Ctrl-C ends --watch; it needs no message
	}
	return err
}

// resultsOf runs a query on objects, and returns its results as lines.
func resultsOf(ctx context.Context, o Options, e query.Environment, objects [][]byte,
	compiled *query.Query) ([]string, error) {
	var document query.Document
	if err := addObjects(&document, e, objects); err != nil {
		return nil, err
	}
	results, err := compiled.Run(ctx, document.Value())
	if err != nil {
		return nil, err
	}
	lines := make([]string, len(results))
	for i, result := range results {
		lines[i] = typeset.Value(result)
		if text, ok := result.(string); ok && o.isJSON() {
			content, err := json.Marshal(text)
			if err != nil {
				return nil, err
			}
			lines[i] = string(content)
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(lines))), nil
}

// printChanges prints removed and new results.
func printChanges(d cmd.Deps, o Options, before, now []string) error {
	for _, change := range []struct {
		mark, word string
		lines, not []string
	}{{"-", "removed", before, now}, {"+", "added", now, before}} {
		for _, line := range change.lines {
			if _, both := slices.BinarySearch(change.not, line); both {
				continue
			}
			text := change.mark + " " + typeset.Visible(line)
			if o.isJSON() {
				text = fmt.Sprintf(`{"change":%q,"result":%s}`, change.word, line)
			}
			if _, err := fmt.Fprintln(d.Stdout, text); err != nil {
				return err
			}
		}
	}
	return nil
}

func (o Options) isJSON() bool { return o.Output == "json" || o.Output == "ndjson" }
