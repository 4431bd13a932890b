package catalogue

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/itchyny/gojq"

	"mara/config"
	"mara/providers"
)

// whenLimit limits the evaluation of a condition: a jq program may not terminate.
const whenLimit = time.Second

// checkWhen reports a condition that is not a jq program.
func (b *builder) checkWhen(when config.Word) {
	if when.Text == "" {
		return
	}
	if _, err := compile(when.Text); err != nil {
		b.problem(when.Line, "when is not a jq expression: %v", err)
	}
}

func compile(text string) (*gojq.Code, error) {
	query, err := gojq.Parse(text)
	if err != nil {
		return nil, err
	}
	return gojq.Compile(query)
}

// LeftOut returns the own projects whose condition is false, with the reason.
// A condition sees the provider, the stack and the configuration.
func LeftOut(p providers.Provider, stack string, file config.StackFile) (map[string]string, error) {
	reasons := map[string]string{}
	for _, step := range p.Steps {
		own := step.Project.Own
		if own == nil || own.When == "" {
			continue
		}
		holds, err := evaluate(own.When, input(p, stack, file))
		if err != nil {
			return nil, &config.Error{Problems: []config.Problem{{
				File: config.MaraFile, Line: own.Line, Text: fmt.Sprintf("when of %s: %v", step.Project.Name, err),
			}}}
		}
		if !holds {
			reasons[step.Project.Name] = "when " + own.When
		}
	}
	return reasons, nil
}

// input returns what a condition sees. Keys that are not set have their defaults.
func input(p providers.Provider, stack string, file config.StackFile) map[string]any {
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
// null and false are not.
func evaluate(text string, input any) (bool, error) {
	code, err := compile(text)
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), whenLimit)
	defer cancel()
	value, ok := code.RunWithContext(ctx, input).Next()
	if err, failed := value.(error); failed {
		if ctx.Err() != nil {
			err = fmt.Errorf("takes longer than %s", whenLimit)
		}
		return false, fmt.Errorf("%s", strings.TrimSpace(err.Error()))
	}
	return ok && value != nil && value != false, nil
}
