package clouds

import (
	"encoding/base64"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"mara/runner/internal/feature/simulate"
)

// The rules of API servers over the fields of an object that a schema does not have, for the kinds that people write
// most. Names, labels, ports and amounts are judged by apimachinery, as API servers do; the rest follows
// k8s.io/kubernetes/pkg/apis/core/validation and its neighbours. A value that is not known yet is not judged, and the
// schema judges types.

// judge collects what an API server would refuse.
type judge struct {
	problems []simulate.Problem
	claims   []string // names of the claims of a StatefulSet, which its Pods may mount; "" for one that is not known yet
	partial  bool     // some values are not known yet, and look as if they were missing
}

func (j *judge) refuse(path, format string, args ...any) {
	j.problems = append(j.problems, refuse(path, format, args...)...)
}

// lacks reports what is missing, unless it may only not be known yet.
func (j *judge) lacks(path, format string, args ...any) {
	if !j.partial {
		j.refuse(path, format, args...)
	}
}

// errors reports what apimachinery says about a value.
func (j *judge) errors(path string, value any, wrong []string) {
	for _, text := range wrong {
		rule, _, _ := strings.Cut(text, " (e.g. ") // Kubernetes adds its regular expression
		j.refuse(path, "%q: %s", fmt.Sprint(value), rule)
	}
}

// rules makes the check of a resource of a function that judges.
func rules(check func(j *judge, o simulate.Object)) func(simulate.Object) []simulate.Problem {
	return func(o simulate.Object) []simulate.Problem {
		j := &judge{partial: o.HasUnknowns()}
		check(j, o)
		return j.problems
	}
}

func text(m map[string]any, key string) string { value, _ := m[key].(string); return value }

func objectIn(m map[string]any, key string) map[string]any {
	value, _ := m[key].(map[string]any)
	return value
}

// amountOf returns a number; ok is false for anything else, such as one that is not known yet.
func amountOf(m map[string]any, key string) (value float64, ok bool) {
	switch typed := m[key].(type) {
	case float64:
		return typed, true
	case int:
		return float64(typed), true
	}
	return 0, false
}

// each calls a function for the maps in a list, with their paths.
func each(m map[string]any, path, key string, visit func(path string, item map[string]any)) {
	items, _ := m[key].([]any)
	for i, item := range items {
		if inner, ok := item.(map[string]any); ok {
			visit(fmt.Sprintf("%s[%d]", join(path, key), i), inner)
		}
	}
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// oneOf reports a text that is not allowed.
func (j *judge) oneOf(m map[string]any, path, key string, allowed ...string) {
	if value := text(m, key); value != "" && !slices.Contains(allowed, value) {
		j.refuse(join(path, key), "%q is not supported; supported: %s", value, strings.Join(allowed, ", "))
	}
}

// atLeast reports a number that is too small.
func (j *judge) atLeast(m map[string]any, path, key string, least float64) {
	if value, ok := amountOf(m, key); ok && value < least {
		j.refuse(join(path, key), "is %v; must be %v or more", value, least)
	}
}

// port reports the number or the name of a port that is none.
func (j *judge) port(m map[string]any, path, key string) {
	if value, ok := amountOf(m, key); ok {
		j.errors(join(path, key), value, validation.IsValidPortNum(int(value)))
	} else if name := text(m, key); name != "" {
		j.errors(join(path, key), name, validation.IsValidPortName(name))
	}
}

// amounts reports amounts that are none, or below zero.
func (j *judge) amounts(m map[string]any, path, key string) map[string]resource.Quantity {
	read := map[string]resource.Quantity{}
	for name, value := range objectIn(m, key) {
		written, ok := value.(string)
		if n, isNumber := value.(float64); isNumber {
			written, ok = fmt.Sprint(n), true
		}
		if !ok {
			continue
		}
		amount, err := resource.ParseQuantity(written)
		switch {
		case err != nil:
			j.refuse(join(join(path, key), name), "%q is not an amount such as 250m, 512Mi or 4Gi", written)
		case amount.Sign() < 0:
			j.refuse(join(join(path, key), name), "%q is less than 0", written)
		default:
			read[name] = amount
		}
	}
	return read
}

// limits judges requests and limits.
func (j *judge) limits(container map[string]any, path string) {
	at, resources := join(path, "resources"), objectIn(container, "resources")
	requests, limits := j.amounts(resources, at, "requests"), j.amounts(resources, at, "limits")
	for name, request := range requests {
		if limit, ok := limits[name]; ok && request.Cmp(limit) > 0 {
			j.refuse(join(at, "requests."+name), "%s is more than the limit of %s", request.String(), limit.String())
		}
	}
}

// labels judges the labels and annotations of metadata.
func (j *judge) labels(m map[string]any, path string) {
	for name, value := range objectIn(m, "labels") {
		j.errors(join(path, "labels"), name, validation.IsQualifiedName(name))
		if written, ok := value.(string); ok {
			j.errors(join(path, "labels."+name), written, validation.IsValidLabelValue(written))
		}
	}
	for name := range objectIn(m, "annotations") {
		j.errors(join(path, "annotations"), name, validation.IsQualifiedName(strings.ToLower(name)))
	}
}

// pod judges the specification of a Pod; restart lists the policies that are allowed, none for any.
func (j *judge) pod(spec map[string]any, path string, restart ...string) {
	if spec == nil {
		return
	}
	if len(restart) == 0 {
		restart = []string{"Always", "OnFailure", "Never"}
	}
	j.oneOf(spec, path, "restartPolicy", restart...)
	j.oneOf(spec, path, "dnsPolicy", "ClusterFirst", "ClusterFirstWithHostNet", "Default", "None")
	j.atLeast(spec, path, "terminationGracePeriodSeconds", 0)
	volumes := j.volumes(spec, path)
	names := map[string]bool{}
	for _, list := range []string{"initContainers", "containers"} {
		each(spec, path, list, func(at string, container map[string]any) {
			if name := text(container, "name"); name != "" {
				j.errors(join(at, "name"), name, validation.IsDNS1123Label(name))
				if names[name] {
					j.refuse(join(at, "name"), "%q is the name of another container of the Pod", name)
				}
				names[name] = true
			}
			j.container(container, at, volumes)
		})
	}
	if items, isList := spec["containers"].([]any); isList && len(items) == 0 {
		j.refuse(join(path, "containers"), "is empty; a Pod has a container")
	}
}

// volumes judges the volumes of a Pod, and returns their names; nil if they are not all known.
func (j *judge) volumes(spec map[string]any, path string) map[string]bool {
	names, known := map[string]bool{}, true
	items, isList := spec["volumes"].([]any)
	if spec["volumes"] != nil && !isList || slices.ContainsFunc(items, isUnknown) || j.partial {
		known = false
	}
	each(spec, path, "volumes", func(at string, volume map[string]any) {
		name := text(volume, "name")
		if name == "" {
			known = false
			return
		}
		j.errors(join(at, "name"), name, validation.IsDNS1123Label(name))
		if names[name] {
			j.refuse(join(at, "name"), "%q is the name of another volume", name)
		}
		names[name] = true
		if len(volume) > 2 {
			j.refuse(at, "may not have more than one source")
		}
	})
	for _, name := range j.claims {
		known = known && name != ""
		names[name] = true
	}
	if !known {
		return nil
	}
	return names
}

func isUnknown(value any) bool { _, isMap := value.(map[string]any); return !isMap }

// container judges a container; volumes are the names that it may mount, nil if they are not known.
func (j *judge) container(c map[string]any, path string, volumes map[string]bool) {
	j.oneOf(c, path, "imagePullPolicy", "Always", "IfNotPresent", "Never")
	if image := text(c, "image"); image != strings.TrimSpace(image) {
		j.refuse(join(path, "image"), "%q has a blank at its beginning or end", image)
	}
	ports := map[string]bool{}
	each(c, path, "ports", func(at string, port map[string]any) {
		j.port(port, at, "containerPort")
		j.port(port, at, "hostPort")
		j.oneOf(port, at, "protocol", "TCP", "UDP", "SCTP")
		if name := text(port, "name"); name != "" {
			j.errors(join(at, "name"), name, validation.IsValidPortName(name))
			if ports[name] {
				j.refuse(join(at, "name"), "%q is the name of another port", name)
			}
			ports[name] = true
		}
	})
	each(c, path, "env", func(at string, variable map[string]any) {
		if name := text(variable, "name"); name != "" {
			j.errors(join(at, "name"), name, validation.IsEnvVarName(name))
		}
		if variable["value"] != nil && text(variable, "value") != "" && variable["valueFrom"] != nil {
			j.refuse(at, "has value and valueFrom; only one of them is allowed")
		}
	})
	mounts := map[string]bool{}
	each(c, path, "volumeMounts", func(at string, mount map[string]any) {
		name, where := text(mount, "name"), text(mount, "mountPath")
		if name != "" && volumes != nil && !volumes[name] {
			j.refuse(join(at, "name"), "%q is no volume of the Pod", name)
		}
		switch {
		case where == "":
		case strings.Contains(where, ":"):
			j.refuse(join(at, "mountPath"), "%q has a colon", where)
		case mounts[where]:
			j.refuse(join(at, "mountPath"), "%q is there twice; must be unique", where)
		}
		mounts[where] = true
	})
	j.limits(c, path)
	for _, probe := range []string{"livenessProbe", "readinessProbe", "startupProbe"} {
		j.probe(objectIn(c, probe), join(path, probe), probe != "readinessProbe")
	}
}

// probe judges a probe; once says that one success is enough.
func (j *judge) probe(p map[string]any, path string, once bool) {
	if p == nil {
		return
	}
	handlers := 0
	for _, handler := range []string{"exec", "httpGet", "tcpSocket", "grpc"} {
		if p[handler] != nil {
			handlers++
		}
	}
	if handlers != 1 {
		j.lacks(path, "must have one of exec, httpGet, tcpSocket and grpc")
	}
	j.port(objectIn(p, "httpGet"), join(path, "httpGet"), "port")
	j.oneOf(objectIn(p, "httpGet"), join(path, "httpGet"), "scheme", "HTTP", "HTTPS")
	j.port(objectIn(p, "tcpSocket"), join(path, "tcpSocket"), "port")
	for _, key := range []string{"periodSeconds", "timeoutSeconds", "failureThreshold", "successThreshold"} {
		j.atLeast(p, path, key, 1)
	}
	j.atLeast(p, path, "initialDelaySeconds", 0)
	if n, ok := amountOf(p, "successThreshold"); ok && once && n != 1 {
		j.refuse(join(path, "successThreshold"), "must be 1")
	}
}

// workload judges what makes Pods of a template.
func workload(restart ...string) func(simulate.Object) []simulate.Problem {
	return rules(func(j *judge, o simulate.Object) {
		spec := o.Map("spec")
		j.atLeast(spec, "spec", "replicas", 0)
		j.atLeast(spec, "spec", "minReadySeconds", 0)
		j.atLeast(spec, "spec", "revisionHistoryLimit", 0)
		if selector, isMap := spec["selector"].(map[string]any); isMap && len(selector) == 0 {
			j.lacks("spec.selector", "is empty; it must select the Pods of the template")
		}
		templates, _ := spec["volumeClaimTemplates"].([]any)
		for _, claim := range templates {
			inner, _ := claim.(map[string]any)
			j.claims = append(j.claims, text(objectIn(inner, "metadata"), "name"))
		}
		template := objectIn(spec, "template")
		j.labels(objectIn(template, "metadata"), "spec.template.metadata")
		j.pod(objectIn(template, "spec"), "spec.template.spec", restart...)
		each(spec, "spec", "volumeClaimTemplates", func(path string, claim map[string]any) {
			j.claim(objectIn(claim, "spec"), join(path, "spec"))
		})
	})
}

// rollout judges the strategy of a Deployment.
func rollout(j *judge, o simulate.Object) {
	strategy := o.Map("spec.strategy")
	j.oneOf(strategy, "spec.strategy", "type", "Recreate", "RollingUpdate")
	rolling := objectIn(strategy, "rollingUpdate")
	if text(strategy, "type") == "Recreate" && rolling != nil {
		j.refuse("spec.strategy.rollingUpdate", "may not be specified when the type is Recreate")
	}
	isZero := func(key string) bool {
		n, ok := amountOf(rolling, key)
		return ok && n == 0 || text(rolling, key) == "0%"
	}
	if isZero("maxUnavailable") && isZero("maxSurge") {
		j.refuse("spec.strategy.rollingUpdate.maxUnavailable", "may not be 0 when maxSurge is 0")
	}
}

// job judges a Job.
func job(j *judge, o simulate.Object) {
	spec := o.Map("spec")
	for _, key := range []string{
		"backoffLimit", "parallelism", "completions", "activeDeadlineSeconds", "ttlSecondsAfterFinished",
	} {
		j.atLeast(spec, "spec", key, 0)
	}
	template := objectIn(spec, "template")
	j.labels(objectIn(template, "metadata"), "spec.template.metadata")
	pod := objectIn(template, "spec")
	if pod != nil && pod["restartPolicy"] == nil {
		j.lacks("spec.template.spec.restartPolicy", "is required; supported: OnFailure, Never")
	}
	j.pod(pod, "spec.template.spec", "OnFailure", "Never")
}

// ports judges a Service.
func ports(j *judge, o simulate.Object) {
	spec := o.Map("spec")
	if name := o.Text("metadata.name"); name != "" {
		j.errors("metadata.name", name, validation.IsDNS1035Label(name))
	}
	j.oneOf(spec, "spec", "type", "ClusterIP", "NodePort", "LoadBalancer", "ExternalName")
	j.oneOf(spec, "spec", "sessionAffinity", "ClientIP", "None")
	j.oneOf(spec, "spec", "externalTrafficPolicy", "Cluster", "Local")
	if text(spec, "type") == "ExternalName" {
		if name, isText := spec["externalName"].(string); !isText && spec["externalName"] == nil || isText && name == "" {
			j.lacks("spec.externalName", "is required for the type ExternalName")
		}
	}
	list, _ := spec["ports"].([]any)
	names, numbers := map[string]bool{}, map[string]bool{}
	each(spec, "spec", "ports", func(path string, port map[string]any) {
		j.port(port, path, "port")
		j.port(port, path, "targetPort")
		j.oneOf(port, path, "protocol", "TCP", "UDP", "SCTP")
		if node, ok := amountOf(port, "nodePort"); ok && node != 0 && (node < 30000 || node > 32767) {
			j.refuse(join(path, "nodePort"), "is %v; the range of ports of nodes is 30000-32767", node)
		}
		name := text(port, "name")
		switch {
		case name == "" && port["name"] == nil && len(list) > 1:
			j.lacks(join(path, "name"), "is required: the Service has several ports")
		case name != "" && names[name]:
			j.refuse(join(path, "name"), "%q is the name of another port", name)
		case name != "":
			j.errors(join(path, "name"), name, validation.IsDNS1123Label(name))
		}
		names[name] = true
		if n, ok := amountOf(port, "port"); ok {
			protocol := text(port, "protocol")
			if protocol == "" {
				protocol = "TCP"
			}
			if key := fmt.Sprint(protocol, n); numbers[key] {
				j.refuse(path, "%v/%s is there twice", n, protocol)
			} else {
				numbers[key] = true
			}
		}
	})
	for key, value := range objectIn(spec, "selector") {
		if written, ok := value.(string); ok {
			j.errors("spec.selector."+key, written, validation.IsValidLabelValue(written))
		}
	}
}

// ingress judges an Ingress.
func ingress(j *judge, o simulate.Object) {
	spec := o.Map("spec")
	if spec != nil && spec["rules"] == nil && spec["defaultBackend"] == nil {
		j.lacks("spec", "must have rules or a defaultBackend")
	}
	j.backend(objectIn(spec, "defaultBackend"), "spec.defaultBackend")
	each(spec, "spec", "rules", func(path string, rule map[string]any) {
		if host := text(rule, "host"); host != "" {
			_, notAddress := netip.ParseAddr(host)
			switch {
			case notAddress == nil:
				j.refuse(join(path, "host"), "%q is an address; must be a DNS name", host)
			case strings.HasPrefix(host, "*."):
				j.errors(join(path, "host"), host, validation.IsWildcardDNS1123Subdomain(host))
			default:
				j.errors(join(path, "host"), host, validation.IsDNS1123Subdomain(host))
			}
		}
		each(objectIn(rule, "http"), join(path, "http"), "paths", func(at string, entry map[string]any) {
			j.oneOf(entry, at, "pathType", "Exact", "Prefix", "ImplementationSpecific")
			where := text(entry, "path")
			if where != "" && !strings.HasPrefix(where, "/") {
				j.refuse(join(at, "path"), "%q does not begin with /", where)
			}
			j.backend(objectIn(entry, "backend"), join(at, "backend"))
		})
	})
}

// backend judges where an Ingress leads to.
func (j *judge) backend(b map[string]any, path string) {
	if b == nil {
		return
	}
	if (b["service"] == nil) == (b["resource"] == nil) {
		j.lacks(path, "must have either service or resource")
	}
	service := objectIn(b, "service")
	if service == nil {
		return
	}
	if port, isMap := service["port"].(map[string]any); isMap && (port["name"] == nil) == (port["number"] == nil) {
		j.lacks(join(path, "service.port"), "must have either name or number")
	}
	j.port(objectIn(service, "port"), join(path, "service.port"), "number")
}

// scaler judges a HorizontalPodAutoscaler.
func scaler(j *judge, o simulate.Object) {
	spec := o.Map("spec")
	j.atLeast(spec, "spec", "minReplicas", 0)
	j.atLeast(spec, "spec", "maxReplicas", 1)
	least, hasLeast := amountOf(spec, "minReplicas")
	most, hasMost := amountOf(spec, "maxReplicas")
	if hasLeast && hasMost && least > most {
		j.refuse("spec.maxReplicas", "is %v; must be minReplicas (%v) or more", most, least)
	}
	kinds := map[string]string{
		"Resource": "resource", "Pods": "pods", "Object": "object", "External": "external",
		"ContainerResource": "containerResource",
	}
	each(spec, "spec", "metrics", func(path string, metric map[string]any) {
		j.oneOf(metric, path, "type", "Resource", "Pods", "Object", "External", "ContainerResource")
		if field := kinds[text(metric, "type")]; field != "" && metric[field] == nil {
			j.lacks(path, "is of the type %s, and has no %s", text(metric, "type"), field)
		}
	})
}

// budget judges a PodDisruptionBudget.
func budget(j *judge, o simulate.Object) {
	spec := o.Map("spec")
	if spec["minAvailable"] != nil && spec["maxUnavailable"] != nil {
		j.refuse("spec", "minAvailable and maxUnavailable cannot be both set")
	}
}

// network judges a NetworkPolicy.
func network(j *judge, o simulate.Object) {
	spec := o.Map("spec")
	types, _ := spec["policyTypes"].([]any)
	for i, kind := range types {
		if name, ok := kind.(string); ok && name != "Ingress" && name != "Egress" {
			j.refuse(fmt.Sprintf("spec.policyTypes[%d]", i), "%q is not supported; supported: Ingress, Egress", name)
		}
	}
	for direction, peers := range map[string]string{"ingress": "from", "egress": "to"} {
		each(spec, "spec", direction, func(path string, rule map[string]any) {
			each(rule, path, "ports", func(at string, port map[string]any) {
				j.port(port, at, "port")
				j.oneOf(port, at, "protocol", "TCP", "UDP", "SCTP")
			})
			each(rule, path, peers, func(at string, peer map[string]any) {
				block := objectIn(peer, "ipBlock")
				if block != nil && (peer["podSelector"] != nil || peer["namespaceSelector"] != nil) {
					j.refuse(at, "may not have ipBlock and a selector")
				}
				if cidr := text(block, "cidr"); cidr != "" {
					if _, err := netip.ParsePrefix(cidr); err != nil {
						j.refuse(join(at, "ipBlock.cidr"), "%q is not a range of addresses such as 10.9.8.0/24", cidr)
					}
				}
			})
		})
	}
}

// claim judges a claim of a volume.
func (j *judge) claim(spec map[string]any, path string) {
	if spec == nil {
		return
	}
	modes, isList := spec["accessModes"].([]any)
	if isList && len(modes) == 0 || spec["accessModes"] == nil {
		j.lacks(join(path, "accessModes"), "is required")
	}
	for _, mode := range modes {
		name, ok := mode.(string)
		if ok && !slices.Contains([]string{"ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"}, name) {
			j.refuse(join(path, "accessModes"), "%q is not supported; supported: ReadOnlyMany, ReadWriteMany, ReadWriteOnce, "+
				"ReadWriteOncePod", name)
		}
	}
	requests, isMap := objectIn(spec, "resources")["requests"].(map[string]any)
	if spec["resources"] == nil || isMap && requests["storage"] == nil {
		j.lacks(join(path, "resources.requests.storage"), "is required")
	}
	for _, amount := range j.amounts(objectIn(spec, "resources"), join(path, "resources"), "requests") {
		if amount.IsZero() {
			j.refuse(join(path, "resources.requests.storage"), "must be greater than zero")
		}
	}
}

// data judges the keys and values of a Secret or a ConfigMap.
func data(j *judge, o simulate.Object) {
	isSecret := strings.HasSuffix(o.Token, ":Secret")
	keys := map[string]bool{}
	for _, section := range []string{"data", "stringData", "binaryData"} {
		for key, value := range o.Map(section) {
			keys[key] = true
			j.errors(section, key, validation.IsConfigMapKey(key))
			written, ok := value.(string)
			if isBase64 := isSecret && section == "data" || section == "binaryData"; ok && isBase64 {
				if _, err := base64.StdEncoding.DecodeString(written); err != nil {
					j.refuse(section+"."+key, "is not base64; texts belong into stringData")
				}
			}
		}
	}
	if o.Text("type") != "kubernetes.io/tls" || o.Map("data") == nil && o.Map("stringData") == nil {
		return
	}
	for _, key := range []string{"tls.crt", "tls.key"} {
		if !keys[key] {
			j.lacks("data."+key, "is required for the type kubernetes.io/tls")
		}
	}
}

// limitsOf judges a ResourceQuota or a LimitRange.
func limitsOf(j *judge, o simulate.Object) {
	j.amounts(o.Map("spec"), "spec", "hard")
	each(o.Map("spec"), "spec", "limits", func(path string, limit map[string]any) {
		j.oneOf(limit, path, "type", "Container", "Pod", "PersistentVolumeClaim")
		for _, key := range []string{"max", "min", "default", "defaultRequest"} {
			j.amounts(limit, path, key)
		}
	})
}

// namespaceName judges the name of a namespace.
func namespaceName(j *judge, o simulate.Object) {
	if name := o.Text("metadata.name"); name != "" {
		j.errors("metadata.name", name, validation.IsDNS1123Label(name))
	}
}
