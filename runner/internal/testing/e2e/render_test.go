package e2e

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mara/config"
	"mara/runner/internal/kube/manifest"
)

// dirOf returns the files of a directory, by their paths in it.
func dirOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(name)] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestRender writes a whole environment as manifests, twice alike, and the same
// objects from a plan.
func TestRender(t *testing.T) {
	t.Parallel()
	long(t)
	host := registryOf(t, generatedCharts(t))
	e := newEnvironment(t, embedded)
	e.write("config/pulumi/Pulumi.dev.yaml", repositories(host)+"  "+config.InfraType+": linode\n")
	r := e.run("render", "-s", "dev", "--out", "manifests/dev")
	if r.code != 0 || !strings.Contains(r.stdout, "13-certmgr") {
		t.Fatalf("exit code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	first := dirOf(t, filepath.Join(e.root, "manifests/dev"))
	kinds := map[string]int{}
	for name, content := range first {
		if !strings.HasSuffix(name, ".yaml") {
			continue
		}
		objects, err := manifest.Objects(content)
		if err != nil || len(objects) != 1 {
			t.Errorf("%s has %d objects, error %v", name, len(objects), err)
			continue
		}
		kinds[objects[0].Text("kind")]++
		if strings.Contains(content, "[secret]") || strings.Contains(content, "Simulated-") || objects[0].Text("kind") == "Secret" {
			t.Errorf("%s has something secret:\n%s", name, content)
		}
	}
	if kinds["Namespace"] < 6 || kinds["Deployment"] < 7 || kinds["Pod"] < 7 || kinds["ClusterIssuer"] != 1 {
		t.Errorf("kinds: %v", kinds)
	}
	for _, want := range []string{
		"Nothing in the cluster: linode-lke", "Secret bank-of-anthos/bank-of-anthos-credentials is a Secret, with ", "## Placeholders", "spec.rules[0].host: from a simulated cloud",
	} {
		if !strings.Contains(first["README.md"], want) {
			t.Errorf("README.md does not say %q:\n%s", want, first["README.md"])
		}
	}
	if r := e.run("render", "-s", "dev", "--out", "manifests/dev"); r.code != 0 {
		t.Fatalf("exit code %d: %s", r.code, r.stderr)
	}
	if diff := cmp.Diff(first, dirOf(t, filepath.Join(e.root, "manifests/dev"))); diff != "" {
		t.Errorf("the second time is not like the first:\n%s", diff)
	}

	store := e.run("render", "-s", "dev", "--only", "secrets", "--secret-store", "SecretStore/vault")
	if store.code != 0 || !strings.Contains(store.stdout, "key: dev/bank-of-anthos/bank-of-anthos-credentials\n      property: jwtRS256.key\n") || strings.Contains(store.stdout, "[secret]") {
		t.Errorf("a store: exit code %d, %s%s", store.code, store.stdout, store.stderr)
	}
	if r := e.run("render", "-s", "dev", "--secret-store", "vault"); r.code != 2 {
		t.Errorf("no store: exit code %d, %s", r.code, r.stderr)
	}
	sealed(t, e)
	e.write("manifests/dev/mine.yaml", "kind: ConfigMap\n")
	if r := e.run("render", "-s", "dev", "--out", "manifests/dev"); r.code != 3 || !strings.Contains(r.stderr, "has files that `runner render` did not write: mine.yaml") {
		t.Errorf("a file of the user: exit code %d, %s", r.code, r.stderr)
	}
	for _, left := range []string{".runner/simulated", ".runner/state"} {
		if _, err := os.Stat(filepath.Join(e.root, left)); err == nil {
			t.Errorf("%s is left", left)
		}
	}
}

// sealed has Secrets sealed: only with values of their own.
func sealed(t *testing.T, e *environment) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	signed, err := x509.CreateCertificate(rand.Reader, about, about, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	e.write("controller.crt", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed})))
	args := []string{"render", "-s", "dev", "--only", "secrets", "--sealed-cert", "controller.crt"}
	before := e.env
	e.env = append(slices.Clone(before), "PULUMI_CONFIG_PASSPHRASE=a passphrase for tests")
	if r := e.run(args...); r.code != 3 || !strings.Contains(r.stderr, "these secrets are not set, and cannot be sealed: ") {
		t.Errorf("without secrets: exit code %d, %s%s", r.code, r.stdout, r.stderr)
	}
	if r := e.run("secrets", "generate", "-s", "dev"); r.code != 0 {
		t.Fatalf("generating: exit code %d, %s", r.code, r.stderr)
	}
	r := e.run(args...)
	if r.code != 0 || !strings.Contains(r.stdout, "kind: SealedSecret\nmetadata:\n  name: prometheus-credentials\n  namespace: prometheus\n") || strings.Contains(r.stdout, "kind: Secret\n") || strings.Contains(r.stdout, "[secret]") {
		t.Errorf("exit code %d, %s%s", r.code, r.stdout, r.stderr)
	}
	for code, wrong := range map[int][]string{2: {"--sealed-cert", "controller.crt", "--secret-store", "SecretStore/vault"}, 3: {"--sealed-cert", "missing.crt"}} {
		if r := e.run(append([]string{"render", "-s", "dev"}, wrong...)...); r.code != code {
			t.Errorf("%v: exit code %d, %s", wrong, r.code, r.stderr)
		}
	}
	e.env = before
	if r := e.run(args...); r.code != 3 || !strings.Contains(r.stderr, "cannot be sealed without their passphrase") {
		t.Errorf("without the passphrase: exit code %d, %s%s", r.code, r.stdout, r.stderr)
	}
	if err := os.RemoveAll(filepath.Join(e.root, "config", "pulumi", "secrets")); err != nil {
		t.Fatal(err)
	}
}

// TestRenderRunsWhatIsNeeded runs the selected programs and the programs that
// they read, and no others.
func TestRenderRunsWhatIsNeeded(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	e.env = append(e.env, "PULUMI_CONFIG_PASSPHRASE=correct horse")
	for name, program := range map[string]string{
		"a":      "outputs:\n  text: one\n",
		"b":      "resources:\n  a:\n    type: pulumi:pulumi:StackReference\n    properties:\n      name: ${pulumi.organization}/a/${pulumi.stack}\noutputs:\n  text: ${a.outputs[\"text\"]}\n",
		"broken": "variables:\n  text:\n    fn::readFile: ../missing.txt\noutputs:\n  text: ${text}\n",
	} {
		e.write(name+"/Pulumi.yaml", "name: "+name+"\nruntime: yaml\n"+program)
	}
	e.write("mara.yaml", "projects:\n- {path: a}\n- {path: b, reads: a}\n- {path: broken, after: a}\n")
	if r := e.run("render", "--only", "b"); r.code != 0 {
		t.Errorf("render of b: exit code %d, %s", r.code, r.stderr)
	}
	if r := e.run("render", "--skip", "b"); r.code == 0 || !strings.Contains(r.stderr, "missing.txt") {
		t.Errorf("render without b: exit code %d, %s", r.code, r.stderr)
	}
}

// TestRenderPlan renders the plan of an environment that is deployed: what the
// programs would create is what they have created.
func TestRenderPlan(t *testing.T) {
	t.Parallel()
	host := registryOf(t, generatedCharts(t))
	e := newEnvironment(t, embedded)
	e.write("config/pulumi/Pulumi.dev.yaml", repositories(host)+"  "+config.InfraType+": kind\n")
	e.simulate(0, "up")
	e.simulate(0, "preview", "--save-plan", "plan.json")
	r := e.run("render", "--plan", "plan.json", "-o", "json")
	var got struct {
		Version   int
		Stack     string
		Simulated bool
		Projects  []struct {
			Project string
			Objects []struct{ File, Kind, Namespace, Name string }
		}
		Elsewhere []string
	}
	if err := json.Unmarshal([]byte(r.stdout), &got); r.code != 0 || err != nil {
		t.Fatalf("exit code %d, %v: %s", r.code, err, r.stderr)
	}
	if got.Version != 1 || got.Stack != "dev" || !got.Simulated || len(got.Elsewhere) == 0 {
		t.Errorf("got %+v", got)
	}
	objects := map[string]string{}
	for _, project := range got.Projects {
		for _, object := range project.Objects {
			objects[project.Project+" "+object.Kind+" "+object.Namespace+"/"+object.Name] = object.File
		}
	}
	for _, want := range []string{"certmgr Namespace /cert-manager", "bank-of-anthos Deployment bank-of-anthos/frontend", "certmgr Pod cert-manager/"} {
		if objects[want] == "" {
			t.Errorf("there is no %s: %v", want, objects)
		}
	}
	for _, wrong := range [][]string{{"--plan", "none.json"}, {"--plan", "plan.json", "-s", "dev"}, {"--plan", "plan.json", "--only", "certmgr"}} {
		if r := e.run(append([]string{"render"}, wrong...)...); r.code != 2 {
			t.Errorf("%v: exit code %d: %s", wrong, r.code, r.stderr)
		}
	}
}
