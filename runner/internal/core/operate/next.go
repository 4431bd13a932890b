package operate

import (
	"cmp"
	"slices"
	"strings"

	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
)

// Carried are the flags of a run that the command after it needs, too, to work on
// the same projects under the same guards.
type Carried struct {
	Where     []string // root and engine
	Provider  []string // which is not recorded before the first up
	Selection []string
	Refresh   []string
	Values    []string // of the configuration, for this run only
	Gates     []string // what may forbid an up
	Allowed   []string // what up may lose
}

// ShellWord quotes a word that a shell would split or expand.
func ShellWord(word string) string {
	const harmless = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%"
	if word != "" && strings.Trim(word, harmless) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// next proposes the commands that may follow an operation.
type next struct{ *job }

// command returns a command about the same stack, root and engine as the run.
func (n next) command(name string, flags ...[]string) string {
	words := []string{"runner " + name + " -s " + n.s.Settings.Stack.Text + n.Simulation.Flag()}
	return strings.Join(slices.Concat(words, n.schemas(name), n.Carried.Where, slices.Concat(flags...)), " ")
}

// schemas returns the flags that say how a simulation knows types, for commands that run programs.
func (n next) schemas(name string) (flags []string) {
	if name == "outputs" || name == "status" {
		return nil
	}
	for _, file := range n.Simulation.Schemas {
		flags = append(flags, "--simulate-schema", ShellWord(file))
	}
	if n.Simulation.Unknown {
		flags = append(flags, "--simulate-unknown", "inputs")
	}
	return flags
}

// selected returns the flags that select the same projects: those of the plan that an up carries out, unless these
// are all.
func (n next) selected() []string {
	if hold := n.Plan.Hold; hold != nil && len(hold.Projects) < len(n.s.Plan.Steps) {
		return []string{"--only", strings.Join(n.Selection.Only, ",")}
	}
	return n.Carried.Selection
}

// preview returns the preview of the same projects with the same values and
// gates. It writes a plan if the run writes or carries out one.
func (n next) preview() string {
	flags := [][]string{n.Carried.Provider, n.selected(), n.Carried.Values, n.Carried.Gates}
	if file := cmp.Or(n.Plan.Save, n.Plan.HoldFile); file != "" {
		flags = append(flags, []string{"--save-plan", ShellWord(file)})
	}
	return n.command(string(operation.Preview), flags...)
}

// resume returns the command that resumes a run, with its values and, where it
// deploys, its gates. After an up with a plan it is the preview that makes another one.
func (n next) resume() string {
	if n.Plan.Hold != nil {
		return n.preview()
	}
	if n.Targets.Any() {
		return n.command(string(n.Operation), n.selected(), n.Carried.Values, n.Carried.Gates, n.Carried.Allowed)
	}
	flags := [][]string{n.Carried.Values, n.Carried.Refresh}
	if n.Removal.Orphans {
		flags = append(flags, []string{"--orphans"})
	}
	if n.Operation.Deploys() {
		flags = append(flags, n.Carried.Gates, n.Carried.Allowed)
	}
	return n.command(string(n.Operation), flags...) + " --resume"
}

// afterFailure returns the command that may follow a run that has not succeeded.
func (n next) afterFailure(summary *event.Summary) string {
	hasFailed := func(step event.Step) bool { return step.Result != event.Succeeded && step.Result != event.Skipped }
	isRefused := summary.Outcome() == event.Failed && !slices.ContainsFunc(summary.Steps, hasFailed)
	switch {
	case n.Plan.Hold != nil:
		return n.resume() + "   # makes a plan of what is left"
	case n.Operation == operation.Preview && (isRefused || n.Plan.Save != ""): // nothing, or not enough, is left to resume
		return n.preview() + "   # once this is fixed"
	}
	return n.resume() + "   # continues with what is left"
}

// steps returns the commands that may follow the run, by how it has ended.
func (n next) steps(summary *event.Summary) []string {
	run := [][]string{n.selected(), n.Carried.Values}
	up := append(run, n.Carried.Gates, n.Carried.Allowed)
	if summary.Outcome() != event.Succeeded {
		return []string{n.afterFailure(summary)}
	}
	switch n.Operation {
	case operation.Up:
		return []string{n.command("outputs"), n.command("status")}
	case operation.Preview:
		if n.Plan.Save != "" {
			plan := []string{"--plan", ShellWord(n.Plan.Save)}
			if saved := summary.SavedPlan; saved != nil { // carries out no other plan
				plan = append(plan, "--plan-digest", saved.Digest)
			}
			return []string{n.command("up", n.Carried.Provider, plan, n.Carried.Values, n.Carried.Gates)}
		}
		return []string{n.command("up", append([][]string{n.Carried.Provider}, up...)...)}
	case operation.Refresh:
		return []string{n.command("preview", append(run, n.Carried.Gates)...)}
	case operation.Drift:
		if summary.Changes.Any() {
			return []string{
				n.command("refresh", run...) + "   # writes it to the state", n.command("up", up...) + "   # then corrects it",
			}
		}
	}
	return nil
}
