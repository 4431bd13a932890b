package trial

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/testing/cmdtest"
)

func TestDemo(t *testing.T) {
	all := []string{"up", "up", "status", "outputs", "destroy"}
	good := []int{cmd.ExitFailed, 0, 0, 0, 0}
	for _, test := range []struct {
		name   string
		codes  []int
		keep   bool
		cancel int // the command during which the second Ctrl-C comes; 0 for none
		want   []string
		fails  string
	}{
		{"all goes as shown", good, false, 0, all, ""},
		{"the directory stays", good, true, 0, all, ""},
		{"the failure does not come", []int{0}, false, 0, all[:1], "exited with 0 instead of 1"},
		{"resuming fails", []int{1, 1}, false, 0, all[:2], "`runner up` exited with 1 instead of 0"},
		{"there is no engine", []int{3}, false, 0, all[:1], "exit code 3"},
		{"Ctrl-C", []int{1, cmd.ExitInterrupted}, false, 0, all[:2], "exit code 130"},
		{"two Ctrl-C", []int{1, cmd.ExitInterrupted}, false, 2, all[:2], "interrupted"},
	} {
		t.Run(test.name, func(t *testing.T) {
			temporary := t.TempDir()
			t.Setenv("TMPDIR", temporary)
			d, stdout, _ := cmdtest.Deps(t)
			d.Environ = []string{"PATH=/bin", "PULUMI_BACKEND_URL=s3://real", "RUNNER_PROVIDER=aws", "KUBECONFIG=/real"}
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			var ran []string
			err := runDemo(ctx, d, demoOptions{Keep: test.keep, common: []string{"--no-color"}}, func(_ context.Context, d cmd.Deps, args []string) int {
				ran = append(ran, args[0])
				if diff := cmp.Diff([]string{"PATH=/bin"}, d.Environ); diff != "" {
					t.Error(diff)
				}
				root := args[slices.Index(args, "--root")+1]
				if filepath.Dir(root) != temporary || !slices.Contains(args, "--no-color") || !slices.Contains(args, "--simulate") {
					t.Errorf("ran %q", args)
				}
				if test.cancel == len(ran) {
					cancel(errors.New("interrupted"))
				}
				return test.codes[len(ran)-1]
			})
			if diff := cmp.Diff(test.want, ran); diff != "" {
				t.Errorf("commands: %s", diff)
			}
			if (err == nil) != (test.fails == "") || err != nil && !strings.Contains(err.Error(), test.fails) {
				t.Errorf("error %v, want %q", err, test.fails)
			}
			left, readErr := os.ReadDir(temporary)
			if readErr != nil || (len(left) == 1) != test.keep {
				t.Errorf("left: %v, %v", left, readErr)
			}
			if !strings.Contains(stdout.String(), "$ runner up -p kind -s demo --simulate --yes --simulate-fail 'docker:index") {
				t.Errorf("it says %s", stdout)
			}
		})
	}
}
