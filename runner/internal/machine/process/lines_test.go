package process_test

import (
	"io"
	"slices"
	"testing"

	"mara/runner/internal/machine/process"
)

func TestLines(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		in    []string
		want  []string
		close []string // what only Close emits
	}{
		{"lines", []string{"a\nb\n"}, []string{"a", "b"}, nil},
		{"in pieces", []string{"a", "b\nc", "d\n"}, []string{"ab", "cd"}, nil},
		{"blank ones", []string{"\n \t\n\r\na\r\n\n"}, []string{"a"}, nil},
		{"space before", []string{"  a \n"}, []string{"  a "}, nil},
		{"no end", []string{"a\nb\r"}, []string{"a"}, []string{"b"}},
		{"nothing", nil, nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			lines := &process.Lines{Emit: func(line string) { got = append(got, line) }}
			for _, text := range test.in {
				if n, err := io.WriteString(lines, text); n != len(text) || err != nil {
					t.Errorf("%d bytes of %q, %v", n, text, err)
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
			got = nil
			lines.Close()
			if !slices.Equal(got, test.close) {
				t.Errorf("got %q at the end, want %q", got, test.close)
			}
		})
	}
}
