package cli_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/config"
	"mara/providers"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/interrupt"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/wire"
)

// knownProviders is how errors list the providers.
var knownProviders = strings.Join(providers.Names(), ", ")

func TestInit(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, arg, root, cd string }{
		{"working directory", "", "", ""},
		{"working directory by name", ".", "", ""},
		{"and with a slash", "./x/..", "", ""},
		{"new directory", "new/one", "new/one", "  cd new/one\n"},
		{"name with a space", "my root", "my root", "  cd 'my root'\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d, stdout, stderr := cmdtest.Deps(t)
			args := []string{"init"}
			if tt.arg != "" {
				args = append(args, tt.arg)
			}
			if code := wire.Run(context.Background(), d, args); code != cmd.ExitDone {
				t.Fatalf("exit code %d: %s", code, stderr)
			}
			root := filepath.Join(d.Dir, tt.root)
			want := "created in " + root + ":\n  config/pulumi/.gitignore\n  config/pulumi/environment.example\n  config/pulumi/Pulumi.stackname.yaml.example\n" +
				"\nnext, deploy an environment on simulated clouds:\n" + tt.cd + "  runner up -p kind -s dev --simulate --yes\n"
			if diff := cmp.Diff(want, stdout.String()); diff != "" {
				t.Error(diff)
			}
			if got, err := config.FindRoot(root, config.Value{}); err != nil || got != root {
				t.Errorf("got %s, %v", got, err)
			}
		})
	}
}

func TestInitJSON(t *testing.T) {
	t.Parallel()
	d, stdout, stderr := cmdtest.Deps(t)
	if code := wire.Run(context.Background(), d, []string{"init", "-o", "json"}); code != cmd.ExitDone {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	var got struct {
		Root  string
		Files []string
	}
	if err := json.Unmarshal(stdout.Bytes(), &got); err != nil || got.Root != d.Dir || len(got.Files) != 3 {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestInitOverwritesNothing(t *testing.T) {
	t.Parallel()
	root := cmdtest.Root(t, map[string]string{"environment.example": "mine"})
	d, stdout, stderr := cmdtest.Deps(t)
	d.Dir = root
	if code := wire.Run(context.Background(), d, []string{"init"}); code != cmd.ExitConfig {
		t.Errorf("exit code %d", code)
	}
	if want := "error: config/pulumi/environment.example: exists already; nothing was changed\n"; !strings.HasPrefix(stderr.String(), want) || stdout.Len() > 0 {
		t.Errorf("got %s%s", stdout, stderr)
	}
	entries, err := os.ReadDir(filepath.Join(root, config.Directory))
	if err != nil || len(entries) != 1 {
		t.Errorf("something was written: %v, %v", entries, err)
	}
}

func TestInitFails(t *testing.T) {
	t.Parallel()
	d, _, stderr := cmdtest.Deps(t)
	if err := os.WriteFile(filepath.Join(d.Dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if code := wire.Run(context.Background(), d, []string{"init", "file"}); code != cmd.ExitConfig || !strings.Contains(stderr.String(), "not a directory") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	stderr.Reset()
	if code := wire.Run(context.Background(), d, []string{"init", ""}); code != cmd.ExitUsage {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

func TestProvidersJSON(t *testing.T) {
	t.Parallel()
	d, stdout, _ := cmdtest.Deps(t)
	if code := wire.Run(context.Background(), d, []string{"providers", "-o", "json"}); code != cmd.ExitDone {
		t.Fatalf("exit code %d", code)
	}
	var got []struct {
		Name     string
		Projects []string
	}
	if err := json.Unmarshal(stdout.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]int{}
	for _, p := range providers.All() {
		want[p.Name] = len(p.Steps)
	}
	for _, p := range got {
		if len(p.Projects) != want[p.Name] {
			t.Errorf("%s has %d projects", p.Name, len(p.Projects))
		}
		delete(want, p.Name)
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
}

func TestExitCode(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		err  error
		code int
		text string
	}{
		{"nothing", nil, cmd.ExitDone, ""},
		{"failure", errors.New("no"), cmd.ExitFailed, "error: no\n"},
		{"usage", failure.Usagef("up", "no %s", "way"), cmd.ExitUsage, "error: no way\nhint: see `runner up --help`\n"},
		{"wrapped", fmt.Errorf("x: %w", &config.Error{Problems: []config.Problem{{Text: "bad"}}}), cmd.ExitConfig, "error: x: bad\n"},
		{"no root", &config.NoRootError{Start: "/x"}, cmd.ExitConfig, "error: no directory with config/pulumi here (/x) or above, and none with mara.yaml\nhint: make one with `runner init`, or name it with --root or RUNNER_ROOT\n"},
		{"environment", &failure.Environment{Text: "no engine", Next: "install one"}, cmd.ExitConfig, "error: no engine\nhint: install one\n"},
		{"interrupted", fmt.Errorf("up: %w", interrupt.ErrInterrupted), cmd.ExitInterrupted, "error: up: interrupted\n"},
		{"cancelled", context.Canceled, cmd.ExitInterrupted, "error: context canceled\n"},
		{"reported already", fmt.Errorf("x: %w", cmd.Exit(cmd.ExitChanges)), cmd.ExitChanges, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var b strings.Builder
			cmd.PrintError(&b, 0, tt.err)
			if got := cmd.ExitCode(tt.err); got != tt.code || b.String() != tt.text {
				t.Errorf("got %d, %q", got, b.String())
			}
		})
	}
}

// TestInterruptedCommand: a command that fails after a signal has cancelled it was interrupted, whatever its error is.
func TestInterruptedCommand(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	d, _, stderr := cmdtest.Deps(t)
	if code := wire.Run(ctx, d, []string{"status", "--root", "/nowhere"}); code != cmd.ExitUsage {
		t.Errorf("before the signal: exit code %d: %s", code, stderr)
	}
	cancel(interrupt.ErrInterrupted)
	if code := wire.Run(ctx, d, []string{"status", "--root", "/nowhere"}); code != cmd.ExitInterrupted {
		t.Errorf("after the signal: exit code %d: %s", code, stderr)
	}
	if code := wire.Run(ctx, d, []string{"providers"}); code != cmd.ExitDone {
		t.Errorf("a command that is done all the same: exit code %d: %s", code, stderr)
	}
}

func TestCompletionGolden(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			d, stdout, _ := cmdtest.Deps(t)
			if code := wire.Run(context.Background(), d, []string{"completion", shell}); code != cmd.ExitDone {
				t.Fatalf("exit code %d", code)
			}
			checkGolden(t, "completion."+shell, stdout.String())
		})
	}
}

// TestCompletedNames checks that completion lists the names of the root.
func TestCompletedNames(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for name, content := range map[string]string{
		"mara.yaml": "providers: {shop: {}}\nprojects: [{path: web}, {path: db}]\n", "web/Pulumi.yaml": "name: web\nruntime: yaml\n", "db/Pulumi.yaml": "name: db\nruntime: yaml\n",
		"config/pulumi/Pulumi.dev.yaml": "", "config/environments/dev.yaml": "values: {runner: {labels: {tier: test}}}\n", "queries/large.jq": "# lists what is large\n.resources[]\n", "config/pulumi/Pulumi.prod.yaml": "", ".runner/runs/20261120-193000-250k3f/meta.json": "{}",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for line, want := range map[string]string{
		"up --only ": "web db", "plan -p ": "shop", "status -s ": "dev prod", "fleet status p": "prod",
		"config diff dev ": "dev prod", "fleet up -l ": "tier=test", "query la": "large", "logs ": "20261120-193000-250k3f",
	} {
		if got := completed(t, root, line); got != want {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
		if got := completed(t, t.TempDir(), "--root "+root+" "+line); got != want {
			t.Errorf("%q with --root: got %q, want %q", line, got, want)
		}
	}
	d, stdout, _ := cmdtest.Deps(t)
	d.Dir = root
	if code := wire.Run(context.Background(), d, []string{"config", "reference"}); code != cmd.ExitDone || !strings.Contains(stdout.String(), "## web\n\nweb: a project of your own.") {
		t.Errorf("config reference: exit code %d, %s", code, stdout)
	}
}

// completed returns the words that completion offers at the end of a line.
func completed(t *testing.T, dir, line string) string {
	t.Helper()
	d, stdout, stderr := cmdtest.Deps(t)
	d.Dir = dir
	if code := wire.Run(context.Background(), d, append([]string{"completion", "bash", "--"}, strings.Split(line, " ")...)); code != cmd.ExitDone {
		t.Errorf("%q: exit code %d, %s", line, code, stderr)
	}
	var words []string
	for candidate := range strings.Lines(stdout.String()) {
		word, _, _ := strings.Cut(strings.TrimSuffix(candidate, "\n"), "\t")
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	tests := []struct{ line, want string }{
		{"pl", "plan"},
		{"help pl", "plan"},
		{"-s dev prov", "providers"},
		{"config ge", "get"},
		{"config ls", ""},
		{"plan --des", "--destroy"},
		{"plan -p ", strings.Join(providers.Names(), " ")},
		{"plan --provider l", "linode"},
		{"plan --provider=l", "--provider=linode"},
		{"show-execution -o m", "mermaid"},
		{"plan --stack ", ""},
		{"init ", ""},
		{"init --d", "--debug"},
		{"completion f", "fish"},
		{"schema ev", "events"},
		{"doctor des", "destroy"},
		{"up --only prom", "prometheus"},
		{"up --only vpc,+prom", "vpc,+prometheus"},
		{"destroy --skip linode-h", "linode-harbor linode-harbor-configuration"},
		{"providers -o ", "table json"},
		{"pulumi kind-r", "kind-registry"},
		{"pulumi kind-registry ", "--"},
		{"pulumi kind-registry -- st", ""},
		{"config get eks:k8s", "eks:k8s_version"},
		{"fleet get eks:k8s", "eks:k8s_version"},
		{"config get eks:k8s_version ", ""},
		{"secrets rotate prometheus:admin_password prometheus:", "prometheus:admin_password"},
		{"outputs kind-registry ", ""},
		{"outputs --js", ""},
		{"up --simulate-fail qu", "quota"},
		{"up --simulate --simulate-fail=cap", "--simulate-fail=capacity"},
	}
	for _, tt := range tests {
		if got := completed(t, t.TempDir(), tt.line); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.line, got, tt.want)
		}
	}
}

// TestBashCompletion asks a real bash what it would offer.
func TestBashCompletion(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash here")
	}
	d, stdout, _ := cmdtest.Deps(t)
	if code := wire.Run(context.Background(), d, []string{"completion", "bash"}); code != cmd.ExitDone {
		t.Fatalf("exit code %d", code)
	}
	tests := []struct{ line, asked, answer, want string }{
		{"runner pl", "[completion][bash][--][pl]", `plan\tshow the projects`, "[plan]"},
		{"runner plan -o ", "[completion][bash][--][plan][-o][]", `text\njson`, "[text][json]"},
		{"runner config get eks:k", "[completion][bash][--][config][get][eks:k]", `eks:k8s_version\tthe version`, "[k8s_version]"},
		{"runner plan --output=j", "[completion][bash][--][plan][--output=j]", "--output=json", "[json]"},
		{"runner init *", "[completion][bash][--][init][*]", "", ""},
	}
	for _, tt := range tests {
		script := fmt.Sprintf("runner() { printf '[%%s]' \"$@\" >&3; printf %%b '%s'; }\n%s\nCOMP_LINE='%s after'\nCOMP_POINT=%d\n_runner 3>&1\necho; [ ${#COMPREPLY[@]} = 0 ] || printf '[%%s]' \"${COMPREPLY[@]}\"\n",
			tt.answer, stdout, tt.line, len(tt.line))
		out, err := exec.Command(bash, "--norc", "-c", script).CombinedOutput()
		if got := string(out); err != nil || got != tt.asked+"\n"+tt.want {
			t.Errorf("%q: got %q, %v; want %q and %q", tt.line, got, err, tt.asked, tt.want)
		}
	}
}
