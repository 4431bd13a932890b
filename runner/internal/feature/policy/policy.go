// Package policy checks what an up would do, or what is deployed, against rules in jq.
// It is pure.
package policy

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"mara/config"
	"mara/config/lists"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/query"
	"mara/runner/internal/machine/failure"
)

// Directory has the rules of a root and SettingsFile.
const Directory = "policies"

// Level is the severity of a finding.
type Level string

// The levels.
const (
	Deny Level = "deny" // forbids the operation
	Warn Level = "warn"
	Off  Level = "off"
)

//go:embed rules/*.jq
var shipped embed.FS

//go:embed library.jq
var library string

// Rule is a file with the functions deny and warn, or one of them. Each returns findings:
// strings, or objects with a message and the fields that the function finding adds.
type Rule struct {
	Name    string `json:"name"`
	Summary string `json:"summary"`
	File    string `json:"file,omitempty"` // "" for a shipped rule
	On      bool   `json:"on"`

	source    string
	functions map[Level]*query.Query
}

// Set has the rules of a root and their settings.
type Set struct {
	Rules    []Rule
	settings settings
}

// Finding is a result of a rule.
type Finding struct {
	Rule    string `json:"rule"`
	Level   Level  `json:"level"`
	Message string `json:"message"`
	Project string `json:"project,omitempty"`
	Type    string `json:"type,omitempty"`
	Name    string `json:"name,omitempty"`
	URN     string `json:"urn,omitempty"`
	// Exception is the reason why the finding is ignored.
	Exception string `json:"exception,omitempty"`
}

// String describes the finding and its place.
func (f Finding) String() string {
	text := f.Rule + ": "
	if where := strings.TrimSpace(f.Project + " " + f.Type + " " + f.Name); where != "" {
		text += where + ": "
	}
	return text + f.Message
}

// Event converts the finding for events and reports.
func (f Finding) Event() event.Finding {
	return event.Finding{
		Rule: f.Rule, Level: string(f.Level), Message: f.Message, Project: f.Project,
		Resource: event.Resource{Type: f.Type, Name: f.Name}, URN: f.URN, Exception: f.Exception,
	}
}

// RuleError says that a rule could not be applied.
type RuleError struct {
	Rule string
	File string // below the root; "" for a shipped rule
	Err  error
}

// Error names the rule.
func (e *RuleError) Error() string { return fmt.Sprintf("the rule %s: %v", e.Rule, e.Err) }

// Unwrap returns the cause.
func (e *RuleError) Unwrap() error { return e.Err }

// below returns the file of a rule relative to the root, or "" for a shipped rule.
func (r Rule) below() string {
	if r.File == "" {
		return ""
	}
	return Directory + "/" + filepath.Base(r.File)
}

// Load reads the shipped rules and the rules of a root. Its error, a *failure.Environment,
// lists all problems with file and line.
func Load(root string) (Set, error) {
	set, err := load(root)
	if err != nil {
		err = &failure.Environment{Text: err.Error(), Next: "docs/policies.md says how rules are written"}
	}
	return set, err
}

func load(root string) (Set, error) {
	var set Set
	errs := unread(root)
	files, err := query.Files(filepath.Join(root, Directory), shipped, "rules")
	errs = append(errs, err)
	for _, file := range files {
		if file.Err != nil {
			errs = append(errs, file.Err)
			continue
		}
		set.Rules = append(set.Rules, Rule{Name: file.Name, Summary: summary(file.Source), File: file.Path,
			On: file.Path != "", source: file.Source})
	}
	set.settings, err = readSettings(root, set.names())
	errs = append(errs, err)
	for i := range set.Rules {
		rule := &set.Rules[i]
		if rule.On = rule.On || set.settings.uses(rule.Name); rule.On {
			errs = append(errs, rule.compile())
		}
	}
	return set, errors.Join(errs...)
}

// unread returns errors about rules and settings that would not apply because their files have other names.
func unread(root string) (errs []error) {
	if root == "" {
		return nil
	}
	problems := config.Unread(root, []string{Directory + "/", SettingsFile}, ".jq", ".yaml", ".yml")
	for _, p := range append(problems, config.UnreadIn(root, Directory, ".jq")...) {
		errs = append(errs, errors.New(p.String()))
	}
	return errs
}

func (s Set) names() []string { return lists.Map(s.Rules, func(r Rule) string { return r.Name }) }

// Active reports whether any rule is on.
func (s Set) Active() bool { return slices.ContainsFunc(s.Rules, func(r Rule) bool { return r.On }) }

// summary returns the first comment of a rule.
func summary(source string) string {
	line, _, _ := strings.Cut(source, "\n")
	if text, ok := strings.CutPrefix(line, "#"); ok {
		return strings.TrimSpace(text)
	}
	return ""
}

// compile compiles the functions of a rule.
func (r *Rule) compile() error {
	r.functions = map[Level]*query.Query{}
	for _, level := range []Level{Deny, Warn} {
		function, err := query.CompileFunction(r.source, string(level), library)
		if err != nil {
			return fmt.Errorf("%s: %w", r.File, err)
		}
		if function != nil {
			r.functions[level] = function
		}
	}
	if len(r.functions) == 0 {
		return fmt.Errorf("%s: a rule defines deny or warn: `def deny: steps | select(.op == \"delete\") | finding(\"is "+
			"deleted\");`", r.File)
	}
	return nil
}

// Judge runs the enabled rules. document is a document of package updateplan as jq input.
func (s Set) Judge(ctx context.Context, document any, target Target, now time.Time) ([]Finding, error) {
	var findings []Finding
	for _, rule := range s.Rules {
		if !rule.On {
			continue
		}
		for _, level := range []Level{Deny, Warn} {
			function := rule.functions[level]
			if function == nil {
				continue
			}
			results, err := function.Run(ctx, document)
			if err != nil {
				return nil, &RuleError{rule.Name, rule.below(), err}
			}
			for _, result := range results {
				finding, err := newFinding(rule.Name, level, result)
				if err != nil {
					return nil, &RuleError{rule.Name, rule.below(), err}
				}
				findings = append(findings, finding)
			}
		}
	}
	return s.settings.apply(findings, target, now), nil
}

func newFinding(rule string, level Level, result any) (Finding, error) {
	finding := Finding{Rule: rule, Level: level}
	switch result := result.(type) {
	case string:
		finding.Message = result
	case map[string]any:
		for field, target := range map[string]*string{
			"message": &finding.Message, "project": &finding.Project, "type": &finding.Type, "name": &finding.Name,
			"urn": &finding.URN,
		} {
			*target, _ = result[field].(string)
		}
	}
	if finding.Message == "" {
		return finding, fmt.Errorf("a finding is a string, or an object with a message, not %s", query.Cell(result))
	}
	return finding, nil
}

// Denied returns the findings that forbid the operation.
func Denied(findings []Finding) []Finding {
	return slices.DeleteFunc(slices.Clone(findings), func(f Finding) bool { return f.Level != Deny || f.Exception != "" })
}

// matches reports whether a string matches a pattern, in which * matches anything.
func matches(pattern, text string) bool {
	expression := "^" + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*") + "$"
	return regexp.MustCompile(expression).MatchString(text)
}
