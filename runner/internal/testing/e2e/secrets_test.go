package e2e

import (
	"bytes"
	"encoding/base64"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"mara/runner/internal/core/encryption"
)

// TestSecretsAreNowhereInPlainText plants secrets, runs everything, and
// searches whatever the runner wrote, printed or passed to a process.
func TestSecretsAreNowhereInPlainText(t *testing.T) {
	t.Parallel()
	const passphrase, password = "correct-horse-battery-staple", "Gr4fana-s3cret-value!"
	eachEngine(t, []string{embedded, stock}, func(t *testing.T, e *environment) {
		plantSecret(t, e, passphrase, password)
		processes := watchProcesses(t, "--simulate")
		var printed strings.Builder
		commands := [][]string{
			{"up", "-p", "kind", "--simulate", "--yes", "--simulate-speed", "100000", "--debug"},
			{"outputs", "--simulate", "-o", "json"},
			{"up", "-p", "kind", "--simulate", "--yes", "-o", "json"},
			{"preview", "--simulate"},
			{"outputs", "--simulate"},
			{"status", "--simulate"},
		}
		if e.stock() { // see few; what the others print is made of the same
			commands = [][]string{append(commands[0], "--only", "+prometheus"), commands[1]}
		}
		for _, args := range commands {
			r := e.run(args...)
			if r.code != 0 {
				t.Fatalf("%v: exit code %d\n%s%s", args, r.code, lastLines(r.stdout), r.stderr)
			}
			printed.WriteString(r.stdout + r.stderr)
		}
		secrets := map[string]string{"the passphrase": passphrase, "the password": password}
		for name, value := range clusterKeys(t, e) {
			secrets[name] = value
		}
		searchFor(t, secrets, map[string][]byte{"the output": []byte(printed.String()), "process arguments": processes()})
		searchFor(t, secrets, filesBelow(t, e.root))
	})
}

// plantSecret writes a secrets file as `pulumi config set --secret` would.
func plantSecret(t *testing.T, e *environment, passphrase, password string) {
	t.Helper()
	e.env = append(e.env, "PULUMI_CONFIG_PASSPHRASE="+passphrase)
	key, err := encryption.NewKey(passphrase)
	if err != nil {
		t.Fatal(err)
	}
	ciphertext, err := key.Encrypt(password)
	if err != nil {
		t.Fatal(err)
	}
	e.write("config/pulumi/secrets/Pulumi.dev.yaml",
		"encryptionsalt: "+key.Salt()+"\nconfig:\n  prometheus:admin_password:\n    secure: "+ciphertext+"\n")
}

// clusterKeys returns the keys in the cluster's kubeconfig, which up has written
// where a user would look for it. The secret must have arrived there.
func clusterKeys(t *testing.T, e *environment) map[string]string {
	t.Helper()
	config, err := clientcmd.LoadFromFile(filepath.Join(e.root, ".runner/simulated/kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]string{}
	for name, user := range config.AuthInfos {
		keys["the client key of "+name] = string(user.ClientKeyData)
		keys["the token of "+name] = user.Token
	}
	for name, key := range keys {
		if key == "" {
			delete(keys, name)
		}
	}
	if len(keys) == 0 {
		t.Fatal("the kubeconfig has no key to search for")
	}
	return keys
}

// searchFor looks for each secret, and its base64 form, in each text.
func searchFor(t *testing.T, secrets map[string]string, texts map[string][]byte) {
	t.Helper()
	for name, secret := range secrets {
		for _, form := range []string{secret, base64.StdEncoding.EncodeToString([]byte(secret))} {
			for place, text := range texts {
				if bytes.Contains(text, []byte(form)) {
					t.Errorf("%s is in plain text in %s", name, place)
				}
			}
		}
	}
}

// filesBelow reads every file, except the kubeconfig that is the user's own.
func filesBelow(t *testing.T, root string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if filepath.Base(path) != "kubeconfig" {
			files[path] = content
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 30 {
		t.Fatalf("only %d files to search", len(files))
	}
	return files
}

// watchProcesses collects the arguments of all processes until it is asked; one
// of them must be seen.
func watchProcesses(t *testing.T, seenFor string) (arguments func() []byte) {
	t.Helper()
	if _, err := os.Stat("/proc/self/cmdline"); err != nil {
		t.Logf("process arguments are not searched: %v", err)
		return func() []byte { return nil }
	}
	seen := map[string]bool{}
	stop := make(chan struct{})
	var watcher sync.WaitGroup
	watcher.Go(func() {
		for {
			files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
			for _, file := range files {
				content, _ := os.ReadFile(file)
				seen[string(content)] = true
			}
			select {
			case <-stop:
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	})
	return func() []byte {
		close(stop)
		watcher.Wait()
		var all bytes.Buffer
		for line := range seen {
			all.WriteString(line + "\n")
		}
		if !strings.Contains(all.String(), seenFor) {
			t.Error("the watcher has not even seen the runner")
		}
		return all.Bytes()
	}
}

// TestAnotherPassphraseElsewhere: a project whose file has another passphrase keeps only those operations from working
// that select it. It stopped all of them.
func TestAnotherPassphraseElsewhere(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	e.env = append(e.env, "PULUMI_CONFIG_PASSPHRASE=correct horse")
	e.writeSealedShop()
	for _, operation := range []string{"preview", "up", "refresh", "destroy"} {
		e.said(0, "1 succeeded", operation, "-s", "dev", "--only", "net", "--yes")
	}
	e.said(0, "1 succeeded", "up", "-s", "dev", "--skip", "shop", "--skip", "front", "--yes")
	e.said(3, "shop/Pulumi.dev.yaml was encrypted with another one than the other files of the environment; set PULUMI_CONFIG_PASSPHRASE_SHOP to it, skip its project with --skip, or run "+
		"`pulumi stack change-secrets-provider passphrase` in its directory", "up", "-s", "dev", "--yes")
}

// writeSealedShop writes a project shop whose stack file has another passphrase, "another passphrase", and a project
// net. Each reads a secret output of the other kind: front reads shop, and shop reads net.
func (e *environment) writeSealedShop() {
	e.t.Helper()
	e.write("config/pulumi/Pulumi.dev.yaml", "config: {}\n")
	e.write("mara.yaml", "projects:\n  - path: net\n  - {path: shop, stackFile: own, reads: net}\n  - {path: front, reads: shop}\n")
	e.write("net/Pulumi.yaml", "name: net\nruntime: yaml\noutputs: {text: {'fn::secret': hello}}\n")
	e.write("shop/Pulumi.yaml", "name: shop\nruntime: yaml\nconfig: {token: {type: string, secret: true}}\n"+
		"resources:\n  net: {type: 'pulumi:pulumi:StackReference', properties: {name: organization/net/dev}}\n"+
		"outputs: {text: '${net.outputs[\"text\"]} ${token}'}\n")
	e.write("front/Pulumi.yaml", "name: front\nruntime: yaml\n"+
		"resources:\n  shop: {type: 'pulumi:pulumi:StackReference', properties: {name: organization/shop/dev}}\n"+
		"outputs: {text: '${shop.outputs[\"text\"]}!'}\n")
	key, err := encryption.NewKey("another passphrase")
	if err != nil {
		e.t.Fatal(err)
	}
	value, err := key.Encrypt("hunter2")
	if err != nil {
		e.t.Fatal(err)
	}
	e.write("shop/Pulumi.dev.yaml", "encryptionsalt: "+key.Salt()+"\nconfig: {shop:token: {secure: '"+value+"'}}\n")
}

// TestPassphraseOfAProject: with a passphrase of its own, a project takes part like the others, and its readers get
// its secret outputs.
func TestPassphraseOfAProject(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	e.env = append(e.env, "PULUMI_CONFIG_PASSPHRASE=correct horse", "PULUMI_CONFIG_PASSPHRASE_SHOP=another passphrase")
	e.writeSealedShop()
	sealed := e.read("shop/Pulumi.dev.yaml")
	for _, operation := range []string{"preview", "up", "refresh", "drift"} {
		e.said(0, "3 succeeded", operation, "-s", "dev", "--yes")
	}
	e.said(0, "hello hunter2!", "outputs", "front", "-s", "dev", "--show-secrets")
	e.said(0, "1 succeeded", "up", "-s", "dev", "--only", "front", "--force", "--yes")
	e.said(0, "hunter2", "pulumi", "shop", "-s", "dev", "--", "config", "get", "token")
	e.said(0, "1 unchanged", "pulumi", "shop", "-s", "dev", "--", "preview")
	e.said(0, "passphrase: it opens shop/Pulumi.dev.yaml", "doctor", "-s", "dev")
	state := e.read(".runner/state/.pulumi/stacks/shop/dev.json")
	salt := strings.TrimPrefix(strings.SplitN(sealed, "\n", 2)[0], "encryptionsalt: ")
	if !strings.Contains(state, salt) {
		t.Error("the state is not encrypted like the stack file")
	}
	for _, secret := range []string{"hunter2", "another passphrase"} {
		e.checkNowhere(secret)
	}
	if e.read("shop/Pulumi.dev.yaml") != sealed {
		t.Error("the stack file has changed")
	}
	e.said(0, "3 succeeded", "destroy", "-s", "dev", "--yes", "--remove-stacks")
}
