package view

import (
	"bufio"
	"regexp"
	"strings"
	"testing"
	"time"

	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/record"
)

func TestText(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	run := &Past{PastRun: PastRun{Operation: operation.Up, Result: event.Failed, Started: now.Add(-time.Minute), DurationMS: 1500}}
	f := Fleet{Environments: []Environment{
		{Name: `we"ird\` + "\nname", State: Unknown, Error: "broken"},
		{Name: "eu", Provider: "kind", State: Failed, Lately: Lately{Write: run, Costs: &Costs{Monthly: 12.5, Currency: "USD"}},
			Drift: &record.Drift{At: now.Add(-time.Hour), Projects: []record.ProjectDrift{{Changes: event.Changes{Delete: 2}}}}},
	}}
	text := string(Text(f, "1.2.3", now))
	for _, want := range []string{
		`mara_build_info{version="1.2.3"} 1`, `mara_fleet_environments{state="failed"} 1`, `mara_fleet_environments{state="up to date"} 0`,
		`mara_environment_state{environment="eu",state="failed"} 1`, `mara_environment_state{environment="we\"ird\\\nname",state="unknown"} 1`,
		`mara_collect_errors{environment="eu"} 0`, `mara_environment_drifted_resources{environment="eu"} 2`,
		`mara_environment_monthly_cost_dollars{environment="eu"} 12.5`,
		`mara_environment_last_run_duration_seconds{environment="eu",operation="up"} 1.5`, `mara_environment_last_run_success{environment="eu",operation="up"} 0`,
		"mara_collect_timestamp_seconds 1800000000\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no line %s in\n%s", want, text)
		}
	}
	for _, unwanted := range []string{`last_success_timestamp_seconds{`, `waiting_changes{environment="we`, `_cost_dollars{environment="we`} {
		if strings.Contains(text, unwanted) {
			t.Errorf("what is not known has a line: %s", unwanted)
		}
	}
	valid(t, text)
}

// valid checks the form: a HELP and a TYPE before the lines of each metric, which stand together, and no times.
func valid(t *testing.T, text string) {
	t.Helper()
	line := regexp.MustCompile(`^([a-z_]+)(\{[a-z_]+="(?:[^"\\\n]|\\.)*"(?:,[a-z_]+="(?:[^"\\\n]|\\.)*")*\})? -?[0-9.]+$`)
	seen, current := map[string]bool{}, ""
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		words := strings.SplitN(lines.Text(), " ", 4)
		switch m := line.FindStringSubmatch(lines.Text()); {
		case words[0] == "#" && words[1] == "HELP":
			if current = words[2]; seen[current] {
				t.Errorf("%s comes twice", current)
			}
			seen[current] = true
		case words[0] == "#" && words[1] == "TYPE" && words[2] == current && words[3] == "gauge":
		case m == nil || m[1] != current:
			t.Errorf("not a line of %s: %s", current, lines.Text())
		}
	}
	if !strings.HasSuffix(text, "\n") || len(seen) < 10 {
		t.Errorf("%d metrics", len(seen))
	}
}
