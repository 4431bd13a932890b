package firstrun

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/config"
	"mara/projects/model"
	"mara/projects/model/cloud"
	"mara/projects/model/operation"
	"mara/providers"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/catalogue"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/request"
	"mara/runner/internal/core/session"
	"mara/runner/internal/machine/interrupt"
	"mara/runner/internal/machine/layout"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/testing/prompttest"
	"mara/runner/internal/testing/scripttest"
)

// reply is a question and what the user does.
type reply struct {
	question string
	keys     string
	pressed  bool // single keys: it is a choice
}

// lead answers the questions before up in a directory, as a user on a terminal
// would, and returns what came of it.
func lead(t *testing.T, dir string, o cmd.Common, replies ...reply) (cmd.Common, string, error) {
	t.Helper()
	person, side := prompttest.Open(t)
	d, _, _ := cmdtest.Deps(t)
	d.Dir, d.Stdin, d.Stderr, d.CloudClients = dir, side, side, fakeClients
	o.Interactive, o.BuiltIn = true, providers.Catalogue()
	if o.Root == "" {
		o.NoRoot = &config.NoRootError{Start: dir}
	}
	if o.Sources.Process == nil {
		o.Sources.Process = []string{"PATH=" + everyTool(t)}
	}
	type result struct {
		o   cmd.Common
		err error
	}
	done := make(chan result, 1)
	go func() {
		o.Operation = operation.Up
		completed, err := Complete(t.Context(), d, o)
		o.Options = completed
		done <- result{o, err}
	}()
	for _, r := range replies {
		person.Expect(r.question)
		if r.pressed {
			person.Press(r.keys)
			continue
		}
		person.Type(r.keys)
	}
	got := <-done
	return got.o, person.Screen(), got.err
}

// everyTool returns a directory with the programs that up needs.
func everyTool(t *testing.T) string {
	t.Helper()
	return scripttest.Directory(t, map[string]string{
		"aws": "", "docker": `echo '{"ServerVersion": "29.0.0", "CgroupVersion": "2", "MemTotal": 17179869184}'`,
	})
}

// fakeClients returns clouds with a choice of one or two.
func fakeClients(_ context.Context, provider string, access cloud.Access) (cloud.Client, error) {
	if provider == "kind" {
		return nil, nil
	}
	return fakeClient{access}, nil
}

type fakeClient struct{ access cloud.Access }

func (fakeClient) Account(context.Context) (cloud.Account, error) {
	return cloud.Account{ID: "123456789012", Name: "ann"}, nil
}

func (c fakeClient) Choices(_ context.Context, list model.List) ([]cloud.Choice, error) {
	switch list {
	case model.Zones:
		return []cloud.Choice{{Value: c.access.Region + "a"}, {Value: c.access.Region + "b"}}, nil
	case model.Regions:
		return []cloud.Choice{{Value: "eu-north-1"}, {Value: "us-east-1"}}, nil
	}
	return nil, errors.New("there is no such list today")
}

func typed(question, answer string) reply { return reply{question: question, keys: answer + "\r"} }

func chosen(question, keys string) reply { return reply{question: question, keys: keys, pressed: true} }

// onDev returns options with --stack dev.
func onDev(root string) cmd.Common {
	stack := config.Value{Text: "dev", Origin: config.Origin{Source: config.FromFlag, Name: "--stack"}}
	return cmd.Common{Options: session.Options{Request: request.Request{Root: root, BuiltIn: providers.Catalogue(), Stack: stack}}}
}

// firstRuns returns whole first runs, one for each provider.
func firstRuns() map[string][]reply {
	return map[string][]reply{
		"aws": {
			typed("Create one?", ""), typed("Name of the stack", ""), chosen("Provider of the cluster", "aws\r"),
			typed("AWS profile", ""), chosen("AWS region", "eu\r"), chosen("Availability zones", "\r"),
			typed("Kubernetes version", "1.35"), typed("Type of the nodes", ""), typed("Smallest number", "2"),
			typed("Largest number", ""),
			typed("Number of nodes to begin", ""), chosen("Where certificates", "\r"), typed("Write this", ""),
		},
		"linode": {
			typed("Create one?", ""), typed("Name of the stack", ""), chosen("Provider of the cluster", "linode\r"),
			chosen("Linode region", "\r"), typed("Kubernetes version", ""), typed("Type of the nodes", ""),
			typed("Number of nodes", "5"),
			chosen("Highly available", "true\r"), typed("Type of the registry", ""),
			typed("Address for warnings", "ann@example.com"),
			chosen("Where certificates", "acme\r"), typed("Address that the certificate", "ops@example.com"),
			typed("Write this", ""),
		},
		"kind": {
			typed("Create one?", ""), typed("Name of the stack", ""), chosen("Provider of the cluster", "\r"),
			typed("Number of worker", "2"), typed("for HTTP", "8080"), typed("for HTTPS", "8443"),
			typed("for the registry", ""), typed("Write this", "y"),
		},
	}
}

// TestFirstRun leads from an empty directory to a complete configuration.
func TestFirstRun(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"aws": "  kubernetes:infra_type: aws\n  aws:region: eu-north-1\n  vpc:azs:\n    - eu-north-1a\n    - " +
			"eu-north-1b\n  eks:k8s_version: \"1.35\"\n" +
			"  eks:instance_type: t3.large\n  eks:min_size: 2\n  eks:max_size: 6\n  eks:desired_capacity: 2\n  " +
			"certmgr:issuer: self-signed\n",
		"linode": "  kubernetes:infra_type: linode\n  lke:region: eu-north-1\n  lke:k8s_version: \"1.36\"\n  " +
			"lke:node_type: g6-standard-4\n  lke:node_count: 5\n" +
			"  lke:high_availability: true\n  harbor:instance_type: g6-standard-2\n  harbor:email: ann@example.com\n  " +
			"certmgr:issuer: acme\n  certmgr:acme_email: ops@example.com\n",
		"kind": "  kubernetes:infra_type: kind\n  kind:workers: 2\n  kind:http_port: 8080\n  kind:https_port: 8443\n  " +
			"kind:registry_port: 5001\n",
	}
	for provider, replies := range firstRuns() {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			o, screen, err := lead(t, dir, cmd.Common{}, replies...)
			if err != nil {
				t.Fatal(err)
			}
			head := "# Configuration of the stack dev. Every key is in Pulumi.stackname.yaml.example.\nconfig:\n"
			if diff := cmp.Diff(head+want[provider], content(t, dir)); diff != "" {
				t.Error(diff)
			}
			if _, err := os.Lstat(filepath.Join(dir, config.EnvironmentFile)); err == nil {
				t.Error("there is an environment file, which would choose the stack of every command")
			}
			settings, err := config.Resolve(config.Request{
				Root: o.Root, Stack: o.Stack, Provider: o.Provider, Sources: o.Sources,
			})
			if err != nil || settings.Provider.Text != provider || settings.Stack.Text != "dev" {
				t.Errorf("the run goes on with %+v, %v", settings.Provider, err)
			}
			if shown := strings.ReplaceAll(want[provider], "\n", "\r\n  "); !strings.Contains(screen, strings.TrimSpace(shown)) {
				t.Errorf("the complete configuration was not shown: %s", screen)
			}
		})
	}
}

// TestFirstRunOfSome asks only what the selected projects need.
func TestFirstRunOfSome(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := cmd.Common{}
	o.Selection = plan.Selection{Only: []string{"linode-lke"}}
	replies := append(firstRuns()["linode"][:8:8], typed("Write this", ""))
	if _, screen, err := lead(t, dir, o, replies...); err != nil || strings.Contains(screen, "Address") {
		t.Errorf("error %v: %s", err, screen)
	}
	got := content(t, dir)
	if strings.Contains(got, "harbor") || strings.Contains(got, "certmgr") || !strings.Contains(got, "lke:node_count: 5") {
		t.Errorf("written: %s", got)
	}
}

// TestInterruptedFirstRun: Ctrl-C at any question leaves no file.
func TestInterruptedFirstRun(t *testing.T) {
	t.Parallel()
	for provider, replies := range firstRuns() {
		for i, last := range replies {
			t.Run(provider+" "+last.question, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				last.keys = "\x03"
				_, _, err := lead(t, dir, cmd.Common{}, append(replies[:i:i], last)...)
				if !errors.Is(err, interrupt.ErrInterrupted) || cmd.ExitCode(err) != cmd.ExitInterrupted {
					t.Errorf("got %v", err)
				}
				if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
					t.Errorf("something is left: %v, %v", entries, err)
				}
			})
		}
	}
}

// TestDeclinedFirstRun: no is an answer, too.
func TestDeclinedFirstRun(t *testing.T) {
	t.Parallel()
	for name, replies := range map[string][]reply{
		"directory": {typed("Create one?", "n")},
		"files":     append(firstRuns()["kind"][:7:7], typed("Write this", "n")),
	} {
		dir := t.TempDir()
		_, _, err := lead(t, dir, cmd.Common{}, replies...)
		if entries, readErr := os.ReadDir(dir); err == nil || readErr != nil || len(entries) > 0 {
			t.Errorf("%s: %v; something is left: %v, %v", name, err, entries, readErr)
		}
	}
}

// TestCompletedConfiguration: what is missing is asked, and nothing else in the
// file changes.
func TestCompletedConfiguration(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ before, after string }{
		"plain": {
			"config:\n  kubernetes:infra_type: aws\n  eks:min_size: 2 # two\n",
			"config:\n  kubernetes:infra_type: aws\n  eks:min_size: 2 # two\n  aws:region: us-east-1\n",
		},
		"windows line ends": {
			"config:\r\n  # c\r\n  eks:min_size: 2\r\n  kubernetes:infra_type: aws\r\n",
			"config:\r\n  # c\r\n  eks:min_size: 2\r\n  kubernetes:infra_type: aws\r\n  aws:region: us-east-1\r\n",
		},
		"no line end": {
			"config:\n  kubernetes:infra_type: aws\n  eks:min_size: 2",
			"config:\n  kubernetes:infra_type: aws\n  eks:min_size: 2\n  aws:region: us-east-1\n",
		},
		"in comments": {
			"config:\n  #aws:region: x\n\n  kubernetes:infra_type: aws\n  eks:min_size: 2\n",
			"config:\n  #aws:region: x\n  aws:region: us-east-1\n\n  kubernetes:infra_type: aws\n  eks:min_size: 2\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := cmdtest.Root(t, map[string]string{"Pulumi.dev.yaml": test.before})
			o := onDev(root)
			_, screen, err := lead(t, root, o, chosen("AWS region", "\r"), typed("Write this", ""))
			if err != nil || !strings.Contains(screen, "added to config/pulumi/Pulumi.dev.yaml:\r\n  aws:region: us-east-1") {
				t.Errorf("%v: %s", err, screen)
			}
			if diff := cmp.Diff(test.after, content(t, root)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestNothingToAsk: a complete configuration, or one that is not valid, is left
// alone.
func TestNothingToAsk(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"config:\n  kubernetes:infra_type: aws\n  aws:region: us-east-1\n",
		"config:\n  kubernetes:infra_type: aws\n  eks:min_szie: 1\n",
		"config:\n  kubernetes:infra_type: kind\n",
	} {
		root := cmdtest.Root(t, map[string]string{"Pulumi.dev.yaml": text, "environment": "PULUMI_STACK=dev"})
		environment, err := config.ReadEnvironment(root)
		if err != nil {
			t.Fatal(err)
		}
		o := cmd.Common{
			Options: session.Options{Request: request.Request{Root: root, BuiltIn: providers.Catalogue(), Sources: config.Sources{File: environment}}},
		}
		if _, screen, err := lead(t, root, o); err != nil || screen != "" {
			t.Errorf("%v: %s", err, screen)
		}
	}
}

// TestConfirmedFirstRun: --yes confirms, and answers no question.
func TestConfirmedFirstRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, _, err := lead(t, dir, cmd.Common{
		Invocation: cmd.Invocation{Yes: true},
	}, firstRuns()["kind"][1:7]...); err != nil {
		t.Fatal(err)
	}
	if got := content(t, dir); !strings.Contains(got, "kind:workers: 2\n") {
		t.Error(got)
	}
}

// TestToolsFirst: everything that is missing on this machine is reported before the
// questions, and nothing is written.
func TestToolsFirst(t *testing.T) {
	t.Parallel()
	for provider, want := range map[string][]string{
		"aws":    {"AWS CLI: there is no aws on PATH", "Docker: there is no docker on PATH"},
		"linode": {"Docker: there is no docker on PATH"},
		"kind":   {"container runtime: there is no container runtime on the PATH", "Docker: there is no docker on PATH"},
	} {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			var o cmd.Common
			o.Sources.Process = []string{"PATH=" + t.TempDir()}
			_, _, err := lead(
				t, dir, o, typed("Create one?", ""), typed("Name of the stack", ""),
				chosen("Provider of the cluster", provider+"\r"),
			)
			if cmd.ExitCode(err) != cmd.ExitConfig {
				t.Fatalf("got %v", err)
			}
			for _, text := range want {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("%q is not reported: %v", text, err)
				}
			}
			if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
				t.Errorf("something is left: %v, %v", entries, err)
			}
		})
	}
}

// TestReadOnlyDir: a directory that cannot be written is reported before the questions.
func TestReadOnlyDir(t *testing.T) {
	t.Parallel()
	root := cmdtest.Root(t, nil)
	directory := filepath.Join(root, config.Directory)
	if err := errors.Join(os.Remove(directory), os.Symlink("/nowhere/at/all", directory)); err != nil { // not even root can write there
		t.Fatal(err)
	}
	o := onDev(root)
	_, _, err := lead(t, root, o, chosen("Provider of the cluster", "\r"))
	if cmd.ExitCode(err) != cmd.ExitConfig || !strings.HasPrefix(err.Error(), "the configuration cannot be written: ") {
		t.Errorf("got %v", err)
	}
}

// TestAdoptedWithoutQuestions: a root that has a mara.yaml only is left alone if the values are in the stack files of plain Pulumi.
func TestAdoptedWithoutQuestions(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	cmdtest.WriteFile(t, filepath.Join(root, config.MaraFile), "projects: [{path: a, stackFile: own}]\n")
	cmdtest.WriteFile(t, filepath.Join(root, "a/Pulumi.yaml"), "name: a\nruntime: yaml\nconfig: {domain: {type: string}}\n")
	cmdtest.WriteFile(t, filepath.Join(root, "a/Pulumi.dev.yaml"), "config: {a:domain: example.com}\n")
	known, err := catalogue.Load(providers.Catalogue(), root, "")
	if err != nil {
		t.Fatal(err)
	}
	o := onDev(root)
	o.Catalogue = &known
	if _, screen, err := lead(t, root, o); err != nil || screen != "" {
		t.Errorf("%v: %s", err, screen)
	}
}

// TestDeployedWithoutFile: an environment that was deployed with all defaults
// is not asked about them afterwards.
func TestDeployedWithoutFile(t *testing.T) {
	t.Parallel()
	for _, simulated := range []bool{false, true} {
		root := cmdtest.Root(t, nil)
		cmdtest.WriteFile(t, layout.Of(root, simulated).Provider("dev"), "provider: kind\n")
		o := onDev(root)
		o.Simulation.On = simulated
		if _, screen, err := lead(t, root, o); err != nil || screen != "" {
			t.Errorf("simulated %t: %v: %s", simulated, err, screen)
		}
	}
}

// TestStacksAreOffered: if no stack is named, the existing ones are offered.
func TestStacksAreOffered(t *testing.T) {
	t.Parallel()
	const kind = "config:\n  kubernetes:infra_type: kind\n  kind:workers: 1\n"
	root := cmdtest.Root(
		t, map[string]string{"Pulumi.dev.yaml": kind, "Pulumi.prod.yaml": kind, "Pulumi.stackname.yaml.example": ""},
	)
	o, _, err := lead(
		t, root, cmd.Common{Options: session.Options{Request: request.Request{Root: root, BuiltIn: providers.Catalogue()}}},
		chosen("Name of the stack", "prod\r"),
	)
	if err != nil || o.Stack.Text != "prod" {
		t.Errorf("got %+v, %v", o.Stack, err)
	}
	if _, err := os.Stat(filepath.Join(root, config.EnvironmentFile)); err == nil {
		t.Error("the environment file was written without a question")
	}
}

func content(t *testing.T, root string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, config.Directory, "Pulumi.dev.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
