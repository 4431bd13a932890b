// Package query runs jq programs on what is deployed. It is pure: callers assemble the
// Document.
package query

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/itchyny/gojq"

	"mara/runner/internal/machine/typeset"
)

// library defines functions for all queries.
//
//go:embed library.jq
var library string

// Query is a compiled program.
type Query struct {
	// Columns are the fields of the results in the order of the program; none if the
	// program does not end with an object.
	Columns []string
	code    *gojq.Code
}

// Compile compiles a jq program. The error is an *Error if the program is invalid.
func Compile(source string) (*Query, error) {
	parsed, err := gojq.Parse(source)
	if err != nil {
		return nil, syntaxError(source, err)
	}
	return compile(source, "", parsed)
}

// CompileFunction compiles a call of a function that a source defines, and returns nil if
// it does not define it. The source can use the functions of the library.
func CompileFunction(source, function, library string) (*Query, error) {
	parsed, err := gojq.Parse(source)
	if err != nil {
		return nil, syntaxError(source, err)
	}
	isDefinition := func(f *gojq.FuncDef) bool { return f.Name == function && len(f.Args) == 0 }
	if !slices.ContainsFunc(parsed.FuncDefs, isDefinition) {
		return nil, nil
	}
	parsed.Term = &gojq.Term{Type: gojq.TermTypeFunc, Func: &gojq.Func{Name: function}}
	parsed.Left, parsed.Right, parsed.Op = nil, nil, 0
	return compile(source, library, parsed)
}

// compile compiles a program with the libraries.
func compile(source, more string, parsed *gojq.Query) (*Query, error) {
	own, err := gojq.Parse(library + more)
	if err != nil {
		return nil, fmt.Errorf("the library of queries: %w", err)
	}
	columns := columns(parsed)
	parsed.FuncDefs = append(own.FuncDefs, parsed.FuncDefs...)
	code, err := gojq.Compile(parsed)
	if err != nil {
		return nil, undefinedError(source, err)
	}
	return &Query{Columns: columns, code: code}, nil
}

// Run runs the program on a document and returns its results. It stops a program
// that uses more than the default limits.
func (q *Query) Run(ctx context.Context, document any) ([]any, error) {
	return q.RunWithin(ctx, Limits{}, document)
}

// RunWithin runs the program within limits and returns its results.
func (q *Query) RunWithin(ctx context.Context, limits Limits, document any) ([]any, error) {
	var results []any
	err := q.Each(ctx, limits, document, func(result any) error {
		if len(results) == mostResults {
			return errTooMany
		}
		results = append(results, result)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return results, nil
}

// Each runs the program on a document and calls yield with each result, until
// yield returns an error, which Each returns. For ErrStop it returns nil.
func (q *Query) Each(ctx context.Context, limits Limits, document any, yield func(any) error) error {
	w, ctx := newWatch(ctx, limits)
	defer w.release()
	iter := q.code.RunWithContext(ctx, document)
	for {
		value, ok := iter.Next()
		if !ok {
			return nil
		}
		err, failed := value.(error)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case failed:
			return failureOf(err)
		}
		if err := w.use(value, yield); errors.Is(err, ErrStop) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// failureOf returns the error of a failed program, or nil if the program halted without one.
func failureOf(err error) error {
	halt, ok := errors.AsType[*gojq.HaltError](err)
	if !ok {
		return fmt.Errorf("the query failed: %s", shortened(err.Error()))
	}
	if halt.Value() == nil && halt.ExitCode() == 0 {
		return nil
	}
	return fmt.Errorf("the query halted with an error: %s", shortened(Cell(halt.Value())))
}

// shortened truncates a text that may contain the whole document.
func shortened(text string) string {
	const most = 300
	text = typeset.Visible(text)
	if runes := []rune(text); len(runes) > most {
		return fmt.Sprintf("%s... (%d characters)", string(runes[:most]), len(runes))
	}
	return text
}

// columns returns the keys of the object with which a program ends.
func columns(q *gojq.Query) []string {
	for q.Right != nil && q.Op == gojq.OpPipe {
		q = q.Right
	}
	if q.Term == nil || q.Term.Object == nil || len(q.Term.SuffixList) > 0 {
		return nil
	}
	var keys []string
	for _, entry := range q.Term.Object.KeyVals {
		if name := strings.TrimLeft(entry.Key, "$."); name != "" {
			keys = append(keys, name)
		}
	}
	return keys
}

// Error is an error in a program, with its place.
type Error struct {
	Line, Column int // from 1; 0 if unknown
	Text         string
}

// Error returns the place and the text.
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Text
	}
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Text)
}

// at returns an Error at a byte offset of a source.
func at(source string, offset int, text string) *Error {
	before := source[:min(max(offset, 0), len(source))]
	line := strings.LastIndexByte(before, '\n') + 1
	return &Error{Line: strings.Count(before, "\n") + 1, Column: len([]rune(before[line:])) + 1, Text: text}
}

// syntaxError locates an error of the parser.
func syntaxError(source string, err error) error {
	wrong, ok := errors.AsType[*gojq.ParseError](err)
	switch {
	case !ok:
		return &Error{Text: err.Error()}
	case wrong.Token == "":
		return at(source, wrong.Offset, "the query ends too early")
	}
	return at(source, wrong.Offset-len(wrong.Token), fmt.Sprintf("unexpected %q", wrong.Token))
}

// undefined matches the compiler's messages about undefined names.
var undefined = regexp.MustCompile(`^(function|variable) not defined: (\$?[\w:]+)(?:/(\d+))?$`)

// undefinedError locates an undefined name in a program.
func undefinedError(source string, err error) error {
	match := undefined.FindStringSubmatch(err.Error())
	if match == nil {
		return &Error{Text: err.Error()}
	}
	kind, name, arguments := match[1], match[2], match[3]
	text := fmt.Sprintf("there is no %s %s", kind, name)
	if arguments != "" && arguments != "0" {
		text += " with this number of arguments"
	}
	word := regexp.MustCompile(`(?:^|[^\w$.])` + regexp.QuoteMeta(name) + `(?:\W|$)`)
	if found := word.FindStringIndex(source); found != nil {
		return at(source, found[0]+strings.Index(source[found[0]:], name), text)
	}
	return &Error{Text: text}
}
