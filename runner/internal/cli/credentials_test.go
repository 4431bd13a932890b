package cli_test

import (
	"context"
	"strings"
	"testing"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/wire"
)

// TestCredentialsInURLsAreNotShown: whatever prints settings prints their URLs
// without the passwords in them.
func TestCredentialsInURLsAreNotShown(t *testing.T) {
	t.Parallel()
	const (
		backend = "postgres://me:***@db/state"
		values  = "config:\n  kubernetes:infra_type: kind\n  myapp:database: mysql://me:hunter22@db/x\n" +
			"  myapp:mirrors: [\"https://h/?sig=hunter22\", {at: \"https://me:hunter22@h\"}]\n"
	)
	for _, test := range []struct {
		args string
		code int
		want string
	}{
		{"status", cmd.ExitDone, "state in " + backend + "\n"},
		{"status -o json", cmd.ExitDone, `"backend": "` + backend + `"`},
		{"doctor", cmd.ExitDone, backend},
		{"doctor -o json", cmd.ExitDone, backend},
		{"env", cmd.ExitDone, "contains a password"},
		{"env -o json", cmd.ExitDone, "contains a password"},
		{"config list", cmd.ExitDone, "mysql://me:***@db/x"},
		{"config list -o json", cmd.ExitDone, `"value": "mysql://me:***@db/x"`},
		{"config get myapp:database", cmd.ExitDone, "mysql://me:***@db/x\n"},
		{"config get myapp:mirrors -o json", cmd.ExitDone, `"at": "https://me:***@h"`},
		{"config explain myapp:mirrors", cmd.ExitDone, "https://h/?sig=***"},
		{"config set myapp:database mysql://me:hunter22@other/x", cmd.ExitDone, "to mysql://me:***@other/x (was mysql://me:***@db/x)"},
		{"config set -o json myapp:database mysql://me:hunter22@other/x", cmd.ExitDone, `"was": "mysql://me:***@db/x"`},
		{"config unset myapp:database", cmd.ExitDone, "(was mysql://me:***@db/x)"},
		{"refresh --debug", cmd.ExitFailed, "dial postgres://me:***@db: the proxy says no to [secret] and [secret]"},
	} {
		t.Run(test.args, func(t *testing.T) {
			t.Parallel()
			root, i := cmdtest.Root(t, map[string]string{
				"environment":     "PULUMI_STACK=dev\nPULUMI_CONFIG_PASSPHRASE=x\nPULUMI_BACKEND_URL=postgres://me:hunter22@db/state\n",
				"Pulumi.dev.yaml": values,
			}), cmdtest.NewInstalled(t)
			if strings.HasPrefix(test.args, "refresh") {
				i.Write("stacks.json.fail", "error: dial postgres://me:hunter22@db: the proxy says no to hunter22 and hunter33\n")
			}
			d, stdout, stderr := cmdtest.InstalledDeps(t, root, i)
			d.Environ = append(d.Environ, "HTTPS_PROXY=http://me:hunter33@proxy:3128")
			if code := wire.Run(context.Background(), d, strings.Fields(test.args)); code != test.code {
				t.Errorf("exit code %d", code)
			}
			text := stdout.String() + stderr.String()
			if !strings.Contains(text, test.want) || strings.Contains(text, "hunter") {
				t.Errorf("want %q and no password:\n%s", test.want, text)
			}
		})
	}
}
