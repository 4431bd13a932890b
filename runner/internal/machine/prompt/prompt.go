// Package prompt asks questions on a terminal. It is the only user of the
// survey library, whose interrupt becomes the runner's own.
package prompt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/AlecAivazis/survey/v2"
	"github.com/AlecAivazis/survey/v2/terminal"
	"golang.org/x/term"

	"mara/config/lists"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/interrupt"
)

// Terminal asks on a terminal.
type Terminal struct {
	in  terminal.FileReader
	out terminal.FileWriter
}

// NewTerminal returns a Terminal on two files; ok is false if they are no files.
func NewTerminal(in io.Reader, out io.Writer) (t Terminal, ok bool) {
	if wrapped, ok := out.(interface{ Unwrap() io.Writer }); ok { // questions move the cursor
		out = wrapped.Unwrap()
	}
	reader, isReader := in.(terminal.FileReader)
	writer, isWriter := out.(terminal.FileWriter)
	return Terminal{in: reader, out: writer}, isReader && isWriter
}

// Text asks for a line.
func (t Terminal) Text(ctx context.Context, question string) (string, error) {
	return ask[string](ctx, t, &survey.Input{Message: question})
}

// Password asks for a string without showing it on the screen.
func (t Terminal) Password(ctx context.Context, question string) (string, error) {
	return ask[string](ctx, t, &survey.Password{Message: question})
}

// Confirm asks a question whose default answer is no.
func (t Terminal) Confirm(ctx context.Context, question string) (bool, error) {
	return ask[bool](ctx, t, &survey.Confirm{Message: question})
}

// sayPlainly replaces the sentence about an answer that is not valid, which survey has for all programs.
var sayPlainly = sync.OnceFunc(func() {
	survey.ErrorTemplate = `{{color .Icon.Format}}{{.Icon.Text}} This answer is not valid: {{.Error.Error}}{{color "reset"}}` +
		"\n"
})

// ask waits for the answer or the end of ctx: a question must not keep the runner
// from ending. A read of a terminal cannot be cancelled, so at the end of ctx ask
// abandons it, and restores the state of the terminal.
//
// It sets the terminal to raw mode before the question is shown, so that an early
// Ctrl-C is an answer to the question, too.
func ask[T any](ctx context.Context, t Terminal, question survey.Prompt, options ...survey.AskOpt) (none T, err error) {
	if before, err := term.GetState(int(t.in.Fd())); err == nil {
		defer func() { _ = term.Restore(int(t.in.Fd()), before) }()
	}
	_ = terminal.NewRuneReader(terminal.Stdio{In: t.in, Out: t.out, Err: t.out}).SetTermMode()
	options = append(options, survey.WithStdio(t.in, t.out, t.out))
	sayPlainly()
	answer, answered := new(T), make(chan error, 1)
	go func() { answered <- survey.AskOne(question, answer, options...) }()
	select {
	case err := <-answered:
		if errors.Is(err, terminal.InterruptErr) || errors.Is(err, io.EOF) {
			err = interrupt.ErrInterrupted
		}
		return *answer, err
	case <-ctx.Done():
		_, _ = fmt.Fprintln(t.out)
		return none, context.Cause(ctx)
	}
}

// ErrBack is the error of a question to which the user answered Back: the previous question is to be asked again.
var ErrBack = errors.New("back to the previous question")

// Back is the answer that leads to the previous question, where there is one.
const Back = "<"

// Question asks for a string.
type Question struct {
	Text    string
	Help    string                    // shown when the user types ?
	Default string                    // used for an empty answer
	Check   func(answer string) error // validates an answer at once; nil accepts all
	Back    bool                      // Back is an answer
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
	None     bool     // of ChooseMany: no option is an answer, too
}

// The options that lead to another answer, and to the previous question.
const (
	other = "another one ..."
	back  = Back + " previous question"
)

// Ask asks for a string until it is valid.
func (t Terminal) Ask(ctx context.Context, q Question) (string, error) {
	valid := survey.WithValidator(func(answer any) error {
		text, ok := answer.(string)
		if text = strings.TrimSpace(text); !ok || q.Check == nil || q.Back && text == Back {
			return nil
		}
		return q.Check(text)
	})
	answer, err := ask[string](ctx, t, &survey.Input{Message: q.Text, Help: q.Help, Default: q.Default}, valid)
	if answer = strings.TrimSpace(answer); err == nil && q.Back && answer == Back {
		return "", ErrBack
	}
	return answer, err
}

// Agree asks a question whose default answer is yes.
func (t Terminal) Agree(ctx context.Context, question string) (bool, error) {
	return ask[bool](ctx, t, &survey.Confirm{Message: question, Default: true})
}

// AgreeOrBack asks a question whose default answer is yes, and which can lead back.
func (t Terminal) AgreeOrBack(ctx context.Context, question string) (bool, error) {
	answer, err := t.Ask(ctx, Question{
		Text: question + " (Y/n, " + back + ")", Back: true,
		Check: func(answer string) error {
			if !slices.Contains([]string{"", "y", "yes", "n", "no"}, strings.ToLower(answer)) {
				return errors.New("answer y or n, or " + back)
			}
			return nil
		},
	})
	return !strings.HasPrefix(strings.ToLower(answer), "n"), err
}

// The answers of Decide that every question has.
const (
	Yes = "y"
	No  = "n"
)

// Decide asks a question whose default answer is no, and which has further answers: each a letter, with what it does.
func (t Terminal) Decide(ctx context.Context, question string, further ...Option) (string, error) {
	answers := map[string]string{"": No, No: No, "no": No, Yes: Yes, "yes": Yes}
	hint := "y/N"
	for _, option := range further {
		answers[option.Value] = option.Value
		hint += ", " + option.Value + " " + option.Note
	}
	text, err := t.Ask(ctx, Question{Text: question + " (" + hint + ")", Check: func(answer string) error {
		if answers[strings.ToLower(strings.TrimSpace(answer))] == "" {
			return errors.New("answer " + hint)
		}
		return nil
	}})
	return answers[strings.ToLower(text)], err
}

// Choose asks for one of the options.
func (t Terminal) Choose(ctx context.Context, c Choice) (string, error) {
	question := &survey.Select{
		Message: c.Text, Help: c.Help, Options: t.fit(c.labels()), PageSize: pageSize, Default: c.index(c.Default),
		Filter: c.matches(),
	}
	index, err := ask[int](ctx, t, question)
	switch {
	case err != nil:
		return "", err
	case index < len(c.Options):
		return c.Options[index].Value, nil
	case c.labels()[index] == back:
		return "", ErrBack
	}
	return t.Ask(ctx, c.Question)
}

// ChooseMany asks for some of the options; unless None is set, at least one has to be chosen.
func (t Terminal) ChooseMany(ctx context.Context, c Choice) ([]string, error) {
	question := &survey.MultiSelect{
		Message: c.Text, Help: c.Help, Options: t.fit(c.labels()), PageSize: pageSize,
		Default: lists.Map(c.Chosen, c.index), Filter: c.matches(),
	}
	least := 1
	if c.None {
		least = 0
	}
	indexes, err := ask[[]int](ctx, t, question, survey.WithValidator(survey.MinItems(least)))
	if err != nil {
		return nil, err
	}
	if labels := c.labels(); len(indexes) == len(labels) && len(labels) > len(c.Options) {
		indexes = indexes[:len(c.Options)] // the key for all options has chosen the others, too
	}
	return t.chosen(ctx, c, indexes)
}

// chosen returns the values of options, and the values that the user types.
func (t Terminal) chosen(ctx context.Context, c Choice, indexes []int) ([]string, error) {
	var values []string
	for _, i := range indexes {
		if i < len(c.Options) {
			values = append(values, c.Options[i].Value)
			continue
		}
		if c.labels()[i] == back {
			return nil, ErrBack
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

// fit shortens options that would not fit into a line, with what survey prints before them.
func (t Terminal) fit(labels []string) []string {
	width, _, err := term.GetSize(int(t.out.Fd()))
	const before = len("> [ ]  ") + 1
	if err != nil || width <= 2*before {
		return labels
	}
	short := slices.Clone(labels)
	for i, label := range short {
		if runes := []rune(label); len(runes) > width-before {
			short[i] = string(runes[:width-before-1]) + "…"
		}
	}
	return short
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
	if c.Back {
		labels = append(labels, back)
	}
	return labels
}

// matches returns the filter of the options by what the user types. If no option has the text, the options that
// lead elsewhere remain.
func (c Choice) matches() func(filter, label string, index int) bool {
	labels := c.labels()
	has := func(filter, label string) bool {
		return strings.Contains(strings.ToLower(label), strings.ToLower(filter))
	}
	return func(filter, label string, index int) bool {
		return has(filter, label) || index >= len(c.Options) &&
			!slices.ContainsFunc(labels, func(l string) bool { return has(filter, l) })
	}
}

// index returns the index of an option, or 0 if there is no such option.
func (c Choice) index(value string) int {
	return max(0, slices.IndexFunc(c.Options, func(o Option) bool { return o.Value == value }))
}

// Confirm asks for confirmation of a command, and returns an error unless the answer is yes. Where it cannot ask, the
// error says so.
func Confirm(ctx context.Context, in io.Reader, out io.Writer, interactive bool, command, question string) error {
	terminal, ok := NewTerminal(in, out)
	if !interactive || !ok {
		return NoTerminal(command)
	}
	return Agreed(terminal.Confirm(ctx, question))
}

// NoTerminal returns the error of a command that needs confirmation where it cannot ask.
func NoTerminal(command string) error {
	return &failure.Usage{
		Text: command + " needs confirmation, and this is not a terminal",
		Next: "add --yes to skip the confirmation",
	}
}

// Agreed turns an answer other than yes into an error.
func Agreed(yes bool, err error) error {
	if err == nil && !yes {
		err = &Declined{Text: "not confirmed; nothing was changed"}
	}
	return err
}

// Declined is the error of an operation that was not confirmed.
type Declined struct{ Text string }

// Error returns the text.
func (e *Declined) Error() string { return e.Text }
