package trial

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"mara/projects/model"
	"mara/projects/model/cloud"
	"mara/providers"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/testing/cmdtest"
)

// inventory is a cloud with leftover resources.
type inventory struct {
	left []string
	err  error
}

func (inventory) Account(context.Context) (cloud.Account, error) {
	return cloud.Account{}, errors.New("unexpected")
}
func (inventory) Choices(context.Context, model.List) ([]cloud.Choice, error) {
	return nil, errors.New("unexpected")
}
func (i inventory) Remains(context.Context, string) ([]string, error) { return i.left, i.err }

func TestTry(t *testing.T) {
	t.Parallel()
	all := []string{"doctor", "up", "up", "drift", "status", "destroy"}
	for _, test := range []struct {
		name    string
		codes   map[string]int // exit codes of commands that fail
		cancel  string         // the command that Ctrl-C interrupts
		asked   inventory
		want    []string
		fails   string
		reports []string
	}{
		{"all goes well", nil, "", inventory{}, all, "", []string{"The trial succeeded. The cloud was checked: nothing is left.", "| destroy | done |", "`eks:instance_type: t3.large`", "of up\n"}},
		{"something is not there", map[string]int{"doctor": 3}, "", inventory{}, []string{"doctor"}, "doctor failed", []string{"| doctor | exit code 3 |", "The cloud was not checked for leftovers: nothing was deployed."}},
		{"up fails", map[string]int{"up": 1}, "", inventory{}, []string{"doctor", "up", "destroy"}, "up failed", []string{"The trial failed: up failed."}},
		{"drift", map[string]int{"drift": 5}, "", inventory{}, []string{"doctor", "up", "up", "drift", "destroy"}, "drift found right after up", nil},
		{"destroy fails, too", map[string]int{"up": 1, "destroy": 1}, "", inventory{}, []string{"doctor", "up", "destroy", "destroy", "destroy --leave-behind"}, "up failed; destroy failed", nil},
		{"destroy fails once", map[string]int{"destroy": -1}, "", inventory{}, append(slices.Clone(all), "destroy"), "", []string{"The trial succeeded."}},
		{"Ctrl-C", map[string]int{"up": 130}, "up", inventory{}, []string{"doctor", "up", "destroy"}, "interrupted", nil},
		{"the cloud does not answer", nil, "", inventory{err: errors.New("no network")}, all, "", []string{"The cloud was not checked for leftovers: no network."}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d, stdout, _ := cmdtest.Deps(t)
			d.CloudClients = func(context.Context, string, cloud.Access) (cloud.Client, error) { return test.asked, nil }
			aws, err := providers.ByName("aws")
			if err != nil {
				t.Fatal(err)
			}
			o := options{Provider: aws}
			o.Yes = true
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			var ran []string
			err = runTry(ctx, d, o, func(ctx context.Context, _ cmd.Deps, args []string) int {
				name := args[0]
				if slices.Contains(args, "--leave-behind") {
					ran = append(ran, name+" --leave-behind")
				} else {
					ran = append(ran, name)
				}
				if _, limited := ctx.Deadline(); limited == (name == "destroy") || ctx.Err() != nil {
					t.Errorf("%s with the limit %v and the error %v", name, limited, ctx.Err())
				}
				if name == test.cancel {
					cancel(errors.New("interrupted"))
				}
				for i, arg := range args {
					if arg == "--report" {
						if err := os.WriteFile(args[i+1], []byte("of "+name), 0o600); err != nil {
							t.Error(err)
						}
					}
				}
				if test.codes[name] < 0 { // fails once
					delete(test.codes, name)
					return cmd.ExitFailed
				}
				return test.codes[name]
			})
			if diff := cmp.Diff(test.want, ran); diff != "" {
				t.Errorf("commands (-want +got):\n%s", diff)
			}
			if (err == nil) != (test.fails == "") || err != nil && !strings.Contains(err.Error(), test.fails) {
				t.Errorf("error %v, want %q", err, test.fails)
			}
			report, readErr := os.ReadFile(filepath.Join(d.Dir, "mara-try-aws", "report.md"))
			if readErr != nil {
				t.Fatal(readErr)
			}
			for _, want := range append(test.reports, "# Amazon Web Services, 2026-11-20") {
				if !strings.Contains(string(report), want) {
					t.Errorf("the report has no %q:\n%s", want, report)
				}
			}
			if !strings.Contains(stdout.String(), "USD at the deadline") {
				t.Errorf("the cost is not said: %s", stdout)
			}
		})
	}
}

// answers is a cloud that answers each question in turn, the last one for ever.
type answers struct {
	inventory
	of *[]inventory
}

func (a answers) Remains(context.Context, string) ([]string, error) {
	next := (*a.of)[0]
	if len(*a.of) > 1 {
		*a.of = (*a.of)[1:]
	}
	return next.left, next.err
}

// TestWaitForNone asks again while something is left or the cloud is in trouble, but not for ever, and
// not with credentials that are refused.
func TestWaitForNone(t *testing.T) {
	t.Parallel()
	trouble := inventory{err: &cloud.Error{Text: "Linode failed: Internal Server Error (500)", Unsure: true}}
	refused := inventory{err: &cloud.Error{Text: "Linode refuses: Invalid Token (401)"}}
	left := inventory{left: []string{"cluster mara-try"}}
	for _, test := range []struct {
		name    string
		answers []inventory
		left    int
		err     string
		asked   int
	}{
		{"nothing", []inventory{{}}, 0, "", 1},
		{"deletion takes a while", []inventory{left, left, {}}, 0, "", 3},
		{"trouble, and then nothing", []inventory{trouble, left, trouble, {}}, 0, "", 4},
		{"something stays", []inventory{left}, 1, "", askTimes},
		{"trouble stays", []inventory{trouble}, 0, "Linode failed", askTimes},
		{"refused", []inventory{refused}, 0, "Linode refuses", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d, stdout, _ := cmdtest.Deps(t)
				linode, err := providers.ByName("linode")
				if err != nil {
					t.Fatal(err)
				}
				tried := &trial{d: d}
				tried.Provider = linode
				got, err := tried.waitForNone(t.Context(), answers{of: &test.answers})
				if len(got) != test.left || (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
					t.Errorf("got %v, %v", got, err)
				}
				if asked := strings.Count(stdout.String(), "checking again") + 1; asked != test.asked {
					t.Errorf("asked %d times: %s", asked, stdout)
				}
			})
		})
	}
}

func TestTryTwice(t *testing.T) {
	t.Parallel()
	d, _, _ := cmdtest.Deps(t)
	linode, err := providers.ByName("linode")
	if err != nil {
		t.Fatal(err)
	}
	o := options{Provider: linode}
	dir, err := makeDir(d, o)
	if err != nil {
		t.Fatal(err)
	}
	environment := filepath.Join(dir, "config", "pulumi", "environment")
	if info, err := os.Stat(environment); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, error %v", info, err)
	}
	if _, err := makeDir(d, o); err == nil || !strings.Contains(err.Error(), "already exists") {
		t.Errorf("error %v", err)
	}
}

func TestTryNeedsConsent(t *testing.T) {
	t.Parallel()
	d, _, _ := cmdtest.Deps(t)
	aws, err := providers.ByName("aws")
	if err != nil {
		t.Fatal(err)
	}
	err = runTry(t.Context(), d, options{Provider: aws}, func(context.Context, cmd.Deps, []string) int {
		t.Error("a command runs")
		return 0
	})
	if err == nil {
		t.Error("the trial was not confirmed")
	}
	if _, err := os.Stat(filepath.Join(d.Dir, "mara-try-aws")); err == nil {
		t.Error("a directory was made")
	}
}
