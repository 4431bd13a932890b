package trial

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mara/config"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/ui"
	"mara/runner/internal/machine/atomicfile"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/interrupt"
	"mara/runner/internal/machine/typeset"
)

type step struct {
	name   string
	args   []string
	report string // file of the run's report, or ""
	always bool   // also after a failure
}

func steps() []step {
	return []step{
		{name: "doctor", args: []string{"doctor"}},
		{name: "up", args: []string{"up", "--yes", "--generate-secrets", "--non-interactive"}, report: "up.md"},
		{name: "up again", args: []string{"up", "--yes", "--non-interactive"}, report: "again.md"},
		{name: "drift", args: []string{"drift", "--exit-code", "--non-interactive"}, report: "drift.md"},
		{name: "status", args: []string{"status"}},
		{name: "destroy", args: []string{"destroy", "--yes", "--remove-stacks", "--non-interactive"}, report: "destroy.md",
			always: true},
	}
}

type done struct {
	step
	code int
	took time.Duration
	text string // the run's report
}

type trial struct {
	options
	d     cmd.Deps
	run   cmd.RunFunc
	dir   string
	began time.Time

	done  []done
	left  []string // resources left in the cloud at the end
	asked error    // why the cloud could not be checked, or nil
}

func runTry(ctx context.Context, d cmd.Deps, o options, run cmd.RunFunc) error {
	announce(d, o)
	question := fmt.Sprintf("Deploy and destroy an environment on %s?", o.Provider.Title)
	if err := cmd.Confirm(ctx, d, o.Common, "try", question); err != nil {
		return err
	}
	dir, err := makeDir(d, o)
	if err != nil {
		return err
	}
	t := &trial{options: o, d: d, run: run, dir: dir, began: d.Now()}
	fmt.Fprintf(d.Stdout, "\nThe files of the trial are in %s. If this program is killed, destroy the environment "+
		"with:\n  runner destroy --root %s -s %s%s\n", dir, dir, stack, o.Simulation.Flag())
	t.walk(ctx)
	t.left, t.asked = t.listRemaining(context.WithoutCancel(ctx))
	return t.conclude(ctx)
}

func announce(d cmd.Deps, o options) {
	mark := ""
	if o.Simulation.On {
		mark = "SIMULATED: nothing is created, and nothing costs money.\n\n"
	}
	fmt.Fprintf(d.Stdout, "%sA trial of %s creates these resources, and destroys them after at most two hours:\n\n", mark,
		o.Provider.Title)
	for _, cost := range o.Provider.Trial.Costs {
		fmt.Fprintf(d.Stdout, "  %-36s %6.3f USD an hour\n", cost.What, cost.PerHour)
	}
	total := o.Provider.Trial.Total()
	fmt.Fprintf(d.Stdout, "\nThat costs about %.2f USD an hour, and %.2f USD at the deadline, by list prices, without "+
		"traffic and taxes.\n"+
		"Prices change. A trial usually takes an hour. At the end everything is destroyed.\n", total, total*deadline.Hours())
}

// walk runs the steps. After a failure it runs only the steps marked always, and ignores
// interrupts: resources that are not destroyed cost money.
func (t *trial) walk(ctx context.Context) {
	limited, cancel := context.WithTimeoutCause(ctx, deadline, errors.New("the two hours of the trial are over"))
	defer cancel()
	failed := false
	for _, s := range steps() {
		over := failed || limited.Err() != nil
		switch {
		case s.always && t.deployed():
			d := t.d
			d.Interrupt = nil
			if over {
				fmt.Fprintln(t.d.Stdout, "\nDestroying the environment. Ctrl-C does not stop this.")
			}
			t.insist(context.WithoutCancel(ctx), d, s)
		case !s.always && !over:
			failed = t.take(limited, t.d, s) != cmd.ExitDone
		}
	}
}

// insist repeats a failed step after a pause in which the cloud may finish its work. The
// last attempt does not wait for load balancers and volumes: they cost less than a cluster,
// and the final check of the cloud lists them.
func (t *trial) insist(ctx context.Context, d cmd.Deps, s step) {
	for attempt := 1; attempt <= attempts; attempt++ {
		if attempt == attempts {
			s.args = append(slices.Clone(s.args), "--leave-behind")
		}
		before := len(t.done)
		if t.take(ctx, d, s) == cmd.ExitDone || attempt == attempts {
			return
		}
		fmt.Fprintf(t.d.Stdout, "\n%s failed. Retrying in %s, attempt %d of %d.\n", s.name, t.Pause, attempt+1, attempts)
		if interrupt.Sleep(ctx, t.Pause) != nil {
			return
		}
		t.done = t.done[:before] // the last attempt counts
	}
}

// deployed reports whether resources may have been created.
func (t *trial) deployed() bool {
	return slices.ContainsFunc(t.done, func(d done) bool { return d.name == "up" })
}

func (t *trial) take(ctx context.Context, d cmd.Deps, s step) int {
	args := slices.Concat(s.args, []string{"--root", t.dir, "-s", stack}, t.common)
	report := ""
	if s.report != "" {
		report = filepath.Join(t.dir, s.report)
		args = append(args, "--report", report)
	}
	fmt.Fprintf(t.d.Stdout, "\n== %s ==\n\n", s.name)
	began := t.d.Now()
	code := t.run(ctx, d, args)
	result := done{step: s, code: code, took: t.d.Now().Sub(began)}
	if content, err := os.ReadFile(report); err == nil {
		result.text = string(content)
	}
	t.done = append(t.done, result)
	return code
}

func (t *trial) conclude(ctx context.Context) error {
	file := filepath.Join(t.dir, "report.md")
	if err := atomicfile.Write(file, []byte(t.markdown()), 0o644); err != nil {
		return err
	}
	fmt.Fprintf(t.d.Stdout, "\n%s\nReport: %s\n", t.verdict(), ui.Decide(t.Facts(t.d)).Link(file))
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if problems := t.problems(); len(problems) > 0 {
		return fmt.Errorf("the trial of %s: %s", t.Provider.Title, strings.Join(problems, "; "))
	}
	return nil
}

func (t *trial) problems() []string {
	var problems []string
	for _, d := range t.done {
		switch {
		case d.name == "drift" && d.code == cmd.ExitChanges:
			problems = append(problems, "drift found right after up")
		case d.code != cmd.ExitDone:
			problems = append(problems, d.name+" failed")
		}
	}
	if len(t.left) > 0 {
		problems = append(problems, fmt.Sprintf("%s %s left in the cloud", typeset.Counted(len(t.left), "resource"),
			typeset.Are(len(t.left))))
	}
	return problems
}

const stack = "try"

// makeDir creates the directory of a trial with its configuration. An existing directory is an
// error: it belongs to another trial, whose resources may still exist.
func makeDir(d cmd.Deps, o options) (string, error) {
	dir := d.Absolute(cmp.Or(o.Directory, "mara-try-"+o.Provider.Name))
	if _, err := os.Stat(dir); err == nil {
		return "", &failure.Environment{
			Text: dir + " already exists, perhaps from an interrupted trial",
			Next: fmt.Sprintf("check it with `runner status --root %s -s %s`, destroy what is left with `runner destroy`, "+
				"and remove the directory; or choose another with --directory", dir, stack),
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return dir, fill(dir, o)
}

// fill writes the configuration. It stores the passphrase, which protects nothing that
// outlives the trial, because a destroy after a crash needs it.
func fill(dir string, o options) error {
	changes := []config.Change{{Key: config.InfraType, Value: o.Provider.Name}}
	for _, s := range o.Provider.Trial.Settings {
		changes = append(changes, config.Change{Key: s.Key, Value: s.Value})
	}
	file, err := config.StackFile{File: config.StackPath(stack)}.Override(changes...)
	if err != nil {
		return err
	}
	environment := fmt.Sprintf("PULUMI_STACK=%s\nPULUMI_BACKEND_URL=file://./.runner/state\nPULUMI_CONFIG_PASSPHRASE=%s\n",
		stack, rand.Text())
	err = errors.Join(
		os.MkdirAll(filepath.Join(dir, config.Directory), 0o700),
		atomicfile.Write(filepath.Join(dir, config.EnvironmentFile), []byte(environment), 0o600),
		atomicfile.Write(filepath.Join(dir, config.StackPath(stack)), file.Content, 0o644),
	)
	if err != nil {
		return failure.RunnerDir(err)
	}
	return nil
}
