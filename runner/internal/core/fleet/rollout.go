package fleet

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
	"k8s.io/apimachinery/pkg/labels"

	"mara/config"
	"mara/config/files"
	"mara/runner/internal/machine/typeset"
)

// RolloutFile has the waves, below the root.
const RolloutFile = "config/rollout.yaml"

// Rollout is what config/rollout.yaml says. The zero Rollout has no waves: all
// environments are equal.
type Rollout struct {
	Waves []Wave
	// PromotionBy is a label: an environment needs only those environments of earlier waves that have the same value
	// of it; "" for all of them.
	PromotionBy string

	partial bool // some of the file could not be read: an environment without a wave may have one
}

// Wave is a group of environments that a change reaches together.
type Wave struct {
	Name  string
	Line  int
	Match string // a selector of labels
	// After are the waves that come before it: the named ones, else the one listed
	// before.
	After []string
	// Parallel is how many of its environments are worked on at once, and
	// MaxFailures how many may fail before nothing new starts.
	Parallel, MaxFailures Share
	Soak                  time.Duration // wait before what comes after it
	Gates                 []Gate        // what has to hold before what comes after it

	afterLine int
	selector  labels.Selector
}

// Share is a number, or a part of all.
type Share struct {
	Number  int
	Percent int // counts where Number is 0
}

// Of resolves the share for a total, rounding a percentage down but never below
// one.
func (s Share) Of(total int) int {
	if s.Percent > 0 {
		return max(1, total*s.Percent/100)
	}
	return s.Number
}

// AtMost resolves a limit of failures for a total, rounding a percentage down,
// possibly to none.
func (s Share) AtMost(total int) int {
	if s.Percent > 0 {
		return total * s.Percent / 100
	}
	return s.Number
}

// Gate is what has to hold after a wave.
type Gate struct {
	Kind     GateKind
	Command  string   // of a Run gate, for a shell
	Words    []string // of a Run gate: the command and its arguments, which no shell reads
	Simulate bool     // it is run in simulations as well
	Text     string   // of an Ask gate: the question
	// Of an Answers gate: the outputs to ask, as patterns of PROJECT/OUTPUT, none for all that look like an
	// address; how long it waits, 0 for the default; and whether it accepts every certificate.
	Outputs        []string
	Within         time.Duration
	AnyCertificate bool
}

// GateKind is a kind of gates.
type GateKind string

// The gates.
const (
	DriftGate   GateKind = "drift"   // nothing differs from the state
	AnswersGate GateKind = "answers" // the applications answer
	RunGate     GateKind = "run"     // a command of the user's succeeds
	AskGate     GateKind = "ask"     // a user confirms
)

// GateKinds lists the kinds of gates.
func GateKinds() []GateKind { return []GateKind{DriftGate, AnswersGate, RunGate, AskGate} }

// String describes the gate.
func (g Gate) String() string {
	switch g.Kind {
	case RunGate:
		return cmp.Or(g.Command, strings.Join(g.Words, " "))
	case AskGate:
		return "a question"
	}
	return strings.Join(append([]string{string(g.Kind)}, g.Outputs...), " ")
}

// Identity distinguishes a gate from others.
func (g Gate) Identity() string {
	return strings.Join(append([]string{string(g.Kind), g.Command, g.Text}, g.Outputs...), "\x00")
}

// ReadRollout reads config/rollout.yaml below a root, and holds it against the
// environments there are. Without the file there are no waves. With an error it
// returns the waves that it can tell, for those who look.
func ReadRollout(root string, all []Environment) (Rollout, error) {
	if err := misnamed(root); err != nil {
		return Rollout{partial: true}, err
	}
	content, err := files.ReadCommitted(filepath.Join(root, RolloutFile), files.Text)
	if errors.Is(err, fs.ErrNotExist) {
		return Rollout{}, nil
	}
	if err != nil {
		return Rollout{}, &config.Error{Problems: []config.Problem{{File: RolloutFile, Text: err.Error()}}}
	}
	d := rolloutDecoder{root: root}
	r := d.decode(content)
	if len(d.problems) == 0 {
		d.check(&r, all)
	}
	if r.partial = len(d.problems) > 0; r.partial {
		selectReadable(r.Waves)
	}
	return r, config.WithProblems(nil, d.problems)
}

// selectReadable makes waves that were not checked match what their labels say.
func selectReadable(waves []Wave) {
	for i := range waves {
		w := &waves[i]
		if selector, err := labels.Parse(w.Match); w.selector == nil && w.Match != "" && err == nil {
			w.selector = selector
		}
	}
}

// misnamed returns an error if the file is there by a name that is not read.
func misnamed(root string) error {
	const elsewhere = "rollout.yaml" // at the root
	problems := config.Unread(root, []string{RolloutFile})
	if _, err := os.Stat(filepath.Join(root, elsewhere)); err == nil {
		problems = append(problems, config.Problem{File: elsewhere, Text: "is not read there; move it to " + RolloutFile})
	}
	return config.WithProblems(nil, problems)
}

// rolloutDecoder collects what is wrong with the file.
type rolloutDecoder struct {
	root          string
	problems      []config.Problem
	promotionLine int
}

func (d *rolloutDecoder) problem(line int, key, format string, args ...any) {
	d.problems = append(d.problems, config.Problem{File: RolloutFile, Line: line, Key: key, Text: fmt.Sprintf(format,
		args...)})
}

func (d *rolloutDecoder) decode(content []byte) Rollout {
	var document yaml.Node
	if err := yaml.Unmarshal(content, &document); err != nil {
		d.problem(0, "", "is not valid YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	var r Rollout
	if len(document.Content) == 0 {
		return r
	}
	d.fields("", document.Content[0], map[string]func(*yaml.Node){"promotion": func(n *yaml.Node) {
		d.fields("promotion", n, map[string]func(*yaml.Node){"by": func(n *yaml.Node) {
			r.PromotionBy, d.promotionLine = n.Value, n.Line
		}})
	}, "waves": func(n *yaml.Node) {
		if n.Kind != yaml.SequenceNode {
			d.problem(n.Line, "waves", "must be a list")
			return
		}
		for _, item := range n.Content {
			r.Waves = append(r.Waves, d.wave(item, r.Waves))
		}
	}})
	return r
}

// fields reads a map that has these keys and no others.
func (d *rolloutDecoder) fields(within string, node *yaml.Node, fields map[string]func(*yaml.Node)) {
	if node.Kind != yaml.MappingNode {
		d.problem(node.Line, within, "must be a map")
		return
	}
	known := slices.Sorted(maps.Keys(fields))
	for i := 0; i+1 < len(node.Content); i += 2 {
		name := node.Content[i]
		if read, ok := fields[name.Value]; ok {
			read(node.Content[i+1])
			continue
		}
		d.problem(name.Line, name.Value, "is not known; there are: %s%s", strings.Join(known, ", "),
			config.DidYouMean(name.Value, known))
	}
}

func (d *rolloutDecoder) wave(node *yaml.Node, before []Wave) Wave {
	w := Wave{Line: node.Line, afterLine: node.Line}
	named := false
	d.fields("waves", node, map[string]func(*yaml.Node){
		"name":        func(n *yaml.Node) { w.Name = n.Value },
		"match":       func(n *yaml.Node) { w.Match = d.match(n) },
		"parallel":    func(n *yaml.Node) { w.Parallel = d.share("parallel", n, 1) },
		"maxFailures": func(n *yaml.Node) { w.MaxFailures = d.share("maxFailures", n, 0) },
		"soak":        func(n *yaml.Node) { w.Soak = d.duration("soak", n) },
		"after":       func(n *yaml.Node) { named, w.afterLine, w.After = true, n.Line, d.words("after", n) },
		"gates":       func(n *yaml.Node) { w.Gates = d.gates(n) },
	})
	if !named && len(before) > 0 {
		w.After = []string{before[len(before)-1].Name}
	}
	switch {
	case config.CheckStackName(w.Name) != nil:
		d.problem(node.Line, "name", "of a wave is missing, or has other characters than letters, digits, hyphens, "+
			"underscores and periods")
	case slices.ContainsFunc(before, func(other Wave) bool { return other.Name == w.Name }):
		d.problem(node.Line, w.Name, "is the name of another wave already")
	case w.Match == "":
		d.problem(node.Line, w.Name, "matches nothing; write which labels it is for, such as match: {stage: prod}")
	}
	return w
}

// match decodes a selector: a map of labels, or a string as kubectl takes it.
func (d *rolloutDecoder) match(node *yaml.Node) string {
	if node.Kind == yaml.ScalarNode {
		return node.Value
	}
	if node.Kind != yaml.MappingNode {
		d.problem(node.Line, "match", "must be a map of labels, or a text such as stage=prod,region!=us-1")
		return ""
	}
	var parts []string
	for i := 0; i+1 < len(node.Content); i += 2 {
		value := node.Content[i+1]
		if value.Kind != yaml.ScalarNode {
			d.problem(value.Line, "match", "must have a text for %s", node.Content[i].Value)
			return ""
		}
		parts = append(parts, node.Content[i].Value+"="+value.Value)
	}
	return strings.Join(parts, ",")
}

func (d *rolloutDecoder) share(key string, node *yaml.Node, least int) Share {
	text, isPercent := strings.CutSuffix(node.Value, "%")
	number, err := strconv.Atoi(text)
	switch {
	case node.Kind != yaml.ScalarNode || err != nil || number < least || isPercent && number > 100:
		d.problem(node.Line, key, "must be a number from %d, or a part such as 10%%", least)
		return Share{}
	case isPercent:
		return Share{Percent: number}
	}
	return Share{Number: number}
}

func (d *rolloutDecoder) duration(key string, node *yaml.Node) time.Duration {
	length, err := time.ParseDuration(node.Value)
	if err != nil || length < 0 {
		d.problem(node.Line, key, "must be a duration such as 30m")
	}
	return length
}

// words reads a text or a list of them.
func (d *rolloutDecoder) words(key string, node *yaml.Node) []string {
	if node.Kind == yaml.ScalarNode && node.Tag != "!!null" {
		return []string{node.Value}
	}
	words := []string{}
	if node.Kind != yaml.SequenceNode {
		d.problem(node.Line, key, "must be a name, or a list of names")
	}
	for _, item := range node.Content {
		words = append(words, item.Value)
	}
	return words
}

// gateForms lists what a gate may be.
const gateForms = "drift, answers, {answers: [PROJECT/OUTPUT]}, {run: COMMAND}, {ask: QUESTION}"

func (d *rolloutDecoder) gates(node *yaml.Node) (gates []Gate) {
	if node.Kind != yaml.SequenceNode {
		d.problem(node.Line, "gates", "must be a list of: %s", gateForms)
		return nil
	}
	for _, item := range node.Content {
		switch kind := GateKind(item.Value); {
		case item.Kind == yaml.MappingNode:
			gates = append(gates, d.gate(item))
		case kind == DriftGate || kind == AnswersGate:
			gates = append(gates, Gate{Kind: kind})
		default:
			all := []string{string(DriftGate), string(AnswersGate)}
			d.problem(item.Line, "gates", "has %q; there are: %s%s", item.Value, gateForms, config.DidYouMean(item.Value, all))
		}
	}
	return gates
}

// gate reads a gate that is a map.
func (d *rolloutDecoder) gate(node *yaml.Node) (g Gate) {
	var kinds []string
	kind := func(k GateKind) { kinds, g.Kind = append(kinds, string(k)), k }
	d.fields("gates", node, map[string]func(*yaml.Node){
		"run": func(n *yaml.Node) {
			if kind(RunGate); n.Kind == yaml.SequenceNode {
				g.Words = d.words("run", n)
			} else {
				g.Command = n.Value
			}
			d.script(n.Line, g)
		},
		"simulate": func(n *yaml.Node) {
			if g.Simulate = n.Value == "true"; !g.Simulate && n.Value != "false" {
				d.problem(n.Line, "simulate", "must be true or false")
			}
		},
		"ask":     func(n *yaml.Node) { kind(AskGate); g.Text = n.Value },
		"answers": func(n *yaml.Node) { kind(AnswersGate); g.Outputs = d.patterns(n) },
		"within":  func(n *yaml.Node) { g.Within = d.duration("within", n) },
		"certificates": func(n *yaml.Node) {
			if g.AnyCertificate = n.Value == "any"; !g.AnyCertificate && n.Value != "valid" {
				d.problem(n.Line, "certificates", "must be valid or any")
			}
		},
	})
	switch {
	case len(kinds) > 1:
		d.problem(node.Line, "gates", "has a map with %s: write one gate for each", strings.Join(kinds, " and "))
	case g.Kind == RunGate && g.String() == "", g.Kind == AskGate && g.Text == "", g.Kind == "":
		d.problem(node.Line, "gates", "has a map without a command, a question or outputs; there are: %s", gateForms)
	case g.Kind != AnswersGate && (g.Within > 0 || g.AnyCertificate):
		d.problem(node.Line, "gates", "has within or certificates, which only answers has")
	}
	return g
}

// script reports a command of the root that is not there: a rollout would hear of it when the wave is deployed.
func (d *rolloutDecoder) script(line int, g Gate) {
	words := g.Words
	if words == nil {
		words = strings.Fields(g.Command)
	}
	if len(words) == 0 || !strings.HasPrefix(words[0], "./") && !strings.HasPrefix(words[0], "../") {
		return
	}
	name := words[0]
	if strings.ContainsAny(name, "$`\"'();&|<>*?[") {
		return // a shell reads it
	}
	switch info, err := os.Stat(filepath.Join(d.root, filepath.FromSlash(name))); {
	case err != nil:
		d.problem(line, "gates", "run %s, and there is no such file below the root", name)
	case info.IsDir():
		d.problem(line, "gates", "run %s, which is a directory", name)
	case info.Mode()&0o111 == 0 && runtime.GOOS != "windows":
		d.problem(line, "gates", "run %s, which is not executable: `chmod +x %s`", name, name)
	}
}

// patterns reads the outputs that a gate asks.
func (d *rolloutDecoder) patterns(node *yaml.Node) []string {
	if node.Tag == "!!null" {
		return nil
	}
	words := d.words("answers", node)
	for _, word := range words {
		if _, err := path.Match(word, ""); err != nil || strings.Count(word, "/") != 1 {
			d.problem(node.Line, "answers", "has %q, which is no PROJECT/OUTPUT; * stands for any characters", word)
		}
	}
	return words
}

// check holds the waves against one another and the environments.
func (d *rolloutDecoder) check(r *Rollout, all []Environment) {
	var names []string
	for i := range r.Waves {
		w := &r.Waves[i]
		for _, name := range w.After {
			if !slices.Contains(names, name) {
				d.problem(w.afterLine, w.Name, "comes after %q, which is no wave that is listed before it%s", name,
					config.DidYouMean(name, names))
			}
		}
		names = append(names, w.Name)
		var err error
		if w.selector, err = Parse(w.Match, all); err != nil {
			d.problem(w.Line, w.Name, "matches nothing: %v", err)
			w.selector = labels.Nothing()
			continue
		}
		if !slices.ContainsFunc(all, w.matches) {
			d.problem(w.Line, w.Name, "matches no environment: none has %s", w.Match)
		}
	}
	d.checkOverlap(r.Waves, all)
	if known := labelNames(all); d.promotionLine > 0 && !slices.Contains(known, r.PromotionBy) {
		d.problem(d.promotionLine, "promotion", "is by %q, which is no label of any environment%s", r.PromotionBy,
			config.DidYouMean(r.PromotionBy, known))
	}
}

// checkOverlap tells of waves that match the same environments, once for two waves.
func (d *rolloutDecoder) checkOverlap(waves []Wave, all []Environment) {
	for i, w := range waves {
		for _, before := range waves[:i] {
			both := Names(before.members(w.members(all)))
			if len(both) == 0 {
				continue
			}
			d.problem(w.Line, w.Name, "matches %s, which wave %s in line %d matches as well; an environment is in one wave",
				typeset.Few(both, 1), before.Name, before.Line)
		}
	}
}

func (w Wave) matches(e Environment) bool {
	return w.selector != nil && w.selector.Matches(labels.Set(e.Labels))
}

func (w Wave) members(all []Environment) []Environment {
	return slices.DeleteFunc(slices.Clone(all), func(e Environment) bool { return !w.matches(e) })
}

// WaveOf returns the wave of an environment; "" without waves. That an environment is in no wave is an error, unless
// the waves could not all be read: then only that is worth an error.
func (r Rollout) WaveOf(e Environment) (Wave, error) {
	for _, w := range r.Waves {
		if w.matches(e) {
			return w, nil
		}
	}
	if len(r.Waves) == 0 || r.partial {
		return Wave{}, nil
	}
	return Wave{}, &config.Error{
		Problems: []config.Problem{{File: e.File, Text: fmt.Sprintf("%s is in no wave of %s: its labels are %s", e.Stack,
			RolloutFile, labels.Set(e.Labels))}},
		Next: "give it a label that a wave matches, or add a wave",
	}
}

// AddBefore adds the names of all waves that come before a wave.
func (r Rollout) AddBefore(w Wave, names map[string]bool) {
	for _, before := range r.Waves {
		if slices.Contains(w.After, before.Name) && !names[before.Name] {
			names[before.Name] = true
			r.AddBefore(before, names)
		}
	}
}

// Before returns the environments of earlier waves that have to be up to date before the chosen environments are
// rolled out. With a label of promotion, an environment needs the environments that have the same value of the label
// or do not have the label; it needs the whole wave if the wave has no such environment.
func (r Rollout) Before(chosen, all []Environment) []Environment {
	needed := map[string]bool{}
	for _, c := range chosen {
		w, err := r.WaveOf(c)
		if err != nil {
			continue
		}
		names := map[string]bool{}
		r.AddBefore(w, names)
		for _, before := range r.Waves {
			if names[before.Name] {
				for _, e := range r.promoting(c, before, all) {
					needed[e.Stack] = true
				}
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(e Environment) bool { return !needed[e.Stack] })
}

// promoting returns the environments of a wave that have to be up to date before an environment.
func (r Rollout) promoting(to Environment, w Wave, all []Environment) []Environment {
	members := w.members(all)
	value, ok := to.Labels[r.PromotionBy]
	if r.PromotionBy == "" || !ok {
		return members
	}
	isSame := func(e Environment) bool { return e.Labels[r.PromotionBy] == value }
	if !slices.ContainsFunc(members, isSame) {
		return members
	}
	return slices.DeleteFunc(members, func(e Environment) bool {
		_, has := e.Labels[r.PromotionBy]
		return has && !isSame(e)
	})
}
