package engine

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"mara/runner/internal/core/event"
	"mara/runner/internal/machine/typeset"
)

// Profile measures where the time of a run goes: in the phases before the first project, in
// the engine, in the programs and in the runner itself. A nil Profile measures nothing.
type Profile struct {
	now     func() time.Time
	began   time.Time
	last    time.Time  // end of the last phase
	phases  []string   // lines of Write
	workers func() int // worker processes started; nil for an installed Pulumi

	mu       sync.Mutex            // guards what follows
	commands map[string]int        // by name, such as "stack output"
	projects map[string]*timeSpent // by project
}

// timeSpent is what a project has used.
type timeSpent struct {
	engine, program time.Duration
	commands        int
}

// NewProfile begins a profile.
func NewProfile(now func() time.Time) *Profile {
	began := now()
	return &Profile{now: now, began: began, last: began, commands: map[string]int{}, projects: map[string]*timeSpent{}}
}

// Lap ends a phase.
func (p *Profile) Lap(name string) {
	if p == nil {
		return
	}
	now := p.now()
	p.phases = append(p.phases, phase(name, now.Sub(p.last)))
	p.last = now
}

func phase(name string, took time.Duration) string {
	return fmt.Sprintf("  %-18s %s\n", name, milliseconds(took))
}

// of returns what a project has used. The caller holds the mutex.
func (p *Profile) of(project string) *timeSpent {
	if p.projects[project] == nil {
		p.projects[project] = &timeSpent{}
	}
	return p.projects[project]
}

// addCommand adds the time that a command took.
func (p *Profile) addCommand(args []string, took time.Duration) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.commands[commandName(args)]++
	spent := p.of(projectOf(args))
	spent.engine += took
	spent.commands++
}

// Ran adds the time that a project's program took.
func (p *Profile) Ran(project string, took time.Duration) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.of(project).program += took
}

// Write prints the profile of a run. A project spends its time waiting for a place to run, in
// the engine, in its program (which runs inside the engine's time and waits for it), and in
// the runner itself.
func (p *Profile) Write(w io.Writer, run *event.Summary) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(w, "\nProfile: %s in all\n%s%s\n", milliseconds(p.now().Sub(p.began)), strings.Join(p.phases, ""),
		phase("projects", run.Duration()))
	table := typeset.Table{Columns: []typeset.Column{{Title: "PROJECT"}, {Title: "WAITED"}, {Title: "TOOK"},
		{Title: "ENGINE"}, {Title: "PROGRAM"}, {Title: "RUNNER"}, {Title: "COMMANDS"}}}
	for _, step := range run.Steps {
		if step.Ran() {
			spent := p.of(step.Name)
			table.Rows = append(table.Rows, []string{step.Name, milliseconds(waited(run, step)),
				milliseconds(step.Duration()), milliseconds(spent.engine), milliseconds(spent.program),
				milliseconds(max(step.Duration()-spent.engine, 0)), strconv.Itoa(spent.commands)})
		}
	}
	fmt.Fprintf(w, "%s\n%s\n", table.Text(0), p.totals())
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
	all := 0
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(p.commands)) {
		all += p.commands[name]
		parts = append(parts, fmt.Sprintf("%d %s", p.commands[name], name))
	}
	text := fmt.Sprintf("%d Pulumi commands: %s", all, strings.Join(parts, ", "))
	if p.workers != nil {
		text += fmt.Sprintf("; %d workers", p.workers())
	}
	return text
}

func milliseconds(d time.Duration) string { return fmt.Sprintf("%dms", d.Milliseconds()) }
