package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io/fs"
	"math/big"
	"net"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// What follows has the Pulumi Kubernetes Operator run an environment, in a real
// cluster: `make e2e-operator` says what it needs.

// dockersAddress is this machine's in docker's own network, which always is there.
const dockersAddress = "172.17.0.1"

// ownOnOperator are own projects, with the built-in kubeconfig before them and, where
// there is a Kubernetes provider, a namespace after it.
const ownOnOperator = `providers:
  kind:
    without: [%WITHOUT%]
projects:
  - path: network
    reads: kubeconfig
  - path: database
    reads: shop-network
    config: {password: {generate: password}}
  - path: shop
    reads: [shop-network, shop-database]
`

// realOperator is an environment on kind with the operator in its cluster.
type realOperator struct {
	*realKind
	repository string // directory
	url        string // of the repository, as the cluster reaches it
	states     string // directory with the states, here and, as /state, on the node
	namespaces bool   // there is a Kubernetes provider to make them
}

// TestOperatorLife takes an environment from the runner to the operator, through its
// life there, and back. The parts follow one another.
func TestOperatorLife(t *testing.T) {
	dir := os.Getenv("E2E_OPERATOR")
	if dir == "" {
		t.Skip("E2E_OPERATOR names no directory with the operator; `make e2e-operator` says what it needs")
	}
	r := &realOperator{realKind: newRealKind(t, "test"), states: t.TempDir()}
	r.leavesNothing(t)
	defer r.run("destroy", "--yes", "--force-forget", "-o", "json")
	r.prepare(dir)
	run := realRun{Command: "make e2e-operator", Projects: []string{"kind-cluster", "kubeconfig"}}
	if r.namespaces {
		run.Projects = append(run.Projects, "ingress-controller-namespace")
	}
	for _, part := range []struct {
		name string
		test func(*realOperator)
	}{
		{"up, by the runner", (*realOperator).runnerUp},
		{"Stacks that are refused", (*realOperator).refused},
		{"previews that find changes, which nothing adopts", (*realOperator).adoptRefused},
		{"adopted", (*realOperator).adopted},
		{"a new commit", (*realOperator).newCommit},
		{"a commit that fails, and one that mends it", (*realOperator).failure},
		{"deleted in order, and destroyed", (*realOperator).deleted},
		{"created by the operator, in order", (*realOperator).created},
		{"back to the runner", (*realOperator).back},
		{"Programs", (*realOperator).programs},
	} {
		if !t.Run(part.name, func(t *testing.T) {
			in := *r
			in.realKind = r.in(t)
			part.test(&in)
			if t.Failed() {
				in.tell()
			}
		}) {
			return
		}
		if run.Parts = append(run.Parts, part.name); run.Versions == nil {
			run.Versions = r.versions()
			run.Versions["the operator"] = os.Getenv("E2E_OPERATOR_VERSION")
			if r.namespaces {
				run.Versions["Pulumi's Kubernetes provider"] = os.Getenv("E2E_PROVIDER_VERSION")
			}
		}
		r.record(t, run)
	}
}

// tell shows what the operator has done, for a part that has failed.
func (r *realOperator) tell() {
	for _, words := range []string{
		"get stacks,workspaces,updates,pods --namespace=pulumi", "get events --namespace=pulumi --sort-by=.lastTimestamp",
		"logs --namespace=pulumi-kubernetes-operator deployment/controller-manager --tail=30", "get stacks --namespace=pulumi --output=jsonpath={.items[*].status}",
	} {
		output, err := r.docker.Exec(r.t.Context(), r.controlPlane(), nil, append([]string{"kubectl"}, strings.Fields(words)...)...)
		r.t.Logf("kubectl %s: %v\n%s", words, err, output)
	}
}

// prepare makes the images, the repository and the configuration.
func (r *realOperator) prepare(dir string) {
	r.t.Helper()
	r.env = append(r.env, "NO_COLOR=1")
	r.namespaces = os.Getenv("E2E_PROVIDER") != ""
	without := "kind-registry, secrets, kic-image-build, kic-image-push, ingress-controller, logstore, logagent, certmgr, prometheus, observability, bank-of-anthos"
	if r.namespaces {
		r.installProvider()
	} else {
		without += ", ingress-controller-namespace"
	}
	r.write("mara.yaml", strings.ReplaceAll(ownOnOperator, "%WITHOUT%", without))
	for _, name := range []string{"network", "database", "shop"} {
		if err := os.CopyFS(filepath.Join(r.root, name), os.DirFS(filepath.Join("..", "..", "..", "..", "examples", "own", name))); err != nil {
			r.t.Fatal(err)
		}
	}
	// Something that a preview finds changed, and that needs no plugin.
	r.write("network/Main.yaml", "resources:\n  kept:\n    type: pulumi:index:Stash\n    properties: {input: \"${domain}\"}\noutputs:\n  domain: ${domain}\n  range: 10.0.0.0/16\n")
	bundle := r.serveRepository()
	r.commit("one")
	r.operatorImage(dir, bundle)
	r.write("config/pulumi/environment", "PULUMI_STACK=test\nPULUMI_BACKEND_URL=file://"+r.states+"\n")
	r.write("config/pulumi/Pulumi.test.yaml", "config:\n  kind:node_image: "+r.images.node+"\n  kind:api_server_address: "+dockersAddress+
		"\n  kind:mounts: [\""+r.states+":/state\"]\n  kind:preload: ["+workspaceImage+", "+operatorImage+"]\n")
}

// The names of the images.
const (
	workspaceImage = "mara-workspace:dev"
	operatorImage  = "pulumi/pulumi-kubernetes-operator:v2.9.0"
)

// operatorImage makes the operator's image, as its own Dockerfile does, of its programs.
func (r *realOperator) operatorImage(dir, bundle string) {
	const making = "mara-test-operator"
	runDocker(r.t, "create", "--name", making, "--user", "65532:65532", workspaceImage, "/tini", "--", "/manager")
	defer runDocker(r.t, "rm", making)
	for _, name := range []string{"manager", "agent", "tini"} {
		runDocker(r.t, "cp", filepath.Join(dir, name), making+":/"+name)
	}
	runDocker(r.t, "cp", bundle, making+":/etc/ssl/certs/ca-certificates.crt")
	runDocker(r.t, "commit", making, operatorImage)
	r.t.Cleanup(func() { _ = exec.Command("docker", "image", "rm", "--force", operatorImage).Run() })
}

// selfSigned makes a key, and a certificate that it has signed itself.
func selfSigned(t *testing.T, about *x509.Certificate) (certificate []byte, key *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err = x509.CreateCertificate(rand.Reader, about, about, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return certificate, key
}

// serveRepository serves the repository of the environment by https, the only way
// beside ssh that the operator takes. It returns a file with the certificate.
func (r *realOperator) serveRepository() string {
	r.t.Helper()
	signed, key := selfSigned(r.t, &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.ParseIP(dockersAddress)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
	served := r.t.TempDir()
	r.repository = filepath.Join(served, "acme", "infra.git")
	runProgram(r.t, "git", "init", "--quiet", "--bare", "--initial-branch=main", r.repository)
	runProgram(r.t, "git", "init", "--quiet", "--initial-branch=main", r.root)
	listener, err := net.Listen("tcp", dockersAddress+":0")
	if err != nil {
		r.t.Fatal(err)
	}
	programs, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		r.t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(&cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(programs)), "git-http-backend"), Env: []string{"GIT_PROJECT_ROOT=" + served, "GIT_HTTP_EXPORT_ALL=1"},
	})
	_ = server.Listener.Close() // which is on another address
	server.Listener = listener
	server.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{signed}, PrivateKey: key}}}
	server.StartTLS()
	r.t.Cleanup(server.Close)
	r.url = "https://" + listener.Addr().String() + "/acme/infra.git"
	file := filepath.Join(r.t.TempDir(), "ca-certificates.crt")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed}), 0o644); err != nil {
		r.t.Fatal(err)
	}
	return file
}

// commit pushes what the own projects are now, and returns the commit.
func (r *realOperator) commit(message string) string {
	r.t.Helper()
	git := func(args ...string) string {
		cmd := exec.Command("git", append([]string{"-C", r.root, "-c", "user.name=test", "-c", "user.email=test@example.com"}, args...)...)
		output, err := cmd.CombinedOutput()
		if err != nil {
			r.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, output)
		}
		return strings.TrimSpace(string(output))
	}
	git("add", "mara.yaml", "network", "database", "shop")
	git("commit", "--quiet", "--allow-empty", "--message", message)
	git("push", "--quiet", r.repository, "HEAD:main")
	return git("rev-parse", "HEAD")
}

// replace changes a file of an own project.
func (r *realOperator) replace(file, old, now string) {
	r.t.Helper()
	content, err := os.ReadFile(filepath.Join(r.root, file))
	if err != nil || !strings.Contains(string(content), old) {
		r.t.Fatalf("%s has no %q: %v", file, old, err)
	}
	r.write(file, strings.ReplaceAll(string(content), old, now))
}

// kube runs kubectl of this machine, in the cluster.
func (r *realOperator) kube(input string, args ...string) {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), "kubectl", args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+r.kubeconfigFile(), "HOME="+r.home)
	cmd.Stdin = strings.NewReader(input)
	output, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, output)
	}
}

// must runs the runner, which has to end with a code, and returns what it says.
func (r *realOperator) must(code int, args ...string) string {
	r.t.Helper()
	done := r.run(args...)
	if done.code != code {
		r.t.Fatalf("%s: exit code %d, want %d\n%s%s", strings.Join(args, " "), done.code, code, done.stdout, done.stderr)
	}
	return done.stdout + done.stderr
}

// reachable lets the pods, who are user 1000, work on states that root has made.
func (r *realOperator) reachable() {
	r.t.Helper()
	err := filepath.WalkDir(r.states, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Chmod(path, 0o777))
	})
	if err != nil {
		r.t.Fatal(err)
	}
}

// export exports the environment and applies it.
func (r *realOperator) export(args ...string) {
	r.t.Helper()
	r.must(0, append([]string{"export", "operator", "--image", workspaceImage, "--backend", "file:///state", "--claim", "state"}, args...)...)
	r.reachable()
	r.kube("", "apply", "--server-side", "-f", filepath.Join(r.root, "operator", "test", "namespace.yaml"))
	r.kube("", "apply", "--server-side", "--force-conflicts", "-k", filepath.Join(r.root, "operator", "test"))
}

// own returns arguments for own projects from the repository.
func (r *realOperator) own() []string { return []string{"--repo", r.url, "--destroy"} }

// wait waits for the Stacks, and returns the output.
func (r *realOperator) wait(code int, args ...string) string {
	r.t.Helper()
	return r.must(code, append([]string{"operator", "wait", "--timeout", "10m"}, args...)...)
}

// outputs are those of an own project, by the runner.
func (r *realOperator) output(project, name string) string {
	r.t.Helper()
	done := r.run("outputs", project, name)
	if done.code != 0 {
		return "exit code " + done.stderr
	}
	return strings.TrimSpace(done.stdout)
}

// onOperator returns the projects that are Stacks.
func (r *realOperator) onOperator() []string {
	names := []string{"kubeconfig", "shop", "shop-database", "shop-network"}
	if r.namespaces {
		names = append(names, "ingress-controller-namespace")
	}
	slices.Sort(names)
	return names
}

// runnerUp makes the cluster with the operator in it, and brings the environment up
// without it.
func (r *realOperator) runnerUp() {
	r.operate("up", "-p", "kind", "--generate-secrets")
	dir := os.Getenv("E2E_OPERATOR")
	r.kube("", "apply", "--server-side", "-f", filepath.Join(dir, "install.yaml"))
	r.kube("", "wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
	// Its manifest gives it a fifth of a processor and 128 MB.
	r.kube("", "--namespace=pulumi-kubernetes-operator", "patch", "deployment", "controller-manager", "--type=json",
		`--patch=[{"op":"replace","path":"/spec/template/spec/containers/0/resources","value":{"requests":{"cpu":"50m"}}}]`)
	r.kube("", "--namespace=pulumi-kubernetes-operator", "rollout", "status", "deployment", "controller-manager", "--timeout=180s")
	r.kube(`{"apiVersion":"v1","kind":"List","items":[
{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"pulumi"}},
{"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"state"},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteMany"],"hostPath":{"path":"/state"},
 "claimRef":{"namespace":"pulumi","name":"state"}}},
{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"state","namespace":"pulumi"},"spec":{"accessModes":["ReadWriteMany"],"storageClassName":"","volumeName":"state",
 "resources":{"requests":{"storage":"1Gi"}}}}]}`, "apply", "-f", "-")
	r.kube("", "--namespace=pulumi", "create", "secret", "generic", "test-environment", "--from-literal=PULUMI_CONFIG_PASSPHRASE=test")
	password := r.must(0, "secrets", "export", "--to-file", filepath.Join(r.temp, "secrets"))
	content, err := os.ReadFile(filepath.Join(r.temp, "secrets"))
	_, value, ok := strings.Cut(string(content), "shop-database:password: ")
	if err != nil || !ok {
		r.t.Fatalf("the secrets were not exported: %v\n%s", err, password)
	}
	r.kube("", "--namespace=pulumi", "create", "secret", "generic", "test-secrets", "--from-literal=shop-database.password="+strings.TrimSpace(value))
}

// refused: what the operator refuses is stalled at once, and taken when it is mended.
func (r *realOperator) refused() {
	r.must(0, append([]string{"export", "operator", "--image", workspaceImage, "--backend", "file:///state", "--claim", "state"}, append(r.own(), "--preview")...)...)
	files, err := filepath.Glob(filepath.Join(r.root, "operator", "test", "stacks", "*-shop-network.yaml"))
	if err != nil || len(files) != 1 {
		r.t.Fatalf("files %v, error %v", files, err)
	}
	content, err := os.ReadFile(files[0])
	if err != nil {
		r.t.Fatal(err)
	}
	r.kube("", "apply", "--server-side", "-f", filepath.Join(r.root, "operator", "test", "account.yaml"), "-f", filepath.Join(r.root, "operator", "test", "binding.yaml"))
	r.kube(strings.Replace(string(content), "https://", "http://", 1), "apply", "--server-side", "-f", "-")
	if said := r.wait(1); !strings.Contains(said, "test-shop-network is stalled: SpecInvalid") || !strings.Contains(said, "invalid URL scheme: http") {
		r.t.Errorf("wait says\n%s", said)
	}
}

// adoptRefused: previews that find changes are reported, and nothing is done.
func (r *realOperator) adoptRefused() {
	r.replace("network/Pulumi.yaml", "default: shop.example.com", "default: other.example.com")
	r.commit("another domain")
	r.export(append(r.own(), "--preview")...)
	if said := r.must(1, "operator", "adopt", "--timeout", "10m"); !strings.Contains(said, "test-shop-network is stalled: PreviewFailed") {
		r.t.Errorf("adopt says\n%s", said)
	}
	r.replace("network/Pulumi.yaml", "default: other.example.com", "default: shop.example.com")
}

// adopted: previews that find nothing, and from then on the operator works.
func (r *realOperator) adopted() {
	commit := r.commit("the domain as it was")
	r.wait(0, "--commit", commit)
	said := r.must(0, "operator", "adopt", "--timeout", "10m")
	for _, project := range r.onOperator() {
		if !strings.Contains(said, "test-"+project) {
			r.t.Errorf("adopt does not tell of %s:\n%s", project, said)
		}
	}
	if said := r.must(0, "operator", "status"); strings.Count(said, "ready") < len(r.onOperator()) {
		r.t.Errorf("status says\n%s", said)
	}
	if got := changed(r.operate("preview")); len(got) > 0 {
		r.t.Errorf("the runner would change %v", got)
	}
}

// newCommit changes a project, which the operator brings up.
func (r *realOperator) newCommit() {
	r.replace("network/Pulumi.yaml", "default: shop.example.com", "default: next.example.com")
	commit := r.commit("the next domain")
	if said := r.wait(0, "--commit", commit); !strings.Contains(said, commit[:12]) {
		r.t.Errorf("wait does not show the commit %s:\n%s", commit, said)
	}
	if got := r.output("shop-network", "domain"); got != "next.example.com" {
		r.t.Errorf("the domain is %q", got)
	}
}

// failure has a program that does not work; a new commit mends it.
func (r *realOperator) failure() {
	r.replace("shop/Main.yaml", "size: ${size}", "size: ${nothing.there}")
	commit := r.commit("broken")
	var said string
	for begun := time.Now(); ; time.Sleep(2 * time.Second) {
		said = strings.Join(strings.Fields(r.must(0, "operator", "status", "-o", "json")), "")
		if strings.Contains(said, `"last":"failed"`) && strings.Contains(said, commit) {
			break
		}
		if time.Since(begun) > 10*time.Minute {
			r.t.Fatalf("no Stack has failed in ten minutes:\n%s", said)
		}
	}
	if !strings.Contains(said, "RetryingAfterFailure") || strings.Count(said, `"last":"failed"`) != 1 {
		r.t.Errorf("status says\n%s", said)
	}
	r.replace("shop/Main.yaml", "size: ${nothing.there}", "size: ${size}")
	r.wait(0, "--commit", r.commit("mended"))
}

// back: the Stacks go, and everything that they have made stays.
func (r *realOperator) back() {
	r.must(0, "operator", "adopt", "--back", "--yes", "--timeout", "10m")
	if said := r.must(3, "operator", "status"); !strings.Contains(said, "has no Stacks") {
		r.t.Errorf("status says\n%s", said)
	}
	if got := changed(r.operate("up")); len(got) > 0 {
		r.t.Errorf("the runner has changed %v", got)
	}
}

// deleted: the Stacks go in order, and with them what they have made.
func (r *realOperator) deleted() {
	said := r.must(0, "operator", "delete", "--yes", "--timeout", "15m")
	last := -1
	for _, project := range []string{"shop", "shop-database", "shop-network", "kubeconfig"} {
		at := strings.Index(said, "test-"+project+" gone")
		if at <= last {
			r.t.Errorf("%s does not go after what reads it:\n%s", project, said)
		}
		last = at
	}
	r.nothingDeployed()
}

// nothingDeployed holds that of what was on the operator nothing is left, not even a stack.
func (r *realOperator) nothingDeployed() {
	r.t.Helper()
	for _, project := range r.onOperator() {
		files, err := filepath.Glob(filepath.Join(r.states, ".pulumi", "stacks", project, "test.json"))
		if err != nil || len(files) > 0 {
			r.t.Errorf("%s has a state: %v", project, err)
		}
	}
}

// created: the operator makes everything from nothing, in order.
func (r *realOperator) created() {
	r.export(r.own()...)
	said := r.wait(0)
	last := -1
	for _, project := range []string{"kubeconfig", "shop-network", "shop-database", "shop"} {
		at := strings.Index(said, "test-"+project+" ready")
		if at <= last {
			r.t.Errorf("%s is not ready after what it reads:\n%s", project, said)
		}
		last = at
	}
	if got := r.output("shop", "url"); got != "https://next.example.com/" {
		r.t.Errorf("the shop's address is %q", got)
	}
	if r.namespaces {
		r.kubectl("get namespace nginx-ingress")
	}
}

// programs: own projects whose source is in the cluster.
func (r *realOperator) programs() {
	content, err := os.ReadFile(filepath.Join(r.root, "mara.yaml"))
	if err != nil {
		r.t.Fatal(err)
	}
	before, _, _ := strings.Cut(string(content), "  - path: database")
	r.write("mara.yaml", before)
	r.export("--destroy")
	r.wait(0)
	if got := r.output("shop-network", "domain"); got != "next.example.com" {
		r.t.Errorf("the domain is %q", got)
	}
	r.must(0, "operator", "delete", "--yes", "--timeout", "15m")
	if files, err := filepath.Glob(filepath.Join(r.states, ".pulumi", "stacks", "shop-network", "*.json")); err != nil || len(files) > 0 {
		r.t.Errorf("it has a state: %v, %v", files, err)
	}
}
