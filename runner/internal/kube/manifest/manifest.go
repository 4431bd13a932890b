// Package manifest reads Kubernetes objects: from YAML, as Helm renders it and stores it
// with its releases, and from the inputs of Pulumi's resources.
package manifest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// Object is an object with its fields by name, as the API has them in JSON.
type Object map[string]any

// Of returns the object of a resource of Pulumi's Kubernetes provider, whose type names
// the kind. The object shares the inputs.
func Of(token string, inputs map[string]any) Object {
	object := Object{}
	maps.Copy(object, inputs)
	version, kind, _ := strings.Cut(strings.TrimPrefix(token, "kubernetes:"), ":")
	object["apiVersion"], object["kind"] = strings.TrimPrefix(version, "core/"), kind
	return object
}

// Objects reads all objects of a YAML stream. It splits lists; of duplicate keys the last
// one wins, as in kubectl and Helm.
func Objects(text string) ([]Object, error) {
	var objects []Object
	reader := utilyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(text)))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading objects: %w", err)
		}
		var object Object
		if err := yaml.Unmarshal(document, &object); err != nil {
			return nil, fmt.Errorf("reading objects: %w", err)
		}
		objects = append(objects, object.Parts()...)
	}
}

// Parts returns the items of a list, the object itself, or nothing if it is empty.
func (o Object) Parts() []Object {
	if len(o) == 0 {
		return nil
	}
	items, ok := o["items"].([]any)
	if !ok || !strings.HasSuffix(o.Text("kind"), "List") {
		return []Object{o}
	}
	var parts []Object
	for _, item := range items {
		if part, ok := item.(map[string]any); ok {
			parts = append(parts, part)
		}
	}
	return parts
}

// Text returns the string at a path of keys, or "".
func (o Object) Text(path ...string) string {
	found, _, _ := unstructured.NestedString(o, path...)
	return found
}

// String returns the kind and name of the object: Deployment shop/frontend.
func (o Object) String() string {
	name := o.Text("metadata", "name")
	if namespace := o.Text("metadata", "namespace"); namespace != "" {
		name = namespace + "/" + name
	}
	return o.Text("kind") + " " + name
}
