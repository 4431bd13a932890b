package programs_test

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	diff "github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/urn"
	"github.com/pulumi/pulumi/sdk/v3/go/common/tokens"

	"mara/projects"
	"mara/projects/internal/programtest"
	"mara/projects/model"
	"mara/projects/programs"
	"mara/providers"
)

var (
	update    = flag.Bool("update", false, "rewrite the golden files")
	writeInto = flag.String("declared", "", "directory to write the declared resources into, to compare two commits")
)

// TestProgramsDeclareTheSameResources compares what the programs declare with
// testdata/declared: for each provider, project, configuration and resource the
// URN, and a digest of its inputs and options. A difference means that an
// environment which is deployed already changes with its next up: a resource with
// another URN is replaced, one with other inputs or options is updated. To see the
// difference, run the test at both commits with -args -declared DIR. Whoever wants
// the change runs `go test ./projects/programs -update`.
func TestProgramsDeclareTheSameResources(t *testing.T) {
	t.Parallel()
	for _, provider := range providers.Complete() {
		t.Run(provider.Name, func(t *testing.T) {
			t.Parallel()
			var lines []string
			for _, step := range provider.Steps {
				lines = append(lines, declaredBy(t, step.Project, provider.Name)...)
			}
			got := strings.Join(lines, "\n") + "\n"
			golden := filepath.Join("testdata", "declared", provider.Name+".txt")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := diff.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("declared resources differ (-golden +programs):\n%s", diff)
			}
		})
	}
}

// declaredBy lists what a project declares in all configurations, deployed and in a preview before anything is.
func declaredBy(t *testing.T, project model.Project, provider string) []string {
	t.Helper()
	program, _ := programs.ByName(project.Name)
	var lines []string
	for i, change := range declaredConfigurations(t, project) {
		settings := configuration(t, project, provider)
		for key := range settings {
			if strings.HasSuffix(key, "jwt_private_key") {
				settings[key] = fixedKey(t)
			}
		}
		maps.Copy(settings, change)
		settings[model.SimulatedKey] = "true" // no Harbor to talk to
		for _, preview := range []bool{false, true}[:2-min(i, 1)] {
			stacks := deployedStacks()
			if preview {
				stacks = known()
			}
			result := programtest.Run(t, programtest.Case{
				Project: project, Program: program, Config: settings, Stacks: stacks, Preview: preview,
				Outputs: clusterOutputs(t), Call: invoke(t),
			})
			title := fmt.Sprintf("%s %d", project.Name, i)
			if preview {
				title += " preview"
			}
			if result.Err != nil {
				lines = append(lines, title+": "+strings.ReplaceAll(result.Err.Error(), "\n", " "))
				continue
			}
			mask := masked(result, change)
			for _, res := range result.Resources {
				full := mask.Replace(full(t, res))
				sum := sha256.Sum256([]byte(full))
				line := title + ": " + mask.Replace(urnOf(project.Name, res)) + " " + hex.EncodeToString(sum[:8])
				lines = append(lines, line)
				if *writeInto != "" {
					name := fmt.Sprintf("%s %s.json", provider, strings.NewReplacer("/", "_", ":", "_").Replace(line[:len(line)-17]))
					if err := os.WriteFile(filepath.Join(*writeInto, name), []byte(full), 0o644); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
	slices.Sort(lines)
	return lines
}

// masked replaces what differs from run to run: temporary directories and drawn passwords.
func masked(result programtest.Result, change map[string]string) *strings.Replacer {
	var pairs []string
	for _, value := range change {
		if strings.HasPrefix(value, os.TempDir()) {
			pairs = append(pairs, filepath.Dir(value), "TEMPORARY")
		}
	}
	for _, stash := range result.All("pulumi:index:Stash") {
		pairs = append(pairs, stash.Input("input").StringValue(), "DRAWN")
	}
	return strings.NewReplacer(pairs...)
}

// urnOf returns the URN of a resource, as the engine makes it.
func urnOf(project string, res programtest.Resource) string {
	parent := tokens.Type("")
	if res.Parent != "" {
		if of := urn.URN(res.Parent).QualifiedType(); of != resource.RootStackType {
			parent = of
		}
	}
	return string(urn.New(programtest.Stack, tokens.PackageName(project), parent, tokens.Type(res.Type), res.Name))
}

// full returns everything that decides whether a deployed resource changes.
func full(t *testing.T, res programtest.Resource) string {
	t.Helper()
	if len(res.Dependencies) == 0 {
		res.Dependencies = nil // some versions of the SDK say none with an empty list
	}
	slices.Sort(res.Dependencies)
	for _, on := range res.PropertyDependencies {
		slices.Sort(on)
	}
	maps.DeleteFunc(res.PropertyDependencies, func(_ string, on []string) bool { return len(on) == 0 })
	text, err := json.MarshalIndent(res, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// deployedStacks returns the outputs of all projects, with a list and a kubeconfig where programs expect them.
func deployedStacks() map[string]resource.PropertyMap {
	stacks := deployed()
	names := resource.NewProperty([]resource.PropertyValue{resource.NewProperty("a"), resource.NewProperty("b")})
	stacks["aws-vpc"]["private_subnet_ids"] = names
	stacks["kind-cluster"]["node_names"] = names
	for _, infrastructure := range projects.Infrastructures() {
		stacks[infrastructure.ClusterProject]["kubeconfig"] = resource.MakeSecret(resource.NewProperty(
			"{clusters: [{}], users: [{}], contexts: [{name: a}], current-context: a}"))
	}
	return stacks
}

// clusterOutputs returns the outputs that programs need once everything is deployed.
func clusterOutputs(t *testing.T) map[string]resource.PropertyMap {
	t.Helper()
	all := outputs(t)
	for name, text := range map[string]string{
		"aws:eks/cluster:Cluster":                                                                  `{"certificateAuthority": {"data": "data"}, "endpoint": "https://eks"}`,
		"digitalocean:index/kubernetesCluster:KubernetesCluster":                                   `{"kubeConfigs": [{"rawConfig": "config"}]}`,
		"linode:index/lkeCluster:LkeCluster":                                                       `{"apiEndpoints": ["https://lke"]}`,
		"digitalocean:index/containerRegistryDockerCredentials:ContainerRegistryDockerCredentials": `{"dockerCredentials": "{\"auths\": {\"r\": {\"auth\": \"dTpw\"}}}"}`,
	} {
		var decoded map[string]any
		if err := json.Unmarshal([]byte(text), &decoded); err != nil {
			t.Fatal(err)
		}
		all[name] = resource.NewPropertyMapFromMap(decoded)
	}
	delete(all, "digitalocean:index/containerRegistryDockerCredentials:ContainerRegistryDockerCredentials pull")
	return all
}

// declaredConfigurations returns configurations that make a program declare everything that it can declare.
func declaredConfigurations(t *testing.T, project model.Project) []map[string]string {
	t.Helper()
	all := append([]map[string]string{nil}, variants(t)[project.Name]...)
	if _, ok := project.Key(projects.Mirror); ok {
		all = append(all, map[string]string{projects.Mirror: "registry.example.com/mirror"})
	}
	if _, ok := project.Key(projects.StorageClass); ok {
		all = append(all, map[string]string{projects.StorageClass: "fast"})
	}
	if _, ok := project.Key(projects.PodSecurity); ok {
		all = append(all, map[string]string{projects.PodSecurity: "warn"})
	}
	if i := slices.IndexFunc(project.Keys, isChartVersion); i >= 0 {
		group := strings.TrimSuffix(project.Keys[i].Name, projects.ChartVersion)
		all = append(all, map[string]string{group + projects.ChartVersion: "1.2.3", group + projects.ChartRepository: "https://charts.example.com",
			group + projects.HelmTimeout: "7", group + projects.Values: `{"own":{"value":1}}`})
	}
	const key = "arn:aws:kms:us-east-1:123456789012:key/1"
	all = append(all, map[string][]map[string]string{
		"aws-vpc": {{"vpc:nat": "per-az"}, {"vpc:nat": "none", "vpc:azs": `["us-east-1a"]`, "vpc:cidr": "10.64.0.0/18"}},
		"aws-eks": {
			{
				"eks:encrypt_secrets": "true", "eks:admin_principals": `["arn:aws:iam::123456789012:role/platform"]`,
				"eks:addon_versions": `{"vpc-cni":"v1.20.4-eksbuild.2"}`, "eks:public_access_cidrs": `["203.0.113.0/24"]`,
			},
			{
				"eks:kms_key_arn": key, "eks:log_types": "[]", "eks:log_retention_days": "0", "aws:profile": "platform",
				"eks:endpoint_public_access": "false",
			},
			{
				"eks:pools": `{"batch":{"size":"m7g.large","architecture":"arm64","spot":true,"min":0,"max":5,` +
					`"labels":{"role":"batch"},"taints":["role=batch:NoSchedule"]},"large":{"size":"m6i.2xlarge","count":2}}`,
				"eks:node_version": "1.35", "eks:cluster_autoscaler": "true", "eks:dns_zones": `["Z0123456789ABCDEFGHIJ"]`,
				"eks:group_principals": `{"team-a":["arn:aws:iam::123456789012:role/team-a"]}`,
			},
			{"eks:dns_zones": `["Z0123456789ABCDEFGHIJ"]`, "certmgr:issuer": "acme", "certmgr:acme_dns": "route53"},
		},
		"aws-ecr": {{"ecr:kms_key_arn": key, "ecr:scan_on_push": "false", "ecr:keep_images": "3", "ecr:untagged_days": "2"}},
		"digitalocean-doks": {{
			"doks:min_nodes": "1", "doks:max_nodes": "4", "doks:k8s_version": "1.36.2-do.0", "doks:high_availability": "true",
			"doks:api_allowed_cidrs": `["203.0.113.0/24", "203.0.113.7"]`,
		}, {"doks:pools": `{"batch":{"size":"c-4","min":1,"max":5,"labels":{"role":"batch"},"taints":["role=batch:NoSchedule"]},"large":{"size":"c-8","count":2}}`}},
		"digitalocean-registry": {{"docr:registry": "example"}, {"docr:region": "fra1", "docr:tier": "basic"}},
		"digitalocean-dns": {
			{"dns:domain": "example.com", "bank-of-anthos:host": "bank.example.com"},
			{"dns:domain": "example.com", "bank-of-anthos:host": "example.com", "dns:ttl": "60"},
		},
		"linode-lke": {
			{
				"lke:min_nodes": "1", "lke:max_nodes": "4", "lke:high_availability": "true",
				"lke:api_allowed_cidrs": `["203.0.113.0/24", "2001:db8::/32"]`,
			},
			{"lke:api_allowed_cidrs": `["203.0.113.0/24"]`},
			{"lke:pools": `{"batch":{"size":"g6-dedicated-4","min":1,"max":5,"labels":{"role":"batch"},"taints":["role=batch:NoSchedule"]},"large":{"size":"g6-dedicated-8","count":2}}`},
		},
		"linode-harbor": {{"harbor:email": "a@example.com", "harbor:ssh_authorized_keys": `["ssh-ed25519 AAAA me"]`}},
		"kind-cluster": {{
			"kind:workers": "2", "kind:control_planes": "3", "kind:mounts": `["/srv/data:/data", "/srv/models:/models:ro"]`,
			"kind:registry_mirrors": `{"docker.io":"http://mirror.example.com"}`, "kind:preload": `["nginx:1"]`, "kind:runtime": "podman",
			"kind:pod_subnet": "10.244.0.0/16", "kind:service_subnet": "10.96.0.0/16", "kind:api_server_port": "6443",
		}},
		"kind-registry":   {{"kind:runtime": "podman", "kind:registry_port": "5002"}},
		"kic-image-build": {{"kic:image_origin": "source", "kic:platform": "linux/arm64", "kic:source_target": "alpine-image", "kic:source_tag": "mine"}},
		"certmgr": {
			{"certmgr:issuer": "acme", "certmgr:acme_email": "a@example.com"},
			{"certmgr:issuer": "acme", "certmgr:acme_email": "a@example.com", "certmgr:acme_dns": "cloudflare"},
		},
		"secrets": {{model.WithoutKey: "prometheus"}},
		"bank-of-anthos": {
			{
				"bank-of-anthos:demo_data": "false", "bank-of-anthos:load_generator": "false", "bank-of-anthos:replicas": "3",
				"bank-of-anthos:host": "bank.example.com", "certmgr:issuer": "acme", "kind:https_port": "8443",
			},
			{"bank-of-anthos:replicas": "1", "bank-of-anthos:name": "Example Bank", "bank-of-anthos:load_users": "9"},
		},
	}[project.Name]...)
	return all
}

// fixedKey returns the same private key in every run.
func fixedKey(t *testing.T) string {
	t.Helper()
	key, err := os.ReadFile(filepath.Join("testdata", "declared", "key.pem"))
	if err != nil {
		t.Fatal(err)
	}
	return cmp.Or(string(key), "empty")
}
