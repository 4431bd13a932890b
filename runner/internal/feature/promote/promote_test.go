package promote_test

import (
	"context"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/testing/livetest"
	"mara/runner/internal/wire"
)

const promotedFile = "config/pulumi/Pulumi.prod.yaml"

// promotable returns a root whose environment dev runs an image of the application shop, with the id that a kubelet
// reports, and a function that runs the command.
func promotable(t *testing.T, imageID string) (root string, promote func(args ...string) (code int, stdout, stderr string)) {
	t.Helper()
	root = cmdtest.Root(t, map[string]string{
		"environment":      "PULUMI_STACK=dev\nPULUMI_CONFIG_PASSPHRASE=correct-horse\n",
		"Pulumi.dev.yaml":  "config:\n  kubernetes:infra_type: aws\n",
		"Pulumi.prod.yaml": "config:\n  kubernetes:infra_type: linode\n",
	})
	cmdtest.WriteFile(t, filepath.Join(root, "mara.yaml"), "providers: {aws: {}, linode: {}}\napplications:\n  shop: {image: 'ghcr.io/acme/shop:1.2.2'}\n")
	pod := `{"metadata":{"name":"shop-1","namespace":"shop"},"spec":{"containers":[{"name":"shop","image":"ghcr.io/acme/shop:1.2.3"}]},` +
		`"status":{"conditions":[{"type":"Ready","status":"True"}],"containerStatuses":[{"name":"shop","image":"ghcr.io/acme/shop:1.2.3","imageID":"` + imageID + `"}]}}`
	kubeconfig := livetest.Serve(t, livetest.Resource{GroupVersion: "v1", Name: "pods", Kind: "Pod", Objects: []string{pod}})
	i := cmdtest.NewInstalled(t)
	i.ExportsKubeconfig(root, kubeconfig)
	return root, func(args ...string) (int, string, string) {
		d, stdout, stderr := cmdtest.InstalledDeps(t, root, i)
		code := wire.Run(context.Background(), d, append([]string{"promote"}, args...))
		return code, stdout.String(), stderr.String()
	}
}

// TestPromote writes the digest that runs in one environment into the file of another, shows it as a patch, and
// commits it.
func TestPromote(t *testing.T) {
	t.Parallel()
	digest := "sha256:" + strings.Repeat("a", 64)
	image := "ghcr.io/acme/shop:1.2.3@" + digest
	root, promote := promotable(t, "ghcr.io/acme/shop@"+digest)
	before, err := os.ReadFile(filepath.Join(root, promotedFile))
	if err != nil {
		t.Fatal(err)
	}
	read := func() string {
		content, err := os.ReadFile(filepath.Join(root, promotedFile))
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	code, stdout, stderr := promote("shop", "--from", "dev", "--to", "prod", "--patch")
	if code != cmd.ExitDone || !strings.Contains(stdout, "+++ b/"+promotedFile) || !strings.Contains(stdout, "shop:image: "+image) {
		t.Fatalf("patch: %d\n%s%s", code, stdout, stderr)
	}
	if read() != string(before) {
		t.Error("a patch wrote the file")
	}
	for _, args := range [][]string{{"init", "--quiet"}, {"add", "."}, {"-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "--quiet", "-m", "x"},
		{"config", "user.name", "t"}, {"config", "user.email", "t@example.com"}} {
		command := exec.Command("git", args...)
		command.Dir = root
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	code, stdout, stderr = promote("shop", "--from", "dev", "--to", "prod", "--git-commit")
	if code != cmd.ExitDone || !strings.Contains(stdout, image) || !strings.Contains(read(), "shop:image: "+image) {
		t.Fatalf("commit: %d\n%s%s\n%s", code, stdout, stderr, read())
	}
	log := exec.Command("git", "log", "-1", "--format=%B", "--name-only")
	log.Dir = root
	if out, err := log.CombinedOutput(); err != nil || !strings.Contains(string(out), "Promote shop from dev to prod") || !strings.Contains(string(out), promotedFile) {
		t.Errorf("%v: %s", err, out)
	}
	code, stdout, stderr = promote("shop", "--from", "dev", "--to", "prod")
	if code != cmd.ExitDone || !strings.Contains(stdout, "already") {
		t.Errorf("again: %d\n%s%s", code, stdout, stderr)
	}
}

// TestPromoteImage writes a new image with the digest that its registry has for the tag.
func TestPromoteImage(t *testing.T) {
	t.Parallel()
	root, promote := promotable(t, "")
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	image := strings.TrimPrefix(server.URL, "http://") + "/acme/shop:1.3.0"
	pushed, err := random.Index(64, 1, 2) // for several architectures
	if err != nil {
		t.Fatal(err)
	}
	digest, err := pushed.Digest()
	if err != nil {
		t.Fatal(err)
	}
	ref, err := name.ParseReference(image)
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.WriteIndex(ref, pushed); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := promote("shop", "--image", image, "--to", "prod")
	if code != cmd.ExitDone || !strings.Contains(stdout, "as its registry has it") {
		t.Fatalf("%d\n%s%s", code, stdout, stderr)
	}
	content, err := os.ReadFile(filepath.Join(root, promotedFile))
	if want := "shop:image: " + image + "@" + digest.String(); err != nil || !strings.Contains(string(content), want) {
		t.Errorf("%v, want %q:\n%s", err, want, content)
	}
}

// TestPromoteRefuses images that cannot be pulled elsewhere, and names that are not there.
func TestPromoteRefuses(t *testing.T) {
	t.Parallel()
	_, promote := promotable(t, "sha256:"+strings.Repeat("c", 64))
	for args, want := range map[string]struct {
		code int
		text string
	}{
		"shop --from dev --to prod":                      {cmd.ExitFailed, "push it to a registry"},
		"shpo --from dev --to prod":                      {cmd.ExitUsage, `did you mean "shop"?`},
		"shop --from dev --to prd":                       {cmd.ExitUsage, `no environment "prd"; did you mean "prod"?`},
		"shop --from dev --to dev":                       {cmd.ExitUsage, "both dev"},
		"shop --from dev --image shop:1 --to prod":       {cmd.ExitUsage, "choose one"},
		"shop --image localhost:1/shop:1 --to prod":      {cmd.ExitFailed, "localhost:1/shop:1: "},
		"shop --image shop:1":                            {cmd.ExitUsage, "name two environments"},
		"shop --from dev":                                {cmd.ExitUsage, "name two environments"},
		"--from dev --to prod":                           {cmd.ExitUsage, "which application?"},
		"shop --from prod --to dev":                      {cmd.ExitConfig, "linode-lke is not deployed"},
		"shop --from dev --to prod --patch --git-commit": {cmd.ExitUsage, "choose one"},
	} {
		code, stdout, stderr := promote(strings.Fields(args)...)
		if code != want.code || !strings.Contains(stderr, want.text) {
			t.Errorf("%s: %d, want %d and %q\n%s%s", args, code, want.code, want.text, stdout, stderr)
		}
	}
}
