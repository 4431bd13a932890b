// Package sarif makes logs in the Static Analysis Results Interchange Format
// 2.1.0, as code scanning takes them. It is pure.
package sarif

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/url"
	"slices"
	"strings"

	"mara/runner/internal/core/event"
)

// Options are what a log says besides its findings.
type Options struct {
	Version string            // of the runner
	ID      string            // what was examined: later logs with the same id replace this one
	Rules   map[string]string // summaries by name, of the rules that were applied
	Help    string            // how a finding is handled; "" for that of policy rules
	Failed  bool              // what was examined failed, or was not examined to its end
	Errors  []string          // why
}

// Result is a finding with the text that describes it.
type Result struct {
	event.Finding
	Text string
}

// Log is a log. It marshals to JSON.
type Log struct {
	Schema  string `json:"$schema"`
	Version string `json:"version"`
	Runs    []run  `json:"runs"`
}

type (
	run struct {
		Tool    tool     `json:"tool"`
		Details details  `json:"automationDetails"`
		Ends    []ending `json:"invocations"`
		Results []result `json:"results"`
	}
	ending struct {
		Succeeded bool           `json:"executionSuccessful"`
		Errors    []notification `json:"toolExecutionNotifications,omitempty"`
	}
	notification struct {
		Level   string `json:"level"`
		Message text   `json:"message"`
	}
	tool struct {
		Driver driver `json:"driver"`
	}
	driver struct {
		Name    string `json:"name"`
		Version string `json:"version,omitempty"`
		Rules   []rule `json:"rules"`
	}
	details struct {
		ID string `json:"id"`
	}
	text struct {
		Text string `json:"text"`
	}
	rule struct {
		ID    string `json:"id"`
		Short text   `json:"shortDescription"`
		Full  text   `json:"fullDescription"`
		Help  text   `json:"help"`
	}
	result struct {
		Rule         string            `json:"ruleId"`
		Index        int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      text              `json:"message"`
		Locations    []location        `json:"locations"`
		Fingerprints map[string]string `json:"partialFingerprints"`
		Suppressions []suppression     `json:"suppressions,omitempty"`
	}
	location struct {
		Physical physical  `json:"physicalLocation"`
		Logical  []logical `json:"logicalLocations,omitempty"`
	}
	physical struct {
		Artifact artifact `json:"artifactLocation"`
		Region   region   `json:"region"`
	}
	artifact struct {
		URI  string `json:"uri"`
		Base string `json:"uriBaseId"`
	}
	region struct {
		Line int `json:"startLine"`
	}
	logical struct {
		Name string `json:"fullyQualifiedName"`
		Kind string `json:"kind"`
	}
	suppression struct {
		Kind   string `json:"kind"`
		Reason string `json:"justification"`
	}
)

// help is what a rule without a summary of its own is described with.
const help = "docs/policies.md says what the rule finds, and how an exception is written"

// fallback is the file of findings that have none: code scanning takes no result
// without a physical location.
const fallback = "mara.yaml"

// New makes a log of the results.
func New(o Options, results []Result) Log {
	made := run{
		Tool: tool{driver{"mara", o.Version, []rule{}}}, Details: details{o.ID + "/"}, Ends: []ending{{Succeeded: !o.Failed}},
		Results: []result{},
	}
	for _, why := range o.Errors {
		made.Ends[0].Errors = append(made.Ends[0].Errors, notification{"error", text{why}})
	}
	index := map[string]int{}
	for _, name := range ruleNames(o, results) {
		summary := cmp.Or(o.Rules[name], name)
		index[name] = len(made.Tool.Driver.Rules)
		described := rule{name, text{summary}, text{summary}, text{cmp.Or(o.Help, help)}}
		made.Tool.Driver.Rules = append(made.Tool.Driver.Rules, described)
	}
	for _, found := range results {
		made.Results = append(made.Results, newResult(found, index[found.Rule]))
	}
	return Log{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []run{made}}
}

// ruleNames returns the names of the rules that were applied or have found something.
func ruleNames(o Options, results []Result) []string {
	names := slices.Collect(maps.Keys(o.Rules))
	for _, found := range results {
		names = append(names, found.Rule)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func newResult(found Result, index int) result {
	level := "warning"
	if found.Level == event.LevelDeny {
		level = "error"
	}
	file := cmp.Or(found.File, fallback)
	where := location{Physical: physical{
		artifact{(&url.URL{Path: file}).EscapedPath(), "%SRCROOT%"}, region{max(found.Line, 1)},
	}}
	if found.URN != "" {
		where.Logical = []logical{{found.URN, "resource"}}
	}
	digest := sha256.Sum256([]byte(strings.Join([]string{found.Rule, found.Project, found.URN, found.Message}, "\x00")))
	made := result{
		Rule: found.Rule, Index: index, Level: level, Message: text{found.Text}, Locations: []location{where},
		Fingerprints: map[string]string{"finding/v1": hex.EncodeToString(digest[:16])},
	}
	if found.Exception != "" {
		made.Suppressions = []suppression{{"external", found.Exception}}
	}
	return made
}
