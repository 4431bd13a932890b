package cli_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/wire"
)

func TestOutputsGolden(t *testing.T) {
	t.Parallel()
	root, i := aws(t), cmdtest.NewInstalled(t)
	deployed(t, root)
	i.Stacks(map[string]int{"aws-vpc": 24, "aws-eks": 31, "secrets": 2})
	i.Write("outputs-aws-vpc.json", `{"vpc_id":"vpc-1","subnets":["a","b"],"count":3,"tags":{"x":"<y>"},"notes":"one\ntwo\n"}`)
	i.Write("outputs-aws-eks.json", `{"kubeconfig":"[secret]","cluster_name":"mara"}`)
	i.Write("shown-aws-eks.json", `{"kubeconfig":"apiVersion: v1\nclusters: []\n","cluster_name":"mara"}`)
	for golden, args := range map[string]string{
		"outputs.txt":         "outputs",
		"outputs.json":        "outputs -o json",
		"outputs project.txt": "outputs aws-vpc",
		"outputs shown.json":  "outputs aws-eks -o json --show-secrets",
	} {
		d, stdout, stderr := cmdtest.InstalledDeps(t, root, i)
		if code := wire.Run(context.Background(), d, strings.Fields(args)); code != cmd.ExitDone || stderr.Len() > 0 {
			t.Fatalf("%s: exit code %d: %s", args, code, stderr)
		}
		checkGolden(t, golden, stdout.String())
	}
	for _, test := range []struct {
		args           string
		code           int
		stdout, stderr string
	}{
		{"outputs aws-vpc vpc_id", 0, "vpc-1\n", ""},
		{"outputs VPC vpc_id", 0, "vpc-1\n", ""},
		{"outputs infrastructure/aws/vpc vpc_id", 0, "vpc-1\n", ""},
		{"outputs aws-vpc subnets", 0, "[\"a\",\"b\"]\n", ""},
		{"outputs aws-vpc count -o json", 0, "3\n", ""},
		{"outputs aws-vpc tags -o json", 0, "{\n  \"x\": \"<y>\"\n}\n", ""},
		{"outputs aws-eks kubeconfig", 0, "[secret]\n", ""},
		{"outputs aws-eks kubeconfig --show-secrets", 0, "apiVersion: v1\nclusters: []\n\n", ""},
		{"outputs secrets", 0, "no outputs: nothing is deployed\n", ""},
		{"outputs secrets -o json", 0, "{}\n", ""},
		{"outputs aws-vpc vpcid", 1, "", "error: aws-vpc has no output \"vpcid\" among count, notes, subnets, tags, vpc_id; did you mean \"vpc_id\"?\n"},
		{"outputs certmgr x", 1, "", "error: certmgr has no outputs: it is not deployed\n"},
		{"outputs aws-vpcs", 2, "", "error: no project \"aws-vpcs\" in the plan of aws; did you mean \"aws-vpc\"?\nhint: `runner plan` shows the projects\n"},
		{"outputs kind-cluster", 2, "", "error: no project \"kind-cluster\" in the plan of aws\nhint: `runner plan` shows the projects\n"},
		{"outputs a b c", 2, "", "error: unexpected argument \"c\"\nhint: see `runner outputs --help`\n"},
	} {
		d, stdout, stderr := cmdtest.InstalledDeps(t, root, i)
		code := wire.Run(context.Background(), d, strings.Fields(test.args))
		if code != test.code || stdout.String() != test.stdout {
			t.Errorf("%s: exit code %d, %q", test.args, code, stdout)
		}
		if diff := cmp.Diff(test.stderr, stderr.String()); diff != "" {
			t.Errorf("%s: %s", test.args, diff)
		}
	}
}

func TestOutputsOfNothing(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"outputs":            "no outputs: nothing is deployed\n",
		"outputs -o json":    "{}\n",
		"outputs --simulate": "[SIMULATED] aws, stack dev\n\nno outputs: nothing is deployed\n",
	} {
		i := cmdtest.NewInstalled(t)
		d, stdout, stderr := cmdtest.InstalledDeps(t, aws(t), i)
		if code := wire.Run(context.Background(), d, strings.Fields(args)); code != cmd.ExitDone || stdout.String() != want {
			t.Errorf("%s: exit code %d, %q %s", args, code, stdout, stderr)
		}
		if calls := i.Calls(); len(calls) > 0 && calls[0] != "" {
			t.Errorf("%s: asked pulumi %v about a backend that does not exist", args, calls)
		}
	}
}
