package query

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"mara/config/lists"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/inventory"
	"mara/runner/internal/core/query"
	"mara/runner/internal/core/session"
	"mara/runner/internal/kube/live"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/typeset"
)

// Collected is the input of a query, with what it is collected for.
type Collected struct {
	query.Document
	unread []string // environments that could not be read completely

	d     cmd.Deps
	o     Options
	query query.Named
}

// Incomplete returns an error if an environment could not be read completely: "no results"
// and "no findings" would be unproven.
func (c *Collected) Incomplete() error {
	if len(c.unread) == 0 {
		return nil
	}
	return &failure.Environment{
		Text: "the result is incomplete: " + strings.Join(c.unread, ", ") + " could not be read; see the warnings",
		Next: "choose one environment with -s NAME",
	}
}

// Collect reads the input of a query.
func Collect(ctx context.Context, d cmd.Deps, o Options, q query.Named) (*Collected, error) {
	c := &Collected{d: d, o: o, query: q}
	return c, session.Use(d.Deps, o.Options, session.ResolveRoot, func(s *session.Resolved) error {
		return c.addAll(ctx, s)
	})
}

func (c *Collected) addAll(ctx context.Context, s *session.Resolved) error {
	own, only := s.Scope(), c.o.Stack
	states, err := inventory.States(ctx, s, func(environment string, projects []string) []string {
		if only.IsSet() && environment != only.Text {
			return nil
		}
		return own.In(environment).Choose(environment, projects)
	})
	incomplete, isIncomplete := errors.AsType[*inventory.IncompleteError](err)
	if isIncomplete && (!only.IsSet() || states[only.Text] == nil) {
		fmt.Fprintf(c.d.Stderr, "warning: %v\n", incomplete)
		c.unread = append(c.unread, "some environments")
	} else if err != nil && !isIncomplete {
		return err
	}
	if only.IsSet() && states[only.Text] == nil {
		return &failure.Environment{Text: fmt.Sprintf("the stack %s is not deployed", only.Text),
			Next: "`runner stacks` lists the environments"}
	}
	for _, stack := range lists.Keys(states) {
		projects := lists.Keys(states[stack])
		e := query.Environment{Stack: stack, Provider: cmd.ProviderOfStack(s, c.o.Common, stack, projects)}
		for _, project := range projects {
			if !c.query.State {
				break
			}
			items, err := query.FromState(e, project, states[stack][project])
			if err != nil {
				return err
			}
			c.Add(items)
		}
		if c.query.Live {
			if err := c.addObjects(ctx, e); err != nil {
				return err
			}
		}
	}
	return nil
}

// addObjects adds the objects in a cluster, or warns that it cannot be read.
func (c *Collected) addObjects(ctx context.Context, e query.Environment) error {
	var objects [][]byte
	err := inCluster(ctx, c.d, c.o, e.Stack, c.query, func(_ *session.Resolved, options live.Options) (err error) {
		objects, err = live.List(ctx, options)
		return err
	})
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		fmt.Fprintf(c.d.Stderr, "warning: %s is skipped: %v\n", e.Stack, err)
		if _, none := errors.AsType[*cmd.NoClusterError](err); !none {
			c.unread = append(c.unread, "the cluster of "+e.Stack)
		}
		return nil
	}
	return addObjects(&c.Document, e, objects)
}

// addObjects adds objects in the cluster of an environment to a document.
func addObjects(document *query.Document, e query.Environment, objects [][]byte) error {
	for _, object := range objects {
		item, err := query.FromObject(e, object)
		if err != nil {
			return err
		}
		document.Add([]any{item})
	}
	return nil
}

// inCluster opens an environment and calls ask for its cluster.
func inCluster(ctx context.Context, d cmd.Deps, o Options, stack string, q query.Named,
	ask func(*session.Resolved, live.Options) error) error {
	options := o.Options
	options.Request = o.Of(stack)
	return session.Use(d.Deps, options, session.Resolve, func(s *session.Resolved) error {
		kubeconfig, err := cmd.OpenCluster(ctx, s)
		if err != nil {
			return err
		}
		return ask(s, live.Options{
			Kubeconfig: kubeconfig, Env: s.Env, Kinds: q.Kinds, Namespace: o.Namespace, Selector: o.Selector, Timeout: o.Timeout,
		})
	})
}

func writeQueries(d cmd.Deps, o Options, all []query.Named) error {
	switch o.Output {
	case "json":
		return cmd.WriteJSON(d.Stdout, all)
	case "ndjson":
		return writeLines(d.Stdout, all)
	}
	rows := lists.Map(all, func(n query.Named) []any { return []any{n.Name, reads(n), n.Summary} })
	if o.Output == "csv" {
		return writeCSV(d.Stdout, []string{"name", "reads", "summary"}, rows)
	}
	table := typeset.Table{Rows: cells(rows), Columns: []typeset.Column{{Title: "NAME"}, {Title: "READS"},
		{Title: "SUMMARY", Min: 20, Wrap: true}}}
	return d.Print(table.Text(d.Width()))
}

func reads(n query.Named) string {
	switch {
	case n.State && n.Live:
		return "state, live"
	case n.Live:
		return "live"
	}
	return "state"
}

// writeResults prints the results of a query.
func writeResults(d cmd.Deps, o Options, results []any, columns []string) error {
	switch o.Output {
	case "json":
		if results == nil {
			results = []any{}
		}
		return cmd.WriteJSON(d.Stdout, results)
	case "ndjson":
		return writeLines(d.Stdout, results)
	}
	titles, rows, ok := query.Rows(results, columns)
	if o.Output == "csv" {
		if !ok {
			return errors.New("csv needs objects as results; use -o ndjson for other values")
		}
		return writeCSV(d.Stdout, titles, rows)
	}
	if o.Simulation.On {
		fmt.Fprint(d.Stdout, "[SIMULATED]\n\n")
	}
	if len(results) == 0 {
		return d.Print("no results\n")
	}
	if ok {
		return WriteRows(d, titles, rows)
	}
	for _, result := range results {
		if _, err := fmt.Fprintln(d.Stdout, typeset.Visible(typeset.Value(result))); err != nil {
			return err
		}
	}
	return nil
}

func WriteRows(d cmd.Deps, titles []string, rows [][]any) error {
	table := typeset.Table{Rows: cells(rows)}
	for i, title := range titles {
		table.Columns = append(table.Columns, typeset.Column{Title: strings.ToUpper(title), Min: 10,
			Wrap: i == len(titles)-1})
	}
	return d.Print(table.Text(d.Width()))
}

// cells formats the values of a table.
func cells(rows [][]any) [][]string {
	return lists.Map(rows, func(row []any) []string { return lists.Map(row, query.Cell) })
}

func writeCSV(w io.Writer, titles []string, rows [][]any) error {
	heading := lists.Map(titles, func(title string) any { return title })
	for _, row := range slices.Insert(rows, 0, heading) {
		if _, err := fmt.Fprintln(w, strings.Join(lists.Map(row, query.Field), ",")); err != nil {
			return err
		}
	}
	return nil
}

// writeLines writes values as JSON, one on a line.
func writeLines[T any](w io.Writer, values []T) error {
	for _, value := range values {
		if err := cmd.WriteJSONLine(w, value); err != nil {
			return err
		}
	}
	return nil
}
