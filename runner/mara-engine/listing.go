package main

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	_ "github.com/lib/pq" // the driver that Pulumi's backend has, too
	"github.com/pulumi/pulumi/pkg/v3/backend"
	"github.com/pulumi/pulumi/pkg/v3/resource/stack"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/encoding"
	"github.com/pulumi/pulumi/sdk/v3/go/common/env"

	"mara/runner/mara-engine/journal"
)

// lister is a backend in PostgreSQL that lists its stacks with one query. Pulumi's own list asks about each of them
// several times, which takes minutes for a thousand. Commands look for the backend's own type: only `stack ls` gets a
// lister.
type lister struct {
	backend.Backend
	address string
}

// isList reports whether a command lists the stacks of a backend in PostgreSQL.
func isList(args []string, address string) bool {
	words := slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return strings.HasPrefix(arg, "-") })
	return slices.Equal(words, []string{"stack", "ls"}) && strings.HasPrefix(address, "postgres://")
}

// ListStacks implements Backend. What the runner does not ask for, and layouts without projects, are left to Pulumi.
func (l lister) ListStacks(ctx context.Context, filter backend.ListStacksFilter, token backend.ContinuationToken) (
	[]backend.StackSummary, backend.ContinuationToken, error,
) {
	if filter != (backend.ListStacksFilter{}) || env.DIYBackendLegacyLayout.Value() {
		return l.Backend.ListStacks(ctx, filter, token)
	}
	states, err := readStates(ctx, l.address)
	if err != nil {
		return nil, nil, err
	}
	var summaries []backend.StackSummary
	for _, state := range states {
		reference, err := l.ParseStackReference("organization/" + state.project + "/" + state.stack)
		if err != nil {
			continue // a file of another name, which Pulumi skips as well
		}
		checkpoint, _, _, err := stack.UnmarshalVersionedCheckpointToLatestCheckpoint(
			encoding.Compress(encoding.JSON, encoding.DetectCompression(state.content)), state.content)
		if err != nil {
			return nil, nil, fmt.Errorf("reading the state of %s: %w", reference, err)
		}
		entry := backend.StackSummary(summary{reference, checkpoint})
		if journaled, ok := l.Backend.(*journal.Backend); ok && journal.Lags(checkpoint) {
			entry = journaled.Counted(ctx, entry)
		}
		summaries = append(summaries, entry)
	}
	return summaries, nil, nil
}

// storedState is a state as it is in a row of the table.
type storedState struct {
	project, stack string
	content        []byte
}

// readStates reads all states in a database, over one connection: Pulumi's pool keeps one of two while it has nothing
// to do. Of a state that is there in several forms it returns the newest.
func readStates(ctx context.Context, address string) ([]storedState, error) {
	place, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("the address of the backend: %w", err)
	}
	query := place.Query()
	table := cmp.Or(query.Get("table"), "pulumi_state") // the table that Pulumi takes; the address is the user's own
	query.Del("table")
	place.RawQuery = query.Encode()
	prefix := strings.Trim(place.Path, "/") + "/.pulumi/stacks/"
	database, err := sql.Open("postgres", place.String())
	if err != nil {
		return nil, fmt.Errorf("opening the database: %w", err)
	}
	defer database.Close()
	database.SetMaxOpenConns(1)
	rows, err := database.QueryContext(ctx,
		"SELECT key, decode(data->>'data', 'base64') FROM "+table+" WHERE starts_with(key, $1) ORDER BY updated_at", prefix)
	if err != nil {
		return nil, fmt.Errorf("listing the states in the database: %w", err)
	}
	defer rows.Close()
	found := map[string]storedState{}
	for rows.Next() {
		var key string
		var content []byte
		if err := rows.Scan(&key, &content); err != nil {
			return nil, fmt.Errorf("listing the states in the database: %w", err)
		}
		if state, ok := stateAt(strings.TrimPrefix(key, prefix), content); ok {
			found[state.project+"/"+state.stack] = state
		}
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("listing the states in the database: %w", err)
	}
	return slices.SortedFunc(maps.Values(found), func(a, b storedState) int {
		return cmp.Or(strings.Compare(a.project, b.project), strings.Compare(a.stack, b.stack))
	}), nil
}

// stateAt returns the state at a path below the directory of states, PROJECT/STACK.json or with a compression behind
// it. Other files, such as copies, are none.
func stateAt(path string, content []byte) (state storedState, ok bool) {
	project, file, ok := strings.Cut(path, "/")
	if !ok || strings.Contains(file, "/") {
		return storedState{}, false
	}
	plain := strings.TrimSuffix(strings.TrimSuffix(file, encoding.GZIPExt), encoding.ZSTDExt)
	name, isState := strings.CutSuffix(plain, ".json")
	return storedState{project: project, stack: name, content: content}, isState
}

// summary is what a list says of a stack.
type summary struct {
	name       backend.StackReference
	checkpoint *apitype.CheckpointV3
}

// Name implements StackSummary.
func (s summary) Name() backend.StackReference { return s.name }

// LastUpdate implements StackSummary.
func (s summary) LastUpdate() *time.Time {
	if s.checkpoint == nil || s.checkpoint.Latest == nil || s.checkpoint.Latest.Manifest.Time.IsZero() {
		return nil
	}
	return &s.checkpoint.Latest.Manifest.Time
}

// ResourceCount implements StackSummary.
func (s summary) ResourceCount() *int {
	if s.checkpoint == nil || s.checkpoint.Latest == nil {
		return nil
	}
	return new(len(s.checkpoint.Latest.Resources))
}
