// Package application writes the Pulumi program of an application in mara.yaml, in Pulumi YAML: what an
// application of one's own needs in a cluster, from ten lines. The runner runs the program like any other, and
// `runner eject` hands it over: the same text is then a project of the user, whose resources have the same
// URNs.
package application

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"path"
	"slices"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"

	"mara/config"
	"mara/config/lists"
	"mara/projects"
	"mara/projects/model"
	"mara/projects/schemas"
)

// fields are the fields of an object, in any order.
type fields = map[string]any

// The names in the program, and of kinds that the provider has no type for: a component makes their objects.
const (
	group      = "yaml/v2:ConfigGroup"
	gatewayAPI = "gateway.networking.k8s.io"
	component  = "app.kubernetes.io/name"
	http       = "http"
	filesMount = "files"
)

// Program returns the Pulumi.yaml of an application.
func Program(a config.Application) ([]byte, error) {
	made, err := Make(a)
	return made.Text, err
}

// Make returns the program of an application.
func Make(a config.Application) (made model.Made, err error) {
	p := program{a}
	resources, err := patched(p.resources(), a.Patch.Text)
	if err != nil {
		return made, err
	}
	made.Access, made.Volumes = p.access(resources), volumesOf(resources)
	document := config.NewDocument()
	for _, part := range []struct {
		name  string
		value any
	}{
		{"name", a.Name.Text},
		{"runtime", "yaml"},
		{"description", "the application " + a.Name.Text},
		{"config", p.declared()},
		{"resources", resources},
		{"outputs", p.outputs()},
	} {
		var value yaml.Node
		if err := value.Encode(part.value); err != nil {
			return made, err
		}
		config.SetChild(document.Root, part.name, &value)
	}
	made.Text, err = document.Bytes()
	return made, err
}

// volumesOf returns how the volumes of the workload are. A patch may have changed them.
func volumesOf(resources fields) *model.Volumes {
	var workload struct {
		Properties struct {
			Spec struct {
				Templates []struct {
					Spec struct {
						Class     string `json:"storageClassName"`
						Resources struct{ Requests struct{ Storage string } }
					}
				} `json:"volumeClaimTemplates"`
			}
		}
	}
	text, err := json.Marshal(resources["workload"])
	if err != nil || json.Unmarshal(text, &workload) != nil || len(workload.Properties.Spec.Templates) != 1 {
		return nil
	}
	claim := workload.Properties.Spec.Templates[0].Spec
	if size := claim.Resources.Requests.Storage; size == "" || strings.Contains(size, "${") {
		return nil
	}
	return &model.Volumes{Size: claim.Resources.Requests.Storage, Class: claim.Class}
}

// access lists the kinds of objects that the resources of a program are.
func (p program) access(resources fields) (all []model.Access) {
	for _, name := range lists.Keys(resources) {
		resource, _ := resources[name].(fields)
		token, _ := resource["type"].(string)
		if token == "kubernetes:"+group {
			all = append(all, model.Access{Group: gatewayAPI, Resource: "httproutes", Namespace: p.name()})
			continue
		}
		version, kind, isObject := strings.Cut(strings.TrimPrefix(token, "kubernetes:"), ":")
		if !isObject || !strings.HasPrefix(token, "kubernetes:") {
			continue
		}
		group := strings.TrimPrefix(path.Dir(version), "core")
		properties, _ := resource["properties"].(fields)
		meta, _ := properties["metadata"].(fields)
		access := model.Access{Group: group, Resource: plural(strings.ToLower(kind))}
		if meta["namespace"] != nil {
			access.Namespace = p.name()
		}
		all = append(all, access)
	}
	return all
}

// plural returns how the API server names the objects of a kind. The kinds that programs have are regular.
func plural(kind string) string {
	switch stem, isY := strings.CutSuffix(kind, "y"); {
	case isY:
		return stem + "ies"
	case strings.HasSuffix(kind, "s"):
		return kind + "es"
	}
	return kind + "s"
}

// program makes the parts of a program.
type program struct{ config.Application }

func (p program) name() string { return p.Name.Text }

// stateful reports whether each Pod has a volume of its own.
func (p program) stateful() bool { return p.Volume.Path.Text != "" }

// ownMetrics reports whether metrics have a port of their own.
func (p program) ownMetrics() bool { return p.Metrics.Path != "" && p.Metrics.Port != p.Port }

// metricsPort returns the name of the port that has metrics.
func (p program) metricsPort() string {
	if p.ownMetrics() {
		return "metrics"
	}
	return http
}

// scaled reports whether the number of Pods follows the load.
func (p program) scaled() bool { return p.Scale.Max > 0 }

// declared returns the configuration of the program: what may differ between environments.
func (p program) declared() fields {
	keys := fields{"image": fields{
		"type": "string", "default": p.Image.Text, "description": "image of " + p.name() + ", with a tag or a digest",
	}}
	if p.Host.Text != "" {
		keys["host"] = fields{"type": "string", "default": p.Host.Text, "description": "host name of " + p.name()}
	}
	if p.IsRouted() {
		keys["gateway"] = fields{"type": "string", "default": p.Gateway.Name.Text, "description": "Gateway of " + p.name() + ": namespace/name"}
	}
	if p.scaled() {
		keys["min"] = fields{"type": "integer", "default": p.Scale.Min, "description": "smallest number of Pods"}
		keys["max"] = fields{"type": "integer", "default": p.Scale.Max, "description": "largest number of Pods"}
	} else {
		keys["replicas"] = fields{"type": "integer", "default": p.Scale.Replicas, "description": "number of Pods"}
	}
	for _, variable := range p.Env {
		keys[config.VariableKey(variable.Name.Text)] = fields{
			"type": "string", "default": variable.Text, "description": "variable of " + p.name(),
		}
	}
	for _, secret := range p.Secrets {
		keys[config.VariableKey(secret.Text)] = fields{
			"type": "string", "secret": true, "description": "secret variable of " + p.name(),
		}
	}
	return keys
}

// outputs returns what the program exports.
func (p program) outputs() fields {
	outputs := fields{
		"image": "${image}", "namespace": p.name(),
		"service": fmt.Sprintf("http://%s.%s.svc", p.name(), p.name()),
	}
	if p.Host.Text != "" {
		outputs["url"] = "https://${host}"
	}
	return outputs
}

// meta returns the metadata of an object in the namespace. An object without a name gets one from Pulumi, and is
// replaced, not changed: Pods that run keep the old one.
func (p program) meta(name string) fields {
	meta := fields{"namespace": "${namespace.metadata.name}", "labels": p.labels()}
	if name != "" {
		meta["name"] = name
	}
	return meta
}

// labels returns the labels of every object.
func (p program) labels() fields {
	return fields{
		component: p.name(), "app.kubernetes.io/managed-by": "mara", "mara.dev/project": p.name(),
		"mara.dev/stack": "${pulumi.stack}",
	}
}

// selector returns the labels that select the Pods.
func (p program) selector() fields { return fields{component: p.name()} }

// version is that of the provider for Kubernetes: the one of the built-in programs. Without it Pulumi takes the newest of
// the day, or one that happens to be installed.
var version = sync.OnceValue(func() string { return schemas.Version("kubernetes") })

// resource returns a resource in the cluster.
func resource(kind string, properties fields, dependsOn ...string) fields {
	options := fields{"provider": "${cluster}", "version": version()}
	if len(dependsOn) > 0 {
		options["dependsOn"] = lists.Map(dependsOn, func(name string) string { return "${" + name + "}" })
	}
	return fields{"type": "kubernetes:" + kind, "properties": properties, "options": options}
}

// resources returns all resources.
func (p program) resources() fields {
	all := fields{
		"kubeconfig": fields{
			"type":       "pulumi:pulumi:StackReference",
			"properties": fields{"name": "${pulumi.organization}/kubeconfig/${pulumi.stack}"},
		},
		"cluster": fields{
			"type": "pulumi:providers:kubernetes",
			"properties": fields{
				"kubeconfig": `${kubeconfig.outputs["kubeconfig"]}`, "enableServerSideApply": true,
				"clusterIdentifier": `${kubeconfig.outputs["identity"]}`, // null if there is none
			},
			"options": fields{"version": version()},
		},
		"namespace": resource("core/v1:Namespace", fields{"metadata": fields{
			"name": p.name(), "labels": p.namespaceLabels(),
		}}),
		"account": resource("core/v1:ServiceAccount", fields{
			"metadata": p.meta(p.name()), "automountServiceAccountToken": false,
		}),
		"service": resource("core/v1:Service", fields{"metadata": p.meta(p.name()), "spec": fields{
			"selector": p.selector(), "ports": []fields{{"name": http, "port": 80, "targetPort": http}},
		}}),
		"network": resource("networking.k8s.io/v1:NetworkPolicy", p.network()),
		"budget": resource("policy/v1:PodDisruptionBudget", fields{"metadata": p.meta(p.name()), "spec": fields{
			"maxUnavailable": 1, "unhealthyPodEvictionPolicy": "AlwaysAllow", "selector": fields{"matchLabels": p.selector()},
		}}),
		"workload": p.workload(),
	}
	if len(p.Secrets) > 0 {
		all["secrets"] = resource("core/v1:Secret", fields{"metadata": p.meta(""), "stringData": p.secretData()})
	}
	if len(p.Files) > 0 {
		data := fields{}
		for i, file := range p.Files {
			data[fileKey(i)] = literal(file.Text)
		}
		all[filesMount] = resource("core/v1:ConfigMap", fields{"metadata": p.meta(""), "data": data})
	}
	if p.Run.Before != nil {
		all["before"] = resource("batch/v1:Job", p.before(), "network")
	}
	if p.scaled() {
		all["scaler"] = resource("autoscaling/v2:HorizontalPodAutoscaler", p.scaler())
	}
	switch {
	case p.IsRouted():
		all["route"] = resource(group, p.route(), "namespace", "service")
	case p.Host.Text != "":
		all["ingress"] = resource("networking.k8s.io/v1:Ingress", p.ingress(), "service")
	}
	return all
}

// namespaceLabels returns the labels of the namespace, with the strictest Pod Security.
func (p program) namespaceLabels() fields {
	labels := p.labels()
	labels["pod-security.kubernetes.io/enforce"] = "restricted"
	for _, target := range p.Connects { // the policy of the other application lets namespaces with this label in
		if _, err := netip.ParsePrefix(target.Text); err != nil {
			labels[connectsTo(target.Text)] = "true"
		}
	}
	return labels
}

// secretData returns the secret variables.
func (p program) secretData() fields {
	data := fields{}
	for _, secret := range p.Secrets {
		data[secret.Text] = "${" + config.VariableKey(secret.Text) + "}"
	}
	return data
}

// workload returns the Deployment, or with a volume the StatefulSet.
func (p program) workload() fields {
	spec := fields{
		"selector": fields{"matchLabels": p.selector()}, "minReadySeconds": 5, "revisionHistoryLimit": 3,
		"template": p.template(p.container(), nil),
	}
	needs := []string{"network", "account"}
	if p.Run.Before != nil {
		needs = append(needs, "before")
	}
	meta := p.meta(p.name())
	object := fields{"metadata": meta, "spec": spec}
	if p.scaled() {
		// It begins with the smallest number, and the autoscaler owns the number from then on. A field that is not
		// declared would be taken away from a Deployment that had it, and the API server makes that one Pod.
		spec["replicas"] = "${min}"
	} else {
		// The number is declared here, whoever has changed it in the cluster: an autoscaler that was, `kubectl scale`.
		spec["replicas"] = "${replicas}"
		meta["annotations"] = fields{"pulumi.com/patchForce": "true"}
	}
	if !p.stateful() {
		spec["strategy"] = fields{"type": "RollingUpdate", "rollingUpdate": fields{"maxUnavailable": 0, "maxSurge": 1}}
		spec["progressDeadlineSeconds"] = 600
		deployment := resource("apps/v1:Deployment", object, needs...)
		if p.scaled() {
			deployment["options"].(fields)["ignoreChanges"] = []string{"spec.replicas"}
		}
		return deployment
	}
	claim := fields{"accessModes": []string{"ReadWriteOnce"}, "resources": fields{"requests": fields{
		"storage": p.Volume.Size,
	}}}
	if p.Volume.Class != "" {
		claim["storageClassName"] = p.Volume.Class
	}
	spec["serviceName"] = p.name()
	spec["volumeClaimTemplates"] = []fields{{"metadata": fields{"name": "data"}, "spec": claim}}
	return resource("apps/v1:StatefulSet", object, needs...)
}

// template returns the Pods: at the level "restricted", and spread over zones and nodes.
func (p program) template(container fields, more fields) fields {
	spec := fields{
		"serviceAccountName": "${account.metadata.name}", "automountServiceAccountToken": false,
		"securityContext": fields{
			"runAsNonRoot": true, "runAsUser": p.User, "runAsGroup": p.User, "fsGroup": p.User,
			"seccompProfile": fields{"type": "RuntimeDefault"},
		},
		"terminationGracePeriodSeconds": config.Amount(p.Stop) + preStop,
		"containers":                    []fields{container},
		"volumes":                       p.volumes(),
	}
	if p.Pull.Text != "" {
		spec["imagePullSecrets"] = []fields{{"name": p.Pull.Text}}
	}
	if more == nil {
		var spread []fields
		for _, key := range []string{"topology.kubernetes.io/zone", "kubernetes.io/hostname"} {
			spread = append(spread, fields{
				"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "ScheduleAnyway",
				"labelSelector": fields{"matchLabels": p.selector()},
			})
		}
		spec["topologySpreadConstraints"] = spread
	}
	labels := p.labels()
	for name, value := range more {
		if name == component {
			labels[name] = value
			continue
		}
		spec[name] = value
	}
	meta := fields{"labels": labels}
	if p.Metrics.Path != "" && more == nil { // the project prometheus watches Pods with this label
		labels[projects.MetricsLabel] = p.metricsPort()
		meta["annotations"] = fields{projects.MetricsPath: p.Metrics.Path}
	}
	return fields{"metadata": meta, "spec": spec}
}

// preStop is how many seconds a Pod waits before it ends: until then requests may still arrive.
const preStop = 5

// container returns the container of the application.
func (p program) container() fields {
	c := p.base()
	ports := []fields{{"name": http, "containerPort": p.Port}}
	if p.ownMetrics() {
		ports = append(ports, fields{"name": "metrics", "containerPort": p.Metrics.Port})
	}
	c["ports"] = ports
	c["lifecycle"] = fields{"preStop": fields{"sleep": fields{"seconds": preStop}}}
	probe := func(at string) fields {
		return fields{"httpGet": fields{"path": at, "port": http}, "periodSeconds": 5, "timeoutSeconds": 3}
	}
	ready, start := probe(p.Health.Ready), probe(p.Health.Ready)
	ready["failureThreshold"] = 3
	start["failureThreshold"] = max(1, config.Amount(p.Health.Start)/5)
	c["readinessProbe"], c["startupProbe"] = ready, start
	if p.Health.Live != "" {
		live := probe(p.Health.Live)
		live["failureThreshold"] = 6
		c["livenessProbe"] = live
	}
	if p.Run.Command != nil {
		c["command"] = lists.Map(p.Run.Command, literal)
	}
	if p.Run.Args != nil {
		c["args"] = lists.Map(p.Run.Args, literal)
	}
	return c
}

// base returns what the application and its command before a rollout have in common.
func (p program) base() fields {
	c := fields{
		"name": p.name(), "image": "${image}", "env": p.env(), "volumeMounts": p.mounts(),
		"resources": fields{
			"requests": fields{"cpu": p.Size.CPU, "memory": p.Size.Memory}, "limits": fields{"memory": p.Size.Memory},
		},
		"securityContext": fields{
			"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "capabilities": fields{"drop": []string{"ALL"}},
		},
	}
	if len(p.Secrets) > 0 {
		c["envFrom"] = []fields{{"secretRef": fields{"name": "${secrets.metadata.name}"}}}
	}
	return c
}

// env returns the variables in plain text.
func (p program) env() []fields {
	env := []fields{{"name": "PORT", "value": fmt.Sprint(p.Port)}}
	for _, variable := range p.Env {
		env = append(env, fields{"name": variable.Name.Text, "value": "${" + config.VariableKey(variable.Name.Text) + "}"})
	}
	return env
}

// volumes returns the volumes of a Pod: the root of the container is read-only.
func (p program) volumes() []fields {
	volumes := []fields{{"name": "tmp", "emptyDir": fields{}}}
	if len(p.Files) > 0 {
		volumes = append(volumes, fields{"name": filesMount, "configMap": fields{"name": "${files.metadata.name}"}})
	}
	return volumes
}

// mounts returns where volumes are.
func (p program) mounts() []fields {
	mounts := []fields{{"name": "tmp", "mountPath": "/tmp"}}
	for i, file := range p.Files {
		mounts = append(mounts, fields{
			"name": filesMount, "mountPath": file.Name.Text, "subPath": fileKey(i), "readOnly": true,
		})
	}
	if p.stateful() {
		mounts = append(mounts, fields{"name": "data", "mountPath": path.Clean(p.Volume.Path.Text)})
	}
	return mounts
}

// fileKey returns the key of a file in the ConfigMap.
func fileKey(i int) string { return fmt.Sprintf("file-%d", i) }

// before returns the Job that runs before each rollout. A changed Job is a new one: the API server changes none.
func (p program) before() fields {
	c := p.base()
	c["command"] = lists.Map(p.Run.Before, literal)
	if p.stateful() { // its volumes belong to the Pods of the StatefulSet
		c["volumeMounts"] = slices.DeleteFunc(p.mounts(), func(mount fields) bool { return mount["name"] == "data" })
	}
	return fields{"metadata": p.meta(""), "spec": fields{
		"backoffLimit": 0, "activeDeadlineSeconds": 600,
		"template": p.template(c, fields{"restartPolicy": "Never", component: p.name() + "-before"}),
	}}
}

// scaler returns the HorizontalPodAutoscaler.
func (p program) scaler() fields {
	kind := "Deployment"
	return fields{"metadata": p.meta(p.name()), "spec": fields{
		"scaleTargetRef": fields{"apiVersion": "apps/v1", "kind": kind, "name": "${workload.metadata.name}"},
		"minReplicas":    "${min}", "maxReplicas": "${max}",
		"metrics": []fields{{"type": "Resource", "resource": fields{
			"name": "cpu", "target": fields{"type": "Utilization", "averageUtilization": p.Scale.CPU},
		}}},
	}}
}

// ingress returns the Ingress, whose certificate cert-manager makes.
func (p program) ingress() fields {
	meta := p.meta(p.name())
	meta["annotations"] = fields{
		"cert-manager.io/cluster-issuer": projects.ClusterIssuer,
		// The controller takes one Ingress for a host: see the annotations of Bank of Anthos.
		"acme.cert-manager.io/http01-edit-in-place": "true",
	}
	return fields{"metadata": meta, "spec": fields{
		"ingressClassName": "nginx",
		"tls":              []fields{{"hosts": []string{"${host}"}, "secretName": p.name() + "-tls"}},
		"rules": []fields{{"host": "${host}", "http": fields{"paths": []fields{{
			"path": "/", "pathType": "Prefix",
			"backend": fields{"service": fields{"name": p.name(), "port": fields{"name": http}}},
		}}}}},
	}}
}

// partOfGateway returns a part of the value of gateway: its namespace, or its name.
func partOfGateway(index int) fields {
	return fields{"fn::select": []any{index, fields{"fn::split": []any{"/", "${gateway}"}}}}
}

// route returns the HTTPRoute of the host. The certificate belongs to the Gateway. Programs in YAML make objects of kinds that
// their provider does not know in a ConfigGroup.
func (p program) route() fields {
	return fields{"objs": []fields{{
		"apiVersion": gatewayAPI + "/v1", "kind": "HTTPRoute",
		"metadata": fields{"name": p.name(), "namespace": p.name(), "labels": p.labels()},
		"spec": fields{
			"parentRefs": []fields{{"namespace": partOfGateway(0), "name": partOfGateway(1)}},
			"hostnames":  []string{"${host}"},
			"rules":      []fields{{"backendRefs": []fields{{"name": p.name(), "port": 80}}}},
		},
	}}}
}

// network returns the NetworkPolicy: requests come from the namespace itself, from other applications and, with
// a host, from the ingress controller or the Gateway; connections go to the namespace, to DNS, to HTTPS and to what connects
// names.
func (p program) network() fields {
	in := func(namespace string) fields {
		return fields{"namespaceSelector": fields{"matchLabels": fields{"kubernetes.io/metadata.name": namespace}}}
	}
	from := []fields{
		{"podSelector": fields{}},
		{"namespaceSelector": fields{"matchExpressions": []fields{
			{"key": connectsTo(p.name()), "operator": "Exists"},
		}}},
	}
	rule := fields{"from": from, "ports": []fields{{"port": http}}}
	switch {
	case p.Gateway.Pods == config.AnyPods:
		delete(rule, "from")
	case p.IsRouted() && p.Gateway.Pods != "":
		rule["from"] = append(from, in(p.Gateway.Pods))
	case p.IsRouted():
		rule["from"] = append(from, fields{"namespaceSelector": fields{"matchLabels": fields{
			"kubernetes.io/metadata.name": partOfGateway(0),
		}}})
	case p.Host.Text != "":
		rule["from"] = append(from, in(projects.IngressController().Namespace))
	}
	ingress := []fields{rule}
	if p.Metrics.Path != "" {
		ingress = append(ingress, fields{
			"from": []fields{in(projects.Prometheus().Namespace)}, "ports": []fields{{"port": p.metricsPort()}},
		})
	}
	to := []fields{{"podSelector": fields{}}}
	for _, target := range p.Connects {
		if _, err := netip.ParsePrefix(target.Text); err == nil {
			to = append(to, fields{"ipBlock": fields{"cidr": target.Text}})
			continue
		}
		to = append(to, in(target.Text))
	}
	return fields{"metadata": p.meta(p.name()), "spec": fields{
		// The Pods with which cert-manager proves that the host is ours are not the application's.
		"podSelector": fields{"matchLabels": fields{"mara.dev/project": p.name()}},
		"policyTypes": []string{"Ingress", "Egress"},
		"ingress":     ingress,
		"egress": []fields{
			{"ports": []fields{{"port": 53, "protocol": "UDP"}, {"port": 53, "protocol": "TCP"}}},
			{"to": to},
			{"ports": []fields{{"port": 443, "protocol": "TCP"}}},
		},
	}}
}

// connectsTo returns the label of a namespace whose application connects to another one.
func connectsTo(name string) string { return "mara.dev/connects-" + name }

// literal returns a text that Pulumi YAML does not interpolate.
func literal(text string) string { return strings.ReplaceAll(text, "${", "$${") }
