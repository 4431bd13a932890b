package catalogue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/itchyny/gojq"

	"mara/config"
	"mara/config/files"
	"mara/config/lists"
	"mara/projects/model"
	"mara/projects/model/operation"
	"mara/runner/internal/machine/process"
)

// hooks returns the hooks of a project or of the run. Their commands run in dir.
func (b *builder) hooks(declared []config.MaraHook, dir string, ofProject bool) []model.Hook {
	var hooks []model.Hook
	for _, d := range declared {
		hook, ok := b.hook(d, dir, ofProject)
		if !ok {
			continue
		}
		named := func(name string) bool {
			return slices.ContainsFunc(hooks, func(h model.Hook) bool { return h.Name == name })
		}
		if named(hook.Name) && (d.Name.Text != "" || hook.Command == nil) {
			b.problem(d.Line, "a hook %q is there twice", hook.Name)
			continue
		}
		for n, name := 2, hook.Name; named(hook.Name); n++ {
			hook.Name = fmt.Sprintf("%s-%d", name, n)
		}
		hooks = append(hooks, hook)
	}
	return hooks
}

func (b *builder) hook(d config.MaraHook, dir string, ofProject bool) (model.Hook, bool) {
	if d.BuiltIn.Text != "" {
		return b.builtInHook(d.BuiltIn, ofProject)
	}
	h := model.Hook{
		Name: cmp.Or(d.Name.Text, path.Base(d.Run[0])), On: cmp.Or(model.Moment(d.On.Text), model.OnSuccess),
		Operations: b.operations(d.Operations), Command: d.Run, Dir: dir,
		Timeout: d.Timeout, Retry: d.Retry, Simulate: d.Simulate,
	}
	if slices.ContainsFunc(model.BuiltInHooks(), func(other model.Hook) bool { return other.Name == h.Name }) {
		b.problem(d.Line, "the hook %q has the name of one that the runner has; give it another name", h.Name)
	}
	found, err := process.Find(d.Run[0], dir, b.path)
	if err != nil {
		b.problem(d.RunLine, "the hook %s cannot be run: %v", h.Name, err)
	} else if wrong := wrongScript(found); wrong != "" && strings.Contains(d.Run[0], "/") {
		b.problem(d.RunLine, "the hook %s cannot be run: %s %s", h.Name, d.Run[0], wrong)
	}
	return h, true
}

// wrongScript returns why the system would not run an executable file that is a text; "" for a program.
func wrongScript(name string) string {
	file, _, err := files.Open(name)
	if err != nil {
		return ""
	}
	defer func() { _ = file.Close() }()
	start := make([]byte, 256)
	n, _ := file.Read(start) // an empty file has no first line
	first, _, _ := strings.Cut(string(start[:n]), "\n")
	switch {
	case runtime.GOOS == "windows":
		return ""
	case strings.HasPrefix(first, "#!") && strings.HasSuffix(first, "\r"):
		return "has lines that end as on Windows (CRLF), and the system looks for an interpreter of that name: " +
			"`sed -i 's/\\r$//' FILE` mends it"
	case isText(start[:n]) && !strings.HasPrefix(first, "#!"):
		return "has no line such as #!/bin/sh at its beginning, which says what runs it"
	}
	return ""
}

// isText reports whether the beginning of a file is text: programs have zeros in theirs.
func isText(start []byte) bool { return !slices.Contains(start, 0) }

// operations returns the operations of a hook, by default up.
func (b *builder) operations(words []config.Word) []operation.Operation {
	if len(words) == 0 {
		return []operation.Operation{operation.Up}
	}
	var operations []operation.Operation
	for _, word := range words {
		op, ok := operation.Parse(word.Text)
		if !ok {
			b.problem(word.Line, "operations names %q; allowed: %s%s", word.Text, strings.Join(operation.Names(), ", "),
				config.DidYouMean(word.Text, operation.Names()))
			continue
		}
		operations = append(operations, op)
	}
	return operations
}

func (b *builder) builtInHook(name config.Word, ofProject bool) (model.Hook, bool) {
	hook, ok := lists.Find(model.BuiltInHooks(), func(h model.Hook) bool { return h.Name == name.Text })
	switch {
	case !ofProject:
		b.problem(name.Line, "%q is not a hook of a run; write  run: COMMAND", name.Text)
	case !ok:
		names := lists.Map(model.BuiltInHooks(), func(h model.Hook) string { return h.Name })
		b.problem(name.Line, "the runner has no hook %q; known: %s%s; for a command write  run: COMMAND", name.Text,
			strings.Join(names, ", "), config.DidYouMean(name.Text, names))
	}
	return hook, ok && ofProject
}

// whenLimit limits the evaluation of a condition: a jq program may not terminate.
const whenLimit = time.Second

func compile(text string) (*gojq.Code, error) {
	query, err := gojq.Parse(text)
	if err != nil {
		return nil, err
	}
	return gojq.Compile(query)
}

// LeftOut returns the own projects whose condition is false, with the reason.
// A condition sees the provider, the stack and the configuration.
func LeftOut(p model.Provider, stack string, file config.StackFile) (map[string]string, error) {
	reasons := map[string]string{}
	seen := sync.OnceValue(func() map[string]any { return input(p, stack, file) }) // it reads a file for each step
	for _, step := range p.Steps {
		when, line := step.When, 0
		if own := step.Project.Own; own != nil {
			when, line = own.When, own.WhenLine
		}
		if when == "" {
			continue
		}
		holds, err := evaluate(when, seen())
		if err != nil {
			return nil, &config.Error{Problems: []config.Problem{{
				File: config.MaraFile, Line: line, Text: fmt.Sprintf("when of %s: %v", step.Project.Name, err),
			}}}
		}
		if !holds {
			reasons[step.Project.Name] = "when " + when
		}
	}
	return reasons, nil
}

// input returns what a condition sees. Keys that are not set have their defaults.
func input(p model.Provider, stack string, file config.StackFile) map[string]any {
	values := map[string]any{}
	for _, step := range p.Steps {
		for _, key := range step.Project.Keys {
			if key.Default != nil {
				values[key.Name] = plain(key.Default)
			}
		}
	}
	for _, entry := range file.Entries {
		values[entry.Key] = config.Redacted(entry.Value, nil)
	}
	for _, step := range p.Steps {
		beside, _ := Beside("", stack, step.Project) // Check reports its problems
		for _, entry := range beside.Entries {
			if strings.HasPrefix(entry.Key, step.Project.Name+":") {
				values[entry.Key] = config.Redacted(entry.Value, nil)
			}
		}
	}
	return map[string]any{"provider": p.Name, "stack": stack, "config": values}
}

// evaluate reports whether the first result of an expression is true; nothing,
// null and false are not. A text or a number is an error: "false" would count as true.
func evaluate(text string, input any) (bool, error) {
	code, err := compile(text)
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), whenLimit)
	defer cancel()
	value, _ := code.RunWithContext(ctx, input).Next()
	switch value := value.(type) {
	case nil:
		return false, nil
	case bool:
		return value, nil
	case error:
		if ctx.Err() != nil {
			return false, fmt.Errorf("takes longer than %s", whenLimit)
		}
		return false, errors.New(strings.TrimSpace(value.Error()))
	default:
		return false, fmt.Errorf("it gives %s, and must give true or false: %s", config.Show(value), comparison(text))
	}
}

// configAsMap matches the reading of a key as if its namespace were a map.
var configAsMap = regexp.MustCompile(`\.config\.([A-Za-z_][A-Za-z0-9_]*)\.([A-Za-z_][A-Za-z0-9_]*)`)

// assigned matches a condition that assigns where it should compare.
var assigned = regexp.MustCompile(`[^=!<>|+*/%-]=[^=]`)

// comparison says how a condition compares.
func comparison(text string) string {
	if assigned.MatchString(" " + text) {
		return "= assigns a value, and == compares"
	}
	return fmt.Sprintf("compare it, as in `%s == \"...\"`", text)
}
