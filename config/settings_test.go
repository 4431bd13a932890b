package config

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func flagValue(name, text string) Value {
	if text == "" {
		return Value{}
	}
	return Value{Text: text, Origin: Origin{Source: FromFlag, Name: name}}
}

func TestResolveStack(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, flag, file, process string
		want, origin              string
	}{
		{"flag", "dev", "", "", "dev", "--stack"},
		{"flag over process", "dev", "", "PULUMI_STACK=other", "dev", "--stack"},
		{"flag agrees with the file", "dev", "PULUMI_STACK=dev", "", "dev", "--stack"},
		{"file", "", "PULUMI_STACK=dev", "", "dev", "PULUMI_STACK in config/pulumi/environment:1"},
		{"flag with an organization", "acme/dev", "", "", "dev", "--stack"},
		{"variable with an organization", "", "", "PULUMI_STACK=acme/dev", "dev", "PULUMI_STACK in the process environment"},
		{"flag over file", "prod", "PULUMI_STACK=dev", "", "prod", "--stack"},
		{"flag over file in capitals", "Dev", "PULUMI_STACK=dev", "", "Dev", "--stack"},
		{"flag over variables that disagree", "prod", "PULUMI_STACK=dev", "PULUMI_STACK=other", "prod", "--stack"},
		{"file agrees with process", "", "# x\nPULUMI_STACK=dev", "PULUMI_STACK=dev", "dev", "PULUMI_STACK in config/pulumi/environment:2"},
		{"process", "", "", "PULUMI_STACK=Dev", "Dev", "PULUMI_STACK in the process environment"},
		{"runner's own variable", "", "", "RUNNER_STACK=dev PULUMI_STACK=other", "dev", "RUNNER_STACK in the process environment"},
		{"runner's own variable in the file", "", "RUNNER_STACK=dev", "PULUMI_STACK=dev", "dev", "RUNNER_STACK in config/pulumi/environment:1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := ResolveStack(flagValue("--stack", tt.flag), sources(t, tt.file, tt.process))
			if err != nil {
				t.Fatal(err)
			}
			if got.Text != tt.want || got.Origin.String() != tt.origin {
				t.Errorf("got %q from %s", got.Text, got.Origin)
			}
		})
	}
}

// TestNoStackOfSeveral: where there are several, the command for all of them is named.
func TestNoStackOfSeveral(t *testing.T) {
	t.Parallel()
	_, err := ResolveStack(Value{}, Sources{Known: []string{"a", "b"}})
	checkError(t, err, true, "--stack: no stack is named", "`runner fleet status`")
}

func TestResolveStackRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, flag, file, process string
		usage                     bool
		want, next                string
	}{
		{"nowhere", "", "", "", true, "--stack: no stack is named", "PULUMI_STACK=NAME in config/pulumi/environment"},
		{"more than a whole name", "a/b/c/d", "", "", true, `--stack: the stack name "c/d" contains '/'`, ""},
		{"organization without a name", "acme/", "", "", true, "--stack: a stack name may not be empty", ""},
		{"name without an organization", "/dev", "", "", true, `--stack: the stack name "/dev" contains '/'`, ""},
		{"too long", strings.Repeat("x", 200), "", "", true, "--stack: the stack name has 200 characters", ""},
		{"bad in the file", "", "PULUMI_STACK='a b'", "", false, `config/pulumi/environment:1: PULUMI_STACK: the stack name "a b" contains ' '`, ""},
		{"bad in the process", "", "", "PULUMI_STACK=a/b/c/d", false, `PULUMI_STACK in the process environment: the stack name "c/d"`, ""},
		{"process against file", "", "# x\nPULUMI_STACK=dev", "PULUMI_STACK=prod", false,
			`PULUMI_STACK in the process environment: is "prod", but PULUMI_STACK in config/pulumi/environment:2 says "dev"`,
			"unset PULUMI_STACK, or remove line 2 of config/pulumi/environment; -s NAME overrides both"},
		{"process against runner's variable in the file", "", "RUNNER_STACK=dev", "PULUMI_STACK=prod", false,
			`PULUMI_STACK in the process environment: is "prod", but RUNNER_STACK in config/pulumi/environment:1 says "dev"`, "-s NAME"},
		{"two variables in the file", "", "RUNNER_STACK=dev\nPULUMI_STACK=prod", "", false,
			`config/pulumi/environment:2: PULUMI_STACK: is "prod", but RUNNER_STACK in config/pulumi/environment:1 says "dev"`, "-s NAME"},
		{"runner's variable against file", "", "PULUMI_STACK=dev", "RUNNER_STACK=prod", false,
			`RUNNER_STACK in the process environment: is "prod", but PULUMI_STACK in config/pulumi/environment:1 says "dev"`, "unset RUNNER_STACK"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := ResolveStack(flagValue("--stack", tt.flag), sources(t, tt.file, tt.process))
			checkError(t, err, tt.usage, tt.want, tt.next)
		})
	}
}

func TestResolveProvider(t *testing.T) {
	t.Parallel()
	const configured = "config:\n  kubernetes:infra_type: kind\n"
	tests := []struct{ name, flag, file, process, stack, want, origin string }{
		{"flag", "aws", "", "", "", "aws", "--provider"},
		{"flag agrees", "kind", "", "", configured, "kind", "--provider"},
		{"flag over variable", "aws", "RUNNER_PROVIDER=kind", "", "", "aws", "--provider"},
		{"file agrees with process", "", "RUNNER_PROVIDER=aws", "RUNNER_PROVIDER=aws", "", "aws", "RUNNER_PROVIDER in config/pulumi/environment:1"},
		{"stack file", "", "", "", configured, "kind", "kubernetes:infra_type in f:2"},
		{"nowhere", "", "", "", "", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			stack, err := ParseStack("f", []byte(tt.stack))
			if err != nil {
				t.Fatal(err)
			}
			got, err := ResolveProvider(flagValue("--provider", tt.flag), sources(t, tt.file, tt.process), stack)
			if err != nil {
				t.Fatal(err)
			}
			if got.Text != tt.want || got.Origin.String() != tt.origin {
				t.Errorf("got %q from %s", got.Text, got.Origin)
			}
		})
	}
}

func TestResolveProviderRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, stack, want, next string }{
		{"another provider", "config:\n  kubernetes:infra_type: kind\n",
			`f:2: kubernetes:infra_type is "kind", but --provider asks for "aws"; a stack never changes its provider while something is deployed`,
			"drop --provider to continue with kind, or name another stack for aws with -s NAME"},
		{"encrypted", "config:\n  kubernetes:infra_type: {secure: x}\n", "f:2: kubernetes:infra_type must be the name of a provider", ""},
		{"a list", "config:\n  kubernetes:infra_type: [aws]\n", "f:2: kubernetes:infra_type must be the name of a provider", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			stack, err := ParseStack("f", []byte(tt.stack))
			if err != nil {
				t.Fatal(err)
			}
			_, err = ResolveProvider(flagValue("--provider", "aws"), Sources{}, stack)
			checkError(t, err, false, tt.want, tt.next)
		})
	}
}

// TestProcessAgainstFile: a provider in the process environment does not silently lose.
func TestProcessAgainstFile(t *testing.T) {
	t.Parallel()
	_, err := ResolveProvider(Value{}, sources(t, "RUNNER_PROVIDER=aws", "RUNNER_PROVIDER=kind"), StackFile{})
	checkError(t, err, false, `RUNNER_PROVIDER in the process environment: is "kind", but RUNNER_PROVIDER in config/pulumi/environment:1 says "aws"`, "-p NAME overrides both")
}

// TestOneBackend: the environment file and the process environment name the same one.
func TestOneBackend(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, file, process, want string }{
		{"the same", "PULUMI_BACKEND_URL=s3://a", "PULUMI_BACKEND_URL=s3://a", ""},
		{"the same directory, relative and absolute", "PULUMI_BACKEND_URL=file://states", "PULUMI_BACKEND_URL=file:///root/states?metadata=skip", ""},
		{"only the file", "PULUMI_BACKEND_URL=s3://a", "", ""},
		{"only the process", "", "PULUMI_BACKEND_URL=s3://a", ""},
		{"another", "A=1\nPULUMI_BACKEND_URL=s3://a", "PULUMI_BACKEND_URL=postgres://me:swordfish@db/b",
			"PULUMI_BACKEND_URL in the process environment: is not what PULUMI_BACKEND_URL in config/pulumi/environment:2 says"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := ResolveRoot(Request{Root: "/root", Sources: sources(t, tt.file, tt.process)})
			if tt.want != "" {
				checkError(t, err, false, tt.want, "unset PULUMI_BACKEND_URL, or remove line 2 of config/pulumi/environment")
			} else if err != nil {
				t.Error(err)
			}
			if err != nil && strings.Contains(err.Error(), "swordfish") {
				t.Error("the error shows the password")
			}
		})
	}
}

// TestOnlyStack: the one stack that has a configuration needs no name.
func TestOnlyStack(t *testing.T) {
	t.Parallel()
	root := newRoot(t, map[string]string{StackPath("dev"): "config: {}\n"})
	var s Sources
	s.UseOnlyStack(root, []string{"dev"})
	if got, err := ResolveStack(Value{}, s); err != nil || got.Text != "dev" {
		t.Errorf("one stack: %+v, %v", got, err)
	}
	if got, err := ResolveStack(flagValue("--stack", "prod"), s); err != nil || got.Text != "prod" {
		t.Errorf("a flag: %+v, %v", got, err)
	}
	s = Sources{}
	s.UseOnlyStack(newRoot(t, map[string]string{StackPath("dev"): "", StackPath("prod"): ""}), []string{"dev", "prod"})
	_, err := ResolveStack(Value{}, s)
	checkError(t, err, true, "--stack: no stack is named; there are dev, prod", "-s NAME")
	for _, name := range []string{"organization/net/dev", "organization/dev"} {
		if got, err := ResolveStack(flagValue("--stack", name), Sources{}); err != nil || got.Text != "dev" {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	s = Sources{}
	s.UseOnlyStack(newRoot(t, nil), []string{"prod"})
	if _, err := ResolveStack(Value{}, s); err == nil {
		t.Error("the only stack file next to a project is taken without a name")
	}
}

// TestOverridden: a flag that overrides a variable says so.
func TestOverridden(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, flag, file, process, want string }{
		{"nothing to override", "prod", "", "", ""},
		{"the same", "prod", "PULUMI_STACK=prod", "PULUMI_STACK=prod", ""},
		{"no flag", "", "PULUMI_STACK=dev", "", ""},
		{"the file", "prod", "PULUMI_STACK=dev", "", "--stack prod overrides PULUMI_STACK in config/pulumi/environment:1 (dev)"},
		{"both", "prod", "PULUMI_STACK=dev", "RUNNER_STACK=test",
			"--stack prod overrides PULUMI_STACK in config/pulumi/environment:1 (dev) and RUNNER_STACK in the process environment (test)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := sources(t, tt.file, tt.process).Overridden(flagValue("--stack", tt.flag), RunnerStackVariable, StackVariable)
			if got != tt.want {
				t.Errorf("got %q", got)
			}
		})
	}
}

// TestChangeProvider: a flag overrides the provider in the stack file where the caller
// checks that nothing is deployed.
func TestChangeProvider(t *testing.T) {
	t.Parallel()
	root := newRoot(t, map[string]string{StackPath("dev"): "config:\n  kubernetes:infra_type: kind\n"})
	r := Request{Root: root, Stack: flagValue("--stack", "dev"), Provider: flagValue("--provider", "aws"), ChangeProvider: true}
	if got, err := Resolve(r); err != nil || got.Provider.Text != "aws" || got.Replaced.Text != "kind" {
		t.Errorf("another provider: %+v, %v", got.Replaced, err)
	}
	r.Provider = flagValue("--provider", "kind")
	if got, err := Resolve(r); err != nil || got.Replaced.IsSet() {
		t.Errorf("the same provider: %+v, %v", got.Replaced, err)
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	root := newRoot(t, map[string]string{
		EnvironmentFile:  "PULUMI_STACK=dev\nA=file\n",
		StackPath("dev"): "config:\n  kubernetes:infra_type: kind\n",
	})
	file, err := ReadEnvironment(root)
	if err != nil {
		t.Fatal(err)
	}
	settings, err := Resolve(Request{Root: root, Sources: Sources{File: file, Process: []string{"A=process", "B=1"}}})
	if err != nil {
		t.Fatal(err)
	}
	state := "file://" + root + "/.runner/state"
	if settings.Provider.Text != "kind" || settings.Backend.Text != state || !settings.Config.Exists || settings.Secrets.Exists {
		t.Errorf("got %+v", settings)
	}
	want := map[string]string{"A": "file", "B": "1", "PULUMI_STACK": "dev", "PULUMI_BACKEND_URL": state}
	if diff := cmp.Diff(want, settings.Environ()); diff != "" {
		t.Error(diff)
	}
	settings.Environ()["A"] = "changed"
	if settings.Environ()["A"] != "file" {
		t.Error("the settings can be changed")
	}
}

func TestResolvePassesErrorsOn(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, file, content, want string }{
		{"stack file", StackPath("dev"), "x", "config/pulumi/Pulumi.dev.yaml:1: "},
		{"secrets file", SecretsPath("dev"), "x", "config/pulumi/secrets/Pulumi.dev.yaml:1: "},
		{"login", "credentials.json", "x", "is not valid JSON"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			root := newRoot(t, map[string]string{tt.file: tt.content})
			_, err := Resolve(Request{Root: root, Stack: flagValue("--stack", "dev"), Sources: Sources{Process: []string{"PULUMI_HOME=" + root}}})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestBackend(t *testing.T) {
	t.Parallel()
	home := newRoot(t, map[string]string{"credentials.json": `{"current": "s3://login"}`})
	empty := newRoot(t, map[string]string{"credentials.json": `{}`})
	tests := []struct {
		name, file, process string
		simulate            bool
		want                string
		source              Source
	}{
		{"default", "", "HOME=" + empty, false, "file:///root/.runner/state", FromDefault},
		{"no home", "", "", false, "file:///root/.runner/state", FromDefault},
		{"login", "", "PULUMI_HOME=" + home, false, "s3://login", FromLogin},
		{"login elsewhere", "", "PULUMI_HOME=" + empty + " PULUMI_CREDENTIALS_PATH=" + home, false, "s3://login", FromLogin},
		{"token only", "", "PULUMI_ACCESS_TOKEN=x HOME=" + empty, false, pulumiCloud, FromLogin},
		{"token, never logged in", "", "PULUMI_ACCESS_TOKEN=x PULUMI_HOME=" + empty, false, pulumiCloud, FromLogin},
		{"process", "", "PULUMI_BACKEND_URL=s3://p PULUMI_HOME=" + home, false, "s3://p", FromProcess},
		{"file", "PULUMI_BACKEND_URL=s3://f", "PULUMI_HOME=" + home, false, "s3://f", FromFile},
		{"simulation", "PULUMI_BACKEND_URL=s3://f", "PULUMI_HOME=" + home, true, "file:///root/.runner/simulated/state?metadata=skip", FromSimulation},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := Request{Root: filepath.FromSlash("/root"), Sources: sources(t, tt.file, tt.process), Simulate: tt.simulate}
			got, err := resolveBackend(r, r.Sources.File.Merge(r.Sources.Process))
			if err != nil {
				t.Fatal(err)
			}
			if got.Text != tt.want || got.Origin.Source != tt.source {
				t.Errorf("got %q from %v", got.Text, got.Origin)
			}
		})
	}
}

// sources makes an environment file and a process environment (separated by spaces).
func sources(t *testing.T, file, process string) Sources {
	t.Helper()
	environment, err := ParseEnvironment(EnvironmentFile, []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	return Sources{File: environment, Process: strings.Fields(process)}
}

// checkError holds an error against its kind, the start of its text and its next step.
func checkError(t *testing.T, err error, usage bool, want, next string) {
	t.Helper()
	var flagErr *FlagError
	var configErr *Error
	if errors.As(err, &flagErr) != usage || errors.As(err, &configErr) == usage {
		t.Fatalf("wrong kind of error: %T %v", err, err)
	}
	if !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %q, want %q", err, want)
	}
	step := err.(interface{ NextStep() string }).NextStep()
	if !strings.Contains(step, next) {
		t.Errorf("next step %q, want %q", step, next)
	}
}

func TestOrganizationOfTheStack(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ flag, file, want, err string }{
		"at Pulumi Cloud":    {"acme/dev", "PULUMI_BACKEND_URL=https://api.pulumi.com", "acme", ""},
		"of the variable":    {"", "PULUMI_BACKEND_URL=https://api.pulumi.com\nPULUMI_STACK=acme/dev", "acme", ""},
		"none":               {"dev", "PULUMI_BACKEND_URL=https://api.pulumi.com", "", ""},
		"the user's setting": {"dev", "PULUMI_BACKEND_URL=https://api.pulumi.com\nPULUMI_DEFAULT_ORGANIZATION=own", "own", ""},
		"over the setting":   {"acme/dev", "PULUMI_BACKEND_URL=https://api.pulumi.com\nPULUMI_DEFAULT_ORGANIZATION=own", "acme", ""},
		"in files":           {"acme/dev", "", "", "--stack: names the organization acme, but only Pulumi Cloud has organizations"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			settings, err := Resolve(Request{Root: t.TempDir(), Stack: flagValue("--stack", tt.flag), Sources: sources(t, tt.file, "")})
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("got %v", err)
				}
				return
			}
			if err != nil || settings.Stack.Text != "dev" || settings.Environ()["PULUMI_DEFAULT_ORGANIZATION"] != tt.want {
				t.Errorf("stack %s of %s, %v", settings.Stack.Text, settings.Environ()["PULUMI_DEFAULT_ORGANIZATION"], err)
			}
		})
	}
}
