package inspect

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/environment/session"
	"mara/runner/internal/guard/query"
	"mara/runner/internal/kube/live"
	"mara/runner/internal/machine/typeset"
)

// watchQuery repeats a query whenever objects in a cluster change, and prints new and removed
// results, until it is interrupted or stdout has no reader.
func watchQuery(ctx context.Context, d cmd.Deps, o queryOptions, named query.Named, compiled *query.Query) error {
	err := inCluster(ctx, d, o, o.Stack.Text, named, func(s *session.Session, options live.Options) error {
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
func resultsOf(ctx context.Context, o queryOptions, e query.Environment, objects [][]byte,
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
func printChanges(d cmd.Deps, o queryOptions, before, now []string) error {
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

func (o queryOptions) isJSON() bool { return o.Output == "json" || o.Output == "ndjson" }
