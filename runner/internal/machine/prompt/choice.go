package prompt

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/AlecAivazis/survey/v2"
)

// Question asks for a string.
type Question struct {
	Text    string
	Help    string                    // shown when the user types ?
	Default string                    // used for an empty answer
	Check   func(answer string) error // validates an answer at once; nil accepts all
}

// Option is one of the answers of a choice.
type Option struct {
	Value string
	Note  string // description, shown after the value
}

// Choice asks to choose among options.
type Choice struct {
	Question          // Default is the value of an option; Check is for another answer
	Options  []Option // at least one
	Other    bool     // another answer can be typed
	Chosen   []string // of ChooseMany: the default
}

// other is the option that leads to another answer.
const other = "another one ..."

// Ask asks for a string until it is valid.
func (t Terminal) Ask(ctx context.Context, q Question) (string, error) {
	answer, err := ask[string](ctx, t, &survey.Input{Message: q.Text, Help: q.Help, Default: q.Default}, valid(q.Check))
	return strings.TrimSpace(answer), err
}

// valid makes survey validate answers.
func valid(check func(string) error) survey.AskOpt {
	return survey.WithValidator(func(answer any) error {
		text, ok := answer.(string)
		if !ok || check == nil {
			return nil
		}
		return check(strings.TrimSpace(text))
	})
}

// Agree asks a question whose default answer is yes.
func (t Terminal) Agree(ctx context.Context, question string) (bool, error) {
	return ask[bool](ctx, t, &survey.Confirm{Message: question, Default: true})
}

// Choose asks for one of the options.
func (t Terminal) Choose(ctx context.Context, c Choice) (string, error) {
	question := &survey.Select{
		Message: c.Text, Help: c.Help, Options: c.labels(), PageSize: pageSize, Default: c.index(c.Default),
	}
	index, err := ask[int](ctx, t, question)
	if err != nil {
		return "", err
	}
	if index < len(c.Options) {
		return c.Options[index].Value, nil
	}
	return t.Ask(ctx, c.Question)
}

// ChooseMany asks for some of the options; at least one has to be chosen.
func (t Terminal) ChooseMany(ctx context.Context, c Choice) ([]string, error) {
	var chosen []int
	for _, value := range c.Chosen {
		chosen = append(chosen, c.index(value))
	}
	question := &survey.MultiSelect{
		Message: c.Text, Help: c.Help, Options: c.labels(), PageSize: pageSize, Default: chosen,
	}
	indexes, err := ask[[]int](ctx, t, question, survey.WithValidator(survey.MinItems(1)))
	if err != nil {
		return nil, err
	}
	var values []string
	for _, i := range indexes {
		if i < len(c.Options) {
			values = append(values, c.Options[i].Value)
			continue
		}
		more, err := t.Ask(ctx, c.Question)
		if err != nil {
			return nil, err
		}
		for value := range strings.SplitSeq(more, ",") {
			values = append(values, strings.TrimSpace(value))
		}
	}
	return values, nil
}

// pageSize is the number of options on the screen.
const pageSize = 10

func (c Choice) labels() []string {
	width := 0
	for _, option := range c.Options {
		width = max(width, len(option.Value))
	}
	var labels []string
	for _, option := range c.Options {
		label := option.Value
		if option.Note != "" {
			label = fmt.Sprintf("%-*s  %s", width, option.Value, option.Note)
		}
		labels = append(labels, label)
	}
	if c.Other {
		labels = append(labels, other)
	}
	return labels
}

// index returns the index of an option, or 0 if there is no such option.
func (c Choice) index(value string) int {
	return max(0, slices.IndexFunc(c.Options, func(o Option) bool { return o.Value == value }))
}
