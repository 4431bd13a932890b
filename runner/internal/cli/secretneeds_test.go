package cli_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/wire"
)

// TestMissingSecretsArePartOfTheOneError: whatever is wrong with the
// configuration is reported at once, and nothing is asked before it is right.
func TestMissingSecretsArePartOfTheOneError(t *testing.T) {
	t.Parallel()
	const stack = "config:\n  kubernetes:infra_type: kind\n  kind:nodez: 1\n"
	const secure = "    secure: v1:x:y\n"
	all := []string{
		"config/pulumi/Pulumi.dev.yaml:3: kind:nodez is read by no project",
		"config/pulumi/secrets/Pulumi.dev.yaml: prometheus:admin_password is missing: password of Grafana",
		"bank-of-anthos:accounts_db_password is missing",
		"bank-of-anthos:ledger_db_password is missing",
		"runner secrets set bank-of-anthos:jwt_private_key -s dev",
	}
	for _, test := range []struct {
		name, args, secrets string
		wants               []string
		not                 string
	}{
		{"up", "up", "", append(all, "6 problems", "PULUMI_CONFIG_PASSPHRASE is missing"), "harbor"},
		{"preview", "preview", "", append(all, "6 problems", "PULUMI_CONFIG_PASSPHRASE is missing"), "harbor"},
		{"one is there", "up", "config:\n  prometheus:admin_password:\n" + secure, []string{"5 problems", "jwt_private_key"}, "admin_password"},
		{"one is empty", "up", "config:\n  prometheus:admin_password: \"\"\n", []string{"secrets/Pulumi.dev.yaml:2: prometheus:admin_password is missing"}, "plain text"},
		{"one is in plain text", "up", "config:\n  prometheus:admin_password: hunter2hunter2\n", []string{"secrets/Pulumi.dev.yaml:2: prometheus:admin_password is in plain text"}, "hunter2"},
		{"not those of projects that do not run", "up --only certmgr", "", []string{"kind:nodez"}, "runner secrets"},
		{"those of what reads them", "up --only +prometheus", "", all, "harbor"},
		{"one is given", "up --secret prometheus:admin_password=env:X", "", []string{"5 problems", "--secret bank-of-anthos:jwt_private_key=env:NAME, or have it made with --generate-secrets"}, "admin_password"},
		{"what can be made is made", "up --generate-secrets", "", []string{"2 problems", "PULUMI_CONFIG_PASSPHRASE"}, "runner secrets"},
		{"refresh", "refresh", "", []string{"kind:nodez"}, "missing"},
		{"destroy", "destroy", "", []string{"kind:nodez"}, "missing"},
		{"a simulation", "up --simulate", "", []string{"kind:nodez"}, "missing"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			root, i := cmdtest.Root(t, map[string]string{"Pulumi.dev.yaml": stack}), cmdtest.NewInstalled(t)
			cmdtest.WriteFile(t, filepath.Join(root, "config/pulumi/secrets/Pulumi.dev.yaml"), test.secrets)
			d, _, stderr := cmdtest.InstalledDeps(t, root, i)
			if code := wire.Run(context.Background(), d, append(strings.Fields(test.args), "-s", "dev")); code != cmd.ExitConfig {
				t.Errorf("exit code %d", code)
			}
			for _, want := range test.wants {
				if !strings.Contains(stderr.String(), want) {
					t.Errorf("the error does not say %q:\n%s", want, stderr)
				}
			}
			if strings.Contains(stderr.String(), test.not) || strings.Count(stderr.String(), "error:") != 1 {
				t.Errorf("the error says too much:\n%s", stderr)
			}
		})
	}
}
