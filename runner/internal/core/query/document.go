package query

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/sig"

	"mara/runner/internal/machine/exactjson"
)

// Environment has the common fields of an environment's items.
type Environment struct {
	Stack    string
	Provider string
}

// Document is the input of queries: a list of items. Items of both sources have the fields
//
//	source, environment, provider, type, name, namespace, object
//
// where type is a Pulumi type such as kubernetes:apps/v1:Deployment, and object is the
// Kubernetes object, as recorded in the state or as live. An item of a state also has
// project, urn, id, parent, modified, inputs and outputs. Secrets read "[secret]".
type Document struct{ items []any }

// Value returns the document as jq input.
func (d *Document) Value() any {
	if d.items == nil {
		return map[string]any{"items": []any{}}
	}
	return map[string]any{"items": d.items}
}

// Add adds items.
func (d *Document) Add(items []any) { d.items = append(d.items, items...) }

// Secret is the placeholder for a secret value.
const Secret = "[secret]"

// FromState returns the items of the resources in a project's state, as Pulumi exports it
// without a key. An empty state has no items.
func FromState(e Environment, project string, state []byte) ([]any, error) {
	resources, err := resourcesIn(project, state)
	var items []any
	for _, r := range resources {
		token, _ := r["type"].(string)
		if token == "pulumi:pulumi:Stack" || strings.HasPrefix(token, "pulumi:providers:") {
			continue
		}
		items = append(items, stateItem(e, project, token, r))
	}
	return items, err
}

// resourcesIn returns the resources in a state. An empty state has none.
func resourcesIn(project string, state []byte) ([]map[string]any, error) {
	var deployment struct {
		Resources []map[string]any `json:"resources"`
	}
	if len(state) > 0 && exactjson.Decode(state, &deployment) != nil {
		return nil, fmt.Errorf("reading the state of %s: it is not valid JSON", project)
	}
	return deployment.Resources, nil
}

// stateItem returns the item of one resource.
func stateItem(e Environment, project, token string, r map[string]any) map[string]any {
	urn, _ := r["urn"].(string)
	item := map[string]any{
		"source": "state", "environment": e.Stack, "provider": e.Provider, "project": project,
		"type": token, "urn": urn, "name": urn[strings.LastIndex(urn, "::")+len("::"):],
	}
	for _, field := range []string{"id", "parent", "modified"} {
		if value, ok := r[field]; ok {
			item[field] = value
		}
	}
	for _, field := range []string{"inputs", "outputs"} {
		value, ok := r[field].(map[string]any)
		if !ok {
			value = map[string]any{}
		}
		item[field] = withoutSecrets(value)
	}
	if outputs, ok := item["outputs"].(map[string]any); ok && strings.HasPrefix(token, "kubernetes:") &&
		outputs["kind"] != nil {
		item["object"] = outputs
		setNames(item, outputs)
	}
	return item
}

// FromObject returns the item of a Kubernetes object in JSON.
func FromObject(e Environment, content []byte) (map[string]any, error) {
	var object map[string]any
	if err := exactjson.Decode(content, &object); err != nil {
		return nil, fmt.Errorf("reading an object of %s: it is not valid JSON", e.Stack)
	}
	withoutSecrets(object)
	version, _ := object["apiVersion"].(string)
	if !strings.Contains(version, "/") {
		version = "core/" + version
	}
	item := map[string]any{
		"source": "live", "environment": e.Stack, "provider": e.Provider,
		"type": fmt.Sprintf("kubernetes:%s:%s", version, object["kind"]), "object": object,
	}
	setNames(item, object)
	return item, nil
}

// setNames copies name and namespace from a Kubernetes object.
func setNames(item, object map[string]any) {
	metadata, _ := object["metadata"].(map[string]any)
	for _, field := range []string{"name", "namespace"} {
		if text, ok := metadata[field].(string); ok {
			item[field] = text
		}
	}
}

// withoutSecrets replaces, in place, values that Pulumi encrypted and the values of
// Kubernetes Secrets.
func withoutSecrets(value any) any {
	switch value := value.(type) {
	case map[string]any:
		if value[sig.Key] == sig.Secret {
			return Secret
		}
		if value["kind"] == "Secret" {
			hideData(value)
		}
		for key, inner := range value {
			value[key] = withoutSecrets(inner)
		}
	case []any:
		for i, inner := range value {
			value[i] = withoutSecrets(inner)
		}
	}
	return value
}

// lastApplied is the annotation with kubectl's copy of the whole object.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// hideData hides the values of a Kubernetes Secret.
func hideData(object map[string]any) {
	for _, field := range []string{"data", "stringData"} {
		switch values := object[field].(type) {
		case map[string]any:
			if values[sig.Key] == sig.Secret { // Pulumi encrypted the whole map
				object[field] = Secret
				continue
			}
			for key := range values {
				values[key] = Secret
			}
		case nil:
		default:
			object[field] = Secret
		}
	}
	metadata, _ := object["metadata"].(map[string]any)
	if annotations, ok := metadata["annotations"].(map[string]any); ok {
		delete(annotations, lastApplied)
	}
}

// Environments returns the environments of the items, in their order.
func (d *Document) Environments() []string {
	var names []string
	for _, item := range d.items {
		if name, _ := item.(map[string]any)["environment"].(string); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Plan returns the deployed resources of an environment as the document of an up without
// changes: see package updateplan.
func (d *Document) Plan(environment string) any {
	steps := map[string][]any{}
	for _, value := range d.items {
		item, _ := value.(map[string]any)
		if item["environment"] != environment {
			continue
		}
		project, _ := item["project"].(string)
		step := map[string]any{"op": "same", "type": item["type"], "name": item["name"], "urn": item["urn"],
			"inputs": item["inputs"]}
		if item["source"] == "live" {
			step["inputs"], step["urn"] = item["object"], fmt.Sprintf("%s/%v/%v", item["type"], item["namespace"], item["name"])
		}
		steps[project] = append(steps[project], step)
	}
	projects := []any{}
	for _, name := range slices.Sorted(maps.Keys(steps)) {
		projects = append(projects, map[string]any{"name": name, "steps": steps[name]})
	}
	return map[string]any{"stack": environment, "projects": projects}
}

// Contents summarises the state of a project: its outputs, without secrets, and the number
// of resources of each type.
type Contents struct {
	Outputs map[string]any
	Types   map[string]int
}

// ContentsOf summarises a state, as Pulumi exports it without a key.
func ContentsOf(project string, state []byte) (Contents, error) {
	c := Contents{Outputs: map[string]any{}, Types: map[string]int{}}
	resources, err := resourcesIn(project, state)
	for _, r := range resources {
		token, _ := r["type"].(string)
		switch {
		case token == "pulumi:pulumi:Stack":
			outputs, _ := r["outputs"].(map[string]any)
			for name, value := range outputs {
				c.Outputs[name] = withoutSecrets(value)
			}
		case !strings.HasPrefix(token, "pulumi:providers:"):
			c.Types[token]++
		}
	}
	return c, err
}
