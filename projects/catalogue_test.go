package projects

import (
	"net/url"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"mara/config"
	"mara/projects/model"
)

func TestNamesAndPathsAreUnique(t *testing.T) {
	t.Parallel()
	all := All()
	names, paths := map[string]bool{}, map[string]bool{}
	for _, project := range all {
		if names[project.Name] {
			t.Errorf("name %q is used twice", project.Name)
		}
		if paths[project.Path] {
			t.Errorf("path %q is used twice", project.Path)
		}
		names[project.Name], paths[project.Path] = true, true
	}
}

func TestProjectsAreDescribed(t *testing.T) {
	t.Parallel()
	for _, project := range All() {
		if project.Title == "" || project.Summary == "" {
			t.Errorf("project %q has no title or no summary", project.Name)
		}
		if len(project.Outputs) == 0 {
			t.Errorf("project %q exports nothing", project.Name)
		}
		for _, output := range project.Outputs {
			if output.Doc == "" {
				t.Errorf("output %q of project %q has no documentation", output.Name, project.Name)
			}
			if output.Secret && output.Highlight {
				t.Errorf("output %q of project %q is secret, and would be shown at the end of up", output.Name, project.Name)
			}
		}
	}
}

// manifest is what the tests read of a Pulumi.yaml.
type manifest struct {
	Name           string `yaml:"name"`
	Description    string `yaml:"description"`
	Runtime        any    `yaml:"runtime"`
	Main           string `yaml:"main"`
	StackConfigDir string `yaml:"stackConfigDir"`
}

func TestManifests(t *testing.T) {
	t.Parallel()
	for _, project := range All() {
		content, err := os.ReadFile(path.Join(project.Path, "Pulumi.yaml"))
		if err != nil {
			t.Error(err)
			continue
		}
		var m manifest
		if err := yaml.Unmarshal(content, &m); err != nil {
			t.Errorf("project %q: %v", project.Name, err)
			continue
		}
		dir := path.Join("projects", project.Path)
		configDir := "config/pulumi"
		if project.Name == "secrets" {
			configDir = "config/pulumi/secrets"
		}
		got := manifest{
			Name: m.Name, Runtime: m.Runtime, Main: m.Main, StackConfigDir: path.Join(dir, m.StackConfigDir),
		}
		want := manifest{Name: project.Name, Runtime: model.Runtime, StackConfigDir: configDir}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Pulumi.yaml of %q differs (-want +got):\n%s", project.Name, diff)
		}
		if m.Description == "" {
			t.Errorf("Pulumi.yaml of %q has no description", project.Name)
		}
	}
}

func TestByName(t *testing.T) {
	t.Parallel()
	for _, want := range All() {
		got, ok := ByName(want.Name)
		if !ok || got.Path != want.Path {
			t.Errorf("ByName(%q) = %q, %v", want.Name, got.Path, ok)
		}
	}
	if _, ok := ByName("nothing"); ok {
		t.Error("an unknown name was found")
	}
}

func TestServes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		project  model.Project
		provider string
		want     bool
	}{
		{AWSEKS(), "aws", true},
		{AWSEKS(), "kind", false},
		{LinodeHarbor(), "linode", true},
		{LinodeHarbor(), "aws", false},
		{Kubeconfig(), "kind", true},
		{BankOfAnthos(), "linode", true},
	}
	for _, tt := range tests {
		if got := Serves(tt.project, tt.provider); got != tt.want {
			t.Errorf("%s serves %s: %v, want %v", tt.project.Name, tt.provider, got, tt.want)
		}
	}
}

// sameForm compares forms by identity.
var sameForm = cmp.Comparer(func(a, b *config.Form) bool { return a == b })

func TestKeysMeanTheSameEverywhere(t *testing.T) {
	t.Parallel()
	seen := map[string]config.Key{}
	for _, project := range All() {
		here := map[string]bool{}
		for _, key := range project.Keys {
			if here[key.Name] {
				t.Errorf("project %q declares %q twice", project.Name, key.Name)
			}
			here[key.Name] = true
			if other, ok := seen[key.Name]; ok {
				if diff := cmp.Diff(other, key, sameForm); diff != "" {
					t.Errorf("project %q gives %q another meaning:\n%s", project.Name, key.Name, diff)
				}
			}
			seen[key.Name] = key
		}
	}
}

func TestKeysAreWellFormed(t *testing.T) {
	t.Parallel()
	name := regexp.MustCompile(`^[a-z][a-z0-9-]*:[a-z][a-z0-9_]*$`)
	for _, project := range All() {
		for _, key := range project.Keys {
			if !name.MatchString(key.Name) {
				t.Errorf("key %q is not namespace:name", key.Name)
			}
			if key.Doc == "" || strings.Contains(key.Doc, "\n") {
				t.Errorf("key %q needs one line of documentation", key.Name)
			}
			if key.Example == "" {
				t.Errorf("key %q has no example", key.Name)
			}
			if key.Required && key.Default != nil {
				t.Errorf("key %q is required and has a default", key.Name)
			}
			if key.Default != nil {
				checkDefault(t, key)
			}
		}
	}
}

// checkDefault holds that a default is of the key's kind and allowed.
func checkDefault(t *testing.T, key config.Key) {
	t.Helper()
	value := key.Default
	if items, ok := value.([]string); ok {
		list := make([]any, len(items))
		for i, item := range items {
			list[i] = item
		}
		value = list
	}
	if err := key.Validate(value); err != nil {
		t.Errorf("default of %q: %v", key.Name, err)
	}
}

func TestSecretsAreWellFormed(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, project := range All() {
		if len(model.InCluster(project)) > 0 && project.Namespace == "" {
			t.Errorf("project %q needs secrets but names no namespace to put them in", project.Name)
		}
		for _, secret := range project.Secrets {
			if seen[secret.Key] {
				t.Errorf("secret %q is declared twice", secret.Key)
			}
			seen[secret.Key] = true
			if secret.Prompt == "" || secret.Doc == "" || secret.DataKey == "" && !secret.Own {
				t.Errorf("secret %q has no prompt, documentation or data key", secret.Key)
			}
			if !slices.Contains([]model.Generator{model.None, model.Password, model.AlphanumericPassword, model.RSAKey}, secret.Generate) {
				t.Errorf("secret %q has the unknown generator %q", secret.Key, secret.Generate)
			}
		}
	}
}

func TestClusterProjectsShareOneContract(t *testing.T) {
	t.Parallel()
	isCluster := map[string]bool{}
	for _, infrastructure := range Infrastructures() {
		project, _ := ByName(infrastructure.ClusterProject)
		isCluster[project.Name] = true
		if output, ok := project.Output("kubeconfig"); !ok || !output.Secret {
			t.Errorf("%s must export kubeconfig as a secret", project.Name)
		}
		if _, ok := project.Output("cluster_name"); !ok {
			t.Errorf("%s must export cluster_name", project.Name)
		}
		if infrastructure.Existing != nil { // no project makes it or removes it, and the user has its context already
			isCluster[project.Name] = false
			continue
		}
		// What a local cluster makes lives in its containers.
		if project.LeavesCloudResources == infrastructure.Local {
			t.Errorf("%s: LeavesCloudResources is %v", project.Name, project.LeavesCloudResources)
		}
	}
	for _, project := range All() {
		if project.HasHook(model.HookKubeconfig) != isCluster[project.Name] {
			t.Errorf("%s: a cluster project has the kubeconfig hook, no other one has", project.Name)
		}
		if project.LeavesCloudResources && !isCluster[project.Name] {
			t.Errorf("%s is no cluster that could leave something behind", project.Name)
		}
		if _, ok := project.Output("application_url"); ok != project.HasHook(model.HookReachable) {
			t.Errorf("%s must have an address when a hook waits for it, and only then", project.Name)
		}
	}
}

// TestInfrastructures: what an infrastructure names is declared.
func TestInfrastructures(t *testing.T) {
	t.Parallel()
	var names []string
	for _, infrastructure := range Infrastructures() {
		names = append(names, infrastructure.Name)
	}
	if !slices.Equal(names, infraTypes) {
		t.Errorf("infraTypes are %v, the infrastructures %v", infraTypes, names)
	}
	for _, infrastructure := range Infrastructures() {
		registry, ok := ByName(infrastructure.Registry.Project)
		if !ok || !Serves(registry, infrastructure.Name) {
			t.Errorf("%s: no project %q for the registry", infrastructure.Name, infrastructure.Registry.Project)
		}
		for _, name := range []string{infrastructure.Registry.Host, infrastructure.Registry.User, infrastructure.Registry.Password} {
			if _, ok := registry.Output(name); name != "" && !ok {
				t.Errorf("%s exports no %q", registry.Name, name)
			}
		}
		for _, project := range infrastructure.Projects() {
			if !Serves(project, infrastructure.Name) || !strings.HasPrefix(project.Path, "infrastructure/") {
				t.Errorf("%s does not belong to %s", project.Path, infrastructure.Name)
			}
		}
		if found, ok := InfrastructureByName(infrastructure.Name); !ok || found.Title != infrastructure.Title {
			t.Errorf("%s is not found by its name", infrastructure.Name)
		}
	}
	if _, ok := InfrastructureByName("nothing"); ok {
		t.Error("an unknown name was found")
	}
}

func TestDecodeKubeconfig(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"clusters: []": "clusters: []", "Y2x1c3RlcnM6IFtd\n": "clusters: []", "not a kubeconfig!": ""} {
		got, err := model.DecodeKubeconfig(in)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", in, got, err)
		}
		if err != nil && strings.Contains(err.Error(), in) {
			t.Errorf("the error shows the text: %v", err)
		}
	}
}

// TestAddressesAreWellFormed: a default that looks like an address is one.
func TestAddressesAreWellFormed(t *testing.T) {
	t.Parallel()
	for _, project := range All() {
		for _, key := range project.Keys {
			text, ok := key.Default.(string)
			if !ok || !strings.Contains(text, "//") {
				continue
			}
			address, err := url.Parse(text)
			if err != nil || !slices.Contains([]string{"https", "oci"}, address.Scheme) || !strings.Contains(address.Host, ".") || strings.Contains(address.Path, "//") {
				t.Errorf("%s is %q by default: %v", key.Name, text, err)
			}
		}
	}
}
