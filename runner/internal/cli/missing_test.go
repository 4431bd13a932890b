package cli_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/wire"
)

// TestEverythingMissingAtOnce: without a terminal, one error lists all that
// is missing or wrong, and nothing is written.
func TestEverythingMissingAtOnce(t *testing.T) {
	t.Parallel()
	const passphrase = "PULUMI_CONFIG_PASSPHRASE=correct-horse"
	for _, tt := range []struct {
		name, args string
		files      map[string]string
		environ    []string
		want       []string // parts of lines
		code       int
	}{
		{"nothing at all", "up", nil, nil, []string{
			"error: 3 problems:", "  no directory with config/pulumi here (", "  --stack: no stack is named; name it with -s NAME, or with PULUMI_STACK=NAME in config/pulumi/environment",
			"  --provider: no provider is named; known: " + knownProviders + "; name it with -p NAME",
		}, cmd.ExitConfig},
		{"an empty directory", "up -p aws -s dev", nil, nil, []string{
			"error: 7 problems:", "  no directory with config/pulumi here (",
			"config/pulumi/Pulumi.dev.yaml: aws:region is missing: region; AWS_REGION when not set; set it with `runner config set aws:region us-east-1`, for one run with --config aws:region=us-east-1, or as AWS_REGION=us-east-1 in config/pulumi/environment",
			"config/pulumi/environment: PULUMI_CONFIG_PASSPHRASE is missing: ",
			"config/pulumi/secrets/Pulumi.dev.yaml: prometheus:admin_password is missing: ", "config/pulumi/secrets/Pulumi.dev.yaml: bank-of-anthos:jwt_private_key is missing: ",
		}, cmd.ExitConfig},
		{"an empty directory, and secrets that will be made", "up -p kind -s dev --generate-secrets", nil, nil, []string{
			"error: 2 problems:", "  no directory with config/pulumi here (", "config/pulumi/environment: PULUMI_CONFIG_PASSPHRASE is missing: ",
		}, cmd.ExitConfig},
		{"an empty directory, and no stack", "up -p aws --secret prometheus:admin_password=env:X", nil, []string{passphrase}, []string{
			"error: 6 problems:", "  no directory with config/pulumi here (", "  --stack: no stack is named",
			"config/pulumi/Pulumi.NAME.yaml: aws:region is missing: ", "config/pulumi/secrets/Pulumi.NAME.yaml: bank-of-anthos:jwt_private_key is missing: ",
		}, cmd.ExitConfig},
		{"a refresh of nothing", "refresh -p aws -s dev", nil, nil, []string{
			"error: 2 problems:", "  no directory with config/pulumi here (", "aws:region is missing: ",
		}, cmd.ExitConfig},
		{"environment file and stack file", "up", map[string]string{"environment": "PULUMI_STACK=dev\nAWS_REGION\n", "Pulumi.dev.yaml": "config: ["}, nil, []string{
			"error: 2 problems in the configuration:", "  config/pulumi/environment:2: has no =; write NAME=value", "  config/pulumi/Pulumi.dev.yaml:1: is not valid YAML",
		}, cmd.ExitConfig},
		{"environment file and values", "status -s dev", map[string]string{"environment": "AWS_REGION\n", "Pulumi.dev.yaml": "config:\n  eks:min_size: x\n"}, nil, []string{
			"error: 2 problems in the configuration:", "  config/pulumi/environment:1: has no =", "  config/pulumi/Pulumi.dev.yaml:2: eks:min_size must be a whole number",
		}, cmd.ExitConfig},
		{"an environment file that may name another stack", "up -s dev", map[string]string{"environment": "PULUMI_STACK=$X\n", "Pulumi.prod.yaml": "config: ["}, nil, []string{
			"error: config/pulumi/environment:1: PULUMI_STACK has a $",
		}, cmd.ExitConfig},
		{"neither stack nor provider", "up", map[string]string{}, nil, []string{
			"error: 2 problems:", "  --stack: no stack is named", "  --provider: no provider is named",
		}, cmd.ExitConfig},
		{"no stack", "up -p kind", map[string]string{}, nil, []string{"error: --stack: no stack is named", "hint: name it"}, cmd.ExitUsage},
		{"no provider and wrong values", "up -s dev", map[string]string{"Pulumi.dev.yaml": "config:\n  eks:min_size: x\n"}, nil, []string{
			"error: 2 problems:", "  --provider: no provider is named", "config/pulumi/Pulumi.dev.yaml:2: eks:min_size must be a whole number",
		}, cmd.ExitConfig},
		{"both files broken", "up -s dev", map[string]string{"Pulumi.dev.yaml": "config: [", "secrets/Pulumi.dev.yaml": "config: 3\n"}, nil, []string{
			"error: 2 problems in the configuration:", "config/pulumi/Pulumi.dev.yaml:1: is not valid YAML", "  config/pulumi/secrets/Pulumi.dev.yaml:1: config must be a map",
		}, cmd.ExitConfig},
		{"keys, relations and secrets", "up -s dev", map[string]string{
			"Pulumi.dev.yaml": "config:\n  kubernetes:infra_type: aws\n  eks:min_size: 9\n  eks:max_size: 4\n  certmgr:issuer: acme\n  vpc:nat: two\n",
		}, []string{passphrase}, []string{
			`config/pulumi/Pulumi.dev.yaml:6: vpc:nat is "two"; allowed: single, per-az, none`,
			"config/pulumi/Pulumi.dev.yaml: aws:region is missing",
			"config/pulumi/Pulumi.dev.yaml: certmgr:acme_email is missing: ",
			"config/pulumi/Pulumi.dev.yaml:4: eks:max_size is 4; it may not be less than eks:min_size (9)",
			"config/pulumi/Pulumi.dev.yaml:3: eks:min_size is 9; it may not be more than eks:desired_capacity (3)",
		}, cmd.ExitConfig},
		{"a value for one run", "up -s dev --only aws-vpc --config aws:region=us-east-1 --config eks:min_size=9", map[string]string{
			"Pulumi.dev.yaml": "config:\n  kubernetes:infra_type: aws\n",
		}, []string{passphrase}, []string{
			"--config: eks:min_size is 9; it may not be more than eks:max_size (6)",
			"--config: eks:min_size is 9; it may not be more than eks:desired_capacity (3)",
		}, cmd.ExitConfig},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d, stdout, stderr := cmdtest.Deps(t)
			if tt.files != nil {
				d.Dir = cmdtest.Root(t, nil)
			}
			for name, content := range tt.files {
				cmdtest.WriteFile(t, filepath.Join(d.Dir, "config/pulumi", name), content)
			}
			before := tree(t, d.Dir)
			d.Environ = tt.environ
			code := wire.Run(context.Background(), d, strings.Fields(tt.args))
			lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
			if code != tt.code || stdout.Len() > 0 {
				t.Errorf("exit code %d: %s", code, stdout)
			}
			for _, want := range tt.want { // in this order, and beside what else is in the way
				i := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, want) })
				if i < 0 {
					t.Fatalf("%q is not reported: %s", want, stderr)
				}
				lines = lines[i+1:]
			}
			if diff := cmp.Diff(before, tree(t, d.Dir)); diff != "" {
				t.Errorf("something was written: %s", diff)
			}
		})
	}
}

func TestOverridesAreRefused(t *testing.T) {
	t.Parallel()
	checkRefused(t, "preview -s dev", map[string]string{
		"--config x":                                  "error: --config: \"x\" is not KEY=VALUE\n",
		"--config prometheus:admin_password=x":        "error: --config: prometheus:admin_password is a secret (password of Grafana's user admin), which does not belong on the command line\nhint: use --secret prometheus:admin_password=env:NAME, or `runner secrets set prometheus:admin_password`\n",
		"--config runner:protect=false":               "error: --config (RUNNER_CONFIG): runner:protect guards the environment, and is not changed for one run\nhint: name what may be lost with --allow, or change runner:protect in the stack file with `runner config set`\n",
		"--config runner:ttl=1s":                      "error: --config (RUNNER_CONFIG): runner:ttl guards the environment, and is not changed for one run\nhint: name what may be lost with --allow, or change runner:ttl in the stack file with `runner config set`\n",
		"--config kubernetes:infra_type=aws":          "error: --config: the provider is named with -p\n",
		"--config kind:workers=many":                  "error: --config: kind:workers must be a whole number",
		"--config kind:worker=1":                      "error: --config: kind:worker is read by no project; did you mean \"kind:workers\"?\n",
		"--config kind:http_port=0 --non-interactive": "error: --config: kind:http_port is 0; the smallest allowed value is 1\n",
	})
}

func TestProbeIsRefused(t *testing.T) {
	t.Parallel()
	checkRefused(t, "upgrade -s dev --kubernetes 1.34", map[string]string{
		"--probe http://localhost/ --probe-failures -1": "error: --probe-failures: -1 is less than 0\n",
		"--probe-failures 1":                            "error: --probe-failures needs --probe\n",
		"--probe localhost":                             "error: --probe: it takes an address such as https://shop.example.com/",
	})
}

// checkRefused checks for each text of arguments how the error begins with which a command refuses them.
func checkRefused(t *testing.T, command string, want map[string]string) {
	t.Helper()
	root := cmdtest.Root(t, map[string]string{"Pulumi.dev.yaml": "config:\n  kubernetes:infra_type: kind\n"})
	for args, refused := range want {
		d, stdout, stderr := cmdtest.Deps(t)
		d.Dir = root
		code := wire.Run(context.Background(), d, strings.Fields(command+" "+args))
		if code != cmd.ExitUsage || stdout.Len() > 0 || !strings.HasPrefix(stderr.String(), refused) {
			t.Errorf("%s: exit code %d: %s", args, code, stderr)
		}
	}
}
