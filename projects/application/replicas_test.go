package application_test

import (
	"fmt"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/managedfields/managedfieldstest"

	"mara/config"
	"mara/projects/application"
)

// deployment is the Deployment of an application as an API server keeps it, with the owners of its fields; and what Pulumi
// remembers of it.
type deployment struct {
	t      *testing.T
	server managedfieldstest.TestFieldManager
	inputs map[string]any // of the last up; nil before the first
	pods   []int          // at every moment
}

func newDeployment(t *testing.T) *deployment {
	kind := schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	return &deployment{t: t, server: managedfieldstest.NewTestFieldManager(managedfields.NewDeducedTypeConverter(), kind)}
}

// workload returns the inputs and the options of the workload in the program of an application.
func workload(t *testing.T, replicas string) (inputs map[string]any, ignored bool) {
	t.Helper()
	mara, err := config.ParseMara("mara.yaml", []byte("applications: {shop: {image: 'shop:1', replicas: "+replicas+"}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := application.Program(mara.Applications[0])
	if err != nil {
		t.Fatal(err)
	}
	var program struct {
		Config    map[string]struct{ Default any }
		Resources map[string]struct {
			Properties map[string]any
			Options    struct {
				IgnoreChanges []string `yaml:"ignoreChanges"`
			}
		}
	}
	if err := yaml.Unmarshal(text, &program); err != nil {
		t.Fatal(err)
	}
	of := program.Resources["workload"]
	spec := of.Properties["spec"].(map[string]any)
	name, _ := spec["replicas"].(string)
	value, ok := program.Config[strings.Trim(name, "${}")].Default.(int)
	if !ok {
		t.Fatalf("the program has replicas %q", name)
	}
	spec["replicas"] = int64(value)
	// Nothing else of the template counts here, and the types of YAML are not those of JSON.
	of.Properties["spec"] = map[string]any{"replicas": spec["replicas"]}
	of.Properties["metadata"].(map[string]any)["name"] = "shop"
	return of.Properties, len(of.Options.IgnoreChanges) == 1 && of.Options.IgnoreChanges[0] == "spec.replicas"
}

func replicasOf(object map[string]any) (int64, bool) {
	number, found, _ := unstructured.NestedInt64(object, "spec", "replicas")
	return number, found
}

// count notes how many Pods there are. The API server makes one Pod of no number.
func (d *deployment) count() int {
	live := d.server.Live().(*unstructured.Unstructured)
	number, found := replicasOf(live.Object)
	if !found {
		number = 1
	}
	d.pods = append(d.pods, int(number))
	return int(number)
}

// owners returns whether Pulumi and whether others own the number of Pods.
func (d *deployment) owners() (ours, theirs bool) {
	for _, entry := range d.server.ManagedFields() {
		if entry.FieldsV1 != nil && strings.Contains(string(entry.FieldsV1.GetRawBytes()), `"f:replicas"`) {
			ours, theirs = ours || entry.Manager == "pulumi", theirs || entry.Manager != "pulumi"
		}
	}
	return ours, theirs
}

// up does what Pulumi's engine and its Kubernetes provider do with the workload: the engine puts what was there in the place
// of ignored changes, and the provider leaves ignored fields to those who own them alone, or keeps their live value.
func (d *deployment) up(replicas string) error {
	d.t.Helper()
	inputs, ignored := workload(d.t, replicas)
	return d.apply(inputs, ignored)
}

func (d *deployment) apply(inputs map[string]any, ignored bool) error {
	d.t.Helper()
	if ignored && d.inputs != nil {
		if was, found := replicasOf(d.inputs); found {
			inputs["spec"] = map[string]any{"replicas": was}
		} else {
			inputs["spec"] = map[string]any{}
		}
	}
	d.inputs = inputs
	object := (&unstructured.Unstructured{Object: inputs}).DeepCopy()
	object.SetAPIVersion("apps/v1")
	object.SetKind("Deployment")
	if ours, theirs := d.owners(); ignored && theirs && !ours {
		unstructured.RemoveNestedField(object.Object, "spec", "replicas")
	} else if live, found := replicasOf(d.server.Live().(*unstructured.Unstructured).Object); ignored && found {
		if err := unstructured.SetNestedField(object.Object, live, "spec", "replicas"); err != nil {
			d.t.Fatal(err)
		}
	}
	err := d.server.Apply(object, "pulumi", object.GetAnnotations()["pulumi.com/patchForce"] == "true")
	d.count()
	return err
}

// scale is what an autoscaler does, and somebody with kubectl.
func (d *deployment) scale(who string, to int64) {
	d.t.Helper()
	object := d.server.Live().(*unstructured.Unstructured)
	if err := unstructured.SetNestedField(object.Object, to, "spec", "replicas"); err != nil {
		d.t.Fatal(err)
	}
	if err := d.server.Update(object, who); err != nil {
		d.t.Fatal(err)
	}
	d.count()
}

const scaler = "kube-controller-manager"

// TestReplicas: no transition between the forms of replicas has fewer Pods, at any moment, than both forms ask for, and each
// ends with as many as it should.
func TestReplicas(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		steps func(d *deployment) error
		least int // at every moment after the first up
		ends  int
	}{
		"more":                {func(d *deployment) error { return first(d.up("3"), d.up("5")) }, 3, 5},
		"fewer":               {func(d *deployment) error { return first(d.up("5"), d.up("3")) }, 3, 3},
		"handed over":         {func(d *deployment) error { return first(d.up("3"), d.up("{min: 3, max: 10}")) }, 3, 3},
		"handed over, higher": {func(d *deployment) error { return first(d.up("30"), d.up("{min: 3, max: 100}")) }, 30, 30},
		"scaled by the autoscaler, and up again": {func(d *deployment) error {
			err := first(d.up("3"), d.up("{min: 3, max: 10}"))
			d.scale(scaler, 8)
			return first(err, d.up("{min: 3, max: 10}"), d.up("{min: 2, max: 20}"))
		}, 3, 8},
		"from the beginning with an autoscaler": {func(d *deployment) error {
			err := d.up("{min: 4, max: 10}")
			d.scale(scaler, 6)
			return first(err, d.up("{min: 5, max: 10}"))
		}, 4, 6},
		"taken back": {func(d *deployment) error {
			err := d.up("{min: 3, max: 10}")
			d.scale(scaler, 8)
			return first(err, d.up("4"))
		}, 3, 4},
		"taken back to what it was": {func(d *deployment) error {
			err := first(d.up("3"), d.up("{min: 3, max: 10}"))
			d.scale(scaler, 8)
			return first(err, d.up("3"))
		}, 3, 3},
		"scaled by hand, and up": {func(d *deployment) error {
			err := d.up("3")
			d.scale("kubectl", 6)
			return first(err, d.up("4"))
		}, 3, 4},
		"deployed with an autoscaler by an earlier version": {func(d *deployment) error {
			inputs, _ := workload(d.t, "{min: 3, max: 10}")
			inputs["spec"] = map[string]any{} // it declared no number
			err := d.apply(inputs, false)
			d.pods = nil // it began with one
			d.scale(scaler, 5)
			return first(err, d.up("{min: 3, max: 10}"))
		}, 5, 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDeployment(t)
			err := test.steps(d)
			for _, pods := range d.pods {
				if pods < test.least {
					t.Errorf("Pods: %v, at least %d", d.pods, test.least)
				}
			}
			if got := d.count(); err != nil || got != test.ends {
				t.Errorf("ends with %d Pods, want %d; Pods: %v; %v", got, test.ends, d.pods, err)
			}
		})
	}
}

// first returns the first error.
func first(all ...error) error {
	for i, err := range all {
		if err != nil {
			return fmt.Errorf("up %d: %w", i+1, err)
		}
	}
	return nil
}
