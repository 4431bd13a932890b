package prompt_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"mara/runner/internal/machine/interrupt"
	"mara/runner/internal/machine/prompt"
	"mara/runner/internal/testing/prompttest"
)

func TestAsk(t *testing.T) {
	t.Parallel()
	person, side := prompttest.Open(t)
	answer := ask(t, side, func(terminal prompt.Terminal) (string, error) {
		return terminal.Ask(t.Context(), prompt.Question{Text: "How many?", Default: "3", Check: func(answer string) error {
			if answer != "3" {
				return errors.New("is not three")
			}
			return nil
		}})
	})
	person.Expect("How many?")
	person.Type(" 4 \r")
	person.Expect("is not three")
	person.Type("\r")
	if got, err := answer(); got != "3" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestAgree(t *testing.T) {
	t.Parallel()
	person, side := prompttest.Open(t)
	answer := ask(t, side, func(terminal prompt.Terminal) (bool, error) { return terminal.Agree(t.Context(), "Go on?") })
	person.Expect("Go on?")
	person.Type("\r")
	if got, err := answer(); !got || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
}

const down = "\x1b[B"

func TestChoose(t *testing.T) {
	t.Parallel()
	choice := prompt.Choice{
		Question: prompt.Question{Text: "Which?", Default: "b"},
		Options:  []prompt.Option{{Value: "a", Note: "the first"}, {Value: "b"}, {Value: "c"}},
		Other:    true,
	}
	for _, test := range []struct {
		name, keys string
		other      string // typed for another answer
		want       string
		err        error
	}{
		{"the default", "\r", "", "b", nil},
		{"the next", down + "\r", "", "c", nil},
		{"round the end", down + down + down + "\r", "", "a", nil},
		{"searched", "fir\r", "", "a", nil},
		{"another one", down + down + "\r", "d\r", "d", nil},
		{"Ctrl-C", "\x03", "", "", interrupt.ErrInterrupted},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			person, side := prompttest.Open(t)
			before := prompttest.State(t, side)
			answer := ask(t, side, func(terminal prompt.Terminal) (string, error) { return terminal.Choose(t.Context(), choice) })
			person.Expect("Which?")
			person.Press(test.keys)
			if test.other != "" {
				person.Type(test.other)
			}
			got, err := answer()
			if got != test.want || !errors.Is(err, test.err) {
				t.Errorf("got %q, %v; want %q, %v", got, err, test.want, test.err)
			}
			checkRestored(t, side, before)
		})
	}
}

func TestChooseMany(t *testing.T) {
	t.Parallel()
	choice := prompt.Choice{
		Question: prompt.Question{Text: "Which ones?"},
		Options:  []prompt.Option{{Value: "a"}, {Value: "b"}, {Value: "c"}},
		Chosen:   []string{"a", "c"}, Other: true,
	}
	for _, test := range []struct {
		name, keys, other string
		want              []string
		err               error
	}{
		{"the default", "\r", "", []string{"a", "c"}, nil},
		{"others", " " + down + " \r", "", []string{"b", "c"}, nil},
		{"another one", down + down + down + " \r", "d, e\r", []string{"a", "c", "d", "e"}, nil},
		{"Ctrl-C", "\x03", "", nil, interrupt.ErrInterrupted},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			person, side := prompttest.Open(t)
			answer := ask(t, side, func(terminal prompt.Terminal) ([]string, error) { return terminal.ChooseMany(t.Context(), choice) })
			person.Expect("Which ones?")
			person.Press(test.keys)
			if test.other != "" {
				person.Type(test.other)
			}
			got, err := answer()
			if !slices.Equal(got, test.want) || !errors.Is(err, test.err) {
				t.Errorf("got %q, %v; want %q, %v", got, err, test.want, test.err)
			}
		})
	}
}

// TestChooseManyNeedsOne: nothing is no answer.
func TestChooseManyNeedsOne(t *testing.T) {
	t.Parallel()
	person, side := prompttest.Open(t)
	answer := ask(t, side, func(terminal prompt.Terminal) ([]string, error) {
		return terminal.ChooseMany(t.Context(), prompt.Choice{Question: prompt.Question{Text: "Which ones?"}, Options: []prompt.Option{{Value: "a"}}})
	})
	person.Expect("Which ones?")
	person.Press("\r")
	person.Expect("value is too short")
	person.Press(" \r")
	if got, err := answer(); strings.Join(got, "") != "a" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}
