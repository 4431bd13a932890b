package programs_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"mara/projects"
	"mara/projects/internal/programtest"
	"mara/projects/model"
	"mara/projects/programs"
	"mara/providers"
)

// TestKindFitsASmallMachine adds up what everything on kind asks for. Of a
// machine with two processors, kind's own pods take about one:
// https://github.com/kubernetes/kubernetes/tree/master/cmd/kubeadm/app/phases/controlplane
func TestKindFitsASmallMachine(t *testing.T) {
	t.Parallel()
	kind, err := providers.ByName("kind")
	if err != nil {
		t.Fatal(err)
	}
	var cpu, memory int // thousandths of a processor, MiB
	for _, step := range inCluster(kind) {
		for _, res := range deploy(t, step.Project, "kind").Resources {
			each(resource.NewProperty(res.Inputs), func(key string, value resource.PropertyValue) {
				if key != "requests" || !value.IsObject() {
					return
				}
				cpu += quantity(t, value.ObjectValue()["cpu"], map[string]int{"m": 1, "": 1000})
				memory += quantity(t, value.ObjectValue()["memory"], map[string]int{"Mi": 1, "Gi": 1024})
			})
		}
	}
	if cpu == 0 || cpu > 1000 || memory == 0 || memory > 5*1024 {
		t.Errorf("everything asks for %d thousandths of a processor and %d MiB; at most 1000 and 5120 are there", cpu, memory)
	}
}

// TestSecretsStayInSecrets looks for secret values where everyone could read
// them: in ConfigMaps, in the values of charts, and in the environment of pods.
func TestSecretsStayInSecrets(t *testing.T) {
	t.Parallel()
	looked := 0
	for _, provider := range providers.Complete() {
		for _, step := range inCluster(provider) {
			for _, res := range deploy(t, step.Project, provider.Name).Resources {
				if !strings.HasPrefix(res.Type, "kubernetes:") || res.Type == "kubernetes:core/v1:Secret" {
					continue
				}
				looked++
				each(resource.NewProperty(res.Inputs), func(key string, value resource.PropertyValue) {
					if value.IsString() && strings.Contains(value.StringValue(), hidden) {
						t.Errorf("%s on %s: %s %s has a secret at %q", step.Project.Name, provider.Name, res.Type, res.Name, key)
					}
				})
			}
		}
	}
	if looked < 50 {
		t.Errorf("looked at %d objects only", looked)
	}
}

// TestMirrorServesEverything looks for a chart or an image that would still be
// fetched from somewhere else. The ingress controller's image is in the
// environment's own registry.
func TestMirrorServesEverything(t *testing.T) {
	t.Parallel()
	const at = "registry.example.com/mirror"
	charts, images := 0, 0
	for _, provider := range providers.Complete() {
		for _, step := range inCluster(provider) {
			if _, ok := step.Project.Key(projects.Mirror); !ok {
				continue
			}
			for _, res := range deploy(t, step.Project, provider.Name, projects.Mirror, at).Resources {
				each(resource.NewProperty(res.Inputs), func(key string, value resource.PropertyValue) {
					want := map[string]string{"chart": "oci://" + at + "/charts/", "image": at + "/", "repository": at + "/", "imageRegistry": at}[key]
					switch {
					case want == "" || !value.IsString():
						return
					case key == "chart":
						charts++
					default:
						images++
					}
					if got := value.StringValue(); !strings.HasPrefix(got, want) && !strings.HasPrefix(got, sampleText) {
						t.Errorf("%s on %s: %s %s has the %s %s", step.Project.Name, provider.Name, res.Type, res.Name, key, got)
					}
				})
				if opts := res.Input("repositoryOpts"); !opts.IsNull() {
					t.Errorf("%s: the release %s has a repository of its own: %v", step.Project.Name, res.Name, opts)
				}
			}
		}
	}
	if charts < 3*8 || images < 3*15 {
		t.Errorf("looked at %d charts and %d images only", charts, images)
	}
}

// inCluster returns the steps that deploy to the cluster.
func inCluster(provider model.Provider) []model.Step {
	var steps []model.Step
	for _, step := range provider.Steps {
		if slices.Contains(step.Reads, projects.Kubeconfig().Name) {
			steps = append(steps, step)
		}
	}
	return steps
}

// deploy runs a project's program with everything else deployed; extra are
// further keys and values of its configuration.
func deploy(t *testing.T, project model.Project, provider string, extra ...string) programtest.Result {
	t.Helper()
	result := tryToDeploy(t, project, provider, extra...)
	if result.Err != nil {
		t.Fatalf("%s on %s: %v", project.Name, provider, result.Err)
	}
	return result
}

// tryToDeploy does the same as deploy, for programs that may fail.
func tryToDeploy(t *testing.T, project model.Project, provider string, extra ...string) programtest.Result {
	t.Helper()
	settings := configuration(t, project, provider)
	for i := 0; i+1 < len(extra); i += 2 {
		settings[extra[i]] = extra[i+1]
	}
	program, ok := programs.ByName(project.Name)
	if !ok {
		t.Fatalf("project %s has no program", project.Name)
	}
	return programtest.Run(t, programtest.Case{
		Project: project, Program: program, Config: settings, Stacks: deployed(),
		Outputs: outputs(t), Call: invoke(t),
	})
}

// each visits every value inside a value, with its key and not wrapped as a
// secret.
func each(value resource.PropertyValue, visit func(key string, value resource.PropertyValue)) {
	switch value = plain(value); {
	case value.IsObject():
		for key, inner := range value.ObjectValue() {
			visit(string(key), plain(inner))
			each(inner, visit)
		}
	case value.IsArray():
		for _, item := range value.ArrayValue() {
			visit("", plain(item))
			each(item, visit)
		}
	}
}

func plain(value resource.PropertyValue) resource.PropertyValue {
	for value.IsSecret() {
		value = value.SecretValue().Element
	}
	return value
}

// quantity reads an amount in one of the units; nothing is none.
func quantity(t *testing.T, value resource.PropertyValue, units map[string]int) int {
	t.Helper()
	if !value.IsString() {
		return 0
	}
	text := value.StringValue()
	number := strings.TrimRight(text, "miGM")
	amount, err := strconv.Atoi(number)
	unit, known := units[strings.TrimPrefix(text, number)]
	if err != nil || !known {
		t.Errorf("an unexpected amount: %q", text)
	}
	return amount * unit
}
