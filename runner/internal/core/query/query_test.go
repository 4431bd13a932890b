package query

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/machine/exactjson"
)

// document returns a document with these items, in JSON.
func document(t *testing.T, items string) any {
	t.Helper()
	var parsed []any
	if err := exactjson.Decode([]byte("["+items+"]"), &parsed); err != nil {
		t.Fatalf("%v in %s", err, items)
	}
	var d Document
	d.Add(parsed)
	return d.Value()
}

// ask runs a program and returns its results as lines of JSON.
func ask(t *testing.T, source, items string) string {
	t.Helper()
	q, err := Compile(source)
	if err != nil {
		t.Fatal(err)
	}
	results, err := q.Run(t.Context(), document(t, items))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, result := range results {
		line, err := json.Marshal(result)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(line))
	}
	return strings.Join(lines, "\n")
}

func TestWrongPrograms(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		".items[":                 "the query ends too early",
		".a |\n  ) | .b":          `line 2, column 3: unexpected ")"`,
		".items | lenght":         "line 1, column 10: there is no function lenght",
		".items[]\n | map(.x; 1)": "line 2, column 4: there is no function map with this number of arguments",
		"$who":                    "line 1, column 1: there is no variable $who",
	} {
		_, err := Compile(source)
		var wrong *Error
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", source, err, want)
		}
	}
}

func TestColumns(t *testing.T) {
	t.Parallel()
	for source, want := range map[string][]string{
		".items[] | {urn, type}":                 {"urn", "type"},
		".items[] | 1 as $n | {b: 1, $n, a: .x}": {"b", "n", "a"},
		".items[] | .urn":                        nil,
		"1 + 2":                                  nil,
		"{a: 1} | .a":                            nil,
		"def f: 1; .items[] | {z: f} | {y: .z}":  {"y"},
	} {
		q, err := Compile(source)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if diff := cmp.Diff(want, q.Columns); diff != "" {
			t.Errorf("%s: %s", source, diff)
		}
	}
}

func TestRunEnds(t *testing.T) {
	t.Parallel()
	endless, err := Compile("def f: f; f")
	if err != nil {
		t.Fatal(err)
	}
	limit := errors.New("too slow")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Millisecond, limit)
	defer cancel()
	if _, err := endless.Run(ctx, map[string]any{}); !errors.Is(err, limit) {
		t.Errorf("got %v", err)
	}
	wrong, err := Compile(".items[] | .name + 1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := wrong.Run(t.Context(), document(t, `{"name":"a"}`)); err == nil || !strings.Contains(err.Error(), "cannot add") {
		t.Errorf("got %v", err)
	}
	halted, err := Compile("1, halt, 2")
	if err != nil {
		t.Fatal(err)
	}
	if results, err := halted.Run(t.Context(), nil); err != nil || len(results) != 1 {
		t.Errorf("got %v, %v", results, err)
	}
}

// TestLimits: no program takes all time or memory, or floods the screen with an error.
func TestLimits(t *testing.T) {
	t.Parallel()
	large := document(t, `{"name":"`+strings.Repeat("x", 10_000)+`"}`)
	for _, test := range []struct {
		name, source string
		limits       Limits
		want         string
	}{
		{"no results", "def f: f; f", Limits{Time: 20 * time.Millisecond}, "it computed for more than 20ms"},
		{"endless results", "repeat(1)", Limits{}, "it has more than 1000000 results"},
		{"memory", "[range(1e12)]", Limits{Memory: 50 << 20}, "it used more than 50 MiB of memory"},
		{"the document as an error", "halt_error", Limits{}, "the query halted with an error: {"},
		{"a message of its own", `"not today" | halt_error`, Limits{}, "the query halted with an error: not today"},
		{"null as an error", "null | halt_error", Limits{}, "the query halted with an error"},
		{"the document in an error", "error(tojson)", Limits{}, "the query failed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			q, err := Compile(test.source)
			if err != nil {
				t.Fatal(err)
			}
			_, err = q.RunWithin(t.Context(), test.limits, large)
			if err == nil || !strings.Contains(err.Error(), test.want) || len(err.Error()) > 500 {
				t.Errorf("got %.600v", err)
			}
		})
	}
}

// TestEach: results come one by one, and the time that their use takes is not the program's.
func TestEach(t *testing.T) {
	t.Parallel()
	q, err := Compile("repeat(1)")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	err = q.Each(t.Context(), Limits{Time: 100 * time.Millisecond}, nil, func(any) error {
		if n++; n == 3 {
			return ErrStop
		}
		time.Sleep(150 * time.Millisecond)
		return nil
	})
	if err != nil || n != 3 {
		t.Errorf("%d results, %v", n, err)
	}
}
