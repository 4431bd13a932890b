package event

import "testing"

func TestClean(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ in, want string }{
		"ordinary":             {"a\n\tb ü", "a\n\tb ü"},
		"colour":               {"\x1b[1;31mred\x1b[0m", "red"},
		"title, ended by bell": {"\x1b]0;evil\x07text", "text"},
		"title, ended by ST":   {"\x1b]0;evil\x1b\\text", "text"},
		"cut off":              {"text\x1b[31", "text"},
		"title cut off":        {"text\x1b]0;", "text"},
		"control characters":   {"a\rb\x00c\x1b", "abc"},
		"carriage returns":     {"a\r\nb\r\n", "a\nb"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := clean(tt.in); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestEmitterCleansBeforeItMasks(t *testing.T) {
	t.Parallel()
	var got Event
	m := NewEmitter(EmitterOptions{Masker: NewMasker("hunter2"), Sinks: []Sink{sink(func(e Event) { got = e })}})
	m.Emit(Event{Type: StepLog, Message: "hun\x1b[31mter2", Reason: "\x1b[2Ja", Error: "b\a", Resource: Resource{Type: "c\r", Name: "d\x00"}})
	m.Close()
	want := Event{Message: Masked, Reason: "a", Error: "b", Resource: Resource{Type: "c", Name: "d"}}
	if got.Message != want.Message || got.Reason != want.Reason || got.Error != want.Error || got.Resource != want.Resource {
		t.Errorf("got %+v", got)
	}
}

type sink func(Event)

func (s sink) Emit(e Event) { s(e) }
