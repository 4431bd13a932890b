package e2e

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestSupport packs a run whose errors repeat secrets. None of them is in the
// archive, nor in what doctor says, which issues ask for.
func TestSupport(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	secrets := []string{"correct-horse-battery", "wJalrXUtnFEMIK7MDENG", "in-the-configuration"}
	e.env = append(e.env, "PULUMI_CONFIG_PASSPHRASE="+secrets[0], "AWS_SECRET_ACCESS_KEY="+secrets[1])
	e.write("config/pulumi/environment", "PULUMI_STACK=dev\nMY_API_TOKEN="+secrets[2]+"\n")
	said := strings.Join(secrets, " and ")
	e.simulate(1, "up", "-p", "kind", "--simulate-fail", "*:Release@prometheus=denied for "+said)
	revealed := e.run("outputs", "kubeconfig", "kubeconfig", "--simulate", "--show-secrets")
	if revealed.code != 0 {
		t.Fatal(revealed.stderr)
	}
	for word := range strings.FieldsSeq(revealed.stdout) { // keys and tokens of the cluster
		if word = strings.Trim(word, `",'`); len(word) >= 32 && !strings.Contains(word, "://") {
			secrets = append(secrets, word)
		}
	}
	if len(secrets) == 3 {
		t.Fatalf("the kubeconfig has no secrets:\n%s", revealed.stdout)
	}
	r := e.run("support", "--simulate", "-p", "kind", "--file", "for-them.tar.gz", "-o", "json")
	var packed struct{ Contents []string }
	if err := json.Unmarshal([]byte(r.stdout), &packed); r.code != 0 || err != nil {
		t.Fatalf("exit code %d, %v\n%s%s", r.code, err, r.stdout, r.stderr)
	}
	files := unpack(t, filepath.Join(e.root, "for-them.tar.gz"))
	files["what doctor says"] = e.run("doctor", "--simulate", "-p", "kind", "-o", "json").stdout
	for name, content := range files {
		for _, secret := range secrets {
			if strings.Contains(content, secret) {
				t.Errorf("%s has %q", name, secret)
			}
		}
		if strings.HasSuffix(name, "outputs.json") || strings.HasSuffix(name, ".html") {
			t.Errorf("%s is packed", name)
		}
	}
	for ending, want := range map[string]string{
		"/versions.json": `"pulumi": "3.`, "/doctor.json": `"checks": [`, "/configuration.json": `"key": "kubernetes:infra_type"`,
		"/events.ndjson": `denied for [secret]`, "/logs/prometheus.log": "[secret]",
	} {
		if !hasFile(files, ending, want) {
			t.Errorf("no file *%s says %s", ending, want)
		}
	}
	if len(packed.Contents) != len(files)-1 || !slices.Contains(packed.Contents, "versions.json") {
		t.Errorf("listed: %q", packed.Contents)
	}
	if again := e.run("support", "--simulate", "--file", "for-them.tar.gz"); again.code != 3 || !strings.Contains(again.stderr, "--file") {
		t.Errorf("a second time: exit code %d, %s", again.code, again.stderr)
	}
}

func hasFile(files map[string]string, ending, want string) bool {
	for name, content := range files {
		if strings.HasSuffix(name, ending) && strings.Contains(content, want) {
			return true
		}
	}
	return false
}

// unpack reads a compressed archive.
func unpack(t *testing.T, path string) map[string]string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	compressed, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for archive := tar.NewReader(compressed); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		files[header.Name] = string(content)
	}
}
