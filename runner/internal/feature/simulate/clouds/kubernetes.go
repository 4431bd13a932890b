package clouds

import (
	"encoding/base64"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"mara/projects/schemas"
	"mara/runner/internal/feature/simulate"
)

// kubernetes returns the simulation of the clusters' API servers. Each cluster is a
// scope, which exists as long as the resource that created it.
func kubernetes() simulate.Package {
	return simulate.Package{
		Name: "kubernetes", Schemas: [][]byte{schemas.Of("kubernetes")}, Partial: true, Words: faultsOf("kubernetes"),
		Resources: append(kinds(), helmRelease(), definition()),
		Invokes:   []simulate.Invoke{helmTemplate()},
		Dynamic:   customKind, Children: groupedObjects,
		Scope: clusterScope, TakesNumber: amount.MatchString,
		// provider.go of https://github.com/pulumi/pulumi-kubernetes looks only at the settings that it knows.
		OpenConfig: true,
	}
}

// amount matches where an object has amounts, which may be numbers: cpu: 1.
var amount = regexp.MustCompile(`(^|\.)(requests|limits|hard|capacity|overhead|min|max|default|defaultRequest)\["[^"]*"\]$` +
	`|\.(sizeLimit|averageValue|divisor)$|\.target\.value$`)

// object completes the description of a kind that lives in a namespace. All
// objects are alike in names, ids and metadata.
func object(token string, r simulate.Resource) simulate.Resource {
	r.Token = token
	r.AutoName = "metadata.name"
	r.ReplaceOn = append([]string{"apiVersion", "kind", "metadata.name", "metadata.namespace"}, r.ReplaceOn...)
	if r.ID == nil {
		r.ID = func(o simulate.Object) string { return namespaceOf(o) + "/" + o.Text("metadata.name") }
	}
	if r.Links == nil {
		r.Links = links(nil, needsNamespace)
	}
	check, outputs := r.Check, r.Outputs
	r.Check = checkMetadata
	if check != nil {
		r.Check = every(checkMetadata, check)
	}
	r.Outputs = func(o simulate.Object) map[string]any {
		shown := map[string]any{"metadata": metadata(o)}
		shown["apiVersion"], shown["kind"] = apiVersionAndKind(o.Token)
		if outputs != nil {
			maps.Copy(shown, outputs(o))
		}
		return shown
	}
	return r
}

// clusterWide turns a description into one of a kind without namespaces.
func clusterWide(r simulate.Resource) simulate.Resource {
	r.ID = func(o simulate.Object) string { return o.Text("metadata.name") }
	if r.Links == nil {
		r.Links = links(nil)
	}
	return r
}

func namespaceOf(o simulate.Object) string {
	return o.TextOr("metadata.namespace", o.Config("namespace", "default"))
}

func namespaceFact(o simulate.Object, name string) string {
	return o.Scope + "/namespace/" + name
}

// needsNamespace ties an object to its namespace, which it vanishes with.
func needsNamespace(o simulate.Object) []simulate.Requirement {
	return inNamespace(o, namespaceOf(o))
}

func inNamespace(o simulate.Object, name string) []simulate.Requirement {
	if slices.Contains([]string{"default", "kube-system", "kube-public", "kube-node-lease"}, name) {
		return nil
	}
	return []simulate.Requirement{{Fact: namespaceFact(o, name), Missing: fmt.Sprintf("namespaces %q not found", name)}}
}

// metadata returns what an API server adds to the metadata of an object.
func metadata(o simulate.Object) map[string]any {
	shown := map[string]any{
		"uid": uuid(o, "uid"), "resourceVersion": fmt.Sprint(o.Pick("version", 1000, 99999)),
		"creationTimestamp": simulate.Epoch, "generation": 1, "name": o.ID,
	}
	if namespace, name, namespaced := strings.Cut(o.ID, "/"); namespaced {
		shown["namespace"], shown["name"] = namespace, name
	}
	return shown
}

func apiVersionAndKind(token string) (apiVersion, kind string) {
	apiVersion, kind, _ = strings.Cut(strings.TrimPrefix(token, "kubernetes:"), ":")
	return strings.TrimPrefix(apiVersion, "core/"), kind
}

// atOnce describes a kind whose objects are ready at once and have no status.
func atOnce(replaceOn ...string) simulate.Resource {
	return simulate.Resource{Latency: seconds(0.5, 0.5, 0.5), ReplaceOn: replaceOn}
}

// judged adds the rules of API servers to a description.
func judged(r simulate.Resource, check func(*judge, simulate.Object)) simulate.Resource {
	r.Check = rules(check)
	return r
}

// kinds returns the built-in kinds.
func kinds() []simulate.Resource {
	return []simulate.Resource{
		object("kubernetes:core/v1:Namespace", clusterWide(simulate.Resource{
			Check:   rules(namespaceName),
			Latency: seconds(0.5, 0.5, 10),
			Links:   links(func(o simulate.Object) []simulate.Fact { return facts(namespaceFact(o, o.ID)) }),
			Outputs: func(simulate.Object) map[string]any {
				return map[string]any{
					"status": map[string]any{"phase": "Active"}, "spec": map[string]any{"finalizers": []any{"kubernetes"}},
				}
			},
		})),
		object("kubernetes:core/v1:Secret", simulate.Resource{
			Latency: seconds(0.5, 0.5, 0.5), ReplaceOn: []string{"type"}, Links: secretLinks, Outputs: secretData,
			Check:  rules(data),
			Renews: renewsUnless("enableSecretMutable", "data", "stringData"), Refuses: keeps(keepsData("data", "stringData")),
		}),
		object("kubernetes:core/v1:ConfigMap", simulate.Resource{
			Latency: seconds(0.5, 0.5, 0.5), Renews: renewsUnless("enableConfigMapMutable", "data", "binaryData"),
			Check: rules(data), Refuses: keeps(keepsData("data", "binaryData")),
		}),
		object("kubernetes:core/v1:Service", simulate.Resource{
			Latency: seconds(8, 3, 2), ReplaceOn: []string{"spec.clusterIP"}, Check: rules(ports), Refuses: keeps(keepsAddresses),
			Links: links(nil, needsNamespace, needsLoadBalancer), Implied: serviceFact, Outputs: service,
			// The real provider remembers the whole object as inputs when it
			// first reads one, and no more than its name afterwards.
			Reread: map[string]any{"__inputs": map[string]any{"spec": nil}},
		}),
		object("kubernetes:core/v1:ServiceAccount", atOnce()),
		object("kubernetes:core/v1:PersistentVolumeClaim", simulate.Resource{
			Latency: seconds(5, 5, 5), ReplaceOn: below("spec", "accessModes", "selector", "storageClassName", "volumeName"),
			Refuses: keeps(keepsSize, immutable("spec.volumeMode=Filesystem"), forbidden("spec",
				"spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims",
				"spec.dataSource", "spec.dataSourceRef", "spec.resources.limits")),
			Check: rules(func(j *judge, o simulate.Object) { j.claim(o.Map("spec"), "spec") }),
			Outputs: func(o simulate.Object) map[string]any {
				return map[string]any{
					"status": map[string]any{"phase": "Bound"}, "spec": map[string]any{"volumeName": "pvc-" + uuid(o, "volume")},
				}
			},
		}),
		object("kubernetes:core/v1:PersistentVolume", clusterWide(keeping(judged(atOnce(sourcesOfVolumes()...), volume),
			immutable("spec.volumeMode=Filesystem"), onceSet("spec.nodeAffinity")))),
		object("kubernetes:core/v1:Pod", simulate.Resource{
			Latency: seconds(20, 5, 15), ReplaceOn: partsOfPods(), Refuses: keeps(keepsPod),
			Check: rules(func(j *judge, o simulate.Object) { j.pod(o.Map("spec"), "spec") }),
			Outputs: func(o simulate.Object) map[string]any {
				address := "10.244.0." + fmt.Sprint(o.Pick("ip", 2, 250))
				return map[string]any{"status": map[string]any{"phase": "Running", "podIP": address}}
			},
		}),
		object("kubernetes:core/v1:LimitRange", judged(atOnce(), limitsOf)),
		object("kubernetes:core/v1:ResourceQuota", judged(atOnce("spec.scopes"), limitsOf)),
		object("kubernetes:apps/v1:Deployment", simulate.Resource{
			Latency: seconds(45, 30, 10), ReplaceOn: []string{"spec.selector"},
			Check: every(checkSelector, workload("Always"), rules(rollout)),
			Outputs: func(o simulate.Object) map[string]any {
				n := replicas(o)
				return map[string]any{"status": map[string]any{
					"replicas": n, "readyReplicas": n, "availableReplicas": n, "updatedReplicas": n, "observedGeneration": 1,
					"conditions": []any{map[string]any{"type": "Available", "status": "True", "reason": "MinimumReplicasAvailable"}},
				}}
			},
		}),
		object("kubernetes:apps/v1:StatefulSet", simulate.Resource{
			Latency: seconds(40, 30, 15), Check: every(checkSelector, workload("Always")),
			// The provider replaces what the API server would refuse to change. The claims stay, with their size.
			// https://github.com/pulumi/pulumi-kubernetes/issues/4328
			ReplaceOn: below("spec", "podManagementPolicy", "revisionHistoryLimit", "selector", "serviceName", "volumeClaimTemplates"),
			Outputs: func(o simulate.Object) map[string]any {
				n := replicas(o)
				return map[string]any{"status": map[string]any{
					"replicas": n, "readyReplicas": n, "availableReplicas": n, "currentReplicas": n,
					"updatedReplicas": n, "observedGeneration": 1,
				}}
			},
		}),
		object("kubernetes:apps/v1:DaemonSet", simulate.Resource{
			Latency: seconds(25, 20, 10), ReplaceOn: []string{"spec.selector"}, Check: every(checkSelector, workload("Always")),
			Defaults: map[string]any{"status": map[string]any{
				"currentNumberScheduled": 3, "desiredNumberScheduled": 3, "numberAvailable": 3, "numberReady": 3,
				"numberMisscheduled": 0, "updatedNumberScheduled": 3, "observedGeneration": 1,
			}},
		}),
		object("kubernetes:apps/v1:ReplicaSet", simulate.Resource{
			Latency: seconds(20, 15, 10), Check: every(checkSelector, workload("Always")), Refuses: keeps(immutable("spec.selector")),
		}),
		object("kubernetes:autoscaling/v2:HorizontalPodAutoscaler", judged(atOnce(), scaler)),
		object("kubernetes:batch/v1:Job", simulate.Resource{
			Latency: seconds(20, 1, 5), ReplaceOn: below("spec", "completions", "parallelism", "selector", "template"),
			Check: rules(job), Refuses: keeps(immutable("spec.completionMode=NonIndexed", "spec.podFailurePolicy", "spec.backoffLimitPerIndex",
				"spec.managedBy", "spec.successPolicy")),
			Outputs: func(simulate.Object) map[string]any {
				return map[string]any{"status": map[string]any{
					"succeeded": 1, "conditions": []any{map[string]any{"type": "Complete", "status": "True"}},
				}}
			},
		}),
		object("kubernetes:batch/v1:CronJob", judged(atOnce(), cronJob)),
		object("kubernetes:networking.k8s.io/v1:Ingress", simulate.Resource{
			Latency: seconds(10, 3, 2), Check: rules(ingress),
			Outputs: func(o simulate.Object) map[string]any {
				return map[string]any{"status": map[string]any{"loadBalancer": map[string]any{"ingress": []any{loadBalancer(o)}}}}
			},
		}),
		object("kubernetes:networking.k8s.io/v1:IngressClass", clusterWide(
			keeping(judged(atOnce(), ingressClass), immutable("spec.controller")))),
		object("kubernetes:networking.k8s.io/v1:NetworkPolicy", judged(atOnce(), network)),
		object("kubernetes:policy/v1:PodDisruptionBudget", judged(atOnce(), budget)),
		object("kubernetes:rbac.authorization.k8s.io/v1:ClusterRole", clusterWide(judged(atOnce(), role))),
		// The API server refuses to change whose role it is; the provider replaces the binding.
		object("kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding", clusterWide(judged(atOnce("roleRef"), binding))),
		object("kubernetes:rbac.authorization.k8s.io/v1:Role", judged(atOnce(), role)),
		object("kubernetes:rbac.authorization.k8s.io/v1:RoleBinding", judged(atOnce("roleRef"), binding)),
		object("kubernetes:scheduling.k8s.io/v1:PriorityClass", clusterWide(
			keeping(judged(atOnce(), priority), forbidden("value", "may not be changed in an update.", "value"),
				immutable("preemptionPolicy=PreemptLowerPriority")))),
		object("kubernetes:storage.k8s.io/v1:StorageClass", clusterWide(
			keeping(judged(atOnce("provisioner", "parameters"), storageClass),
				immutable("reclaimPolicy=Delete", "volumeBindingMode=Immediate")))),
	}
}

// renewsUnless returns the inputs that replace an object as long as the provider does not take such
// objects for mutable. https://github.com/pulumi/pulumi-kubernetes/pull/1926
func renewsUnless(setting string, inputs ...string) func(before, after simulate.Object) []string {
	return func(before, after simulate.Object) []string {
		if after.IsSet(setting) && after.Value("immutable") != true {
			return nil
		}
		return inputs
	}
}

// secretData merges stringData into data, as an API server does. If a program reads a
// Secret that another program has created, only the names of the values are stored:
// it gets generated values, the same each time.
func secretData(o simulate.Object) map[string]any {
	data := map[string]any{}
	maps.Copy(data, o.Map("data"))
	for key, value := range o.Map("stringData") {
		data[key] = base64.StdEncoding.EncodeToString([]byte(fmt.Sprint(value)))
	}
	for _, key := range o.Remembered {
		data[key] = base64.StdEncoding.EncodeToString([]byte("Simulated-" + o.Hex("secret/"+key, 24)))
	}
	return map[string]any{"data": data, "stringData": nil, "type": o.TextOr("type", "Opaque")}
}

func secretLinks(o simulate.Object) simulate.Links {
	l := links(nil, needsNamespace)(o)
	l.Remember = slices.Concat(slices.Collect(maps.Keys(o.Map("data"))), slices.Collect(maps.Keys(o.Map("stringData"))))
	slices.Sort(l.Remember)
	return l
}

// replicas returns how many pods a workload asks for.
func replicas(o simulate.Object) int { return o.Number("spec.replicas", 1) }

// builtin are the API groups whose kinds the SDK describes. What is not
// listed of them is not simulated, rather than a custom kind.
var builtin = []string{
	"admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "authentication.k8s.io",
	"authorization.k8s.io", "certificates.k8s.io", "coordination.k8s.io", "discovery.k8s.io", "events.k8s.io",
	"flowcontrol.apiserver.k8s.io", "helm.sh", "networking.k8s.io", "node.k8s.io", "rbac.authorization.k8s.io",
	"resource.k8s.io", "scheduling.k8s.io", "storage.k8s.io", "storagemigration.k8s.io",
}

// customKind describes kinds that the cluster learns from a
// CustomResourceDefinition: kubernetes:cert-manager.io/v1:ClusterIssuer.
func customKind(token string) (simulate.Resource, bool) {
	apiVersion, kind := apiVersionAndKind(token)
	group, version, _ := strings.Cut(apiVersion, "/")
	if !strings.Contains(group, ".") || slices.Contains(builtin, group) || version == "" || kind == "" {
		return simulate.Resource{}, false
	}
	r := object(token, simulate.Resource{
		Latency: seconds(1, 1, 1), Check: checkCustom, Links: links(nil, customNamespace, once(needsDefinition)),
		ID: func(o simulate.Object) string {
			if o.Text("metadata.namespace") == "" {
				return o.Text("metadata.name")
			}
			return namespaceOf(o) + "/" + o.Text("metadata.name")
		},
	})
	r.Like = "kubernetes:apiextensions.k8s.io:CustomResource"
	return r, true
}

// groupedObjects returns the objects that a ConfigGroup is given as values, under the names that the provider gives them.
// https://github.com/pulumi/pulumi-kubernetes/blob/master/provider/pkg/provider/yaml/v2/yaml.go
func groupedObjects(o simulate.Object) (children []simulate.Child, ok bool) {
	if o.Token != "kubernetes:yaml/v2:ConfigGroup" || o.Text("yaml") != "" || len(o.List("files")) > 0 {
		return nil, false
	}
	for _, item := range o.List("objs") {
		fields, _ := item.(map[string]any)
		apiVersion, kind, meta := text(fields, "apiVersion"), text(fields, "kind"), objectIn(fields, "metadata")
		if apiVersion == "" || kind == "" || text(meta, "name") == "" {
			return nil, false
		}
		if apiVersion == "v1" {
			apiVersion = "core/v1"
		}
		name := text(meta, "name")
		if namespace := text(meta, "namespace"); namespace != "" {
			name = namespace + "/" + name
		}
		if prefix := o.Text("resourcePrefix"); prefix != "" {
			name = prefix + ":" + name
		}
		children = append(children, simulate.Child{Token: "kubernetes:" + apiVersion + ":" + kind, Name: name, Inputs: fields})
	}
	return children, true
}

// customNamespace ties an object to its namespace if it has one; whether a
// custom kind lives in namespaces cannot be known here.
func customNamespace(o simulate.Object) []simulate.Requirement {
	if namespace := o.Text("metadata.namespace"); namespace != "" {
		return inNamespace(o, namespace)
	}
	return nil
}
