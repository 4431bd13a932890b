package tools

import (
	"strings"
	"testing"
)

func TestProgramArgument(t *testing.T) {
	t.Parallel()
	tests := []struct {
		args string
		want int
	}{
		{"up", 1},
		{"up --yes", 1},
		{"--color never preview --diff", 3},
		{"--non-interactive refresh", 2},
		{"-C up destroy", 3},
		{"--cwd=x destroy", 2},
		{"stack rm up", -1},
		{"config set up x", -1},
		{"--help", -1},
		{"", -1},
	}
	for _, tt := range tests {
		if got := programArgument(strings.Fields(tt.args)); got != tt.want {
			t.Errorf("%q: got %d, want %d", tt.args, got, tt.want)
		}
	}
}
