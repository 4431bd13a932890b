package cli_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/machine/layout"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/testing/livetest"
	"mara/runner/internal/wire"
)

// twoEnvironments returns a root with the environments dev and prod, and two stacks of
// another repository.
func twoEnvironments(t *testing.T) string {
	t.Helper()
	root := cmdtest.Root(t, map[string]string{
		"environment":      "PULUMI_STACK=dev\nPULUMI_CONFIG_PASSPHRASE=correct-horse\n",
		"Pulumi.dev.yaml":  "config:\n  kubernetes:infra_type: aws\n",
		"Pulumi.prod.yaml": "config:\n  kubernetes:infra_type: linode\n",
	})
	directory := layout.Of(root, false)
	for _, stack := range []string{"dev", "prod"} {
		cmdtest.WriteFile(t, directory.State().Stack("certmgr", stack), fmt.Sprintf(`{"checkpoint":{"latest":{"resources":[
		  {"urn":"urn:pulumi:%[1]s::certmgr::kubernetes:helm.sh/v3:Release::certmgr","type":"kubernetes:helm.sh/v3:Release","inputs":{"chart":"cert-manager","version":"1.2"},"outputs":{}},
		  {"urn":"urn:pulumi:%[1]s::certmgr::kubernetes:apps/v1:Deployment::d","type":"kubernetes:apps/v1:Deployment","outputs":{"kind":"Deployment","metadata":{"name":"d"},
		   "spec":{"containers":[{"image":"mysql:8.%[2]d"}]},"key":{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","ciphertext":"hidden"}}}]}}}`, stack, len(stack)))
	}
	cmdtest.WriteFile(t, directory.State().Stack("elsewhere", "other"), `{"checkpoint":{"latest":{"resources":[{"urn":"x::y","type":"a:b:C"}]}}}`)
	cmdtest.WriteFile(t, directory.State().Stack("elsewhere", "dev"), `{"checkpoint":{"latest":{"resources":[{"urn":"x::stranger","type":"a:b:C"}]}}}`)
	cmdtest.WriteFile(t, root+"/queries/wrong.jq", "# Not right.\n.items[] |\n  nothing\n")
	cmdtest.WriteFile(t, root+"/queries/names.jq", "# Names.\n.items[].name\n")
	return root
}

func TestQuery(t *testing.T) {
	t.Parallel()
	root := twoEnvironments(t)
	overrides := func(stack string) string {
		return "note: --stack " + stack + " overrides PULUMI_STACK in config/pulumi/environment:1 (dev)\n"
	}
	for _, test := range []struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		{[]string{"charts"}, 0, "CHART         VERSION  COUNT  WHERE\ncert-manager  1.2      2      dev/certmgr, prod/certmgr\n", ""},
		{[]string{"mysql", "-o", "csv"}, 0, "version,count,where\n8.3,1,dev/certmgr\n8.4,1,prod/certmgr\n", ""},
		{[]string{"mysql", "-s", "prod", "-o", "ndjson"}, 0, `{"count":1,"version":"8.4","where":["prod/certmgr"]}` + "\n", overrides("prod")},
		{[]string{"mysql", "-s", "prod", "-o", "json"}, 0, "[\n  {\n    \"count\": 1,\n    \"version\": \"8.4\",\n    \"where\": [\n      \"prod/certmgr\"\n    ]\n  }\n]\n", overrides("prod")},
		{[]string{"names"}, 0, "certmgr\nd\ncertmgr\nd\n", ""},
		{[]string{"[.items[].provider] | unique"}, 0, "[\"aws\",\"linode\"]\n", ""},
		{[]string{".items[] | select(.name == \"d\" and .environment == \"dev\") | .outputs.key"}, 0, "[secret]\n", ""},
		{[]string{"databases"}, 0, "no results\n", ""},
		{[]string{"databases", "-o", "json", "--exit-code"}, 0, "[]\n", ""},
		{[]string{"charts", "--exit-code", "-o", "csv"}, cmd.ExitChanges, "chart,version,count,where\ncert-manager,1.2,2,\"dev/certmgr, prod/certmgr\"\n", ""},
		{[]string{`{a: "x\u001b[2J\ny", b: null, c: ""}`, "-o", "csv"}, 0, "a,b,c\n\"x\\u001b[2J\ny\",,\"\"\n", ""},
		{[]string{`{a: "x\u001b[2J\ny", b: null}`}, 0, "A             B\nx\\u001b[2J y\n", ""},
		{[]string{`"x\u001b[2J\ny"`}, 0, "x\\u001b[2J\ny\n", ""},
		{[]string{`"x\u001b[2J\u009b2J\u202e"`, "-o", "ndjson"}, 0, `"x\u001b[2J\u009b2J\u202e"` + "\n", ""},
		{[]string{`"\u009b2J<"`, "-o", "json"}, 0, "[\n  \"\\u009b2J<\"\n]\n", ""},
		{[]string{`"\u001b[2J" | error`}, cmd.ExitFailed, "", "error: the query failed: error: \\u001b[2J\n"},
		{[]string{"names", "-o", "csv"}, cmd.ExitFailed, "", "error: csv needs objects as results; use -o ndjson for other values\n"},
		{[]string{"1, 2, (\"no more\" | halt_error)", "-o", "ndjson"}, cmd.ExitFailed, "1\n2\n", "error: the query halted with an error: no more\n"},
		{[]string{"def f: f; f", "--max-time", "20ms"}, cmd.ExitFailed, "", "error: the program was stopped: it computed for more than 20ms; does it end?\n" +
			"hint: raise --max-time if the program terminates, or use -o ndjson, which does not limit the number of results\n"},
		{[]string{"mysq"}, cmd.ExitUsage, "", "error: no query \"mysq\"; did you mean \"mysql\"?\nhint: `runner query --list` shows the queries\n"},
		{[]string{".items[] | lenght"}, cmd.ExitUsage, "", "error: the query: line 1, column 12: there is no function lenght\nhint: see `runner query --help`\n"},
		{[]string{"wrong"}, cmd.ExitUsage, "", "error: " + root + "/queries/wrong.jq: line 3, column 3: there is no function nothing\nhint: see `runner query --help`\n"},
		{[]string{"-s", "staging", "types"}, cmd.ExitConfig, "", overrides("staging") + "error: the stack staging is not deployed\nhint: `runner stacks` lists the environments\n"},
		{[]string{"types", "--watch"}, cmd.ExitUsage, "", "error: --watch follows one cluster; name its environment with -s\nhint: see `runner query --help`\n"},
		{nil, cmd.ExitUsage, "", "error: name a query or give a jq program; --list shows the names\nhint: see `runner query --help`\n"},
		{[]string{"exposed", "--simulate"}, cmd.ExitUsage, "", "error: simulated clusters have no objects; remove --live to query the states\nhint: see `runner query --help`\n"},
		{[]string{"types", "--simulate"}, 0, "[SIMULATED]\n\nno results\n", ""},
	} {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			t.Parallel()
			i := cmdtest.NewInstalled(t)
			d, stdout, stderr := cmdtest.InstalledDeps(t, root, i)
			code := wire.Run(context.Background(), d, append([]string{"query"}, test.args...))
			if code != test.code {
				t.Errorf("exit code %d, want %d", code, test.code)
			}
			if diff := cmp.Diff([]string{test.stdout, test.stderr}, []string{stdout.String(), stderr.String()}); diff != "" {
				t.Error(diff)
			}
			if calls := i.Calls(); len(calls) > 0 && calls[0] != "" {
				t.Errorf("asked pulumi %v", calls)
			}
		})
	}
}

func TestQueryList(t *testing.T) {
	t.Parallel()
	root := twoEnvironments(t)
	d, stdout, stderr := cmdtest.InstalledDeps(t, root, cmdtest.NewInstalled(t))
	if code := wire.Run(context.Background(), d, []string{"query", "--list"}); code != cmd.ExitDone {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	checkGolden(t, "query list.txt", strings.ReplaceAll(stdout.String(), root, "ROOT"))
}

// TestQueryLive asks the cluster of one environment; that of the other does not
// answer, and is skipped.
func TestQueryLive(t *testing.T) {
	t.Parallel()
	root := twoEnvironments(t)
	config := livetest.Serve(t, livetest.Resource{GroupVersion: "v1", Name: "pods", Kind: "Pod", Objects: []string{
		`{"metadata":{"name":"web","namespace":"shop"},"spec":{"containers":[{"image":"mysql"}]}}`,
	}})
	directory := layout.Of(root, false)
	cmdtest.WriteFile(t, directory.State().Stack("aws-eks", "dev"), `{"checkpoint":{"latest":{"resources":[{"urn":"a::b","type":"aws:eks/cluster:Cluster"}]}}}`)
	i := cmdtest.NewInstalled(t)
	i.Stacks(map[string]int{"aws-eks": 3, "certmgr": 2})
	outputs, err := json.Marshal(map[string]string{"kubeconfig": config})
	if err != nil {
		t.Fatal(err)
	}
	i.Write("shown-aws-eks.json", string(outputs))
	for args, want := range map[string]string{
		"mysql --live":    "VERSION  COUNT  WHERE\nlatest   1      dev/shop/web\n",
		"types --live":    "TYPE                    COUNT  ENVIRONMENTS\nkubernetes:core/v1:Pod  1      dev\n",
		"orphans -s prod": "no results\n",
	} {
		d, stdout, stderr := cmdtest.InstalledDeps(t, root, i)
		if code := wire.Run(context.Background(), d, append([]string{"query"}, strings.Fields(args)...)); code != cmd.ExitDone {
			t.Errorf("%s: exit code %d: %s", args, code, stderr)
		}
		if diff := cmp.Diff(want, stdout.String()); diff != "" {
			t.Errorf("%s: %s", args, diff)
		}
		if !strings.Contains(stderr.String(), "warning: prod is skipped: the environment has no cluster") {
			t.Errorf("%s: stderr: %s", args, stderr)
		}
		if strings.Contains(stderr.String(), "hidden") {
			t.Errorf("%s: a token is shown: %s", args, stderr)
		}
	}
}

// TestQueryWatch prints what is there, what comes and what goes, until it is
// interrupted.
func TestQueryWatch(t *testing.T) {
	t.Parallel()
	root := twoEnvironments(t)
	changes := make(chan livetest.Change)
	config := livetest.Serve(t, livetest.Resource{GroupVersion: "v1", Name: "pods", Kind: "Pod", Changes: changes, Objects: []string{
		`{"metadata":{"name":"old","namespace":"shop","uid":"1"}}`,
	}})
	directory := layout.Of(root, false)
	cmdtest.WriteFile(t, directory.State().Stack("aws-eks", "dev"), `{"checkpoint":{"latest":{"resources":[{"urn":"a::b","type":"aws:eks/cluster:Cluster"}]}}}`)
	i := cmdtest.NewInstalled(t)
	i.Stacks(map[string]int{"aws-eks": 3})
	outputs, err := json.Marshal(map[string]string{"kubeconfig": config})
	if err != nil {
		t.Fatal(err)
	}
	i.Write("shown-aws-eks.json", string(outputs))
	d, _, stderr := cmdtest.InstalledDeps(t, root, i)
	read, write := io.Pipe()
	d.Stdout = write
	ctx, cancel := context.WithCancel(t.Context())
	code := make(chan int, 1)
	go func() {
		code <- wire.Run(ctx, d, []string{"query", "--watch", "-s", "dev", "-o", "ndjson", `kind("Pod") | {name}`})
		_ = write.Close() // it never fails
	}()
	lines := bufio.NewScanner(read)
	expect := func(want string) {
		t.Helper()
		if !lines.Scan() || lines.Text() != want {
			t.Fatalf("got %q, want %q; stderr: %s", lines.Text(), want, stderr)
		}
	}
	expect(`{"change":"added","result":{"name":"old"}}`)
	changes <- livetest.Change{Type: "ADDED", Object: `{"metadata":{"name":"new","namespace":"shop","uid":"2"}}`}
	expect(`{"change":"added","result":{"name":"new"}}`)
	changes <- livetest.Change{Type: "DELETED", Object: `{"metadata":{"name":"old","namespace":"shop","uid":"1"}}`}
	expect(`{"change":"removed","result":{"name":"old"}}`)
	cancel()
	if got := <-code; got != cmd.ExitInterrupted {
		t.Errorf("exit code %d: %s", got, stderr)
	}
}

func TestPolicyCommands(t *testing.T) {
	t.Parallel()
	root := twoEnvironments(t)
	d, _, stderr := cmdtest.InstalledDeps(t, root, cmdtest.NewInstalled(t))
	if code := wire.Run(context.Background(), d, []string{"policy", "check"}); code != cmd.ExitConfig || !strings.Contains(stderr.String(), "error: no rule is enabled\nhint: enable some in policies/policies.yaml") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	cmdtest.WriteFile(t, root+"/policies/helm.jq", "# No charts.\ndef warn: resources(\"kubernetes:helm.sh/.*\") | finding(\"is a chart\");\n")
	cmdtest.WriteFile(t, root+"/policies/policies.yaml", "levels: {helm: {prod: deny}}\nexceptions: [{rule: helm, resource: \"*\", stack: dev, reason: only here, until: 2026-11-20}]\n")
	for _, test := range []struct {
		args, stdout string
		code         int
	}{
		{"policy check", "LEVEL    RULE  ENVIRONMENT  PROJECT  RESOURCE                                FINDING\n" +
			"allowed  helm  dev          certmgr  kubernetes:helm.sh/v3:Release certmgr   is a chart; only here (until 2026-11-20)\n" +
			"deny     helm  prod         certmgr  kubernetes:helm.sh/v3:Release certmgr   is a chart\n", cmd.ExitFailed},
		{"policy check -s dev -o json", `"exception": "only here (until 2026-11-20)"`, cmd.ExitDone},
		{"policy check -o sarif", `"text": "prod: helm: certmgr kubernetes:helm.sh/v3:Release certmgr: is a chart"`, cmd.ExitFailed},
		{"policy list", "helm                 on     No charts.\n", cmd.ExitDone},
		{"policy list -o json", `"file": "` + root + `/policies/helm.jq"`, cmd.ExitDone},
		{"policy check --live --simulate", "", cmd.ExitUsage},
	} {
		d, stdout, stderr := cmdtest.InstalledDeps(t, root, cmdtest.NewInstalled(t))
		code := wire.Run(context.Background(), d, strings.Fields(test.args))
		got := strings.Join(strings.Fields(stdout.String()), " ")
		if code != test.code || !strings.Contains(got, strings.Join(strings.Fields(test.stdout), " ")) {
			t.Errorf("%s: exit code %d, want %d\n%s%s", test.args, code, test.code, stdout, stderr)
		}
	}
	cmdtest.WriteFile(t, root+"/policies/wrong.jq", "def deny: stepz;")
	d, _, stderr = cmdtest.InstalledDeps(t, root, cmdtest.NewInstalled(t))
	if code := wire.Run(context.Background(), d, []string{"policy", "list"}); code != cmd.ExitConfig || !strings.Contains(stderr.String(), "wrong.jq: line 1, column 11: there is no function stepz") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}
