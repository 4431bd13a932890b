package trial

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/config"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/testing/cmdtest"
)

func TestDemo(t *testing.T) {
	all := []string{"plan", "up", "up", "config", "up", "outputs", "destroy"}
	good := []int{0, cmd.ExitFailed, 0, 0, 0, 0, 0}
	kubernetes, kubernetesCodes := []string{"up", "up", "status", "outputs", "destroy"}, []int{cmd.ExitFailed, 0, 0, 0, 0}
	for _, test := range []struct {
		name    string
		options demoOptions
		codes   []int
		cancel  int // the command during which the second Ctrl-C comes; 0 for none
		want    []string
		fails   string
	}{
		{"all goes as shown", demoOptions{}, good, 0, all, ""},
		{"the directory stays", demoOptions{Keep: true}, good, 0, all, ""},
		{"the failure does not come", demoOptions{}, []int{0, 0}, 0, all[:2], "exited with 0 instead of 1"},
		{"resuming fails", demoOptions{}, []int{0, 1, 1}, 0, all[:3], "`runner up` exited with 1 instead of 0"},
		{"there is no engine", demoOptions{}, []int{0, 3}, 0, all[:2], "exit code 3"},
		{"Ctrl-C", demoOptions{}, []int{0, 1, cmd.ExitInterrupted}, 0, all[:3], "exit code 130"},
		{"two Ctrl-C", demoOptions{}, []int{0, 1, cmd.ExitInterrupted}, 3, all[:3], "interrupted"},
		{"a Kubernetes environment", demoOptions{Kubernetes: true}, kubernetesCodes, 0, kubernetes, ""},
		{"a Kubernetes environment stays", demoOptions{Kubernetes: true, Keep: true}, kubernetesCodes, 0, kubernetes, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			temporary := t.TempDir()
			t.Setenv("TMPDIR", temporary)
			d, stdout, _ := cmdtest.Deps(t)
			d.Environ = []string{"PATH=/bin", "PULUMI_BACKEND_URL=s3://real", "RUNNER_PROVIDER=aws", "KUBECONFIG=/real"}
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			var ran []string
			test.options.common = []string{"--no-color"}
			err := runDemo(ctx, d, test.options, func(_ context.Context, d cmd.Deps, args []string) int {
				ran = append(ran, args[0])
				if diff := cmp.Diff([]string{"PATH=/bin", "PULUMI_CONFIG_PASSPHRASE=demo"}, d.Environ); diff != "" {
					t.Error(diff)
				}
				if filepath.Dir(d.Dir) != temporary || !slices.Contains(args, "--no-color") ||
					slices.Contains(args, "--simulate") != test.options.Kubernetes {
					t.Errorf("ran %q in %s", args, d.Dir)
				}
				if root, err := config.FindRoot(d.Dir, config.Value{}); err != nil || root != d.Dir {
					t.Errorf("the root is %q, %v", root, err)
				}
				fmt.Fprintf(d.Stdout, "up succeeded\n\nReport: %s/report.html\n", d.Dir)
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
			if readErr != nil || (len(left) == 1) != test.options.Keep {
				t.Errorf("left: %v, %v", left, readErr)
			}
			first := "$ runner plan -s dev\n"
			if test.options.Kubernetes {
				first = "$ runner up -p kind -s demo --simulate --yes --simulate-fail 'docker:index"
			}
			if !strings.Contains(stdout.String(), first) {
				t.Errorf("it says %s", stdout)
			}
			for _, path := range regexp.MustCompile(regexp.QuoteMeta(temporary)+`[^ \n;]*`).FindAllString(stdout.String(), -1) {
				if !test.options.Keep || filepath.Dir(path) != temporary && filepath.Base(path) != "report.html" {
					t.Errorf("it names %s, which is gone", path)
				}
			}
			if test.fails == "" && !test.options.Kubernetes && !strings.Contains(stdout.String(), "\n  runner adopt ") {
				t.Errorf("it ends without the command to begin with: %s", stdout)
			}
		})
	}
}
