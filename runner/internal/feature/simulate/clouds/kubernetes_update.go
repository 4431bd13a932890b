package clouds

import (
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	places "k8s.io/apimachinery/pkg/util/validation/field"

	"mara/runner/internal/feature/simulate"
)

// What an API server keeps of an object is either here, where the change is refused, or among what Pulumi's provider replaces
// the object for (ReplaceOn): that is the table of diff.go of https://github.com/pulumi/pulumi-kubernetes, of July 2026, and
// nothing else. The rules are those of https://github.com/kubernetes/kubernetes/tree/v1.36.3/pkg/apis/*/validation.

// keep is a rule for changes of an object.
type keep = func(before, after simulate.Object) places.ErrorList

// keeps refuses changes in the words of an API server.
func keeps(rules ...keep) refusal {
	return func(before, after simulate.Object) string {
		var found places.ErrorList
		for _, rule := range rules {
			found = append(found, rule(before, after)...)
		}
		if len(found) == 0 {
			return ""
		}
		apiVersion, kind := apiVersionAndKind(after.Token)
		group, _, named := strings.Cut(apiVersion, "/")
		if !named {
			group = ""
		}
		return errors.NewInvalid(schema.GroupKind{Group: group, Kind: kind}, after.Text("metadata.name"), found).Error()
	}
}

// keeping adds what an API server keeps to a description.
func keeping(r simulate.Resource, rules ...keep) simulate.Resource {
	r.Refuses = keeps(rules...)
	return r
}

// immutable keeps fields. What is not set has the value behind the "=", which the API server sets.
func immutable(fields ...string) keep {
	return func(before, after simulate.Object) (found places.ErrorList) {
		for _, path := range fields {
			path, unset, _ := strings.Cut(path, "=")
			found = append(found, validation.ValidateImmutableField(valueOr(after, path, unset), valueOr(before, path, unset), at(path))...)
		}
		return found
	}
}

// forbidden keeps fields about which the API server says one thing, at a place above them.
func forbidden(place, says string, fields ...string) keep {
	changes := immutable(fields...)
	return func(before, after simulate.Object) places.ErrorList {
		if len(changes(before, after)) == 0 {
			return nil
		}
		return places.ErrorList{places.Forbidden(at(place), says)}
	}
}

// onceSet keeps fields from when they have a value.
func onceSet(fields ...string) keep {
	return func(before, after simulate.Object) (found places.ErrorList) {
		for _, path := range fields {
			if before.Value(path) != nil {
				found = append(found, immutable(path)(before, after)...)
			}
		}
		return found
	}
}

func valueOr(o simulate.Object, path, unset string) any {
	if value := o.Value(path); value != nil || unset == "" {
		return value
	}
	return unset
}

// at returns the place of a field.
func at(path string) *places.Path {
	names := strings.Split(path, ".")
	return places.NewPath(names[0], names[1:]...)
}

// keepsSize refuses a claim for less than the volume has.
func keepsSize(before, after simulate.Object) places.ErrorList {
	const path = "spec.resources.requests.storage"
	was, errWas := resource.ParseQuantity(before.Text(path))
	is, errIs := resource.ParseQuantity(after.Text(path))
	if errWas != nil || errIs != nil || is.Cmp(was) >= 0 {
		return nil
	}
	return places.ErrorList{places.Forbidden(at(path), "field can not be less than status.capacity")}
}

// keepsData keeps what is in a Secret or ConfigMap that says that it is immutable, and that it is.
func keepsData(fields ...string) keep {
	const says = "field is immutable when `immutable` is set"
	return func(before, after simulate.Object) (found places.ErrorList) {
		if before.Value("immutable") != true {
			return nil
		}
		if after.Value("immutable") != true {
			found = append(found, places.Forbidden(at("immutable"), says))
		}
		for _, path := range fields {
			found = append(found, forbidden(path, says, path)(before, after)...)
		}
		return found
	}
}

// keepsAddresses keeps the first address and family of a Service, and the class of its load balancer.
func keepsAddresses(before, after simulate.Object) (found places.ErrorList) {
	const says = "may not change once set"
	types := [2]string{before.TextOr("spec.type", "ClusterIP"), after.TextOr("spec.type", "ClusterIP")}
	if types == [2]string{"LoadBalancer", "LoadBalancer"} && changed(before, after, "spec.loadBalancerClass") {
		found = append(found, places.Invalid(at("spec.loadBalancerClass"), after.Value("spec.loadBalancerClass"), says))
	}
	isHeadless := func(o simulate.Object) bool {
		addresses := o.List("spec.clusterIPs")
		return o.Text("spec.clusterIP") == "None" || len(addresses) == 1 && addresses[0] == "None"
	}
	if types[0] == "ExternalName" || types[1] == "ExternalName" || isHeadless(before) && isHeadless(after) {
		return found
	}
	for _, path := range []string{"spec.clusterIPs", "spec.ipFamilies"} {
		was, is := before.List(path), after.List(path)
		if len(was) > 0 && len(is) > 0 && !reflect.DeepEqual(was[0], is[0]) {
			found = append(found, places.Invalid(at(path).Index(0), is, says))
		}
	}
	return found
}

// keepsPod refuses the changes of a Pod that do not replace it, but for two that an API server takes.
func keepsPod(before, after simulate.Object) places.ErrorList {
	was, is := before.Map("spec"), after.Map("spec")
	for key := range both(was, is) {
		if key != "activeDeadlineSeconds" && key != "tolerations" && !reflect.DeepEqual(was[key], is[key]) {
			return places.ErrorList{places.Forbidden(at("spec"), "pod updates may not change fields other than `spec.containers[*].image`,"+
				"`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"+
				"`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative): "+key+" has changed")}
		}
	}
	return nil
}

// both returns the keys of two maps.
func both(a, b map[string]any) map[string]bool {
	keys := map[string]bool{}
	for _, m := range []map[string]any{a, b} {
		for key := range m {
			keys[key] = true
		}
	}
	return keys
}

// sourcesOfVolumes are the inputs that replace a PersistentVolume.
func sourcesOfVolumes() []string {
	return below("spec", "awsElasticBlockStore", "azureDisk", "azureFile", "cephfs", "cinder", "csi", "fc", "flexVolume", "flocker",
		"gcePersistentDisk", "glusterfs", "hostPath", "iscsi", "local", "nfs", "photonPersistentDisk", "portworxVolume", "quobyte", "rbd",
		"scaleIO", "storageos", "vsphereVolume")
}

// partsOfPods are the inputs that replace a Pod.
func partsOfPods() []string {
	paths := below("spec", "affinity", "automountServiceAccountToken", "dnsConfig", "dnsPolicy", "enableServiceLinks", "hostAliases", "hostIPC",
		"hostNetwork", "hostPID", "hostname", "imagePullSecrets", "nodeName", "nodeSelector", "overhead", "preemptionPolicy", "priority",
		"priorityClassName", "readinessGates", "restartPolicy", "runtimeClassName", "schedulerName", "securityContext", "serviceAccount",
		"serviceAccountName", "shareProcessNamespace", "subdomain", "terminationGracePeriodSeconds", "volumes")
	for _, list := range []string{"spec.containers", "spec.initContainers"} {
		paths = append(paths, below(list, "args", "command", "env", "image", "imagePullPolicy", "lifecycle", "livenessProbe", "ports",
			"readinessProbe", "resources", "securityContext", "stdin", "stdinOnce", "terminationMessagePath", "terminationMessagePolicy", "tty",
			"volumeDevices", "volumeMounts", "workingDir")...)
	}
	return paths
}
