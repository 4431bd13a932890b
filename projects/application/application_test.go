package application_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"mara/config"
	"mara/projects"
	"mara/projects/application"
	"mara/projects/model"
)

var update = flag.Bool("update", false, "write the programs in testdata again")

// TestPrograms compares the programs of applications with those in testdata: each has its application at the top.
func TestPrograms(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"ten-lines": `  shop:
    image: ghcr.io/me/shop:1.2.3
    port: 3000
    host: shop.example.com
    replicas: {min: 2, max: 10}
    secrets: [DATABASE_URL]
    env: {LOG_LEVEL: info}
    health: /ready
    before: [./migrate, up]
`,
		"gateway":  "  web: {image: \"web:1\", host: web.example.com, gateway: infra/public}\n",
		"smallest": "  hello: {image: \"hello:1\"}\n",
		"metrics":  "  hello: {image: \"hello:1\", port: 8000, metrics: {path: /stats, port: 9102}}\n",
		"volume": `  db:
    image: docker.io/library/redis:8
    port: 6379
    size: {cpu: 500m, memory: 1Gi}
    volume: {path: /data, size: 10Gi, class: fast}
    files: {/etc/redis/redis.conf: "dir /data # not ${HOME}\n"}
    health: {ready: /up, live: /live, start: 5m}
    command: [redis-server, /etc/redis/redis.conf]
    args: ["--port", "6379"]
    before: redis-check
    stop: 2m
    connects: [shop, 10.0.0.0/8]
    user: 999
    pull: registry-login
`,
	} {
		mara, err := config.ParseMara("mara.yaml", []byte("applications:\n"+text))
		if err != nil {
			t.Fatal(err)
		}
		got, err := application.Program(mara.Applications[0])
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", name+".yaml")
		if *update {
			if err := os.WriteFile(path, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("run `go test ./projects/application -update`: %s: %s", path, diff)
		}
		if _, err := config.ParseManifest(path, got); err != nil {
			t.Error(err)
		}
	}
}

// TestPodsAreRestricted: every Pod of an application, that of the command before a rollout too, meets the level
// "restricted", and none has a token.
func TestPodsAreRestricted(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) < 3 {
		t.Fatal(files, err)
	}
	pods := 0
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var program struct {
			Resources map[string]struct {
				Properties struct {
					Spec struct {
						Template struct {
							Spec struct {
								Automount  *bool          `yaml:"automountServiceAccountToken"`
								Context    map[string]any `yaml:"securityContext"`
								Containers []struct {
									Image   string
									Context map[string]any `yaml:"securityContext"`
								}
							}
						}
					}
				}
			}
		}
		if err := yaml.Unmarshal(content, &program); err != nil {
			t.Fatal(err)
		}
		for name, resource := range program.Resources {
			pod := resource.Properties.Spec.Template.Spec
			for _, container := range pod.Containers {
				pods++
				c := container.Context
				if pod.Context["runAsNonRoot"] != true || pod.Context["runAsUser"] == 0 || c["allowPrivilegeEscalation"] != false ||
					c["readOnlyRootFilesystem"] != true || !strings.Contains(strings.Join(drops(c), ","), "ALL") ||
					pod.Automount == nil || *pod.Automount || container.Image != "${image}" {
					t.Errorf("%s: %s: %+v", file, name, pod)
				}
			}
		}
	}
	if pods != 7 {
		t.Errorf("looked at %d containers", pods)
	}
}

// drops returns the capabilities that a container drops.
func drops(context map[string]any) (names []string) {
	capabilities, _ := context["capabilities"].(map[string]any)
	list, _ := capabilities["drop"].([]any)
	for _, name := range list {
		text, _ := name.(string)
		names = append(names, text)
	}
	return names
}

// TestGateway: requests come from the namespace of the Gateway, from the one that its Pods are in, or from anywhere, and the
// rights that are asked for are those for the route.
func TestGateway(t *testing.T) {
	t.Parallel()
	for gateway, want := range map[string]string{
		"infra/public":                      "fn::select",
		"{name: infra/public, pods: envoy}": "kubernetes.io/metadata.name:envoy",
		"{name: infra/public, pods: any}":   "",
	} {
		mara, err := config.ParseMara("mara.yaml", []byte("applications: {web: {image: 'web:1', host: web.example.com, gateway: "+gateway+"}}\n"))
		if err != nil {
			t.Fatal(err)
		}
		made, err := application.Make(mara.Applications[0])
		if err != nil {
			t.Fatal(err)
		}
		var program struct {
			Resources struct {
				Network struct {
					Properties struct {
						Spec struct{ Ingress []map[string]any }
					}
				}
			}
		}
		if err := yaml.Unmarshal(made.Text, &program); err != nil {
			t.Fatal(err)
		}
		from, limited := program.Resources.Network.Properties.Spec.Ingress[0]["from"]
		if limited != (want != "") || !strings.Contains(fmt.Sprint(from), want) {
			t.Errorf("%s: from %v, want %q", gateway, from, want)
		}
		route := model.Access{Group: "gateway.networking.k8s.io", Resource: "httproutes", Namespace: "web"}
		if !slices.Contains(made.Access, route) || slices.ContainsFunc(made.Access, func(a model.Access) bool { return a.Resource == "ingresses" }) {
			t.Errorf("%s: rights %v", gateway, made.Access)
		}
	}
}

// TestMetrics: Prometheus finds the Pods of an application by a label with the name of the port, and may reach that port
// and no other; the Pod of the command before a rollout has no metrics.
func TestMetrics(t *testing.T) {
	t.Parallel()
	for metrics, port := range map[string]string{"/metrics": "http", "{path: /stats, port: 8000}": "http", "{path: /stats, port: 9102}": "metrics"} {
		mara, err := config.ParseMara("mara.yaml", []byte(
			"applications: {hello: {image: 'hello:1', port: 8000, before: [./migrate], metrics: "+metrics+"}}\n"))
		if err != nil {
			t.Fatal(err)
		}
		text, err := application.Program(mara.Applications[0])
		if err != nil {
			t.Fatal(err)
		}
		program := string(text)
		if got := strings.Count(program, projects.MetricsLabel+": "+port+"\n"); got != 1 {
			t.Errorf("%s: %d labels %s in\n%s", metrics, got, port, program)
		}
		policy := program[strings.Index(program, "kubernetes.io/metadata.name: "+projects.Prometheus().Namespace):]
		if !strings.Contains(policy[:min(300, len(policy))], "port: "+port+"\n") {
			t.Errorf("%s: Prometheus may not reach the port %s:\n%s", metrics, port, policy)
		}
		if got := strings.Contains(program, "containerPort: 9102"); got != (port == "metrics") {
			t.Errorf("%s: a port of its own: %t", metrics, got)
		}
	}
}
