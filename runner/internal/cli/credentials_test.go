package cli

import (
	"context"
	"strings"
	"testing"
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
		{"status", exitDone, "state in " + backend + "\n"},
		{"status -o json", exitDone, `"backend": "` + backend + `"`},
		{"doctor", exitDone, backend},
		{"doctor -o json", exitDone, backend},
		{"env", exitDone, "has a password in it"},
		{"env -o json", exitDone, "has a password in it"},
		{"config list", exitDone, "mysql://me:***@db/x"},
		{"config list -o json", exitDone, `"value": "mysql://me:***@db/x"`},
		{"config get myapp:database", exitDone, "mysql://me:***@db/x\n"},
		{"config get myapp:mirrors -o json", exitDone, `"at": "https://me:***@h"`},
		{"config explain myapp:mirrors", exitDone, "https://h/?sig=***"},
		{"config set myapp:database mysql://me:hunter22@other/x", exitDone, "to mysql://me:***@other/x (was mysql://me:***@db/x)"},
		{"config set -o json myapp:database mysql://me:hunter22@other/x", exitDone, `"was": "mysql://me:***@db/x"`},
		{"config unset myapp:database", exitDone, "(was mysql://me:***@db/x)"},
		{"refresh --debug", exitFailed, "dial postgres://me:***@db: the proxy says no to [secret] and [secret]"},
	} {
		t.Run(test.args, func(t *testing.T) {
			t.Parallel()
			root, i := newRoot(t, map[string]string{
				"environment":     "PULUMI_STACK=dev\nPULUMI_CONFIG_PASSPHRASE=x\nPULUMI_BACKEND_URL=postgres://me:hunter22@db/state\n",
				"Pulumi.dev.yaml": values,
			}), newInstalled(t)
			if strings.HasPrefix(test.args, "refresh") {
				i.write("stacks.json.fail", "error: dial postgres://me:hunter22@db: the proxy says no to hunter22 and hunter33\n")
			}
			d, stdout, stderr := installedDeps(t, root, i)
			d.Environ = append(d.Environ, "HTTPS_PROXY=http://me:hunter33@proxy:3128")
			if code := Run(context.Background(), d, strings.Fields(test.args)); code != test.code {
				t.Errorf("exit code %d", code)
			}
			text := stdout.String() + stderr.String()
			if !strings.Contains(text, test.want) || strings.Contains(text, "hunter") {
				t.Errorf("want %q and no password:\n%s", test.want, text)
			}
		})
	}
}
