package programs_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gopkg.in/yaml.v3"

	"mara/config"
	"mara/projects"
	"mara/projects/internal/programtest"
	"mara/projects/model"
	"mara/projects/programs"
	"mara/providers"
)

func TestRegistryEqualsTheCatalogue(t *testing.T) {
	t.Parallel()
	var want []string
	for _, project := range projects.All() {
		want = append(want, project.Name)
		if program, ok := programs.ByName(project.Name); !ok || program == nil {
			t.Errorf("project %q has no program", project.Name)
		}
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(programs.All()))); diff != "" {
		t.Errorf("programs differ from the catalogue (-want +got):\n%s", diff)
	}
	if _, ok := programs.ByName("nothing"); ok {
		t.Error("an unknown name was found")
	}
}

// TestKindOnly holds that what `make demo` builds has kind's programs, and no SDK
// of a cloud.
func TestKindOnly(t *testing.T) {
	t.Parallel()
	kind, err := providers.ByName("kind")
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range kind.Steps {
		if _, ok := programs.OfClouds()[step.Project.Name]; ok {
			t.Errorf("%s is missing where kind's programs are built alone", step.Project.Name)
		}
	}
	sdk := regexp.MustCompile(`(?m)^github\.com/(pulumi/pulumi-(aws|linode|digitalocean)|aws/aws-sdk-go|linode/linodego|digitalocean/godo)\S*`)
	linked := func(args ...string) []string {
		list, err := exec.Command("go", append(append([]string{"list", "-deps"}, args...), "../pulumi-language-mara")...).Output()
		if err != nil {
			t.Fatal(err)
		}
		return sdk.FindAllString(string(list), -1)
	}
	if found := linked("-tags=kindonly"); len(found) > 0 {
		t.Errorf("kind's programs alone link %q", found)
	}
	if len(linked()) == 0 {
		t.Error("all programs link no SDK of a cloud: the names above are wrong")
	}
	if output, err := exec.Command("go", "build", "-tags=kindonly", ".").CombinedOutput(); err != nil {
		t.Errorf("kind's programs alone do not build: %v\n%s", err, output)
	}
}

// TestPrograms previews every program of every plan before the cluster exists.
// It holds that a preview takes unknown outputs of other stacks, that the references
// are the plan's edges, that the outputs are the catalogue's, and (in
// programtest) that every Kubernetes resource has an explicit provider.
func TestPrograms(t *testing.T) {
	t.Parallel()
	for _, provider := range providers.Complete() {
		for _, step := range provider.Steps {
			t.Run(provider.Name+"/"+step.Project.Name, func(t *testing.T) {
				t.Parallel()
				result := run(t, step.Project, configuration(t, step.Project, provider.Name))
				if result.Err != nil {
					t.Fatal(result.Err)
				}
				reads := slices.Sorted(slices.Values(step.Reads))
				if diff := cmp.Diff(reads, result.References()); diff != "" {
					t.Errorf("references differ from the plan (-plan +program):\n%s", diff)
				}
				result.CheckOutputs(t, step.Project)
			})
		}
	}
}

// TestIdentityIsEverywhere: on a cluster that is there already, no program has a provider without the configured identity,
// which would replace everything when the cluster gets another address. Others ignore it.
func TestIdentityIsEverywhere(t *testing.T) {
	t.Parallel()
	const identity = "5b0c6f4e-5c0e-4a8e-9d0a-0c2b7f1d3e55"
	more := variants(t)
	for _, provider := range providers.Complete() {
		host, _ := projects.InfrastructureByName(provider.Name)
		for _, step := range provider.Steps {
			for _, variant := range append(more[step.Project.Name], nil) {
				settings := configuration(t, step.Project, provider.Name)
				maps.Copy(settings, variant)
				settings[projects.IdentityKey] = identity
				for _, r := range run(t, step.Project, settings).Resources {
					if got := r.Value("clusterIdentifier"); r.Type == "pulumi:providers:kubernetes" && (got == identity) != (host.Existing != nil) {
						t.Errorf("%s on %s: the provider %s has the identity %v", step.Project.Name, provider.Name, r.Name, got)
					}
				}
			}
		}
	}
}

// variants returns, by project, configurations that make programs read keys that they
// otherwise ignore.
func variants(t *testing.T) map[string][]map[string]string {
	t.Helper()
	token, certificate, key := file(t, "nginx-repo.jwt"), file(t, "nginx-repo.crt"), file(t, "nginx-repo.key")
	return map[string][]map[string]string{
		projects.KICImageBuild().Name: {
			{"kic:nginx_plus": "true", "kic:jwt_path": token},
			{"kic:nginx_plus": "true", "kic:image_origin": "source", "kic:repo_cert_path": certificate, "kic:repo_key_path": key},
		},
		projects.IngressController().Name: {
			{"kic:nginx_plus": "true", "kic:jwt_path": token},
			{
				"nginx:custom_resources": "true", "nginx:keep_crds": "true", "nginx:tracing": "true", "nginx:replicas": "3",
				"nginx:source_ranges": `["203.0.113.0/24"]`,
			},
		},
		projects.Logstore().Name:    {{"logstore:replicas": "5", "logstore:heap": "2g"}, {"logstore:replicas": "1"}},
		projects.CertManager().Name: {{"certmgr:keep_crds": "true", "certmgr:replicas": "3"}},
		projects.Prometheus().Name: {
			{"prometheus:keep_crds": "true", "prometheus:alertmanager_replicas": "3", "prometheus:retention": "30d"},
		},
		projects.MetricsServer().Name: {{"metrics-server:insecure_kubelets": "true"}, {"metrics-server:replicas": "1"}},
		projects.Guardrails().Name:    {{"guardrails:namespaces": `{"team-a":{"cpu":"8","memory":"16Gi","pods":20},"team-b":{}}`}},
		projects.Access().Name: {{
			"access:groups": `{"platform":{"role":"admin"},"team-a":{"role":"developer","namespaces":["team-a","team-b"]},"audit":{"role":"viewer"}}`,
		}},
		projects.Dashboard().Name: {{"dashboard:replicas": "2"}},
		projects.ExternalDNS().Name: {
			{"external-dns:policy": "upsert-only", "external-dns:owner": "acme-prod"},
			{"external-dns:provider": "cloudflare", "external-dns:token_variable": "CF_API_TOKEN"},
		},
		projects.Backup().Name: {{
			"backup:endpoint": "https://nl-ams-1.linodeobjects.com", "backup:region": "nl-ams", "backup:schedule": "0 */6 * * *",
			"backup:keep_days": "90", "backup:namespaces": `["shop"]`,
		}},
		projects.ClusterAutoscaler().Name: {{"cluster-autoscaler:version": "1.36.0"}},
		projects.Observability().Name:     {{"observability:otlp_endpoint": "https://otlp.example.com", "observability:replicas": "1"}},
	}
}

// file makes a file that is not empty.
func file(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte("sample"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestDeclaredKeysAreRead holds that every key the catalogue declares, and so documents and validates, is read
// by the program that declares it, or by a rule of its project. (That a program reads only declared keys,
// package settings holds.)
func TestDeclaredKeysAreRead(t *testing.T) {
	t.Parallel()
	reads, more := map[string]map[string]bool{}, variants(t)
	for _, provider := range providers.Complete() {
		for _, step := range provider.Steps {
			name := step.Project.Name
			if reads[name] == nil {
				reads[name] = map[string]bool{}
			}
			for _, variant := range append(more[name], nil) {
				settings := configuration(t, step.Project, provider.Name)
				maps.Copy(settings, variant)
				result := run(t, step.Project, settings)
				if result.Err != nil {
					t.Errorf("%s on %s: %v", name, provider.Name, result.Err)
				}
				for _, key := range result.Reads {
					reads[name][key] = true
				}
			}
		}
	}
	for _, project := range projects.All() {
		for _, key := range project.Keys {
			if !reads[project.Name][key.Name] && !key.OfPlugin && !judged(project)[key.Name] {
				t.Errorf("project %s declares %s, but neither its program nor a rule reads it", project.Name, key.Name)
			}
		}
	}
}

// judged returns the keys that the rules of a project read.
func judged(project model.Project) map[string]bool {
	read := map[string]bool{}
	get := func(name string) any {
		read[name] = true
		key, _ := project.Key(name)
		return key.Default
	}
	for _, rule := range project.Rules {
		rule(config.Values{Get: get, IsSet: func(string) bool { return false }})
	}
	return read
}

// run previews a project's program.
func run(t *testing.T, project model.Project, settings map[string]string) programtest.Result {
	t.Helper()
	program, ok := programs.ByName(project.Name)
	if !ok {
		t.Fatalf("project %s has no program", project.Name)
	}
	return programtest.Run(t, programtest.Case{
		Project: project, Program: program, Preview: true, Config: settings, Stacks: known(),
		Outputs: outputs(t), Call: invoke(t),
	})
}

// known returns outputs that end up in the data of a Kubernetes Secret. Mocks cannot carry a
// secret that is unknown.
func known() map[string]resource.PropertyMap {
	stacks := map[string]resource.PropertyMap{}
	for _, project := range []model.Project{projects.Logstore(), projects.LinodeHarbor(), projects.ClusterRegistry()} {
		stacks[project.Name] = sampleOutputs(project)
	}
	names := resource.PropertyMap{}
	for _, project := range projects.All() {
		if len(model.InCluster(project)) > 0 {
			names[resource.PropertyKey(project.Namespace)] = resource.NewProperty(projects.CredentialsName(project.Namespace))
		}
	}
	stacks[projects.Secrets().Name] = resource.PropertyMap{"secrets": resource.NewProperty(names)}
	return stacks
}

const (
	hidden     = "Sample-password"    // in every secret value
	sampleText = "sample.example.com" // of every other output
)

// sampleOutputs returns a string for each output of a project.
func sampleOutputs(project model.Project) resource.PropertyMap {
	outputs := resource.PropertyMap{}
	for _, output := range project.Outputs {
		value := resource.NewProperty(sampleText)
		if output.Name == "cluster_version" {
			value = resource.NewProperty("1.36")
		}
		if output.Secret {
			value = resource.MakeSecret(resource.NewProperty(hidden))
		}
		outputs[resource.PropertyKey(output.Name)] = value
	}
	return outputs
}

// credentials returns the Secret that the program of a consumer reads.
func credentials(consumer model.Project) resource.PropertyMap {
	data := resource.PropertyMap{}
	for _, secret := range consumer.Secrets {
		data[resource.PropertyKey(secret.DataKey)] = resource.NewProperty(base64.StdEncoding.EncodeToString([]byte(hidden)))
	}
	return resource.PropertyMap{"data": resource.MakeSecret(resource.NewProperty(data))}
}

// configuration returns the smallest configuration of a project.
func configuration(t *testing.T, project model.Project, provider string) map[string]string {
	t.Helper()
	config := map[string]string{}
	for _, key := range project.Keys {
		if key.Required && key.Default == nil {
			config[key.Name] = key.Example
		}
	}
	if _, ok := project.Key(projects.InfraType); ok {
		config[projects.InfraType] = provider
	}
	host, _ := projects.InfrastructureByName(provider)
	if key := host.Registry.Address; key.Name != "" {
		if _, ok := project.Key(key.Name); ok {
			config[key.Name] = key.Example
		}
	}
	if host.Existing != nil && project.Name == host.ClusterProject {
		config[host.Existing.Content] = base64.StdEncoding.EncodeToString([]byte("{clusters: [{name: c}], users: [{name: u}], " +
			"contexts: [{name: " + config[host.Existing.Context] + ", context: {cluster: c, user: u}}]}"))
	}
	for _, secret := range project.Secrets {
		if secret.Own && !secret.Optional {
			config[secret.Key] = sample(t, secret)
		}
	}
	switch project.Name {
	case projects.ClusterAutoscaler().Name:
		config["eks:cluster_autoscaler"] = "true"
	case projects.ExternalDNS().Name:
		config["external-dns:token"], config["eks:dns_zones"] = hidden, `["Z0123456789ABCDEFGHIJ"]`
		if host.Existing != nil {
			config["external-dns:provider"], config["external-dns:token_variable"] = "cloudflare", "CF_API_TOKEN"
		}
	}
	if project.Name == projects.Secrets().Name {
		for _, consumer := range projects.All() {
			for _, secret := range model.InCluster(consumer) {
				config[secret.Key] = sample(t, secret)
			}
		}
	}
	return config
}

// sample returns a valid value of a secret.
func sample(t *testing.T, secret model.Secret) string {
	t.Helper()
	if secret.Generate != model.RSAKey {
		return hidden + "-1234567890"
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	block := &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}
	return string(pem.EncodeToMemory(block))
}

// answers is what a cloud answers in these tests. They are in testdata/answers, a
// file a provider.
type answers struct {
	Functions map[string]map[string]any // by token
	Resources map[string]map[string]any // outputs, by type and name
}

func allAnswers(t *testing.T) answers {
	t.Helper()
	files, err := filepath.Glob("testdata/answers/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	all := answers{Functions: map[string]map[string]any{}, Resources: map[string]map[string]any{}}
	for _, file := range files {
		content, err := os.ReadFile(file)
		var of answers
		if err == nil {
			err = yaml.Unmarshal(content, &of)
		}
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		maps.Copy(all.Functions, of.Functions)
		maps.Copy(all.Resources, of.Resources)
	}
	return all
}

// outputs returns the outputs of resources that programs need.
func outputs(t *testing.T) map[string]resource.PropertyMap {
	t.Helper()
	all := map[string]resource.PropertyMap{"kubernetes:core/v1:Secret credentials": credentials(projects.LinodeHarbor())}
	for name, of := range allAnswers(t).Resources {
		all[name] = resource.NewPropertyMapFromMap(of)
	}
	return all
}

// invoke answers the look-ups that programs make in a cloud, and in a chart.
func invoke(t *testing.T) func(pulumi.MockCallArgs) (resource.PropertyMap, error) {
	t.Helper()
	functions := allAnswers(t).Functions
	return func(args pulumi.MockCallArgs) (resource.PropertyMap, error) {
		if answer, ok := functions[args.Token]; ok {
			return resource.NewPropertyMapFromMap(answer), nil
		}
		return usual(args)
	}
}

// usual answers what has no answer of its own.
func usual(args pulumi.MockCallArgs) (resource.PropertyMap, error) {
	if args.Token == "kubernetes:helm:template" {
		return resource.NewPropertyMapFromMap(map[string]any{"result": []any{map[string]any{
			"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
			"metadata": map[string]any{"name": "samples.example.com"},
		}}}), nil
	}
	zones := resource.NewProperty([]resource.PropertyValue{
		resource.NewProperty("us-east-1a"), resource.NewProperty("us-east-1b"), resource.NewProperty("us-east-1c"),
	})
	return resource.PropertyMap{
		"names": zones, "zoneIds": zones, "id": resource.NewProperty("id"), "partition": resource.NewProperty("aws"),
		"dnsSuffix": resource.NewProperty("amazonaws.com"), "region": resource.NewProperty("us-east-1"),
		"arn": resource.NewProperty("arn:aws:iam::123456789012:user/me"), "accountId": resource.NewProperty("123456789012"),
		"userName": resource.NewProperty("AWS"), "password": resource.NewProperty("token"), "version": resource.NewProperty("v1"),
	}, nil
}
