package render

import (
	"maps"
	"slices"
	"strings"

	"mara/runner/internal/kube/manifest"
)

// scopes maps custom kinds to whether they have namespaces.
type scopes map[string]bool

// learn records the scope of a CustomResourceDefinition; it ignores other objects.
func (s scopes) learn(object manifest.Object) {
	if object.Text("kind") == "CustomResourceDefinition" {
		s[object.Text("spec", "group")+"/"+object.Text("spec", "names", "kind")] = object.Text("spec", "scope") != "Cluster"
	}
}

// hasNamespaces reports whether the kind of an object has namespaces. An unknown custom
// kind in a release is assumed to have them, because charts leave namespaces to Helm;
// an API server ignores a superfluous namespace.
func (s scopes) hasNamespaces(object manifest.Object, release bool) bool {
	version := object.Text("apiVersion")
	group, _, ok := strings.Cut(version, "/")
	if !ok {
		group = ""
	}
	if known, ok := s[group+"/"+object.Text("kind")]; ok {
		return known
	}
	if strings.Contains(group, ".") && !strings.HasSuffix(group, ".k8s.io") {
		return release || object.Text("metadata", "namespace") != ""
	}
	return !slices.Contains(clusterWide(), object.Text("kind"))
}

// clusterWide returns the built-in kinds without namespaces.
func clusterWide() []string {
	return []string{
		"APIService", "CertificateSigningRequest", "ClusterRole", "ClusterRoleBinding", "ClusterTrustBundle", "CSIDriver",
		"CSINode", "CustomResourceDefinition", "DeviceClass", "FlowSchema", "IngressClass", "IPAddress",
		"MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding", "MutatingWebhookConfiguration", "Namespace", "Node",
		"PersistentVolume", "PriorityClass", "PriorityLevelConfiguration", "ResourceSlice", "RuntimeClass", "ServiceCIDR",
		"StorageClass", "StorageVersionMigration", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
		"ValidatingWebhookConfiguration", "VolumeAttachment", "VolumeAttributesClass",
	}
}

// complete returns an object as it is applied: with its namespace, and without the fields
// and annotations that only Pulumi's provider reads.
func complete(f found, scopes scopes) manifest.Object {
	object := maps.Clone(f.object)
	maps.DeleteFunc(object, func(name string, _ any) bool { return strings.HasPrefix(name, "__") })
	given, _ := object["metadata"].(map[string]any)
	metadata := maps.Clone(given)
	if metadata == nil {
		metadata = map[string]any{}
	}
	if annotations, ok := metadata["annotations"].(map[string]any); ok {
		annotations = maps.Clone(annotations)
		maps.DeleteFunc(annotations, func(name string, _ any) bool { return strings.HasPrefix(name, "pulumi.com/") })
		metadata["annotations"] = annotations
		if len(annotations) == 0 {
			delete(metadata, "annotations")
		}
	}
	if scopes.hasNamespaces(object, f.release) {
		if namespace, _ := metadata["namespace"].(string); namespace == "" && f.namespace != "" {
			metadata["namespace"] = f.namespace
		}
	} else {
		delete(metadata, "namespace")
	}
	object["metadata"] = metadata
	return object
}
