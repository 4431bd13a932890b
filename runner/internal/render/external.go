package render

import (
	"cmp"
	"path"

	"github.com/pulumi/pulumi/sdk/v3/go/common/slice"

	"mara/runner/internal/manifest"
)

// Store is where the External Secrets Operator finds the values of Secrets.
type Store struct {
	Kind, Name string // SecretStore or ClusterSecretStore
	Prefix     string // of the names of entries
}

// external is the object that has the External Secrets Operator make a Secret: from an
// entry PREFIX/NAMESPACE/NAME of the store, with a property for each key.
func (s Store) external(secret manifest.Object) manifest.Object {
	namespace, name := secret.Text("metadata", "namespace"), secret.Text("metadata", "name")
	entry := path.Join(s.Prefix, namespace, name)
	data := slice.Map(secretKeys(secret), func(key string) any {
		return map[string]any{"secretKey": key, "remoteRef": map[string]any{"key": entry, "property": key}}
	})
	template := map[string]any{"type": cmp.Or(secret.Text("type"), "Opaque")}
	metadata, _ := secret["metadata"].(map[string]any)
	if labels, ok := metadata["labels"]; ok {
		template["metadata"] = map[string]any{"labels": labels}
	}
	return manifest.Object{
		"apiVersion": "external-secrets.io/v1", "kind": "ExternalSecret", "metadata": metadata,
		"spec": map[string]any{
			"secretStoreRef": map[string]any{"kind": s.Kind, "name": s.Name},
			"target":         map[string]any{"name": name, "template": template},
			"data":           data,
		},
	}
}
