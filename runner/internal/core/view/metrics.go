// Package view writes what package view knows of the environments as text for Prometheus. What is not known
// has no line, and is not zero. No line has a time: the collector of text files refuses them.
package view

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
)

// ContentType is the media type of the text.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// set collects the lines of metrics, in the order in which the metrics were first added.
type set struct {
	names []string
	lines map[string][]string // by metric
}

// escape escapes the value of a label.
var escape = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

func (s *set) add(name, help string, value float64, labels ...string) {
	if s.lines[name] == nil {
		s.names = append(s.names, name)
		s.lines[name] = []string{fmt.Sprintf("# HELP %s %s\n# TYPE %s gauge\n", name, help, name)}
	}
	var pairs []string
	for label := range slices.Chunk(labels, 2) { // name and value
		pairs = append(pairs, fmt.Sprintf(`%s="%s"`, label[0], escape.Replace(strings.ToValidUTF8(label[1], "?"))))
	}
	line := name
	if len(pairs) > 0 {
		line += "{" + strings.Join(pairs, ",") + "}"
	}
	s.lines[name] = append(s.lines[name], line+" "+strconv.FormatFloat(value, 'f', -1, 64)+"\n")
}

// text returns the lines of all metrics.
func (s *set) text() string {
	var b strings.Builder
	for _, name := range s.names {
		b.WriteString(strings.Join(s.lines[name], ""))
	}
	return b.String()
}

// Text returns the metrics of all environments.
func Text(f Fleet, version string, now time.Time) []byte {
	s := &set{lines: map[string][]string{}}
	s.add("mara_build_info", "The version of the runner.", 1, "version", version)
	counts := f.Counts()
	for _, state := range States() {
		s.add("mara_fleet_environments", "Environments by state.", float64(counts[state]), "state", string(state))
	}
	for _, e := range f.Environments {
		s.environment(e)
	}
	for _, e := range f.Environments {
		s.runs(e)
	}
	s.add("mara_collect_timestamp_seconds", "When this was collected.", seconds(now))
	return []byte(s.text())
}

// environment adds what is known of an environment.
func (s *set) environment(e Environment) {
	add := s.about(e)
	add("mara_environment_info", "An environment.", 1, "provider", e.Provider, "wave", e.Wave,
		"protected", strconv.FormatBool(e.Life.Protected != ""))
	for _, state := range States() {
		add("mara_environment_state", "1 for the state of the environment, 0 for all others.", truth(e.State == state),
			"state", string(state))
	}
	add("mara_collect_errors", "1 if the environment cannot be read.", truth(e.Error != ""))
	if e.Error == "" {
		add("mara_environment_waiting_changes", "Values and programs that have changed since the last success.",
			float64(len(e.Verdict.Changes)))
	}
	if d := e.Drift; d != nil && !d.Void {
		add("mara_environment_drifted_resources", "Resources that differed at the last comparison.", float64(d.Resources()))
		add("mara_environment_drift_checked_timestamp_seconds",
			"When the environment was last compared with its cloud.", seconds(d.At))
	}
	if c := e.Lately.Costs; c != nil {
		add("mara_environment_monthly_cost_"+currency(c.Currency),
			"The least that the environment costs a month.", c.Monthly)
	}
	add("mara_environment_lock_held", "1 if a run holds the lock of the environment, alive or not.", truth(e.Lock != nil))
	if ends := e.Life.Ends(); !ends.IsZero() {
		add("mara_environment_expires_timestamp_seconds", "When the time of the environment is over.", seconds(ends))
	}
}

// about returns a function that adds what is about an environment.
func (s *set) about(e Environment) func(name, help string, value float64, more ...string) {
	return func(name, help string, value float64, more ...string) {
		s.add(name, help, value, append([]string{"environment", e.Name}, more...)...)
	}
}

// runs adds what the newest runs of an environment say.
func (s *set) runs(e Environment) {
	add := s.about(e)
	if run := e.Lately.Success; run != nil {
		add("mara_environment_last_success_timestamp_seconds", "When the last up that succeeded had ended.",
			seconds(run.Started.Add(run.Duration())))
	}
	for _, run := range []*Past{e.Lately.Write, e.Lately.Preview} {
		if run == nil || !run.Ended() {
			continue
		}
		name := string(run.Operation)
		add("mara_environment_last_run_timestamp_seconds", "When the last run began.", seconds(run.Started),
			"operation", name)
		add("mara_environment_last_run_duration_seconds", "How long the last run took.", run.Duration().Seconds(),
			"operation", name)
		add("mara_environment_last_run_success", "1 if the last run succeeded.", truth(run.Result == event.Succeeded),
			"operation", name)
		if run.Operation == operation.Preview {
			const help = "What rules found at the last preview."
			add("mara_environment_policy_findings", help, float64(run.Findings.Denied), "level", event.LevelDeny)
			add("mara_environment_policy_findings", help, float64(run.Findings.Warnings), "level", event.LevelWarn)
		}
	}
}

// currency returns the name of a currency in the name of a metric.
func currency(code string) string {
	names := map[string]string{"USD": "dollars", "EUR": "euros", "GBP": "pounds"}
	if name := names[code]; name != "" {
		return name
	}
	return strings.Map(func(r rune) rune {
		if r < 'a' || r > 'z' {
			return '_'
		}
		return r
	}, strings.ToLower(code))
}

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

func seconds(t time.Time) float64 { return float64(t.Unix()) }
