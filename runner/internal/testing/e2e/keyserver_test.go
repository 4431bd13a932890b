package e2e

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// keyServerVariable names a program of OpenBao or Vault, if none is on the PATH.
const keyServerVariable = "E2E_BAO"

// keyServerToken opens the servers of the tests.
const keyServerToken = "token-of-the-key-server"

// keyServer is a server of OpenBao, or of Vault, for development: it keeps its keys in memory.
type keyServer struct {
	t       *testing.T
	address string
	version string
}

// startKeyServer starts a server of OpenBao or Vault. Neither is a module that the tests could build by themselves.
func startKeyServer(t *testing.T) keyServer {
	t.Helper()
	path := os.Getenv(keyServerVariable)
	for _, name := range []string{"bao", "vault"} {
		if found, err := exec.LookPath(name); path == "" && err == nil {
			path = found
		}
	}
	if path == "" {
		t.Skipf("neither bao nor vault is on the PATH, and %s names none; TestKeyService has a stand-in", keyServerVariable)
	}
	said, err := exec.Command(path, "version").Output()
	if err != nil {
		t.Fatal(err)
	}
	version := strings.TrimSpace(string(said))
	k := keyServer{t, fmt.Sprintf("http://127.0.0.1:%d", freePort(t)), cmp.Or(os.Getenv(keyServerVariable+"_BUILT"), version)}
	server := exec.Command(path, "server", "-dev", "-dev-no-store-token", "-dev-root-token-id="+keyServerToken,
		"-dev-listen-address="+strings.TrimPrefix(k.address, "http://"))
	var log bytes.Buffer
	server.Stdout, server.Stderr, server.Dir = &log, &log, t.TempDir()
	server.Env = []string{"HOME=" + server.Dir, "PATH=" + os.Getenv("PATH")}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	for range 300 {
		if response, err := http.Get(k.address + "/v1/sys/health"); err == nil {
			_ = response.Body.Close()
			k.post("sys/mounts/transit", `{"type": "transit"}`)
			return k
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("the server does not start: %s", log.String())
	return k
}

// post sends a request.
func (k keyServer) post(path, body string) {
	k.t.Helper()
	request, err := http.NewRequestWithContext(k.t.Context(), http.MethodPost, k.address+"/v1/"+path, strings.NewReader(body))
	if err != nil {
		k.t.Fatal(err)
	}
	request.Header.Set("X-Vault-Token", keyServerToken)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		k.t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode >= 300 {
		k.t.Fatalf("%s: %s", path, response.Status)
	}
}

// TestKeyServer takes an environment through its life whose secrets are encrypted by a real server: OpenBao or Vault.
func TestKeyServer(t *testing.T) {
	t.Parallel()
	k := startKeyServer(t)
	e := reliable(t, inDirectory(t)).with("VAULT_SERVER_URL="+k.address, "VAULT_SERVER_TOKEN="+keyServerToken, "PULUMI_CONFIG_PASSPHRASE=", "FIRST="+firstPassphrase)
	const stack = "secretsprovider: hashivault://mara\nconfig:\n  a:size: \"1\"\n"
	e.write("config/pulumi/Pulumi.dev.yaml", stack)
	e.setToken(fileSecret)
	e.succeed("up", "--yes")
	checkSecrets := func(e *environment) {
		t.Helper()
		if text := e.succeed("outputs", "c", "text", "--show-secrets"); strings.TrimSpace(text) != stateSecret {
			t.Errorf("the output is %q", text)
		}
		e.secrets(0, "", "export", "--to-file", "plain.yaml", "--yes")
		if text := e.read("plain.yaml"); text != "c:token: "+fileSecret+"\n" {
			t.Errorf("exported: %q", text)
		}
		e.remove("plain.yaml")
	}
	checkSecrets(e)
	wrong := e.with("VAULT_SERVER_TOKEN=wrong")
	if r := wrong.run("up", "--yes"); r.code != 3 || !strings.Contains(r.stderr, "permission denied") {
		t.Errorf("with another token: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	if r := e.with("VAULT_SERVER_URL=http://127.0.0.1:1").run("up", "--yes"); r.code != 3 || !strings.Contains(r.stderr, "connection refused") {
		t.Errorf("without the server: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	k.post("transit/keys/mara/rotate", "{}")
	checkSecrets(e)
	e.secrets(0, "", "change-provider", "hashivault://other", "--yes")
	checkSecrets(e)
	e.succeed("up", "--yes", "--force")
	e.secrets(0, "", "change-provider", "passphrase", "--new-passphrase", "env:FIRST", "--yes")
	with := e.with("PULUMI_CONFIG_PASSPHRASE="+firstPassphrase, "VAULT_SERVER_TOKEN=wrong")
	checkSecrets(with)
	with.succeed("up", "--yes", "--force")
	with.with("VAULT_SERVER_TOKEN="+keyServerToken).secrets(0, "", "change-provider", "hashivault://mara", "--yes")
	checkSecrets(e)
	secrets := map[string]string{"the file's": fileSecret, "the state's": stateSecret, "the token": keyServerToken}
	files := everyFileBelow(t, e.root)
	delete(files, filepath.Join(e.root, "c/Pulumi.yaml")) // which says the output in plain
	searchFor(t, secrets, files)
	e.succeed("destroy", "--yes")
	recordBackend(t, "E2E_BAO=PROGRAM go test -run TestKeyServer", map[string]string{"OpenBao": k.version},
		"`secrets set`, `up`, `outputs` and `destroy` with `hashivault://`", "another token, and no server", "a rotated key",
		"changes to another key, to a passphrase and back")
}
