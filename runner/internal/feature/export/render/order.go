package render

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"mara/runner/internal/kube/manifest"
)

// hookAnnotation marks the hooks of a Helm release.
const hookAnnotation = "helm.sh/hook"

// installs reports whether Helm runs a hook when it installs a release.
func installs(hook string) bool {
	hook = strings.TrimSpace(hook)
	return hook == "pre-install" || hook == "post-install" || hook == "crd-install"
}

// The file prefixes of kinds follow Helm's install order: dependencies first. Kinds that
// ranks does not list come after the workloads.
const (
	rankHookBefore = 2
	rankJob        = 35 // what a rollout waits for
	rankOther      = 60
	rankHookAfter  = 90
)

var ranks = map[string]int{
	"CustomResourceDefinition": 0, "Namespace": 1, "PriorityClass": 10, "NetworkPolicy": 10, "ResourceQuota": 10,
	"LimitRange": 10, "PodDisruptionBudget": 10, "RuntimeClass": 10, "ServiceAccount": 15, "ConfigMap": 16,
	"ExternalSecret": 16, "SealedSecret": 16, "StorageClass": 20, "PersistentVolume": 21, "PersistentVolumeClaim": 22,
	"ClusterRole": 25, "ClusterRoleBinding": 26, "Role": 27, "RoleBinding": 28, "Service": 30, "DaemonSet": 40,
	"Pod": 40, "ReplicationController": 40, "ReplicaSet": 40, "Deployment": 40, "StatefulSet": 40,
	"HorizontalPodAutoscaler": 41, "Job": 42, "CronJob": 42, "IngressClass": 50, "Ingress": 51, "HTTPRoute": 51, "APIService": 52,
	"MutatingWebhookConfiguration": 55, "ValidatingWebhookConfiguration": 55, "ValidatingAdmissionPolicy": 55,
	"ValidatingAdmissionPolicyBinding": 56,
}

// rank returns the file prefix of an object. Hooks that run at the same time are ordered by
// weight and then by kind.
func rank(object manifest.Object) string {
	number, known := ranks[object.Text("kind")]
	if !known {
		number = rankOther
	}
	if object.Text("kind") == "Job" && object.Text("metadata", "annotations", syncWave) != "" {
		number = rankJob
	}
	hook := object.Text("metadata", "annotations", hookAnnotation)
	if hook == "" {
		return fmt.Sprintf("%02d", number)
	}
	// Helm also treats a weight that is not a number as 0.
	weight, _ := strconv.Atoi(object.Text("metadata", "annotations", "helm.sh/hook-weight"))
	time := rankHookAfter
	if slices.ContainsFunc(strings.Split(hook, ","), func(h string) bool {
		return strings.TrimSpace(h) != "post-install" && installs(h)
	}) {
		time = rankHookBefore
	}
	const middle = 500 // weights may be negative
	return fmt.Sprintf("%02d-%03d-%02d", time, max(0, min(999, middle+weight)), number)
}

// nameFiles sets the file names of objects. The API group distinguishes objects of the same
// kind and name.
func nameFiles(objects []Object) {
	seen := map[string]int{}
	for i := range objects {
		o := &objects[i]
		parts := []string{rank(o.Content), strings.ToLower(o.Kind)}
		if o.Namespace != "" {
			parts = append(parts, o.Namespace)
		}
		o.File = fileName(strings.Join(append(parts, o.Name), "-"))
		seen[o.File]++
	}
	again := map[string]int{}
	for i := range objects {
		o := &objects[i]
		if seen[o.File] > 1 {
			group, _, _ := strings.Cut(o.Content.Text("apiVersion"), "/")
			o.File += "-" + fileName(group)
		}
		again[o.File]++
		if n := again[o.File]; n > 1 {
			o.File += fmt.Sprintf("-%d", n)
		}
		o.File += ".yaml"
	}
}

// fileName replaces the characters that file systems may reject.
func fileName(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.' {
			return r
		}
		return '_'
	}, text)
}

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
	return !slices.Contains(clusterWide, object.Text("kind"))
}

// clusterWide are the built-in kinds without namespaces.
var clusterWide = []string{
	"APIService", "CertificateSigningRequest", "ClusterRole", "ClusterRoleBinding", "ClusterTrustBundle", "CSIDriver",
	"CSINode", "CustomResourceDefinition", "DeviceClass", "FlowSchema", "IngressClass", "IPAddress",
	"MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding", "MutatingWebhookConfiguration", "Namespace", "Node",
	"PersistentVolume", "PriorityClass", "PriorityLevelConfiguration", "ResourceSlice", "RuntimeClass", "ServiceCIDR",
	"StorageClass", "StorageVersionMigration", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
	"ValidatingWebhookConfiguration", "VolumeAttachment", "VolumeAttributesClass",
}

// complete returns an object as it is applied: with its namespace, and without the fields
// and annotations that only Pulumi's provider reads.
func complete(f found, scopes scopes) manifest.Object {
	object := maps.Clone(f.object)
	maps.DeleteFunc(object, func(name string, _ any) bool { return strings.HasPrefix(name, "__") })
	given, _ := object["metadata"].(map[string]any)
	metadata := map[string]any{}
	maps.Copy(metadata, given)
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
