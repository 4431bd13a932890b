package operator_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"mara/runner/internal/feature/operator"
)

// kubernetes names the program kube, which has all of Kubernetes' programs in it;
// `make node-image` leaves it in ~/.cache/mara/images/programs.
const kubernetes = "MARA_KUBE"

// cluster is a real API server with the operator's definitions, and no controllers.
type cluster struct {
	t          *testing.T
	dir        string
	kubeconfig string // file
}

// command returns a command of one of Kubernetes' programs.
func (c cluster) command(name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(c.t.Context(), filepath.Join(c.dir, name), args...)
	cmd.Env = []string{"HOME=" + c.dir, "KUBECONFIG=" + c.kubeconfig}
	return cmd
}

// kubectl runs kubectl.
func (c cluster) kubectl(args ...string) {
	c.t.Helper()
	if output, err := c.command("kubectl", args...).CombinedOutput(); err != nil {
		c.t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, output)
	}
}

// start starts a program that runs until the test ends.
func (c cluster) start(name string, args ...string) {
	c.t.Helper()
	cmd := c.command(name, args...)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGKILL)
		_ = cmd.Wait() // it was killed
		if c.t.Failed() {
			lines := strings.Split(output.String(), "\n")
			c.t.Logf("%s: %s", name, strings.Join(lines[max(0, len(lines)-15):], "\n"))
		}
	})
}

// port returns a free port.
func port(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, number, _ := net.SplitHostPort(listener.Addr().String())
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	return number
}

// realCluster starts etcd and kube-apiserver.
func realCluster(t *testing.T) cluster {
	t.Helper()
	program, crds := os.Getenv(kubernetes), os.Getenv(definitions)
	if program == "" || crds == "" {
		t.Skipf("%s and %s do not name the program kube and the operator's definitions", kubernetes, definitions)
	}
	c := cluster{t: t, dir: t.TempDir()}
	c.kubeconfig = filepath.Join(c.dir, "kubeconfig")
	for _, name := range []string{"etcd", "kube-apiserver", "kubectl"} {
		if err := os.Symlink(program, filepath.Join(c.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	secure, client, peer := port(t), "http://127.0.0.1:"+port(t), "http://127.0.0.1:"+port(t)
	for name, content := range map[string]string{
		"key":    string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})),
		"tokens": "token,tester,1,system:masters\n",
		"kubeconfig": fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"c","clusters":[{"name":"c","cluster":{"server":"https://127.0.0.1:%s","insecure-skip-tls-verify":true}}],`+
			`"users":[{"name":"u","user":{"token":"token"}}],"contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}]}`, secure),
	} {
		if err := os.WriteFile(filepath.Join(c.dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c.start("etcd", "--data-dir", filepath.Join(c.dir, "etcd-data"), "--listen-client-urls", client, "--advertise-client-urls", client,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default="+peer, "--unsafe-no-fsync")
	c.start("kube-apiserver", "--etcd-servers", client, "--secure-port", secure, "--bind-address", "127.0.0.1", "--cert-dir", filepath.Join(c.dir, "certs"),
		"--service-account-key-file", filepath.Join(c.dir, "key"), "--service-account-signing-key-file", filepath.Join(c.dir, "key"),
		"--service-account-issuer", "https://kubernetes.default.svc", "--token-auth-file", filepath.Join(c.dir, "tokens"),
		"--authorization-mode", "AlwaysAllow", "--service-cluster-ip-range", "10.0.0.0/24")
	for begun := time.Now(); c.command("kubectl", "get", "--raw", "/readyz").Run() != nil; time.Sleep(time.Second) {
		if time.Since(begun) > 2*time.Minute {
			t.Fatal("the API server does not get ready")
		}
	}
	c.kubectl("apply", "--server-side", "-f", crds)
	for range 50 { // kubectl refuses to wait for a definition that has no conditions yet
		const types = "jsonpath={range .items[*]}{.status.conditions[0].type},{end}"
		conditions, err := c.command("kubectl", "get", "crd", "-o", types).Output()
		if err == nil && !strings.Contains(","+string(conditions), ",,") {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	c.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
	return c
}

// TestRealAPIServer applies the exports to a real API server, with kubectl as their
// README says, and follows and deletes them there. The test stands for the operator: it
// writes their status, and takes their finalizers away.
func TestRealAPIServer(t *testing.T) {
	t.Parallel()
	c := realCluster(t)
	for name, o := range options() {
		dir := filepath.Join(c.dir, name)
		for file, content := range files(t, o) {
			path := filepath.Join(dir, file)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, content, 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		c.kubectl("apply", "--server-side", "--force-conflicts", "-k", dir)
	}
	c.kubectl("-n", "envs", "delete", "stacks", "--all")
	c.kubectl("apply", "--server-side", "--force-conflicts", "-k", filepath.Join(c.dir, "all"))
	content, err := os.ReadFile(c.kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	stacks, err := operator.Connect(content, nil, "envs", "dev")
	if err != nil {
		t.Fatal(err)
	}
	states, err := stacks.List(t.Context())
	if err != nil || len(states) != 4 || states[0].Name != "dev-linode-lke" || states[0].Phase != operator.Unseen || !states[0].Previews || states[3].Needs[0] != "dev-shop" {
		t.Fatalf("states %+v, error %v", states, err)
	}
	stand := standIn{t: t, Cluster: stacks}
	w := operator.Watcher{Cluster: stacks, Tell: func(operator.State) {}, Sleep: stand.work}
	if err := w.Adopt(t.Context()); err != nil {
		t.Fatal(err)
	}
	if states, err := stacks.List(t.Context()); err != nil || slices.ContainsFunc(states, func(s operator.State) bool { return s.Phase != operator.Ready || s.Previews || !s.Destroys }) {
		t.Fatalf("states %+v, error %v", states, err)
	}
	if err := w.Delete(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := []string{"dev-a-project-with-quite-a-long-nam", "dev-shop", "dev-kubeconfig", "dev-linode-lke"}; !slices.EqualFunc(want, stand.gone, func(want, got string) bool { return strings.HasPrefix(got, want) }) {
		t.Errorf("gone: %q", stand.gone)
	}
}

// standIn does for Stacks what an operator does whose programs always succeed.
type standIn struct {
	operator.Cluster
	t    *testing.T
	gone []string
}

const finalizer = "finalizer.stack.pulumi.com"

// work looks at all Stacks once.
func (s *standIn) work(ctx context.Context, _ time.Duration) error {
	list, err := s.Stacks.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, stack := range list.Items {
		name := stack.GetName()
		if stack.GetDeletionTimestamp() != nil {
			s.gone = append(s.gone, name)
			if err := s.patch(ctx, name, `{"metadata":{"finalizers":null}}`); err != nil {
				return err
			}
			continue
		}
		status := fmt.Sprintf(`{"status":{"observedGeneration":%d,"lastUpdate":{"state":"succeeded","lastResyncTime":%q},"conditions":[`+
			`{"type":"Ready","status":"True","reason":"ProcessingCompleted","message":"","lastTransitionTime":%q}]}}`,
			stack.GetGeneration(), time.Now().UTC().Format(time.RFC3339), time.Now().UTC().Format(time.RFC3339))
		if err := errors.Join(s.patch(ctx, name, `{"metadata":{"finalizers":["`+finalizer+`"]}}`), s.patch(ctx, name, status, "status")); err != nil {
			return err
		}
	}
	return nil
}

func (s *standIn) patch(ctx context.Context, name, patch string, part ...string) error {
	_, err := s.Stacks.Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, part...)
	return err
}
