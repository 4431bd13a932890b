package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/cli/cmd"
)

// faulty returns the files of a root with one finding of every kind that needs no mara.yaml.
func faulty() map[string]string {
	return map[string]string{
		"pulumi/environment":     "RUNNER_PARALEL=4\nRUNNER_CUSTOM_SETTING=1\n",
		"pulumi/Pulumi.dev.yaml": "config:\n  kubernetes:infra_type: aws\n  aws:region: us-est-1\n  lke:node_count: 4\n  logstore:heap: 4Gi\n",
		"pulumi/Pulumi.k1.yaml":  "config:\n  kubernetes:infra_type: kind\n",
		"pulumi/Pulumi.k2.yaml":  "config:\n  kubernetes:infra_type: kind\n  kind:http_port: 8080\n",
		"../queries/size.jq":     ".items[",
		"../policies/mine.jq":    "def deny: foo;",
		"../prices.yaml":         "types:\n  a:\n    prise: 1\n",
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	root := fleetRoot(t, faulty())
	stdout, stderr, code := runFleet(t, root, "check --simulate")
	want := `config/pulumi/Pulumi.dev.yaml:3: warning: aws:region is "us-est-1", which is not in the runner's list of 2026-08-07; did you mean "us-east-1"? (in dev)
config/pulumi/Pulumi.dev.yaml:4: warning: lke:node_count is read by no project of aws; linode-lke reads it (in dev)
config/pulumi/Pulumi.k2.yaml: warning: k2 and k1 want the same ports of this machine (443, 5001): only one of the two can run on it (in k2)
config/pulumi/environment:2: warning: RUNNER_CUSTOM_SETTING is no variable of the runner
config/pulumi/Pulumi.dev.yaml:5: error: logstore:heap is "4Gi", which is not a size such as 512m or 2g; if it is right, write  runner:accept: ["logstore:heap"] (in dev)
config/pulumi/environment:1: error: RUNNER_PARALEL is no variable of the runner; did you mean "RUNNER_PARALLEL"?
policies/mine.jq:1: error: there is no function foo
prices.yaml:3: error: unknown key "prise"; did you mean "price"?
queries/size.jq:1: error: the query ends too early
3 environments checked, 5 problems, 4 warnings
`
	if code != cmd.ExitConfig || stdout != want || stderr != "" {
		t.Errorf("exit code %d: %s%s", code, cmp.Diff(want, stdout), stderr)
	}
	stdout, _, _ = runFleet(t, root, "check k1 dev --simulate -o github")
	for _, line := range []string{
		"::error title=runner check%3A configuration,file=config/pulumi/Pulumi.dev.yaml,line=5::logstore:heap is",
		"::warning title=runner check%3A variables,file=config/pulumi/environment,line=2::RUNNER_CUSTOM_SETTING is",
	} {
		if !strings.Contains(stdout, line) {
			t.Errorf("no line %s in\n%s", line, stdout)
		}
	}
	stdout, _, code = runFleet(t, root, "check --simulate -o sarif")
	var log struct {
		Runs []struct {
			Results []struct {
				RuleID, Level string
				Locations     []struct {
					Physical struct {
						Artifact struct{ URI string }    `json:"artifactLocation"`
						Region   struct{ StartLine int } `json:"region"`
					} `json:"physicalLocation"`
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(stdout), &log); err != nil || code != cmd.ExitConfig || len(log.Runs[0].Results) != 9 {
		t.Errorf("SARIF: exit code %d, %v:\n%s", code, err, stdout)
	}
	first := log.Runs[0].Results[0]
	if at := first.Locations[0].Physical; first.RuleID != "configuration" || first.Level != "warning" || at.Artifact.URI != "config/pulumi/Pulumi.dev.yaml" || at.Region.StartLine != 3 {
		t.Errorf("SARIF: the first result is %+v", first)
	}
}

// TestCheckOfABrokenRoot: a mara.yaml that cannot be read does not hide the problems of other files.
func TestCheckOfABrokenRoot(t *testing.T) {
	t.Parallel()
	files := faulty()
	files["../mara.yaml"] = "projects:\n- path: nowhere\n"
	stdout, _, code := runFleet(t, fleetRoot(t, files), "check")
	for _, want := range []string{"mara.yaml:2: error: ", "queries/size.jq:1: error: ", "config/pulumi/environment:1: error: "} {
		if code != cmd.ExitConfig || !strings.Contains(stdout, want) {
			t.Errorf("exit code %d: no %q in\n%s", code, want, stdout)
		}
	}
}
