package access_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/wire"
)

// withGroups returns a root whose environment dev has groups, on a cluster that gives them rights, and a function that
// runs the command.
func withGroups(t *testing.T, isAllowed func(group, resource string) bool) func(args ...string) (code int, stdout, stderr string) {
	t.Helper()
	root := cmdtest.Root(t, map[string]string{
		"environment":      "PULUMI_STACK=dev\nPULUMI_CONFIG_PASSPHRASE=correct-horse\n",
		"Pulumi.dev.yaml":  "config:\n  kubernetes:infra_type: aws\n",
		"Pulumi.prod.yaml": "config:\n  kubernetes:infra_type: linode\n",
	})
	cmdtest.WriteFile(t, filepath.Join(root, "mara.yaml"), "providers: {aws: {with: [access]}, linode: {}}\n")
	cmdtest.WriteFile(t, filepath.Join(root, "config", "pulumi", "Pulumi.dev.yaml"),
		"config:\n  kubernetes:infra_type: aws\n  access:groups:\n    team-a: {role: developer, namespaces: [shop]}\n    audit: {role: viewer}\n")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Spec struct {
				Groups             []string
				ResourceAttributes struct{ Namespace, Resource string }
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Errorf("%s %s: %v", r.Method, r.URL, err)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		if strings.HasSuffix(r.URL.Path, "/serviceaccounts/team-a/token") {
			fmt.Fprint(w, `{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","status":{"token":"short-lived","expirationTimestamp":"2026-11-27T12:00:00Z"}}`)
			return
		}
		about := body.Spec.ResourceAttributes
		allowed := isAllowed(body.Spec.Groups[0]+" "+about.Namespace, about.Resource)
		fmt.Fprintf(w, `{"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview","status":{"allowed":%v}}`, allowed)
	}))
	t.Cleanup(server.Close)
	i := cmdtest.NewInstalled(t)
	i.ExportsKubeconfig(root, fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"c","clusters":[{"name":"c","cluster":{"server":%q}}],`+
		`"users":[{"name":"u","user":{"token":"hidden-token"}}],"contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}]}`, server.URL))
	return func(args ...string) (int, string, string) {
		d, stdout, stderr := cmdtest.InstalledDeps(t, root, i)
		code := wire.Run(context.Background(), d, append([]string{"access"}, args...))
		return code, stdout.String(), stderr.String()
	}
}

// TestAccess shows what groups may do, and fails where it is not what their roles give.
func TestAccess(t *testing.T) {
	t.Parallel()
	const rights = "rolebindings resourcequotas"
	asGiven := func(group, resource string) bool {
		return group == "team-a shop" && !strings.Contains(rights, resource) || group == "audit " && resource == "deployments"
	}
	run := withGroups(t, func(group, resource string) bool { return asGiven(group, resource) })
	code, stdout, stderr := run("list", "-s", "dev")
	if code != cmd.ExitFailed || !strings.Contains(stderr, "audit may change in all namespaces, which the role viewer does not give") {
		t.Errorf("%d\n%s%s", code, stdout, stderr)
	}
	for _, want := range []string{"GROUP", "READ SECRETS", "team-a  developer  shop       yes", "audit   viewer     (all)"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("the table lacks %q:\n%s", want, stdout)
		}
	}
}

// TestAccessKubeconfig makes a kubeconfig with a token of the group, and nothing of the administrator.
func TestAccessKubeconfig(t *testing.T) {
	t.Parallel()
	run := withGroups(t, func(string, string) bool { return false })
	code, stdout, stderr := run("kubeconfig", "team-a", "-s", "dev", "--for", "1h")
	if code != cmd.ExitDone || strings.Contains(stdout, "hidden-token") {
		t.Fatalf("%d\n%s%s", code, stdout, stderr)
	}
	made, err := clientcmd.Load([]byte(stdout))
	if err != nil {
		t.Fatal(err)
	}
	context := made.Contexts[made.CurrentContext]
	if made.CurrentContext != "mara-aws-dev-team-a" || context.Namespace != "shop" || made.AuthInfos[context.AuthInfo].Token != "short-lived" {
		t.Errorf("%+v", made)
	}
	file := filepath.Join(t.TempDir(), "team-a.yaml")
	code, stdout, stderr = run("kubeconfig", "team-a", "-s", "dev", "--file", file)
	if info, err := os.Stat(file); code != cmd.ExitDone || err != nil || info.Mode().Perm() != 0o600 || strings.Contains(stdout+stderr, "short-lived") || !strings.Contains(stdout, "expires") {
		t.Errorf("%d %v\n%s%s", code, err, stdout, stderr)
	}
	if code, stdout, stderr = run("kubeconfig", "team-a", "-s", "dev", "--file", file); code == cmd.ExitDone || !strings.Contains(stderr, file) {
		t.Errorf("a file was replaced: %d\n%s%s", code, stdout, stderr)
	}
	code, stdout, _ = run("kubeconfig", "team-a", "-s", "dev", "-o", "json")
	var document map[string]string
	if err := json.Unmarshal([]byte(stdout), &document); code != cmd.ExitDone || err != nil || document["expires"] != "2026-11-27T12:00:00Z" || !strings.Contains(document["kubeconfig"], "short-lived") {
		t.Errorf("%d %v %s", code, err, stdout)
	}
	for args, want := range map[string]string{
		"kubeconfig team-b -s dev":          `did you mean "team-a"?`,
		"kubeconfig -s dev":                 "which group?",
		"kubeconfig team-a -s dev --for 1m": "10m0s or more",
		"kubeconfig team-a -s prod":         "does not have the project access",
	} {
		code, stdout, stderr := run(strings.Fields(args)...)
		if code == cmd.ExitDone || !strings.Contains(stderr, want) {
			t.Errorf("%s: %d, want %q\n%s%s", args, code, want, stdout, stderr)
		}
	}
}
