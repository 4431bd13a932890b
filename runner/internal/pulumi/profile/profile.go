// Package profile measures where the time of a run goes: in the phases before
// the first project, in the engine, in the programs and in the runner itself.
package profile

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"mara/runner/internal/pulumi/engine"
	"mara/runner/internal/pulumi/pulumicli"
	"mara/runner/internal/pulumi/stacks"
	"mara/runner/internal/run/event"
)

// Profile measures where the time of a run goes; a nil Profile measures nothing.
type Profile struct {
	now     func() time.Time
	began   time.Time
	last    time.Time // end of the last phase
	phases  []phase
	workers func() int // worker processes started; nil for an installed Pulumi

	mu       sync.Mutex // guards what follows
	commands []commandTime
	programs map[string]time.Duration // by project
}

// phase is a part of the run before its first project.
type phase struct {
	name string
	took time.Duration
}

type commandTime struct {
	project string
	name    string // "stack output"
	took    time.Duration
}

// New begins a profile.
func New(now func() time.Time) *Profile {
	began := now()
	return &Profile{now: now, began: began, last: began, programs: map[string]time.Duration{}}
}

// Lap ends a phase.
func (p *Profile) Lap(name string) {
	if p == nil {
		return
	}
	now := p.now()
	p.phases = append(p.phases, phase{name, now.Sub(p.last)})
	p.last = now
}

type watched struct {
	engine.Engine
	profile *Profile
}

// Watch measures the commands of an engine.
func (p *Profile) Watch(e engine.Engine) engine.Engine {
	if p == nil {
		return e
	}
	if pool, ok := e.(*pulumicli.Pool); ok {
		p.workers = pool.Started
	}
	return watched{e, p}
}

// Run implements auto.PulumiCommand.
func (w watched) Run(
	ctx context.Context, dir string, stdin io.Reader, stdout, stderr []io.Writer, env []string, args ...string,
) (string, string, int, error) {
	began := w.profile.now()
	out, errs, code, err := w.Engine.Run(ctx, dir, stdin, stdout, stderr, env, args...)
	w.profile.addCommand(engine.ProjectOf(args), args, w.profile.now().Sub(began))
	return out, errs, code, err
}

// WithForesight implements stacks.Foreseer.
func (w watched) WithForesight(f *pulumicli.Foresight) stacks.Command {
	w.Engine = engine.WithForesight(w.Engine, f)
	return w
}

func (p *Profile) addCommand(project string, args []string, took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.commands = append(p.commands, commandTime{project, engine.CommandName(args), took})
}

// Ran adds the time that a project's program took.
func (p *Profile) Ran(project string, took time.Duration) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.programs[project] += took
}

// Write prints the profile of a run.
func (p *Profile) Write(w io.Writer, run *event.Summary) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(w, "\nProfile: %s in all\n", milliseconds(p.now().Sub(p.began)))
	for _, phase := range p.phases {
		fmt.Fprintf(w, "  %-18s %s\n", phase.name, milliseconds(phase.took))
	}
	fmt.Fprintf(w, "  %-18s %s\n\n", "projects", milliseconds(run.Duration()))
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "PROJECT\tWAITED\tTOOK\tENGINE\tPROGRAM\tRUNNER\tCOMMANDS")
	for _, step := range run.Steps {
		if step.Ran() {
			p.writeStep(table, run, step)
		}
	}
	_ = table.Flush() // the output may be closed
	fmt.Fprintf(w, "\n%s\n", p.totals())
}

// writeStep prints how one project spent its time: waiting for a place to run,
// in the engine, in the program (which runs inside the engine's time and waits
// for it), and in the runner itself.
func (p *Profile) writeStep(w io.Writer, run *event.Summary, step event.Step) {
	var inEngine time.Duration
	count := 0
	for _, command := range p.commands {
		if command.project == step.Name {
			inEngine += command.took
			count++
		}
	}
	fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%d\n",
		step.Name, milliseconds(waited(run, step)), milliseconds(step.Duration()), milliseconds(inEngine),
		milliseconds(p.programs[step.Name]), milliseconds(max(step.Duration()-inEngine, 0)), count)
}

// waited returns the time between the end of a project's last dependency and its start.
func waited(run *event.Summary, step event.Step) time.Duration {
	ready := run.Started
	for _, name := range step.All() {
		if need, _ := run.Step(name); need != nil && need.Finished.After(ready) {
			ready = need.Finished
		}
	}
	return max(step.Started.Sub(ready), 0)
}

func (p *Profile) totals() string {
	counts := map[string]int{}
	for _, command := range p.commands {
		counts[command.name]++
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%d %s", counts[name], name))
	}
	text := fmt.Sprintf("%d Pulumi commands: %s", len(p.commands), strings.Join(parts, ", "))
	if p.workers != nil {
		text += fmt.Sprintf("; %d workers", p.workers())
	}
	return text
}

func milliseconds(d time.Duration) string { return fmt.Sprintf("%dms", d.Milliseconds()) }
