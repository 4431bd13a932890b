// Package metrics writes what package view knows of the environments as text for Prometheus. What is not known
// has no line, and is not zero. No line has a time: the collector of text files refuses them.
package metrics

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"mara/projects/model/operation"
	"mara/runner/internal/run/event"
	"mara/runner/internal/workflow/view"
)

// ContentType is the media type of the text.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// sample is a line.
type sample struct {
	labels []string // name and value in turn
	value  float64
}

// family is a metric with its lines.
type family struct {
	name, help string
	samples    []sample
}

// set collects the metrics, in the order of their first lines.
type set struct{ families []*family }

func (s *set) add(name, help string, value float64, labels ...string) {
	i := slices.IndexFunc(s.families, func(f *family) bool { return f.name == name })
	if i < 0 {
		i = len(s.families)
		s.families = append(s.families, &family{name: name, help: help})
	}
	s.families[i].samples = append(s.families[i].samples, sample{labels, value})
}

// Text returns the metrics of all environments.
func Text(f view.Fleet, version string, now time.Time) []byte {
	var s set
	s.add("mara_build_info", "The version of the runner.", 1, "version", version)
	counts := f.Counts()
	for _, state := range view.States() {
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
func (s *set) environment(e view.Environment) {
	protected := "false"
	if e.Life.Protected != "" {
		protected = "true"
	}
	s.add("mara_environment_info", "An environment.", 1, "environment", e.Name, "provider", e.Provider, "wave",
		e.Wave,
		"protected", protected)
	for _, state := range view.States() {
		s.add("mara_environment_state", "1 for the state of the environment, 0 for all others.",
			truth(e.State == state),
			"environment", e.Name, "state", string(state))
	}
	s.add("mara_collect_errors", "1 if the environment cannot be read.", truth(e.Error != ""), "environment", e.Name)
	if e.Error == "" {
		s.add("mara_environment_waiting_changes", "Values and programs that have changed since the last success.",
			float64(len(e.Verdict.Changes)), "environment", e.Name)
	}
	if d := e.Drift; d != nil && !d.Void {
		s.add("mara_environment_drifted_resources", "Resources that differed at the last comparison.",
			float64(d.Resources()),
			"environment", e.Name)
		s.add("mara_environment_drift_checked_timestamp_seconds",
			"When the environment was last compared with its cloud.",
			seconds(d.At), "environment", e.Name)
	}
	if c := e.Lately.Costs; c != nil {
		s.add("mara_environment_monthly_cost_"+currency(c.Currency),
			"The least that the environment costs a month.", c.Monthly,
			"environment", e.Name)
	}
	s.add("mara_environment_lock_held", "1 if a run holds the lock of the environment, alive or not.",
		truth(e.Lock != nil),
		"environment", e.Name)
	if ends := e.Life.Ends(); !ends.IsZero() {
		s.add("mara_environment_expires_timestamp_seconds", "When the time of the environment is over.",
			seconds(ends),
			"environment", e.Name)
	}
}

// runs adds what the newest runs of an environment say.
func (s *set) runs(e view.Environment) {
	if run := e.Lately.Success; run != nil {
		s.add("mara_environment_last_success_timestamp_seconds", "When the last up that succeeded had ended.",
			seconds(run.Started.Add(run.Duration())), "environment", e.Name)
	}
	for _, run := range []*view.Past{e.Lately.Write, e.Lately.Preview} {
		if run == nil || !run.Ended() {
			continue
		}
		labels := []string{"environment", e.Name, "operation", string(run.Operation)}
		s.add("mara_environment_last_run_timestamp_seconds", "When the last run began.", seconds(run.Started),
			labels...)
		s.add("mara_environment_last_run_duration_seconds", "How long the last run took.", run.Duration().Seconds(),
			labels...)
		s.add("mara_environment_last_run_success", "1 if the last run succeeded.",
			truth(run.Result == event.Succeeded), labels...)
		if run.Operation == operation.Preview {
			const help = "What rules found at the last preview."
			s.add("mara_environment_policy_findings", help, float64(run.Findings.Denied), "environment", e.Name,
				"level", event.LevelDeny)
			s.add("mara_environment_policy_findings", help, float64(run.Findings.Warnings), "environment", e.Name,
				"level", event.LevelWarn)
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

// text formats the metrics.
func (s *set) text() string {
	var b strings.Builder
	escape := strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
	for _, f := range s.families {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s gauge\n", f.name, f.help, f.name)
		for _, line := range f.samples {
			b.WriteString(f.name)
			for i := 0; i+1 < len(line.labels); i += 2 {
				separator := ","
				if i == 0 {
					separator = "{"
				}
				fmt.Fprintf(&b, `%s%s="%s"`, separator, line.labels[i],
					escape.Replace(strings.ToValidUTF8(line.labels[i+1], "?")))
			}
			if len(line.labels) > 0 {
				b.WriteByte('}')
			}
			b.WriteString(" " + strconv.FormatFloat(line.value, 'f', -1, 64) + "\n")
		}
	}
	return b.String()
}
