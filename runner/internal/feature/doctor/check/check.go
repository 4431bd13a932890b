// Package check judges what files alone tell of a root and its environments: without an engine, a backend, a
// passphrase, an account or the network.
package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mara/config"
	"mara/config/lists"
	"mara/projects/model/operation"
	"mara/runner/internal/core/catalogue"
	"mara/runner/internal/core/fleet"
	"mara/runner/internal/core/layers"
	"mara/runner/internal/core/session"
	"mara/runner/internal/feature/policy"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/parallel"
	"mara/runner/internal/machine/typeset"
)

// Kind names what a finding is about.
type Kind string

// The kinds of findings.
const (
	Configuration Kind = "configuration"
	Variables     Kind = "variables"
	Projects      Kind = "projects"
	Outputs       Kind = "outputs"
	Rollout       Kind = "rollout"
	Policies      Kind = "policies"
	Queries       Kind = "queries"
	Prices        Kind = "prices"
	Ports         Kind = "ports"
	Git           Kind = "git"
)

// Summaries returns a sentence for each kind of finding.
func Summaries() map[string]string {
	return map[string]string{
		string(Configuration): "The values of an environment fit the keys that its projects declare, and one another.",
		string(Variables):     "The environment file sets variables that exist.",
		string(Projects):      "mara.yaml, the projects and the hooks in it are there and valid.",
		string(Outputs):       "Programs in Pulumi YAML read outputs that are exported.",
		string(Rollout):       "config/rollout.yaml fits the labels of the environments.",
		string(Policies):      "Policy rules and their settings are valid.",
		string(Queries):       "Queries are valid.",
		string(Prices):        "The price sheet is valid.",
		string(Ports):         "Environments on this machine have ports of their own.",
		string(Git):           "Git has the files that are read, and no secrets.",
	}
}

// Finding is something wrong, or doubtful.
type Finding struct {
	config.Problem
	Kind         Kind
	Doubt        bool     // it may be right: a warning
	Environments []string // it was found in; nil if it is about the root
}

// Options say what to check.
type Options struct {
	session.Options
	Broken  error           // what is wrong with the environment file or mara.yaml
	Chosen  fleet.Selection // of environments
	Secrets bool            // missing secrets are errors
}

// Environment is a checked environment.
type Environment struct {
	Name    string   `json:"environment"`
	Missing []string `json:"missing_secrets,omitempty"` // secrets that are not set where the check runs
}

// Result is what a check has found.
type Result struct {
	Environments []Environment
	Findings     []Finding
}

// Problems returns the findings that are no doubts.
func (r Result) Problems() []Finding {
	return slices.DeleteFunc(slices.Clone(r.Findings), func(f Finding) bool { return f.Doubt })
}

// Run checks a root and the chosen environments.
func Run(ctx context.Context, d session.Deps, o Options) (Result, error) {
	if o.Root == "" {
		return Result{}, o.NoRoot
	}
	found := list{root: o.Root}
	found.add(Root(ctx, d, o.Options, o.Broken)...)
	view, err := o.View(o.Chosen)
	if err != nil && view.Err == nil { // the selection is wrong
		return Result{}, err
	}
	found.addError(Configuration, nil, view.Err)
	for _, doubt := range view.Doubts {
		found.add(Finding{Problem: doubt, Kind: Configuration, Doubt: true})
	}
	if len(view.Chosen) == 0 && view.Err == nil && o.Broken == nil {
		if !o.Chosen.IsEmpty() {
			return Result{}, &failure.Usage{Text: "there are no environments here: no stack file was found",
				Next: "name them in " + config.MaraFile + ", as in  environments: [dev, prod]"}
		}
		for _, problem := range o.Known().Broken() { // which otherwise each environment reports
			found.add(Finding{Problem: problem, Kind: Configuration})
		}
		found.add(nothingChecked(o.Known()))
	}
	if o.Chosen.IsEmpty() && view.Err == nil { // else a broken environment may import any layer
		var imported []string
		for _, e := range view.Chosen {
			imported = append(imported, e.Layers...)
		}
		for _, doubt := range layers.Unused(o.Root, imported) {
			found.add(Finding{Problem: doubt, Kind: Configuration, Doubt: true})
		}
	}
	if o.Chosen.IsEmpty() && len(view.Chosen) > 0 {
		names := lists.Map(view.Chosen, func(e fleet.Environment) string { return e.Stack })
		found.add(conditions(o, names)...)
		rules, _ := policy.Load(o.Root) // Root has reported its error
		for _, doubt := range rules.Nowhere(names) {
			found.add(Finding{Problem: doubt, Kind: Policies, Doubt: true})
		}
	}
	if o.Catalogue == nil && o.Broken != nil { // without mara.yaml, nothing declares the keys
		all := lists.Map(view.Chosen, func(e fleet.Environment) Environment { return Environment{Name: e.Stack} })
		return Result{Environments: all, Findings: found.all}, nil
	}
	var result Result
	isBroken := func(e fleet.Environment) bool { return view.Broken[e.Stack] != nil }
	readable := slices.DeleteFunc(slices.Clone(view.Chosen), isBroken)
	checked, err := parallel.Each(ctx, readable, func(ctx context.Context, e fleet.Environment) (environment, error) {
		return checkEnvironment(ctx, d, o, e)
	})
	if err != nil {
		return Result{}, err
	}
	for i, c := range checked {
		_, waveErr := view.Waves.WaveOf(readable[i])
		found.addError(Rollout, []string{c.Name}, waveErr)
		found.add(c.findings...)
		result.Environments = append(result.Environments, c.Environment)
	}
	found.add(samePorts(checked)...)
	found.add(sameClusters(checked)...)
	slices.SortStableFunc(found.all, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	result.Findings = found.all
	return result, nil
}

// nothingChecked is the finding of a root without an environment: with projects of its own, a check of nothing is not a
// success.
func nothingChecked(known catalogue.Catalogue) Finding {
	text := "no environment was checked: no stack file was found, and no list of environments; name them in mara.yaml, as in  environments: [dev, prod]"
	return Finding{Problem: config.Problem{File: known.File, Text: text}, Kind: Configuration, Doubt: known.File == ""}
}

// environment is a checked environment with what later checks compare.
type environment struct {
	Environment
	findings []Finding
	ports    []port
	cluster  sharing
}

// checkEnvironment checks one environment as an operation would.
func checkEnvironment(
	ctx context.Context, d session.Deps, o Options, e fleet.Environment,
) (checked environment, err error) {
	one := o.Of(e.Stack)
	one.Interactive = false // do not ask for missing values
	s, invalid := session.ResolveToOperate(d, session.Options{Request: one, Operation: operation.Up, NeedSecrets: o.Secrets})
	defer func() { err = errors.Join(err, s.Close()) }()
	found := list{root: o.Root}
	checked.Name = e.Stack
	in := []string{e.Stack}
	found.addError(Configuration, in, invalid)
	found.namesFile(e.File)
	for _, file := range stackFiles(s) {
		for _, problem := range file.CheckHeader() {
			found.add(Finding{Problem: problem, Kind: Configuration, Environments: in})
		}
	}
	for _, doubt := range s.Doubts {
		found.add(Finding{Problem: doubt, Kind: Configuration, Doubt: true, Environments: in})
	}
	found.add(accepted(s, in)...)
	if s.Vault != nil {
		for _, doubt := range s.Vault.Demanded() {
			found.add(Finding{Problem: doubt, Kind: Configuration, Doubt: true, Environments: in})
		}
	}
	if s.Vault != nil && !o.Secrets {
		for _, m := range s.Vault.Missing() {
			if m.IsPlain {
				found.add(Finding{Problem: m.Problem(), Kind: Configuration, Environments: in})
			} else {
				checked.Missing = append(checked.Missing, m.Secret.Key)
			}
		}
	}
	found.add(otherVariables(s, in)...)
	found.add(programs(s)...)
	if len(s.Plan.Steps) > 0 {
		missing, err := MissingOutputs(ctx, s)
		if err != nil {
			return checked, err
		}
		for _, m := range missing {
			problem := config.Problem{File: m.File, Line: m.Line, Text: m.Text()}
			found.add(Finding{Problem: problem, Kind: Outputs, Environments: in})
		}
		found.add(lists.Map(takenPlaces(s), func(t taken) Finding { return t.Finding })...)
		checked.ports, checked.cluster = portsOf(s), sharingOf(s)
		for _, problem := range shrunkVolumes(s) {
			found.add(Finding{Problem: problem, Kind: Configuration, Environments: in})
		}
	}
	checked.findings = found.all
	return checked, nil
}

// stackFiles returns the stack files of an environment: the shared one, that of the secrets, and those next to projects.
func stackFiles(s *session.Resolved) []config.StackFile {
	all := []config.StackFile{s.Settings.Config.Own(), s.Settings.Secrets}
	for _, project := range s.Provider.Own() {
		if beside, err := catalogue.Beside(s.Settings.Root, s.Settings.Stack.Text, project); err == nil && beside.Exists {
			all = append(all, beside)
		}
	}
	return all
}

// accepted doubts keys that are accepted, and that are neither set nor declared.
func accepted(s *session.Resolved, in []string) (found []Finding) {
	entry, _ := s.Settings.Config.Lookup(config.AcceptKey)
	list, _ := entry.Value.([]any)
	declared := lists.Map(s.Options.DeclaredKeys(), func(k config.Key) string { return k.Name })
	for _, item := range list {
		name, isText := item.(string)
		if _, isSet := s.Settings.Config.Lookup(name); !isText || isSet || slices.Contains(declared, name) {
			continue
		}
		problem := s.Settings.Config.Problem(config.AcceptKey, fmt.Sprintf("names %q, which is no key%s", name, config.DidYouMean(name, declared)))
		found = append(found, Finding{Problem: problem, Kind: Configuration, Doubt: true, Environments: in})
	}
	return found
}

// otherVariables doubts variables of the environment file that say something else than the keys for which they stand.
func otherVariables(s *session.Resolved, in []string) (found []Finding) {
	for _, v := range s.Options.Sources.File.Variables() {
		key, ok := lists.Find(s.Options.DeclaredKeys(), func(k config.Key) bool { return slices.Contains(k.Variables, v.Name) })
		entry, isSet := s.Settings.Config.Lookup(key.Name)
		text, isText := entry.Value.(string)
		if !ok || !isSet || !isText || v.Value == "" || v.Value == text {
			continue
		}
		found = append(found, Finding{Kind: Variables, Doubt: true, Environments: in, Problem: config.Problem{
			File: config.EnvironmentFile, Line: v.Line, Key: v.Name,
			Text: fmt.Sprintf("is %q, but %s is %q in %s; write one of them", v.Value, key.Name, text, s.Settings.Config.Problem(key.Name, "").File),
		}})
	}
	return found
}

// list collects findings. A finding of several environments is there once.
type list struct {
	root string
	all  []Finding
}

func (l *list) add(findings ...Finding) {
	for _, f := range findings {
		isSame := func(other Finding) bool { return other.Problem == f.Problem && other.Doubt == f.Doubt }
		at := slices.IndexFunc(l.all, isSame)
		if at < 0 {
			l.all = append(l.all, f)
			continue
		}
		for _, e := range f.Environments {
			if !slices.Contains(l.all[at].Environments, e) {
				l.all[at].Environments = append(l.all[at].Environments, e)
			}
		}
	}
}

// namesFile gives the file of an environment to problems that name the flag with which commands say the same: a check
// has no such flag.
func (l *list) namesFile(file string) {
	for i := range l.all {
		if text, isFlag := strings.CutPrefix(l.all[i].Text, "--provider: "); isFlag && l.all[i].File == "" {
			l.all[i].File, l.all[i].Text = file, text+"; write  "+config.InfraType+": NAME  below config"
		}
	}
}

// addError adds the problems of an error.
func (l *list) addError(kind Kind, environments []string, err error) {
	var several *config.Error
	switch {
	case err == nil:
	case errors.As(err, &several):
		for i, p := range several.Problems {
			if several.Next != "" && !strings.HasPrefix(several.Next, "--") && i == len(several.Problems)-1 { // a check has no such flags
				p.Text += "; " + several.Next
			}
			l.add(Finding{Problem: p, Kind: kindOf(kind, p), Environments: environments})
		}
	default:
		for line := range strings.Lines(err.Error()) {
			p := placed(l.root, strings.TrimSpace(line))
			l.add(Finding{Problem: p, Kind: kindOf(kind, p), Environments: environments})
		}
	}
}

// kindOf returns the kind of a problem by its file.
func kindOf(kind Kind, p config.Problem) Kind {
	switch p.File {
	case config.MaraFile:
		return Projects
	case fleet.RolloutFile:
		return Rollout
	case config.EnvironmentFile:
		return Variables
	}
	return kind
}

// place matches how errors begin that name a file and perhaps a line in it.
var place = regexp.MustCompile(`^([^:]+\.(?:ya?ml|jq)):(?:(\d+):|(?: line (\d+)(?:, column \d+)?:))?\s*(.*)$`)

// placed returns the problem that a line of an error's text describes; files are below the root.
func placed(root, text string) config.Problem {
	match := place.FindStringSubmatch(text)
	if match == nil {
		return config.Problem{Text: text}
	}
	line, _ := strconv.Atoi(cmp.Or(match[2], match[3], "0"))
	file := strings.TrimPrefix(strings.TrimPrefix(match[1], root), "/")
	return config.Problem{File: file, Line: line, Text: match[4]}
}

// Level returns "warning" for a doubt, and "error" otherwise.
func (f Finding) Level() string {
	if f.Doubt {
		return "warning"
	}
	return "error"
}

// Message returns the finding without its place, with the environments in which it was found.
func (f Finding) Message() string {
	text := config.Problem{Key: f.Key, Text: f.Text}.String() + f.HowToAccept()
	switch n := len(f.Environments); n {
	case 0:
		return text
	case 1:
		return fmt.Sprintf("%s (in %s)", text, f.Environments[0])
	default:
		return fmt.Sprintf("%s (in %s)", text, typeset.Counted(n, "environment"))
	}
}

// String describes the finding in one line, as compilers do: file:line: warning: message.
func (f Finding) String() string {
	where := cmp.Or(f.File, "mara")
	if f.Line > 0 {
		where = fmt.Sprintf("%s:%d", where, f.Line)
	}
	return fmt.Sprintf("%s: %s: %s", where, f.Level(), f.Message())
}
