package connection_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"mara/projects"
	"mara/projects/infrastructure/cluster/connection"
	"mara/projects/internal/programtest"
	"mara/projects/model"
)

const sample = `{clusters: [{name: c, cluster: {server: "https://127.0.0.1:6443"}}], users: [{name: u, user: {token: hidden-token}}],
 contexts: [{name: mine, context: {cluster: c, user: u}}, {name: other, context: {cluster: c, user: u}}], current-context: other}
`

func run(t *testing.T, config map[string]string) programtest.Result {
	t.Helper()
	return programtest.Run(t, programtest.Case{Project: projects.ClusterConnection(), Program: connection.Program, Config: config})
}

// written returns the path of a file with the sample.
func written(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(path, []byte(sample), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestProgram: the kubeconfig of the named context is exported as a secret, whichever way it comes.
func TestProgram(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]map[string]string{
		"file":   {"cluster:kubeconfig": written(t), "cluster:context": "mine", "cluster:distribution": "k3s"},
		"secret": {"cluster:kubeconfig_content": base64.StdEncoding.EncodeToString([]byte(sample)), "cluster:context": "mine", "cluster:distribution": "k3s"},
	} {
		result := run(t, config)
		if result.Err != nil {
			t.Fatal(name, result.Err)
		}
		exported := result.Export(t, "kubeconfig")
		text, _ := exported.Value.(string)
		var file struct {
			CurrentContext string `yaml:"current-context"`
			Contexts       []any
		}
		if err := yaml.Unmarshal([]byte(text), &file); err != nil || file.CurrentContext != "mine" || len(file.Contexts) != 1 {
			t.Errorf("%s: %v: %s", name, err, text)
		}
		if !exported.Secret || !strings.Contains(text, "hidden-token") {
			t.Errorf("%s: secret %v: %s", name, exported.Secret, text)
		}
		if got := result.Export(t, "distribution").Value; got != "k3s" {
			t.Errorf("%s: distribution %v", name, got)
		}
		if len(result.Resources) > 0 {
			t.Errorf("%s: declared %v", name, result.Names())
		}
		result.CheckOutputs(t, projects.ClusterConnection())
	}
}

// TestSimulated: a simulation reads no kubeconfig.
func TestSimulated(t *testing.T) {
	t.Parallel()
	result := run(t, map[string]string{"cluster:context": "mine", model.SimulatedKey: "true"})
	if result.Err != nil {
		t.Fatal(result.Err)
	}
	if text, _ := result.Export(t, "kubeconfig").Value.(string); !strings.Contains(text, ".cluster.simulated.invalid:6443") {
		t.Errorf("kubeconfig %q", text)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		config map[string]string
		want   string
	}{
		{map[string]string{}, `"cluster:context"`},
		{map[string]string{"cluster:context": "mine"}, "the configuration names no kubeconfig: set cluster:kubeconfig"},
		{map[string]string{"cluster:context": "mine", "cluster:kubeconfig": "/nowhere/config"}, "cluster:kubeconfig"},
		{map[string]string{"cluster:context": "mine", "cluster:kubeconfig_content": "hidden-token!"}, "the secret cluster:kubeconfig_content is neither a kubeconfig nor base64 of one"},
		{map[string]string{"cluster:context": "yours", "cluster:kubeconfig": written(t)}, `has no context "yours"; it has mine, other`},
		{map[string]string{"cluster:context": "mine", "cluster:kubeconfig": written(t), "cluster:registry": "https://x"}, `"cluster:registry"`},
	} {
		result := run(t, tt.config)
		result.CheckRefused(t, tt.want)
		if result.Err != nil && strings.Contains(result.Err.Error(), "hidden-token") {
			t.Errorf("the error shows what is in the kubeconfig: %v", result.Err)
		}
	}
}
