// Package wizard asks for the configuration that is missing: the questions of a
// provider, in order, with choices from its cloud. It writes nothing; what it
// returns are the changes to be made.
package wizard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/slice"

	"mara/config"
	"mara/providers"
	"mara/providers/cloud"
	"mara/runner/internal/prompt"
)

// Asker asks the user.
type Asker interface {
	Ask(ctx context.Context, q prompt.Question) (string, error)
	Choose(ctx context.Context, c prompt.Choice) (string, error)
	ChooseMany(ctx context.Context, c prompt.Choice) ([]string, error)
}

// Wizard asks.
type Wizard struct {
	Asker   Asker
	Clouds  cloud.Clients
	Env     map[string]string // for the clouds
	Sources config.Sources    // of environment variables
	Out     io.Writer         // for what is told between the questions
	First   bool              // nothing is configured or deployed yet: every question is asked
}

// Complete asks for what a stack file lacks: what is needed and missing, and in
// a first run all questions. What is given for this run is not asked.
func (w Wizard) Complete(ctx context.Context, p providers.Provider, file config.StackFile, given ...config.Change) ([]config.Change, error) {
	i := &interview{Wizard: w, provider: p, file: file, given: given, answers: map[string]any{}}
	for _, change := range given {
		i.answers[change.Key] = change.Value
	}
	if w.First {
		for _, q := range p.Questions {
			if err := i.ask(ctx, q); err != nil {
				return nil, err
			}
		}
	}
	for {
		missing := i.missing()
		if len(missing) == 0 {
			return i.changes, nil
		}
		if err := i.ask(ctx, i.question(missing[0])); err != nil {
			return nil, err
		}
	}
}

// interview is a Wizard at work on one file.
type interview struct {
	Wizard
	provider providers.Provider
	file     config.StackFile
	given    []config.Change
	answers  map[string]any
	changes  []config.Change
	cloud    source
}

// missing are the keys that are needed and have neither a value nor an answer.
func (i *interview) missing() []config.Key {
	file := i.file
	for _, change := range slices.Concat(i.given, i.changes) {
		file.Entries = append(file.Entries[:len(file.Entries):len(file.Entries)], config.Entry{Key: change.Key, Value: change.Value})
	}
	return i.provider.Missing(file, i.Sources)
}

// question is that for a key; one that has none is asked by its meaning.
func (i *interview) question(key config.Key) providers.Question {
	for _, q := range i.provider.Questions {
		if q.Key == key.Name {
			q.Required = true
			return q
		}
	}
	return providers.Question{Key: key.Name, Text: key.Name, Required: true}
}

// value is what a key is by now: its answer, its value in the file, or its default.
func (i *interview) value(key string) any {
	if answer, ok := i.answers[key]; ok {
		return answer
	}
	return i.provider.Value(i.file, key)
}

// ask asks one question and keeps the answer; an empty one sets nothing.
func (i *interview) ask(ctx context.Context, q providers.Question) error {
	_, set := i.file.Lookup(q.Key)
	_, answered := i.answers[q.Key]
	if set && !q.Required || answered || !q.When.Met(i.value) {
		return nil
	}
	key := i.provider.Key(q.Key)
	key.Required = key.Required || q.Required
	answer, err := i.answer(ctx, q, key)
	if err != nil || answer == nil {
		return err
	}
	i.answers[q.Key] = answer
	i.changes = append(i.changes, config.Change{Key: q.Key, Value: answer})
	return nil
}

// answer is what the user says, nil for nothing.
func (i *interview) answer(ctx context.Context, q providers.Question, key config.Key) (any, error) {
	question := prompt.Question{
		Text: q.Text, Help: key.Doc, Default: i.standard(q, key),
		Check: func(answer string) error { return i.check(q, key, answer) },
	}
	options := optionsOf(key)
	if q.List != "" {
		options = i.choices(ctx, q.List)
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
	}
	var text string
	var err error
	switch {
	case len(options) > 0 && key.Kind == config.List:
		return i.chooseMany(ctx, question, q, options)
	case len(options) > 0:
		question.Default = cmp.Or(question.Default, key.Example)
		text, err = i.Asker.Choose(ctx, prompt.Choice{Question: question, Options: options, Other: q.List != ""})
	default:
		if question.Default == "" && key.Required && key.Example != "" {
			question.Text += " (such as " + key.Example + ")"
		}
		text, err = i.Asker.Ask(ctx, question)
	}
	if err != nil || text == "" {
		return nil, err
	}
	return key.Parse(text)
}

func (i *interview) chooseMany(ctx context.Context, question prompt.Question, q providers.Question, options []prompt.Option) (any, error) {
	chosen := slice.Map(options[:min(q.DefaultCount, len(options))], func(option prompt.Option) string { return option.Value })
	choice := prompt.Choice{Question: question, Options: options, Chosen: chosen, Other: true}
	values, err := i.Asker.ChooseMany(ctx, choice)
	if err != nil {
		return nil, err
	}
	return append([]any{}, slice.Map(values, func(value string) any { return value })...), nil
}

func optionsOf(key config.Key) []prompt.Option {
	values := key.Allowed
	if key.Kind == config.Bool {
		values = []string{"false", "true"}
	}
	return slice.Map(values, func(value string) prompt.Option { return prompt.Option{Value: value} })
}

// standard is the answer to nothing: a variable, else another key's value, else the default.
func (i *interview) standard(q providers.Question, key config.Key) string {
	if set := key.Set(i.Sources); set.IsSet() {
		return set.Text
	}
	if q.DefaultKey != "" {
		return config.Show(i.value(q.DefaultKey))
	}
	standard := key.Default
	if q.AtLeast != "" && q.Fits(standard, i.value) != nil {
		standard = i.value(q.AtLeast)
	}
	return config.Show(standard)
}

func (i *interview) check(q providers.Question, key config.Key, answer string) error {
	if answer == "" {
		if key.Required || key.Default != nil {
			return errors.New("an answer is needed")
		}
		return nil
	}
	value, err := key.Parse(answer)
	if err == nil {
		err = q.Fits(value, i.value)
	}
	return err
}

func (i *interview) told(format string, args ...any) {
	fmt.Fprintln(i.Out, strings.TrimRight(fmt.Sprintf(format, args...), "\n"))
}
