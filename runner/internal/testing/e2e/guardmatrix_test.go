package e2e

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mara/runner/internal/core/event"
	"mara/runner/internal/core/refusal"
)

// column is a way around a guard, or a state in which it may be blind.
type column string

const (
	byFlags      column = "flag"
	byVariables  column = "variable"
	byFile       column = "committed file"
	inFleet      column = "fleet"
	resumed      column = "resume"
	planned      column = "plan"
	noTerminal   column = "no terminal"
	unreadable   column = "unreadable"
	misnamed     column = "misnamed"
	changedSince column = "changed in between"
)

func columns() []column {
	return []column{byFlags, byVariables, byFile, inFleet, resumed, planned, noTerminal, unreadable, misnamed, changedSince}
}

// cell is what is tried in a column.
type cell struct {
	try  func(a attempt)
	test string // another test that tries it
	none string // why there is nothing to try
}

func none(why string) cell { return cell{none: why} }
func by(test string) cell  { return cell{test: test} }

// guarded is a guard with something to refuse.
type guarded struct {
	// prepare deploys an environment, and makes the change that the guard forbids.
	prepare func(t *testing.T) *environment
	command string // what it refuses, as words
	says    string // instead of a finding with its name, where the command has no events
	// overrides are words after which the command passes.
	overrides []string
	cells     map[column]cell // others than the general ones
}

// attempt is a guard that is tried in one environment.
type attempt struct {
	*testing.T
	guard refusal.Guard
	of    guarded
	e     *environment
}

// entryKey is the key of an entry of the list of guards.
type entryKey struct {
	guard refusal.Guard
	stage refusal.Stage
}

// TestGuards tries every guard of the list in every column. A guard that is new has to say what is tried.
func TestGuards(t *testing.T) {
	t.Parallel()
	all, tests := guardedCases(), namesOfTests(t)
	for _, entry := range refusal.All() {
		key := entryKey{entry.Guard, entry.Stage}
		g, isThere := all[key]
		delete(all, key)
		if !isThere {
			t.Errorf("nothing tries the guard %s (%s)", entry.Guard, entry.Stage)
			continue
		}
		for _, column := range columns() {
			c, ok := g.cell(column)
			filled := 0
			for _, isFilled := range []bool{c.try != nil, c.test != "", c.none != ""} {
				if isFilled {
					filled++
				}
			}
			if !ok || filled != 1 {
				t.Errorf("%s (%s) × %s: the cell is empty", entry.Guard, entry.Stage, column)
			}
			if c.test != "" && !tests[c.test] {
				t.Errorf("%s (%s) × %s: there is no test %s", entry.Guard, entry.Stage, column, c.test)
			}
		}
		if g.prepare == nil {
			continue
		}
		t.Run(fmt.Sprintf("%s,%s", entry.Guard, entry.Stage), func(t *testing.T) {
			t.Parallel()
			long(t)
			e := g.prepare(t)
			a := attempt{t, entry.Guard, g, e}
			a.refuses(a.words())
			for _, column := range columns() { // each leaves everything as it was
				if c, _ := g.cell(column); c.try != nil {
					t.Run(string(column), func(t *testing.T) { c.try(attempt{t, entry.Guard, g, e}) })
				}
			}
			for i, words := range g.overrides {
				if i > 0 {
					e = g.prepare(t)
				}
				attempt{t, entry.Guard, g, e}.passes(words)
			}
		})
	}
	for key := range all {
		t.Errorf("%s (%s) is tried, and not in the list", key.guard, key.stage)
	}
}

// cell returns what is tried in a column: what the guard has for it, or what fits most guards.
func (g guarded) cell(c column) (cell, bool) {
	if own, ok := g.cells[c]; ok {
		return own, true
	}
	general, ok := map[column]cell{
		byFlags: {try: attempt.withFlags}, byVariables: {try: attempt.withVariables}, byFile: {try: attempt.withFile},
		inFleet: {try: attempt.ofFleet}, resumed: {try: attempt.resume}, planned: {try: attempt.plan}, noTerminal: {try: attempt.unasked},
	}[c]
	return general, ok && g.prepare != nil
}

func (a attempt) words() []string { return strings.Fields(a.of.command) }

// refuses runs a command that the guard has to refuse by name.
func (a attempt) refuses(words []string) {
	a.Helper()
	r := a.blocked(words)
	text := r.stdout + r.stderr
	if a.of.says != "" {
		if !strings.Contains(text, a.of.says) {
			a.Errorf("runner %s: exit code %d, and not a word of %q:\n%s%s", strings.Join(words, " "), r.code, a.of.says, lastLines(r.stdout), r.stderr)
		}
		return
	}
	isRefusal := func(e event.Event) bool {
		return e.Finding != nil && e.Finding.Rule == string(a.guard) && e.Finding.Denies()
	}
	if !slices.ContainsFunc(decode(a.T, r.stdout), isRefusal) {
		a.Errorf("runner %s: exit code %d, and no finding of %s:\n%s%s", strings.Join(words, " "), r.code, a.guard, lastLines(r.stdout), r.stderr)
	}
}

// blocked runs a command that must neither succeed nor change anything, whatever stops it.
func (a attempt) blocked(words []string) result {
	a.Helper()
	r := a.changesNothing(words)
	if r.code == 0 {
		a.Errorf("runner %s: the guard %s lets it pass:\n%s%s", strings.Join(words, " "), a.guard, lastLines(r.stdout), r.stderr)
	}
	return r
}

// changesNothing runs a command that must not change anything.
func (a attempt) changesNothing(words []string) result {
	a.Helper()
	before := deployment(a.e)
	r := a.e.run(a.arguments(words)...)
	after := deployment(a.e)
	for name := range before {
		if before[name] != after[name] {
			a.Errorf("runner %s has changed %s", strings.Join(words, " "), name)
		}
	}
	for name := range after {
		if _, ok := before[name]; !ok {
			a.Errorf("runner %s has made %s", strings.Join(words, " "), name)
		}
	}
	return r
}

// passes runs the command with words that override the guard.
func (a attempt) passes(override string) {
	a.Helper()
	words := append(a.words(), strings.Fields(override)...)
	if r := a.e.run(a.arguments(words)...); r.code != 0 {
		a.Errorf("runner %s: exit code %d:\n%s%s", strings.Join(words, " "), r.code, lastLines(r.stdout), r.stderr)
	}
}

// arguments adds what makes a command quick, and its findings readable.
func (a attempt) arguments(words []string) []string {
	words = append(slices.Clone(words), "-o", "json")
	if slices.Contains(words, "--simulate") {
		words = append(words, "--simulate-speed", "100000")
	}
	return words
}

// deployment returns the content of all states and simulated clouds.
func deployment(e *environment) map[string]string {
	dirs := []string{filepath.Join(e.root, ".runner/simulated/state"), filepath.Join(e.root, ".runner/simulated/clouds")}
	for _, variable := range e.env {
		if _, dir, ok := strings.Cut(variable, "=file://"); ok {
			dirs = append(dirs, dir)
		}
	}
	found := map[string]string{}
	for _, dir := range dirs {
		_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.Type().IsRegular() && (strings.Contains(path, "/.pulumi/stacks/") || strings.Contains(path, "/clouds/")) {
				content, _ := os.ReadFile(path)
				found[path] = string(content)
			}
			return nil
		})
	}
	return found
}

// harmless has the flags that change how something is done, or override one guard of several, each with a value.
func harmless() map[string]string {
	return map[string]string{
		"force": "", "why": "", "full": "", "diff": "", "parallel": "2", "parallel-resources": "2", "start-ahead": "2", "on-error": "continue", "retry": "1",
		"message": "because", "no-journal": "", "timeout": "10m", "lock-timeout": "1ms", "profile": "", "report": "out.json", "no-color": "",
		"new": "", "new-backend": "", "unknown-costs": "allow", "unknown-programs": "allow", "on-missing-output": "warn", "allow": "something-else",
		"leave-behind": "", "unknown-age": "keep", "out-of-order": "", "skip-gate": "answers", "log-order": "stream", "ui": "plain", "yes": "",
		"non-interactive": "", "debug": "", "no-values": "",
	}
}

// otherwise says of the other flags why they are not among them.
func otherwise() map[string][]string {
	return map[string][]string{
		"chooses what runs or is destroyed":       {"target", "target-dependents", "replace", "refresh", "only", "skip", "from", "until", "failed", "orphans", "selector", "all", "environments", "total", "affected", "stack", "provider", "root"},
		"has a column of its own":                 {"resume", "resume-changed", "plan", "plan-digest", "config"},
		"is a guard":                              {"auto-approve-if", "max-monthly", "policy-pack"},
		"stores secrets, which none depends on":   {"secret", "generate-secrets"},
		"chooses the clouds, or another Pulumi":   {"simulate", "simulate-speed", "simulate-fail", "simulate-schema", "simulate-slow", "simulate-unknown", "simulate-cluster", "pulumi"},
		"says what a destroy that passes removes": {"remove-stacks", "force-forget"},
		"is used in every try":                    {"output"},
	}
}

// flagsOf returns the flags of a command, from its help.
func flagsOf(e *environment, words []string) []string {
	var command []string
	for _, word := range words {
		if strings.HasPrefix(word, "-") {
			break
		}
		command = append(command, word)
	}
	if len(command) > 1 && command[0] == "fleet" {
		command = command[:2]
	} else {
		command = command[:1]
	}
	help := e.run(append(command, "--help-all")...).stdout
	var names []string
	for _, match := range regexp.MustCompile(`(?m)^ +(?:-\w, )?--([a-z-]+)`).FindAllStringSubmatch(help, -1) {
		names = append(names, match[1])
	}
	return names
}

// others returns the flags of the command that must not let it pass: all that are harmless here.
func (a attempt) others() map[string]string {
	a.Helper()
	overrides := strings.Join(a.of.overrides, " ") + " "
	flags, known := map[string]string{}, slices.Concat(slices.Collect(maps.Values(otherwise()))...)
	names := flagsOf(a.e, a.words())
	if len(names) < 20 {
		a.Fatalf("the help of %v has the flags %v", a.words(), names)
	}
	for _, name := range names {
		value, isHarmless := harmless()[name]
		switch {
		case !isHarmless && !slices.Contains(known, name):
			a.Errorf("--%s is new: say in harmless or otherwise what it means to guards", name)
		case isHarmless && !strings.Contains(overrides, "--"+name+" ") && !slices.Contains(a.words(), "--"+name):
			flags[name] = value
		}
	}
	return flags
}

// withFlags adds every other flag, and takes the protection away for one run.
func (a attempt) withFlags() {
	words := a.words()
	for name, value := range a.others() {
		words = append(words, "--"+name)
		if value != "" {
			words = append(words, value)
		}
	}
	a.refuses(words)
	a.blocked(append(a.words(), "--config", "runner:protect=false"))
}

// withVariables does the same with variables, which scripts and runners of CI set.
func (a attempt) withVariables() {
	a.withEnvironment(a.e.with(a.variables()...)).refuses(a.words())
}

func (a attempt) withEnvironment(e *environment) attempt {
	a.e = e
	return a
}

// variables returns every other flag as a variable.
func (a attempt) variables() []string {
	var variables []string
	for name, value := range a.others() {
		if value == "" {
			value = "true"
		}
		variables = append(variables, "RUNNER_"+strings.ToUpper(strings.ReplaceAll(name, "-", "_"))+"="+value)
	}
	return variables
}

// withFile writes them into the environment file of the repository, and with them what overrides the guard.
func (a attempt) withFile() {
	const file = "config/pulumi/environment"
	before, err := os.ReadFile(filepath.Join(a.e.root, file))
	lines := append(a.variables(), "PULUMI_STACK=dev")
	for _, words := range a.of.overrides {
		for words := strings.Fields(words); len(words) > 0; words = words[1:] {
			name, isFlag := strings.CutPrefix(words[0], "--")
			if !isFlag {
				continue
			}
			value := "true"
			if len(words) > 1 && !strings.HasPrefix(words[1], "--") {
				value = words[1]
			}
			lines = append(lines, "RUNNER_"+strings.ToUpper(strings.ReplaceAll(name, "-", "_"))+"="+value)
		}
	}
	a.e.write(file, strings.Join(lines, "\n")+"\n")
	a.blocked(a.words())
	if err != nil {
		err = os.Remove(filepath.Join(a.e.root, file))
	} else {
		err = os.WriteFile(filepath.Join(a.e.root, file), before, 0o644)
	}
	if err != nil {
		a.Fatal(err)
	}
}

// ofFleet does to a fleet of one environment what the guard refuses.
func (a attempt) ofFleet() {
	words := append([]string{"fleet"}, a.words()...)
	stack := "dev"
	if i := slices.Index(words, "-s"); i > 0 {
		stack, words = words[i+1], slices.Delete(words, i, i+2)
	}
	a.blocked(slices.Insert(words, 2, stack))
}

// resume continues what was refused. There may be nothing to continue.
func (a attempt) resume() {
	if r := a.changesNothing(append(a.words(), "--resume")); r.code == 0 && !strings.Contains(r.stdout, "nothing is left to do") {
		a.Errorf("runner %s --resume: the guard %s lets it pass:\n%s%s", a.of.command, a.guard, lastLines(r.stdout), r.stderr)
	}
}

// plan saves what would happen, and carries that out. A preview may refuse as well.
func (a attempt) plan() {
	words := a.words()
	const file = "matrix.plan.json"
	preview := slices.DeleteFunc(slices.Clone(words[1:]), func(word string) bool { return word == "--yes" })
	preview = append([]string{"preview"}, preview...)
	a.e.run(a.arguments(append(preview, "--save-plan", file))...)
	if _, err := os.Stat(filepath.Join(a.e.root, file)); err == nil {
		a.blocked(append(slices.Clone(words), "--plan", file))
		if err := os.Remove(filepath.Join(a.e.root, file)); err != nil {
			a.Fatal(err)
		}
	}
}

// unasked runs it where nobody can be asked, without --yes.
func (a attempt) unasked() {
	a.blocked(slices.DeleteFunc(a.words(), func(word string) bool { return word == "--yes" }))
}

// damage tries the command with another content of a file, which it brings back.
func damage(file, content string) cell {
	return cell{try: func(a attempt) {
		before := a.e.read(file)
		a.e.write(file, content)
		a.blocked(a.words())
		a.e.write(file, before)
	}}
}

// rename tries the command with another name of a file.
func rename(file, name string) cell {
	return cell{try: func(a attempt) {
		move := func(from, to string) {
			if err := os.Rename(filepath.Join(a.e.root, from), filepath.Join(a.e.root, to)); err != nil {
				a.Fatal(err)
			}
		}
		move(file, name)
		a.blocked(a.words())
		move(name, file)
	}}
}

// namesOfTests returns the names of all tests of the module.
func namesOfTests(t *testing.T) map[string]bool {
	t.Helper()
	names, pattern := map[string]bool{}, regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	err := filepath.WalkDir("../../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		content, err := os.ReadFile(path)
		for _, match := range pattern.FindAllSubmatch(content, -1) {
			names[string(match[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
