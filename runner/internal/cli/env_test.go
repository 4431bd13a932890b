package cli_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/wire"
)

func TestEnv(t *testing.T) {
	t.Parallel()
	const named = "config:\n  kubernetes:infra_type: kind\n"
	tests := []struct {
		name    string
		files   map[string]string
		environ []string
		args    string
		want    string // ROOT and DIR stand for directories
	}{
		{
			"nothing but a stack", map[string]string{"Pulumi.dev.yaml": named}, nil, "-s dev",
			`export PULUMI_BACKEND_URL=file://ROOT/.runner/state
export PULUMI_STACK=dev
# no passphrase is set; pulumi asks for it, or takes it from PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE
`,
		},
		{
			"no provider in the stack file", nil, []string{"PULUMI_CONFIG_PASSPHRASE=hunter2"}, "-s dev",
			`export PULUMI_BACKEND_URL=file://ROOT/.runner/state
export PULUMI_STACK=dev
# the passphrase is PULUMI_CONFIG_PASSPHRASE in the process environment, so it is exported already
# kubernetes:infra_type is not in config/pulumi/Pulumi.dev.yaml; the programs need it there (and in secrets/ below it) when plain pulumi runs them
`,
		},
		{
			"secrets in the environment file",
			map[string]string{"Pulumi.dev.yaml": named, "environment": "PULUMI_STACK=dev\nPULUMI_CONFIG_PASSPHRASE=hunter2\nLINODE_TOKEN=hunter3\nRUNNER_PARALLEL=2\n"},
			nil, "",
			`export PULUMI_BACKEND_URL=file://ROOT/.runner/state
export PULUMI_STACK=dev
# the passphrase is PULUMI_CONFIG_PASSPHRASE in config/pulumi/environment:2; it is not printed
# config/pulumi/environment also sets PULUMI_CONFIG_PASSPHRASE, LINODE_TOKEN; to set all its variables:
#   set -a; . ROOT/config/pulumi/environment; set +a
`,
		},
		{
			"a passphrase of nothing",
			map[string]string{"Pulumi.dev.yaml": named, "environment": "PULUMI_CONFIG_PASSPHRASE=\n"}, []string{"PULUMI_CONFIG_PASSPHRASE_FILE=x"}, "-s dev",
			`export PULUMI_BACKEND_URL=file://ROOT/.runner/state
export PULUMI_STACK=dev
# the passphrase is PULUMI_CONFIG_PASSPHRASE in config/pulumi/environment:1; it is not printed
# config/pulumi/environment also sets PULUMI_CONFIG_PASSPHRASE; to set all its variables:
#   set -a; . ROOT/config/pulumi/environment; set +a
`,
		},
		{
			"a file with the passphrase, relative and quoted", map[string]string{"Pulumi.dev.yaml": named},
			[]string{"PULUMI_CONFIG_PASSPHRASE_FILE=my'pass", "PULUMI_BACKEND_URL=s3://bucket?region=eu"}, "-s dev",
			`export PULUMI_BACKEND_URL='s3://bucket?region=eu'
export PULUMI_STACK=dev
export PULUMI_CONFIG_PASSPHRASE_FILE='DIR/my'"'"'pass'
`,
		},
		{
			"a backend with a password",
			map[string]string{"Pulumi.dev.yaml": named, "environment": "PULUMI_BACKEND_URL=postgres://me:hunter2@db/state\n"},
			[]string{"PULUMI_CONFIG_PASSPHRASE_FILE=/p"}, "-s dev",
			`export PULUMI_STACK=dev
export PULUMI_CONFIG_PASSPHRASE_FILE=/p
# PULUMI_BACKEND_URL is not printed because it contains a password; it comes from PULUMI_BACKEND_URL in config/pulumi/environment:1
# config/pulumi/environment also sets PULUMI_BACKEND_URL; to set all its variables:
#   set -a; . ROOT/config/pulumi/environment; set +a
`,
		},
		{
			"the Pulumi Cloud", map[string]string{"Pulumi.dev.yaml": named}, []string{"PULUMI_ACCESS_TOKEN=hunter2", "HOME=/nowhere"}, "-s dev",
			"export PULUMI_BACKEND_URL=https://api.pulumi.com\nexport PULUMI_STACK=dev\n",
		},
		{
			"for direnv", map[string]string{"Pulumi.dev.yaml": named, "environment": "PULUMI_CONFIG_PASSPHRASE=hunter2\n"}, nil, "-s dev --shell direnv",
			`watch_file ROOT/config/pulumi/environment
watch_file ROOT/config/pulumi/Pulumi.dev.yaml
watch_file ROOT/mara.yaml
export PULUMI_BACKEND_URL=file://ROOT/.runner/state
export PULUMI_STACK=dev
# the passphrase is PULUMI_CONFIG_PASSPHRASE in config/pulumi/environment:1; it is not printed
# config/pulumi/environment also sets PULUMI_CONFIG_PASSPHRASE; to set all its variables:
#   dotenv ROOT/config/pulumi/environment
`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			root := cmdtest.Root(t, tt.files)
			d, stdout, stderr := cmdtest.Deps(t)
			d.Environ = tt.environ
			args := append([]string{"env", "--root", root}, strings.Fields(tt.args)...)
			if code := wire.Run(context.Background(), d, args); code != cmd.ExitDone {
				t.Fatalf("exit code %d: %s", code, stderr)
			}
			want := strings.NewReplacer("ROOT", filepath.ToSlash(root), "DIR", d.Dir).Replace(tt.want)
			if diff := cmp.Diff(want, stdout.String()); diff != "" {
				t.Error(diff)
			}
			if strings.Contains(stdout.String(), "hunter") {
				t.Error("a secret was printed")
			}
		})
	}
}

func TestEnvNeedsARoot(t *testing.T) {
	t.Parallel()
	d, _, stderr := cmdtest.Deps(t)
	if code := wire.Run(context.Background(), d, []string{"env", "-s", "dev"}); code != cmd.ExitConfig {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

func TestEnvJSON(t *testing.T) {
	t.Parallel()
	root := cmdtest.Root(t, map[string]string{"environment": "PULUMI_STACK=dev\nLINODE_TOKEN=hunter3\n"})
	d, stdout, stderr := cmdtest.Deps(t)
	d.Environ = []string{"PULUMI_CONFIG_PASSPHRASE=hunter2", "PULUMI_BACKEND_URL=s3://it's"}
	if code := wire.Run(context.Background(), d, []string{"env", "--root", root, "-o", "json"}); code != cmd.ExitDone {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	var got struct {
		Variables map[string]string
		Notes     []string
	}
	if err := json.Unmarshal(stdout.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if want := map[string]string{"PULUMI_BACKEND_URL": "s3://it's", "PULUMI_STACK": "dev"}; !cmp.Equal(want, got.Variables) || len(got.Notes) < 2 {
		t.Errorf("got %+v", got)
	}
	if strings.Contains(stdout.String(), "hunter") {
		t.Error("a secret was printed")
	}
}
