package cli

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/request"
	"mara/runner/internal/core/session"
	"mara/runner/internal/testing/cmdtest"
)

// parseWith runs a command line through the frame with a command that has every
// common flag.
func parseWith(t *testing.T, d cmd.Deps, args string) (cmd.Common, error) {
	t.Helper()
	var options cmd.Common
	command := &cli.Command{
		Name: "all",
		Flags: cmd.JoinFlags(cmd.OutputFlag("plain", "json"), cmd.EnvironmentFlags(), cmd.ConfirmFlags(), cmd.SimulationFlags(), cmd.BaseFlags(),
			[]cli.Flag{&cli.IntFlag{Name: "parallel", Value: 4}}),
		Action: func(c *cli.Context) error {
			var err error
			options, err = cmd.Parse(c, d)
			return err
		},
	}
	call, err := arrange([]*cli.Command{command}, strings.Fields(args))
	if err != nil {
		return options, err
	}
	err = newApp(d, []*cli.Command{command}).RunContext(context.Background(), append([]string{cmd.Program}, call.args...))
	return options, err
}

func TestParseCommon(t *testing.T) {
	t.Parallel()
	root := cmdtest.Root(t, map[string]string{"environment": "RUNNER_SIMULATE_SPEED=50\nRUNNER_STACK=ignored-here\n"})
	fromFlag := func(name, text string) config.Value {
		return config.Value{Text: text, Origin: config.Origin{Source: config.FromFlag, Name: name}}
	}
	tests := []struct {
		name, args string
		change     func(*cmd.Deps)
		want       cmd.Common
	}{
		{"defaults", "all", nil, cmd.Common{Options: session.Options{Request: request.Request{Simulation: request.Simulation{Speed: request.DefaultSpeed}}}, Invocation: cmd.Invocation{Output: "plain"}}},
		{"all flags", "all -s dev -p aws -o json -y --debug --simulate --simulate-speed 10 --simulate-fail A=b,c --simulate-fail D --simulate-slow E=1s --simulate-schema s.json", nil, cmd.Common{Options: session.Options{Request: request.Request{Stack: fromFlag("--stack", "dev"), Provider: fromFlag("--provider", "aws"), Debug: true, Simulation: request.Simulation{On: true, Speed: 10, Fail: []string{"A=b,c", "D"}, Slow: []string{"E=1s"}, Schemas: []string{"s.json"}}}}, Invocation: cmd.Invocation{Output: "json", Yes: true}}},
		{"process environment", "all", func(d *cmd.Deps) {
			d.Environ = []string{"RUNNER_OUTPUT=json", "RUNNER_SIMULATE=true", "RUNNER_SIMULATE_FAIL=A=b,c;D", "RUNNER_DEBUG=0"}
		}, cmd.Common{Options: session.Options{Request: request.Request{Simulation: request.Simulation{On: true, Speed: request.DefaultSpeed, Fail: []string{"A=b,c", "D"}}}}, Invocation: cmd.Invocation{Output: "json"}}},
		{"environment file over process environment", "all", func(d *cmd.Deps) {
			d.Dir, d.Environ = root, []string{"RUNNER_YES=false", "RUNNER_SIMULATE_SPEED=2"}
		}, cmd.Common{Options: session.Options{Request: request.Request{Root: root, Simulation: request.Simulation{Speed: 50}}}, Invocation: cmd.Invocation{Output: "plain"}}},
		{"flag over everything", "all --yes=false --simulate-speed 3", func(d *cmd.Deps) { d.Dir = root },
			cmd.Common{Options: session.Options{Request: request.Request{Root: root, Simulation: request.Simulation{Speed: 3}}}, Invocation: cmd.Invocation{Output: "plain"}}},
		{"terminal", "all", func(d *cmd.Deps) {
			d.StdinIsTerminal, d.StdoutIsTerminal, d.StderrIsTerminal = true, true, true
		}, cmd.Common{Options: session.Options{Request: request.Request{Interactive: true, Simulation: request.Simulation{Speed: request.DefaultSpeed}}}, Invocation: cmd.Invocation{Output: "plain", Color: true}}},
		{"terminal without colour and questions", "all --no-color --non-interactive", func(d *cmd.Deps) {
			d.StdinIsTerminal, d.StdoutIsTerminal, d.StderrIsTerminal = true, true, true
		}, cmd.Common{Options: session.Options{Request: request.Request{Simulation: request.Simulation{Speed: request.DefaultSpeed}}}, Invocation: cmd.Invocation{Output: "plain"}}},
		{"NO_COLOR and CI", "all", func(d *cmd.Deps) {
			d.StdinIsTerminal, d.StdoutIsTerminal, d.StderrIsTerminal = true, true, true
			d.Environ = []string{"NO_COLOR=1", "CI=true"}
		}, cmd.Common{Options: session.Options{Request: request.Request{Simulation: request.Simulation{Speed: request.DefaultSpeed}}}, Invocation: cmd.Invocation{Output: "plain"}}},
		{"dumb terminal", "all", func(d *cmd.Deps) {
			d.StdoutIsTerminal, d.Environ = true, []string{"TERM=dumb"}
		}, cmd.Common{Options: session.Options{Request: request.Request{Simulation: request.Simulation{Speed: request.DefaultSpeed}}}, Invocation: cmd.Invocation{Output: "plain"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d, _, _ := cmdtest.Deps(t)
			if tt.change != nil {
				tt.change(&d)
			}
			got, err := parseWith(t, d, tt.args)
			if err != nil {
				t.Fatal(err)
			}
			ignored := cmp.Options{
				cmp.AllowUnexported(cmd.Common{}), cmpopts.IgnoreFields(request.Request{}, "Sources", "NoRoot", "BuiltIn", "Catalogue"),
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
		{"all --simulate-speed 0", "", cmd.ExitUsage, "--simulate-speed: 0 is not a number greater than 0"},
		{"all --simulate-speed Inf", "", cmd.ExitUsage, "--simulate-speed: +Inf is not a number greater than 0"},
		{"all --simulate-speed fast", "", cmd.ExitUsage, `--simulate-speed: "fast" is not a valid value`},
		{"all --parallel many", "", cmd.ExitUsage, `--parallel: "many" is not a valid value`},
		{"all", "RUNNER_PARALLEL=many", cmd.ExitConfig, `RUNNER_PARALLEL in the process environment: "many" is not a valid value`},
		{"all --simulate-schema x", "", cmd.ExitUsage, "--simulate-schema needs --simulate"},
		{"all --simulate-unknown inputs", "", cmd.ExitUsage, "--simulate-unknown needs --simulate"},
		{"all --simulate-fail x", "", cmd.ExitUsage, "--simulate-fail and --simulate-slow need --simulate"},
	}
	for _, tt := range tests {
		t.Run(tt.args, func(t *testing.T) {
			t.Parallel()
			d, _, _ := cmdtest.Deps(t)
			d.Environ = strings.Fields(tt.environ)
			_, err := parseWith(t, d, tt.args)
			if err == nil || err.Error() != tt.want || cmd.ExitCode(err) != tt.code {
				t.Errorf("got %v (%d)", err, cmd.ExitCode(err))
			}
		})
	}
}
