// Package kubetest runs Kubernetes' own programs in tests: an API server, and what watches it, without nodes and without docker.
package kubetest

import (
	"bytes"
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
	"strings"
	"syscall"
	"testing"
	"time"
)

// Program is the variable that names the program kube, which has all of Kubernetes' programs in it;
// `make node-image` leaves it in ~/.cache/mara/images/programs.
const Program = "MARA_KUBE"

// Cluster is a real API server that ends with the test.
type Cluster struct {
	Dir        string // for files of the test
	Kubeconfig string // file, whose context c may do everything

	t *testing.T
}

// Start starts etcd and kube-apiserver, or skips the test where there is no program for that.
func Start(t *testing.T) Cluster {
	t.Helper()
	program := os.Getenv(Program)
	if program == "" {
		t.Skip(Program + " does not name the program kube, which `make node-image` builds")
	}
	c := Cluster{t: t, Dir: t.TempDir()}
	c.Kubeconfig = filepath.Join(c.Dir, "kubeconfig")
	for _, name := range []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl"} {
		if err := os.Symlink(program, filepath.Join(c.Dir, name)); err != nil {
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
		if err := os.WriteFile(filepath.Join(c.Dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c.start("etcd", "--data-dir", filepath.Join(c.Dir, "etcd-data"), "--listen-client-urls", client, "--advertise-client-urls", client,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default="+peer, "--unsafe-no-fsync")
	c.start("kube-apiserver", "--etcd-servers", client, "--secure-port", secure, "--bind-address", "127.0.0.1", "--cert-dir", filepath.Join(c.Dir, "certs"),
		"--service-account-key-file", filepath.Join(c.Dir, "key"), "--service-account-signing-key-file", filepath.Join(c.Dir, "key"),
		"--service-account-issuer", "https://kubernetes.default.svc", "--token-auth-file", filepath.Join(c.Dir, "tokens"),
		"--authorization-mode", "AlwaysAllow", "--service-cluster-ip-range", "10.0.0.0/24")
	for begun := time.Now(); c.command("kubectl", "get", "--raw", "/readyz").Run() != nil; time.Sleep(time.Second) {
		if time.Since(begun) > 2*time.Minute {
			t.Fatal("the API server does not get ready")
		}
	}
	return c
}

// For returns the cluster for a part of the test, which fails then.
func (c Cluster) For(t *testing.T) Cluster {
	c.t = t
	return c
}

// StartControllers starts what makes Pods of Deployments, gives them nodes, and deletes namespaces with what is in them.
func (c Cluster) StartControllers() {
	c.t.Helper()
	c.start("kube-controller-manager", "--kubeconfig", c.Kubeconfig, "--leader-elect=false", "--secure-port=0",
		"--service-account-private-key-file", filepath.Join(c.Dir, "key"))
	c.start("kube-scheduler", "--kubeconfig", c.Kubeconfig, "--leader-elect=false", "--secure-port=0")
}

// Kubectl runs kubectl, and returns what it prints.
func (c Cluster) Kubectl(args ...string) string {
	c.t.Helper()
	cmd := c.command("kubectl", args...)
	var failed bytes.Buffer
	cmd.Stderr = &failed
	output, err := cmd.Output()
	if err != nil {
		c.t.Fatalf("kubectl %s: %v\n%s%s", strings.Join(args, " "), err, output, failed.String())
	}
	return string(output)
}

// Apply applies objects in YAML.
func (c Cluster) Apply(objects string) {
	c.t.Helper()
	file := filepath.Join(c.t.TempDir(), "objects.yaml")
	if err := os.WriteFile(file, []byte(objects), 0o600); err != nil {
		c.t.Fatal(err)
	}
	c.Kubectl("apply", "--server-side", "-f", file)
}

// Establish waits until the API server serves all definitions of other kinds.
func (c Cluster) Establish() {
	c.t.Helper()
	for range 50 { // kubectl refuses to wait for a definition that has no conditions yet
		const types = "jsonpath={range .items[*]}{.status.conditions[0].type},{end}"
		if !strings.Contains(","+c.Kubectl("get", "crd", "-o", types), ",,") {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	c.Kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
}

// command returns a command of one of Kubernetes' programs.
func (c Cluster) command(name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(c.t.Context(), filepath.Join(c.Dir, name), args...)
	cmd.Env = []string{"HOME=" + c.Dir, "KUBECONFIG=" + c.Kubeconfig}
	return cmd
}

// start starts a program that runs until the test ends.
func (c Cluster) start(name string, args ...string) {
	c.t.Helper()
	cmd := c.command(name, args...)
	output, err := os.Create(filepath.Join(c.Dir, name+".log"))
	if err != nil {
		c.t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = output, output
	if err := errors.Join(cmd.Start(), output.Close()); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGKILL)
		_ = cmd.Wait() // it was killed
		if c.t.Failed() {
			said, _ := os.ReadFile(output.Name())
			lines := strings.Split(string(said), "\n")
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
