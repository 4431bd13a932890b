package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/urfave/cli/v2"

	"mara/runner/internal/cli/cmd"
)

// sampleCommands has every kind of flag, and a command with commands.
func sampleCommands() []*cli.Command {
	return []*cli.Command{
		{
			Name: "outputs", Aliases: []string{"out"},
			Flags: cmd.JoinFlags(cmd.OutputFlag("table", "json"), cmd.ConfirmFlags(), cmd.EnvironmentFlags(), cmd.SimulationFlags()),
		},
		{Name: "secrets", Subcommands: []*cli.Command{
			{Name: "list", Flags: cmd.RootFlags()},
			{Name: "set", Flags: cmd.ConfirmFlags()},
		}},
		{Name: "version", Flags: cmd.OutputFlag("text", "json")},
		{Name: "up", Flags: cmd.ConfirmFlags()},
	}
}

func TestArrange(t *testing.T) {
	t.Parallel()
	tests := []struct{ in, want string }{
		{"outputs", "outputs --"},
		{"out", "outputs --"},
		{"outputs vpc -o json", "outputs --output=json -- vpc"},
		{"outputs vpc key -o=json --yes", "outputs --output=json --yes=true -- vpc key"},
		{"-s dev outputs vpc", "outputs --stack=dev -- vpc"},
		{"--stack=dev -y out --output json vpc", "outputs --stack=dev --yes=true --output=json -- vpc"},
		{"-stack dev outputs", "outputs --stack=dev --"},
		{"outputs --simulate-fail a=b --simulate-fail c", "outputs --simulate-fail=a=b --simulate-fail=c --"},
		{"outputs --simulate-speed -3", "outputs --simulate-speed=-3 --"},
		{"outputs -- -s --yes", "outputs -- -s --yes"},
		{"outputs -", "outputs -- -"},
		{"outputs help", "outputs -- help"},
		{"--root x secrets list a", "secrets list --root=x -- a"},
		{"secrets set -y", "secrets set --yes=true --"},
		{"", "error: no command is given"}, // the program has greeted before
		{"help", "help of "},
		{"--help", "help of "},
		{"help outputs", "help of outputs"},
		{"outputs vpc --help", "help of outputs"},
		{"-h out", "help of outputs"},
		{"secrets", "help of secrets"},
		{"help secrets list", "help of secrets list"},
		{"--version", "version --"},
		{"-v -o json", "version --output=json --"},
		{"--version --yes", "error: --yes is not a flag of `runner version`"},
		{"outputs --yes --version", "error: --version is not a flag of `runner outputs`"},
		{"-v outputs", "error: -v is not a flag of `runner outputs`"},
		{"outputs --version=9", "error: --version takes no value"},
		{"outputs --help=x", "error: --help takes no value"},
		{"-h=false outputs", "error: -h takes no value"},
		{"outputs -s --version", "error: -s needs a value"},
		{"outputs -s -h", "error: -s needs a value"},
		{"outputs ---yes", "error: unknown flag ---yes; did you mean --yes?"},
		{"secrets --yes", "error: --yes is not a flag of `runner secrets`"},
		{"secrets -v", "error: -v is not a flag of `runner secrets`"},
		{"outputs -v --help", "help of outputs"},
		{"outputs -- --version", "outputs -- --version"},
		{"secrets get", `error: unknown command "get"; did you mean "set"?`},
		{"secrets set --root x", "error: --root is not a flag of `runner secrets set`"},
		{"output", "error: unknown command \"output\"; here that is `runner outputs`"},
		{"outputs --staack dev", "error: unknown flag --staack; did you mean --stack?"},
		{"apply -auto-approve", "error: unknown command \"apply\"; here that is `runner up`; unknown flag --auto-approve; here that is --yes"},
		{"outputs --auto-approve", "error: unknown flag --auto-approve; here that is --yes"},
		{"outputs -s", "error: -s needs a value"},
		{"outputs -s -y", "error: -s needs a value"},
		{"--yes", "error: no command is given"},
		{"outputs -p kind -p aws", "error: -p kind and -p aws contradict each other: give one"},
		{"-p kind outputs --provider=aws", "error: -p kind and --provider=aws contradict each other: give one"},
		{"outputs -o json -o table", "error: -o json and -o table contradict each other: give one"},
		{"outputs --yes --yes=false", "error: --yes and --yes=false contradict each other: give one"},
		{"outputs -p kind -p=kind -y --yes=true", "outputs --provider=kind --provider=kind --yes=true --yes=true --"},
		{"outputs -p kind -p aws --help", "help of outputs"},
		{"help nothing", `error: unknown command "nothing"`},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			t.Parallel()
			c, err := arrange(sampleCommands(), strings.Fields(tt.in))
			got := strings.Join(c.args, " ")
			switch {
			case err != nil:
				got = fmt.Sprint("error: ", err)
			case c.help:
				got = "help of " + c.path
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
