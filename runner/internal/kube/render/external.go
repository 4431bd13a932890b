package render

import (
	"cmp"
	"path"

	"mara/runner/internal/kube/manifest"
)

// Store is the store from which the External Secrets Operator reads the values of Secrets.
type Store struct {
	Kind, Name string // SecretStore or ClusterSecretStore
	Prefix     string // of entry names
}

// external returns the ExternalSecret for a Secret. It reads the entry PREFIX/NAMESPACE/NAME
// of the store, which has a property for each key.
func (s Store) external(secret manifest.Object) manifest.Object {
	namespace, name := secret.Text("metadata", "namespace"), secret.Text("metadata", "name")
	entry := path.Join(s.Prefix, namespace, name)
	var data []any
	for _, key := range secretKeys(secret) {
		data = append(data, map[string]any{"secretKey": key, "remoteRef": map[string]any{"key": entry, "property": key}})
	}
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
