package tools

import (
	"strings"
	"testing"
)

// TestMaskedWriter checks that a URL is masked however it is cut, and that a question is
// passed on before its answer.
func TestMaskedWriter(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	w := &maskedWriter{w: &out, mask: func(text string) string { return strings.ReplaceAll(text, "://u:secret@", "://u:***@") }}
	for _, step := range []struct{ write, want string }{
		{"one\ntwo? ", "one\ntwo? "},
		{"yes\nno bucket postgres://u:sec", "yes\n"},
		{"ret@host\n", "no bucket postgres://u:***@host\n"},
		{"at s3://u:secret@", ""},
	} {
		out.Reset()
		if n, err := w.Write([]byte(step.write)); err != nil || n != len(step.write) {
			t.Errorf("%q: %d, %v", step.write, n, err)
		}
		if out.String() != step.want {
			t.Errorf("%q became %q, want %q", step.write, out.String(), step.want)
		}
	}
	out.Reset()
	if err := w.Close(); err != nil || out.String() != "at s3://u:***@" {
		t.Errorf("the end became %q: %v", out.String(), err)
	}
}
