package cli

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/runner/internal/session"
)

// parseWith runs a command line through the frame with a command that has every
// common flag.
func parseWith(t *testing.T, d Deps, args string) (commonOptions, error) {
	t.Helper()
	var options commonOptions
	command := &cli.Command{
		Name: "all",
		Flags: joinFlags(outputFlag("plain", "json"), environmentFlags(), confirmFlags(), simulationFlags(), baseFlags(),
			[]cli.Flag{&cli.IntFlag{Name: "parallel", Value: 4}}),
		Action: func(c *cli.Context) error {
			var err error
			options, err = parseCommon(c, d)
			return err
		},
	}
	call, err := arrange([]*cli.Command{command}, strings.Fields(args))
	if err != nil {
		return options, err
	}
	err = newApp(d, []*cli.Command{command}).RunContext(context.Background(), append([]string{name}, call.args...))
	return options, err
}

func TestParseCommon(t *testing.T) {
	t.Parallel()
	root := newRoot(t, map[string]string{"environment": "RUNNER_YES=1\nRUNNER_SIMULATE_SPEED=50\nRUNNER_STACK=ignored-here\n"})
	fromFlag := func(name, text string) config.Value {
		return config.Value{Text: text, Origin: config.Origin{Source: config.FromFlag, Name: name}}
	}
	tests := []struct {
		name, args string
		change     func(*Deps)
		want       commonOptions
	}{
		{"defaults", "all", nil, commonOptions{Request: session.Request{Simulation: session.Simulation{Speed: defaultSpeed}}, manner: manner{Output: "plain"}}},
		{"all flags", "all -s dev -p aws -o json -y --debug --simulate --simulate-speed 10 --simulate-fail A=b,c --simulate-fail D --simulate-slow E=1s", nil, commonOptions{Request: session.Request{Stack: fromFlag("--stack", "dev"), Provider: fromFlag("--provider", "aws"), Debug: true, Simulation: session.Simulation{On: true, Speed: 10, Fail: []string{"A=b,c", "D"}, Slow: []string{"E=1s"}}}, manner: manner{Output: "json", Yes: true}}},
		{"process environment", "all", func(d *Deps) {
			d.Environ = []string{"RUNNER_OUTPUT=json", "RUNNER_SIMULATE=true", "RUNNER_SIMULATE_FAIL=A=b,c;D", "RUNNER_DEBUG=0"}
		}, commonOptions{Request: session.Request{Simulation: session.Simulation{On: true, Speed: defaultSpeed, Fail: []string{"A=b,c", "D"}}}, manner: manner{Output: "json"}}},
		{"environment file over process environment", "all", func(d *Deps) {
			d.Dir, d.Environ = root, []string{"RUNNER_YES=false", "RUNNER_SIMULATE_SPEED=2"}
		}, commonOptions{Request: session.Request{Root: root, Simulation: session.Simulation{Speed: 50}}, manner: manner{Output: "plain", Yes: true}}},
		{"flag over everything", "all --yes=false --simulate-speed 3", func(d *Deps) { d.Dir = root },
			commonOptions{Request: session.Request{Root: root, Simulation: session.Simulation{Speed: 3}}, manner: manner{Output: "plain"}}},
		{"terminal", "all", func(d *Deps) {
			d.StdinIsTerminal, d.StdoutIsTerminal, d.StderrIsTerminal = true, true, true
		}, commonOptions{Request: session.Request{Interactive: true, Simulation: session.Simulation{Speed: defaultSpeed}}, manner: manner{Output: "plain", Color: true}}},
		{"terminal without colour and questions", "all --no-color --non-interactive", func(d *Deps) {
			d.StdinIsTerminal, d.StdoutIsTerminal, d.StderrIsTerminal = true, true, true
		}, commonOptions{Request: session.Request{Simulation: session.Simulation{Speed: defaultSpeed}}, manner: manner{Output: "plain"}}},
		{"NO_COLOR and CI", "all", func(d *Deps) {
			d.StdinIsTerminal, d.StdoutIsTerminal, d.StderrIsTerminal = true, true, true
			d.Environ = []string{"NO_COLOR=1", "CI=true"}
		}, commonOptions{Request: session.Request{Simulation: session.Simulation{Speed: defaultSpeed}}, manner: manner{Output: "plain"}}},
		{"dumb terminal", "all", func(d *Deps) {
			d.StdoutIsTerminal, d.Environ = true, []string{"TERM=dumb"}
		}, commonOptions{Request: session.Request{Simulation: session.Simulation{Speed: defaultSpeed}}, manner: manner{Output: "plain"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d, _, _ := testDeps(t)
			if tt.change != nil {
				tt.change(&d)
			}
			got, err := parseWith(t, d, tt.args)
			if err != nil {
				t.Fatal(err)
			}
			ignored := cmp.Options{
				cmp.AllowUnexported(commonOptions{}), cmpopts.IgnoreFields(session.Request{}, "Sources", "NoRoot"),
			}
			if diff := cmp.Diff(tt.want, got, ignored, cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
			if (got.NoRoot == nil) != (got.Root != "") {
				t.Errorf("root %q, but %v", got.Root, got.NoRoot)
			}
		})
	}
}

func TestParseCommonRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		args, environ string
		code          int
		want          string
	}{
		{"all --simulate-speed 0", "", exitUsage, "--simulate-speed: 0 is not a number above 0"},
		{"all --simulate-speed Inf", "", exitUsage, "--simulate-speed: +Inf is not a number above 0"},
		{"all --simulate-speed fast", "", exitUsage, `--simulate-speed: "fast" is not a valid value`},
		{"all --parallel many", "", exitUsage, `--parallel: "many" is not a valid value`},
		{"all", "RUNNER_PARALLEL=many", exitConfig, `RUNNER_PARALLEL in the process environment: "many" is not a valid value`},
		{"all --simulate-fail x", "", exitUsage, "--simulate-fail and --simulate-slow need --simulate: real clouds fail on their own"},
	}
	for _, tt := range tests {
		t.Run(tt.args, func(t *testing.T) {
			t.Parallel()
			d, _, _ := testDeps(t)
			d.Environ = strings.Fields(tt.environ)
			_, err := parseWith(t, d, tt.args)
			if err == nil || err.Error() != tt.want || exitCode(err) != tt.code {
				t.Errorf("got %v (%d)", err, exitCode(err))
			}
		})
	}
}
