package policy

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
	"k8s.io/apimachinery/pkg/labels"

	"mara/config"
	"mara/config/files"
	"mara/runner/internal/feature/policy/strictyaml"
)

// SettingsFile configures which rules apply, and how.
const SettingsFile = config.PolicyFile

// settings are the content of SettingsFile.
type settings struct {
	Use        []use             `yaml:"use"` // enabled shipped rules
	Levels     map[string]levels `yaml:"levels"`
	Exceptions []exception       `yaml:"exceptions"`
}

// use is the name of an enabled rule.
type use struct {
	rule string
	line int
}

// UnmarshalYAML records the line.
func (u *use) UnmarshalYAML(node *yaml.Node) error {
	u.line = node.Line
	return node.Decode(&u.rule)
}

// uses reports whether a rule is enabled.
func (s settings) uses(rule string) bool {
	return slices.ContainsFunc(s.Use, func(u use) bool { return u.rule == rule })
}

// levels are the levels of a rule, by patterns of stack names, in which * matches anything,
// or by label selectors, such as stage=prod; "default" is for all other environments.
type levels struct {
	of   map[string]Level
	line int
}

// Target is the environment of a document.
type Target struct {
	Stack  string
	Labels map[string]string // of the environment
}

// selectorOf parses a pattern as a label selector. It returns nil for a pattern of names,
// which cannot contain these characters.
func selectorOf(pattern string) (labels.Selector, error) {
	if !strings.ContainsAny(pattern, "=!(") {
		return nil, nil
	}
	return labels.Parse(pattern)
}

// UnmarshalYAML also accepts a single level for all stacks.
func (l *levels) UnmarshalYAML(node *yaml.Node) error {
	l.line = node.Line
	if node.Kind == yaml.ScalarNode {
		l.of = map[string]Level{"default": Level(node.Value)}
		return checkLevel(node, "default", Level(node.Value))
	}
	if err := node.Decode(&l.of); err != nil {
		return err
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if err := checkLevel(node.Content[i], node.Content[i].Value, Level(node.Content[i+1].Value)); err != nil {
			return err
		}
	}
	return nil
}

// checkLevel validates a level and its pattern. Its error has the line of the node.
func checkLevel(at *yaml.Node, pattern string, level Level) error {
	if _, err := selectorOf(pattern); err != nil {
		return fmt.Errorf("line %d: %q is not a label selector: %w", at.Line, pattern, err)
	}
	if level != Deny && level != Warn && level != Off {
		return fmt.Errorf("line %d: %q is not a level; choose deny, warn or off", at.Line, level)
	}
	return nil
}

// exception ignores findings until a date.
type exception struct {
	Rule     string `yaml:"rule"`
	Resource string `yaml:"resource"` // "project type name", in which * matches anything
	Stack    string `yaml:"stack"`    // "" for all
	Reason   string `yaml:"reason"`
	Until    string `yaml:"until"` // the last day: 2027-01-31

	line int
	end  time.Time
}

// UnmarshalYAML keeps the line.
func (e *exception) UnmarshalYAML(node *yaml.Node) error {
	type plain exception
	known := []string{"rule", "resource", "stack", "reason", "until"}
	for i := 0; i < len(node.Content); i += 2 {
		if name := node.Content[i]; !slices.Contains(known, name.Value) {
			near := cmp.Or(config.DidYouMean(name.Value, known), "; it has "+strings.Join(known, ", "))
			return fmt.Errorf("line %d: an exception has no field %q%s", name.Line, name.Value, near)
		}
	}
	if err := node.Decode((*plain)(e)); err != nil {
		return err
	}
	e.line = node.Line
	return nil
}

// Doubts returns what is in the settings without an effect: exceptions that have expired, and those for rules that are off.
func (s Set) Doubts(now time.Time) (doubts []config.Problem) {
	add := func(e exception, format string, args ...any) {
		doubts = append(doubts, config.Problem{File: SettingsFile, Line: e.line, Text: fmt.Sprintf(format, args...)})
	}
	isOn := func(name string) bool {
		return slices.ContainsFunc(s.Rules, func(r Rule) bool { return r.Name == name && r.On })
	}
	for _, e := range s.settings.Exceptions {
		switch {
		case !e.end.IsZero() && now.After(e.end):
			add(e, "the exception for %s expired on %s; remove it, or give it another day", e.Rule, e.Until)
		case !isOn(e.Rule):
			add(e, "the exception is for %s, which is not in use; add the rule to use, or remove the exception", e.Rule)
		case !strings.Contains(e.Resource, "*") && len(strings.Fields(e.Resource)) < 3:
			add(e, `the exception for %s is for "%s", which no resource is called: write project, type and name, such as "aws-vpc aws:ec2/* *"`,
				e.Rule, e.Resource)
		}
	}
	for _, rule := range slices.Sorted(maps.Keys(s.settings.Levels)) {
		if !isOn(rule) && slices.ContainsFunc(s.Rules, func(r Rule) bool { return r.Name == rule }) {
			add(exception{line: s.settings.Levels[rule].line}, "levels has %s, which is not in use; add the rule to use, or remove its level", rule)
		}
	}
	return doubts
}

// Nowhere returns the stacks in the settings that are no environments: exceptions with a whole name, and levels with one
// that is nearly an environment's.
func (s Set) Nowhere(environments []string) (doubts []config.Problem) {
	add := func(line int, format string, args ...any) {
		doubts = append(doubts, config.Problem{File: SettingsFile, Line: line, Text: fmt.Sprintf(format, args...)})
	}
	isThere := func(pattern string) bool {
		return slices.ContainsFunc(environments, func(name string) bool { return matches(pattern, name) })
	}
	for _, e := range s.settings.Exceptions {
		if e.Stack != "" && !strings.Contains(e.Stack, "*") && !isThere(e.Stack) {
			add(e.line, "the exception for %s is for the stack %s, and there is no such environment%s", e.Rule, e.Stack,
				config.DidYouMean(e.Stack, environments))
		}
	}
	for _, rule := range slices.Sorted(maps.Keys(s.settings.Levels)) {
		of := s.settings.Levels[rule]
		for _, pattern := range slices.Sorted(maps.Keys(of.of)) {
			meant := config.DidYouMean(pattern, environments)
			if selector, _ := selectorOf(pattern); selector == nil && pattern != "default" && meant != "" && !isThere(pattern) {
				add(of.line, "the levels of %s name the stack %s, and there is no such environment%s", rule, pattern, meant)
			}
		}
	}
	return doubts
}

// check validates an exception.
func (e *exception) check(rules []string) error {
	missing := func(what string) error { return fmt.Errorf("line %d: an exception needs %s", e.line, what) }
	switch {
	case e.Rule == "":
		return missing("the name of a rule")
	case !slices.Contains(rules, e.Rule):
		return unknownRule(e.Rule, e.line, rules)
	case e.Resource == "":
		return missing(`a resource, such as "aws-vpc aws:ec2/* *"`)
	case e.Reason == "":
		return missing("a reason")
	case e.Until == "":
		return missing("an end date, such as until: 2027-01-31")
	}
	day, err := time.Parse(time.DateOnly, e.Until)
	if err != nil {
		return fmt.Errorf("line %d: %q is not a date; write it as 2027-01-31", e.line, e.Until)
	}
	e.end = day.AddDate(0, 0, 1)
	return nil
}

func unknownRule(name string, line int, rules []string) error {
	near := cmp.Or(config.DidYouMean(name, rules), "; there are "+strings.Join(rules, ", "))
	return fmt.Errorf("line %d: there is no rule %q%s", line, name, near)
}

// readSettings reads SettingsFile below a root, if it exists.
func readSettings(root string, rules []string) (settings, error) {
	var s settings
	path := filepath.Join(root, filepath.FromSlash(SettingsFile))
	content, err := files.ReadCommitted(path, files.Text)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	if err := strictyaml.Decode(path, content, &s); err != nil {
		return s, err
	}
	var errs []error
	for _, u := range s.Use {
		if !slices.Contains(rules, u.rule) {
			errs = append(errs, unknownRule(u.rule, u.line, rules))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Levels)) {
		if !slices.Contains(rules, name) {
			errs = append(errs, unknownRule(name, s.Levels[name].line, rules))
		}
	}
	for i := range s.Exceptions {
		errs = append(errs, s.Exceptions[i].check(rules))
	}
	if err := errors.Join(errs...); err != nil {
		return s, strictyaml.Errors(path, err)
	}
	return s, nil
}

// apply sets the levels that are configured for the stack, and marks findings with an
// exception. An expired exception is mentioned in the message.
func (s settings) apply(findings []Finding, target Target, now time.Time) []Finding {
	var applied []Finding
	for _, f := range findings {
		if f.Level = s.levelOf(f, target); f.Level == Off {
			continue
		}
		for _, e := range s.Exceptions {
			if e.Rule != f.Rule || e.Stack != "" && !matches(e.Stack, target.Stack) ||
				!matches(e.Resource, f.Project+" "+f.Type+" "+f.Name) {
				continue
			}
			if now.Before(e.end) {
				f.Exception = fmt.Sprintf("%s (until %s)", e.Reason, e.Until)
				break
			}
			f.Message += fmt.Sprintf("; its exception (%s) expired on %s", e.Reason, e.Until)
		}
		applied = append(applied, f)
	}
	return applied
}

// levelOf returns the level of a finding: of the longest matching pattern of names, else of
// the longest matching label selector, else the default, else the rule's own.
func (s settings) levelOf(f Finding, target Target) Level {
	const named = 1000 // longer than any selector
	level, longest := f.Level, -1
	for pattern, l := range s.Levels[f.Rule].of {
		weight := -1
		selector, _ := selectorOf(pattern) // checkLevel has parsed it
		switch {
		case pattern == "default":
			weight = 0
		case selector != nil && selector.Matches(labels.Set(target.Labels)):
			weight = len(pattern)
		case selector == nil && matches(pattern, target.Stack):
			weight = named + len(pattern)
		}
		if weight > longest {
			level, longest = l, weight
		}
	}
	return level
}
