package event

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Finding is what a guard has found: a rule of the root, the protection of an
// environment or a limit of costs.
type Finding struct {
	Rule     string   `json:"rule"`  // its name, or that of a refusal.Guard which is no rule
	Level    string   `json:"level"` // LevelDeny or LevelWarn
	Message  string   `json:"message"`
	Project  string   `json:"project,omitempty"`
	Resource Resource `json:"resource,omitzero"`
	URN      string   `json:"urn,omitempty"`
	// File is where the resource, its project or its environment is declared: a path
	// in the git repository, or below the root where there is none. Line counts from 1.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	// Property is the path of a value that is not the planned one, and Planned and Now are
	// both values as they are printed, or what happens to the resource.
	Property string `json:"property,omitempty"`
	Planned  string `json:"planned,omitempty"`
	Now      string `json:"now,omitempty"`
	// Exception is the reason why the finding counts for nothing.
	Exception string `json:"exception,omitempty"`
}

// The levels of findings.
const (
	LevelDeny = "deny" // it forbids the up
	LevelWarn = "warn"
)

// RuleUnmarked is the rule of a value that looks like a secret, and that its program does not mark as one.
const RuleUnmarked = "unmarked-secret"

// RuleLoss is the rule of a resource that a preview would replace or delete; in reports alone.
const RuleLoss = "loss"

// Denies reports whether the finding forbids what was asked for.
func (f Finding) Denies() bool { return f.Level == LevelDeny && f.Exception == "" }

// Verdict says in a word what the finding means: allowed, where an exception holds.
func (f Finding) Verdict() string {
	switch {
	case f.Exception != "":
		return "allowed"
	case f.Level == LevelDeny:
		return "denied"
	}
	return "warning"
}

// Subject names what the finding is about: project, type and name.
func (f Finding) Subject() string {
	return strings.TrimSpace(f.Project + " " + strings.TrimSpace(f.Resource.Type+" "+f.Resource.Name))
}

// Place returns file and line; "" if they are not known.
func (f Finding) Place() string {
	if f.File == "" || f.Line == 0 {
		return f.File
	}
	return fmt.Sprintf("%s:%d", f.File, f.Line)
}

// NewFinding makes the event of a finding: a warning of the run that carries it.
// Every guard that forbids an up emits one, so that JUnit, SARIF, Markdown and
// the page show what was denied and where, and not only that the run has failed:
//
//	emit(event.NewFinding(event.Finding{
//		Rule: string(refusal.Protection), Level: event.LevelDeny, Project: "db",
//		Resource: event.Resource{Type: step.Type, Name: step.Name}, URN: step.URN, Message: "would be deleted",
//	}, ""))
//
// The text is what screens show; "" for the finding's message.
func NewFinding(f Finding, text string) Event {
	return Event{Type: RunWarning, Project: f.Project, Message: cmp.Or(text, f.Message), Finding: &f}
}

// withTexts returns the finding with its free text changed.
func (f *Finding) withTexts(change func(string) string) *Finding {
	if f == nil {
		return nil
	}
	clean := *f
	clean.Message, clean.Exception, clean.Rule = change(f.Message), change(f.Exception), change(f.Rule)
	clean.URN, clean.File = change(f.URN), change(f.File)
	clean.Property, clean.Planned, clean.Now = change(f.Property), change(f.Planned), change(f.Now)
	clean.Resource.Type, clean.Resource.Name = change(f.Resource.Type), change(f.Resource.Name)
	return &clean
}

// Findings returns what the guards have found, in the order of the events.
func (s *Summary) Findings() []Finding {
	var findings []Finding
	for _, warning := range s.Warnings {
		if warning.Finding != nil {
			findings = append(findings, *warning.Finding)
		}
	}
	return findings
}

// OtherWarnings returns the warnings of the run that are not findings of guards.
func (s *Summary) OtherWarnings() []Alert {
	return slices.DeleteFunc(slices.Clone(s.Warnings), func(a Alert) bool { return a.Finding != nil })
}

// SavedPlan names the file of a plan, and its content.
type SavedPlan struct {
	File   string `json:"file"`
	Digest string `json:"digest"` // sha256: and hexadecimal digits
}

// withTexts returns the plan with its free text changed.
func (p *SavedPlan) withTexts(change func(string) string) *SavedPlan {
	if p == nil {
		return nil
	}
	return &SavedPlan{File: change(p.File), Digest: p.Digest}
}
