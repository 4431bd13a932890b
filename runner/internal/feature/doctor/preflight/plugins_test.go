package preflight

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// home returns an environment whose Pulumi has installed these directories and files.
func home(t *testing.T, dirs, files []string) map[string]string {
	t.Helper()
	root := t.TempDir()
	for _, name := range dirs {
		if err := os.MkdirAll(filepath.Join(root, "plugins", name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range files {
		if err := os.WriteFile(filepath.Join(root, "plugins", name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return map[string]string{"PULUMI_HOME": root}
}

// TestPluginsInstalled: no server is asked for an installed plugin.
func TestPluginsInstalled(t *testing.T) {
	t.Parallel()
	wanted := []Plugin{{Name: "aws", Version: "7.0.0", Project: "certmgr"}, {Name: "kind", Version: "", Project: "certmgr"}}
	env := home(t, []string{"resource-aws-v7.0.0"}, nil)
	beside := t.TempDir()
	if err := os.WriteFile(filepath.Join(beside, "pulumi-resource-kind"), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	check := Plugins(PluginOptions{Wanted: wanted, Env: env, Beside: beside, Address: "http://127.0.0.1:1"})
	if diff := cmp.Diff(Good("aws 7.0.0, kind installed"), check.Look(t.Context())); diff != "" {
		t.Error(diff)
	}
	env = onPath(t, map[string]string{"pulumi-resource-aws": "", "pulumi-resource-kind": ""})
	check = Plugins(PluginOptions{Wanted: wanted, Env: env, Address: "http://127.0.0.1:1"})
	want := append(Doubtful("Pulumi takes aws from the PATH ("+env["PATH"]+"/pulumi-resource-aws), whatever its version is, and not aws 7.0.0",
		"remove it from the PATH, or set PULUMI_IGNORE_AMBIENT_PLUGINS=true"), Good("kind installed")...)
	if diff := cmp.Diff(want, check.Look(t.Context())); diff != "" {
		t.Error(diff)
	}
}

// TestPluginsObtainable asks the place that they are downloaded from for what is
// missing, another version or only half there.
func TestPluginsObtainable(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		file := "/pulumi-resource-docker-v4.10.0-" + runtime.GOOS + "-" + runtime.GOARCH + ".tar.gz"
		if r.Method != http.MethodHead || r.URL.Path != file && !strings.HasPrefix(r.URL.Path, "/pulumi-resource-aws-v7.0.0-") {
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	env := home(t, []string{"resource-aws-v7.0.0", "resource-docker-v4.9.0", "resource-kubernetes-v4.33.0"}, []string{"resource-aws-v7.0.0.partial"})
	wanted := []Plugin{{Name: "aws", Version: "7.0.0", Project: "certmgr"}, {Name: "kubernetes", Version: "4.33.0", Project: "certmgr"}, {Name: "docker", Version: "4.10.0", Project: "certmgr"}, {Name: "linode", Version: "9.9.9", Project: "certmgr"}}
	got := Plugins(PluginOptions{Wanted: wanted, Env: env, Address: server.URL}).Look(t.Context())
	want := []Finding{
		{Status: OK, Text: "kubernetes 4.33.0 installed"},
		{Warning, "linode 9.9.9 is not installed, and " + host + " answers 404 Not Found", "install it with `runner pulumi certmgr -- plugin install resource linode v9.9.9`", "", ""},
		{Status: OK, Text: "aws 7.0.0, docker 4.10.0 will be downloaded when first needed"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestPluginsMissing(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	answering := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(answering.Close)
	for _, test := range []struct {
		name   string
		plugin Plugin
		env    map[string]string
		want   Status
		text   string
	}{
		{"no network", Plugin{Name: "aws", Version: "7.0.0", Project: "certmgr"}, nil, Problem, "aws 7.0.0 is not installed, and cannot be downloaded now: dial tcp"},
		{"GitHub answers", Plugin{Name: "aws", Version: "7.0.0", Project: "certmgr"}, nil, Warning, "aws 7.0.0 is not installed, and cannot be downloaded now: dial tcp"},
		{"a mirror of the user's", Plugin{Name: "aws", Version: "7.0.0", Project: "certmgr"}, map[string]string{"PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES": "x=y"}, Warning, "aws 7.0.0 is not installed, and cannot be downloaded now: dial tcp"},
		{"downloads are forbidden", Plugin{Name: "aws", Version: "7.0.0", Project: "certmgr"}, map[string]string{"PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true"}, Problem, "aws 7.0.0 is not installed, and PULUMI_DISABLE"},
		{"an unknown plugin", Plugin{Name: "kind", Version: "", Project: "certmgr"}, nil, Problem, "pulumi-resource-kind is neither next to the runner nor on PATH"},
		{"the proxy of the environment file", Plugin{Name: "aws", Version: "7.0.0", Project: "certmgr"}, map[string]string{"HTTP_PROXY": server.URL}, Problem, "aws 7.0.0 is not installed, and cannot be downloaded now: proxyconnect"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			address, gitHub := server.URL, server.URL
			switch {
			case strings.Contains(test.name, "proxy"):
				address, gitHub = "http://plugins.example", "http://github.example"
			case strings.Contains(test.name, "GitHub"):
				gitHub = answering.URL
			}
			env := map[string]string{"PULUMI_HOME": t.TempDir()}
			for name, value := range test.env {
				env[name] = value
			}
			got := Plugins(PluginOptions{Wanted: []Plugin{test.plugin}, Env: env, Address: address, GitHub: gitHub}).Look(t.Context())
			if worst(got) != test.want || !strings.HasPrefix(got[0].Text, test.text) || got[0].Remedy == "" {
				t.Errorf("got %v", got)
			}
		})
	}
}

// TestPluginsOfOwnProjects: where a plugin of a user's program comes from is not known, so that its absence is no problem; one
// without a version may be any.
func TestPluginsOfOwnProjects(t *testing.T) {
	t.Parallel()
	env := home(t, []string{"resource-random-v4.1.0"}, nil)
	env["PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION"] = "true"
	got := Plugins(PluginOptions{Env: env, Wanted: []Plugin{
		{Name: "random", Project: "a", Own: true}, {Name: "tls", Project: "b", Own: true}, {Name: "acme", Version: "1.0.0", Project: "c", Own: true},
	}}).Look(t.Context())
	if len(got) != 3 || got[0].Text != "random installed" || !strings.Contains(got[1].Text, "tls is not installed, and the project b names no version") ||
		!strings.Contains(got[2].Text, "acme 1.0.0 is not installed") || worst(got) != Warning {
		t.Errorf("got %v", got)
	}
}

// TestAmbientPluginsAreIgnored: a variable makes Pulumi skip plugins on the PATH.
func TestAmbientPluginsAreIgnored(t *testing.T) {
	t.Parallel()
	env := onPath(t, map[string]string{"pulumi-resource-kind": ""})
	env["PULUMI_IGNORE_AMBIENT_PLUGINS"] = "1"
	if got := Plugins(PluginOptions{Wanted: []Plugin{{Name: "kind", Version: "", Project: "certmgr"}}, Env: env}).Look(t.Context()); worst(got) != Problem {
		t.Errorf("got %v", got)
	}
}
