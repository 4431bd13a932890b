package clouds

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"mara/config"
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

// allOf reports texts of a list that are not allowed.
func (j *judge) allOf(m map[string]any, path, key string, allowed ...string) {
	items, _ := m[key].([]any)
	for i, item := range items {
		if name, ok := item.(string); ok && !slices.Contains(allowed, name) {
			j.refuse(fmt.Sprintf("%s[%d]", join(path, key), i), "%q is not supported; supported: %s", name, strings.Join(allowed, ", "))
		}
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
	j.mayUse(at, requests, limits)
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
	j.node(spec, path)
	j.hostPorts(spec, path)
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
			if list == "initContainers" && container["restartPolicy"] == nil {
				for _, probe := range []string{"livenessProbe", "readinessProbe", "startupProbe"} {
					if container[probe] != nil {
						j.refuse(join(at, probe), "is for containers that go on, and this one has no restartPolicy Always")
					}
				}
			}
			j.container(container, at, volumes)
		})
	}
	if items, isList := spec["containers"].([]any); isList && len(items) == 0 {
		j.refuse(join(path, "containers"), "is empty; a Pod has a container")
	}
	if items, _ := spec["ephemeralContainers"].([]any); len(items) > 0 {
		j.refuse(join(path, "ephemeralContainers"), "are only added to Pods that run, as kubectl debug does")
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
		j.source(at, volume)
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
	j.required(c, path, "image")
	j.security(objectIn(c, "securityContext"), join(path, "securityContext"))
	for _, hook := range []string{"postStart", "preStop"} {
		if h := objectIn(objectIn(c, "lifecycle"), hook); h != nil {
			j.handler(h, join(path, "lifecycle."+hook), "exec", "httpGet", "sleep", "tcpSocket")
		}
	}
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
		j.variable(at, variable)
	})
	mounts := map[string]bool{}
	each(c, path, "volumeMounts", func(at string, mount map[string]any) {
		name, where := text(mount, "name"), text(mount, "mountPath")
		if name != "" && volumes != nil && !volumes[name] {
			j.refuse(join(at, "name"), "%q is no volume of the Pod", name)
		}
		if sub := text(mount, "subPath"); !isBelow(sub) {
			j.refuse(join(at, "subPath"), "%q must be a path below the volume, without ..", sub)
		}
		switch {
		case where == "":
			j.required(mount, at, "mountPath")
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
	j.handler(p, path, "exec", "httpGet", "tcpSocket", "grpc")
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
		j.selects(spec)
		j.oneOf(spec, "spec", "podManagementPolicy", "OrderedReady", "Parallel")
		kept := objectIn(spec, "persistentVolumeClaimRetentionPolicy")
		j.oneOf(kept, "spec.persistentVolumeClaimRetentionPolicy", "whenDeleted", "Retain", "Delete")
		j.oneOf(kept, "spec.persistentVolumeClaimRetentionPolicy", "whenScaled", "Retain", "Delete")
		j.atLeast(objectIn(spec, "ordinals"), "spec.ordinals", "start", 0)
		if n, ok := amountOf(spec, "progressDeadlineSeconds"); ok {
			if ready, _ := amountOf(spec, "minReadySeconds"); n <= ready {
				j.refuse("spec.progressDeadlineSeconds", "is %v; must be greater than minReadySeconds (%v)", n, ready)
			}
		}
		if objectIn(objectIn(spec, "template"), "spec")["activeDeadlineSeconds"] != nil {
			j.refuse("spec.template.spec.activeDeadlineSeconds", "is for Pods that end")
		}
		update, at := objectIn(spec, "updateStrategy"), "spec.updateStrategy"
		j.oneOf(update, at, "type", "OnDelete", "RollingUpdate")
		j.share(objectIn(update, "rollingUpdate"), join(at, "rollingUpdate"), "maxUnavailable", "maxSurge")
		if rolling := objectIn(update, "rollingUpdate"); isZero(rolling, "maxUnavailable") && (rolling["maxSurge"] == nil || isZero(rolling, "maxSurge")) {
			j.lacks(join(at, "rollingUpdate.maxUnavailable"), "may not be 0 when maxSurge is 0")
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
	j.share(rolling, "spec.strategy.rollingUpdate", "maxUnavailable", "maxSurge")
	if isZero(rolling, "maxUnavailable") && isZero(rolling, "maxSurge") {
		j.refuse("spec.strategy.rollingUpdate.maxUnavailable", "may not be 0 when maxSurge is 0")
	}
}

// isZero reports whether a number or a part is nothing.
func isZero(m map[string]any, key string) bool {
	n, ok := amountOf(m, key)
	return ok && n == 0 || text(m, key) == "0%"
}

// share judges numbers that may be parts, such as 25%.
func (j *judge) share(m map[string]any, path string, keys ...string) {
	for _, key := range keys {
		j.atLeast(m, path, key, 0)
		written := text(m, key)
		if written == "" {
			continue
		}
		percent, err := strconv.Atoi(strings.TrimSuffix(written, "%"))
		switch {
		case err != nil || !strings.HasSuffix(written, "%"):
			j.refuse(join(path, key), "%q is neither a number nor a part such as 25%%", written)
		case percent > 100 && key != "maxSurge":
			j.refuse(join(path, key), "%q is more than 100%%", written)
		}
	}
}

// selects judges whether a workload selects the Pods of its template.
func (j *judge) selects(spec map[string]any) {
	selector, ok := j.selector(spec, "spec", "selector")
	template, isMap := spec["template"].(map[string]any)
	if !ok || !isMap || j.partial {
		return
	}
	set := labels.Set{}
	for name, value := range objectIn(objectIn(template, "metadata"), "labels") {
		set[name] = fmt.Sprint(value)
	}
	if len(set) == 0 && len(objectIn(objectIn(spec, "selector"), "matchLabels")) > 0 || !selector.Matches(set) {
		j.refuse("spec.selector", "does not match the labels of the template")
	}
}

// job judges a Job.
func job(j *judge, o simulate.Object) { j.job(o.Map("spec"), "spec") }

func (j *judge) job(spec map[string]any, path string) {
	if spec == nil {
		return
	}
	for _, key := range []string{
		"backoffLimit", "parallelism", "completions", "activeDeadlineSeconds", "ttlSecondsAfterFinished",
	} {
		j.atLeast(spec, path, key, 0)
	}
	j.oneOf(spec, path, "completionMode", "NonIndexed", "Indexed")
	if text(spec, "completionMode") == "Indexed" && spec["completions"] == nil && spec["parallelism"] != nil { // with neither, both are 1
		j.lacks(join(path, "completions"), "is required for the mode Indexed")
	}
	if spec["selector"] != nil && spec["manualSelector"] == nil {
		j.refuse(join(path, "selector"), "is made by Kubernetes; leave it out, or set manualSelector")
	}
	template := objectIn(spec, "template")
	j.labels(objectIn(template, "metadata"), join(path, "template.metadata"))
	pod := objectIn(template, "spec")
	if pod != nil && pod["restartPolicy"] == nil {
		j.lacks(join(path, "template.spec.restartPolicy"), "is required; supported: OnFailure, Never")
	}
	j.pod(pod, join(path, "template.spec"), "OnFailure", "Never")
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
	j.oneOf(spec, "spec", "internalTrafficPolicy", "Cluster", "Local")
	j.sticky(spec)
	if text(spec, "type") == "ExternalName" {
		if name, isText := spec["externalName"].(string); !isText && spec["externalName"] == nil || isText && name == "" {
			j.lacks("spec.externalName", "is required for the type ExternalName")
		}
	}
	list, isList := spec["ports"].([]any)
	j.reached(spec, len(list) > 0 || spec["ports"] != nil && !isList)
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

// sticky judges for how long a Service sends a client to the same Pod.
func (j *judge) sticky(spec map[string]any) {
	const at, day = "spec.sessionAffinityConfig", 24 * 60 * 60
	affinity := objectIn(spec, "sessionAffinityConfig")
	if affinity != nil && (spec["sessionAffinity"] == nil || text(spec, "sessionAffinity") == "None") {
		j.lacks(at, "may only be set where sessionAffinity is ClientIP")
	}
	if n, ok := amountOf(objectIn(affinity, "clientIP"), "timeoutSeconds"); ok && (n < 1 || n > day) {
		j.refuse(at+".clientIP.timeoutSeconds", "is %v; must be from 1 to %d", n, day)
	}
}

// reached judges how a Service is reached.
func (j *judge) reached(spec map[string]any, hasPorts bool) {
	kind, address := text(spec, "type"), text(spec, "clusterIP")
	isOf := func(kinds ...string) bool {
		return slices.Contains(kinds, kind) || spec["type"] != nil && kind == "" // not known yet
	}
	if !hasPorts && kind != "ExternalName" && address != "None" {
		j.lacks("spec.ports", "is required")
	}
	if address != "" && address != "None" {
		j.address(spec, "spec", "clusterIP")
	}
	if address == "None" && isOf("NodePort", "LoadBalancer") && kind != "" {
		j.refuse("spec.clusterIP", "may not be None for the type %s", kind)
	}
	j.name(spec, "spec", "externalName", validation.IsDNS1123Subdomain)
	for _, key := range []string{"loadBalancerSourceRanges", "loadBalancerClass"} {
		if spec[key] != nil && !isOf("LoadBalancer") {
			j.refuse("spec."+key, "may only be set for the type LoadBalancer")
		}
	}
	ranges, _ := spec["loadBalancerSourceRanges"].([]any)
	for i, value := range ranges {
		if written, ok := value.(string); ok {
			j.cidr(fmt.Sprintf("spec.loadBalancerSourceRanges[%d]", i), strings.TrimSpace(written))
		}
	}
	if spec["externalTrafficPolicy"] != nil && !isOf("LoadBalancer", "NodePort") && spec["externalIPs"] == nil {
		j.refuse("spec.externalTrafficPolicy", "may only be set for what is reached from outside")
	}
	each(spec, "spec", "ports", func(path string, port map[string]any) {
		if node, _ := amountOf(port, "nodePort"); node != 0 && !isOf("LoadBalancer", "NodePort") {
			j.refuse(join(path, "nodePort"), "may not be used for the type %s", cmp.Or(kind, "ClusterIP"))
		}
	})
	j.oneOf(spec, "spec", "ipFamilyPolicy", "SingleStack", "PreferDualStack", "RequireDualStack")
	j.allOf(spec, "spec", "ipFamilies", "IPv4", "IPv6")
	external, _ := spec["externalIPs"].([]any)
	for i, value := range external {
		address, err := netip.ParseAddr(fmt.Sprint(value))
		if _, isText := value.(string); isText && (err != nil || address.IsLoopback() || address.IsUnspecified()) {
			j.refuse(fmt.Sprintf("spec.externalIPs[%d]", i), "%q is not an address that others reach", value)
		}
	}
}

// cidr reports a text that is no range of addresses.
func (j *judge) cidr(path, written string) (read netip.Prefix, ok bool) {
	read, err := netip.ParsePrefix(written)
	switch {
	case err != nil:
		j.refuse(path, "%q is not a range of addresses such as 10.9.8.0/24", written)
	case read != read.Masked():
		j.refuse(path, "%q has bits behind the range; did you mean %s?", written, read.Masked())
	}
	return read, err == nil
}

// ingress judges an Ingress.
func ingress(j *judge, o simulate.Object) {
	spec := o.Map("spec")
	if spec != nil && spec["rules"] == nil && spec["defaultBackend"] == nil {
		j.lacks("spec", "must have rules or a defaultBackend")
	}
	const ofClass = "kubernetes.io/ingress.class"
	annotated, class := text(o.Map("metadata.annotations"), ofClass), text(spec, "ingressClassName")
	if annotated != "" && class != "" && annotated != class {
		j.refuse("spec.ingressClassName", "is %s, and the annotation %s says %s", class, ofClass, annotated)
	}
	j.backend(objectIn(spec, "defaultBackend"), "spec.defaultBackend")
	each(spec, "spec", "tls", func(path string, tls map[string]any) {
		hosts, _ := tls["hosts"].([]any)
		for _, host := range hosts {
			if name, ok := host.(string); ok {
				j.host(join(path, "hosts"), name)
			}
		}
	})
	each(spec, "spec", "rules", func(path string, rule map[string]any) {
		if paths, isList := objectIn(rule, "http")["paths"].([]any); isList && len(paths) == 0 {
			j.refuse(join(path, "http.paths"), "is empty")
		}
		if host := text(rule, "host"); host != "" {
			j.host(join(path, "host"), host)
		}
		each(objectIn(rule, "http"), join(path, "http"), "paths", func(at string, entry map[string]any) {
			j.oneOf(entry, at, "pathType", "Exact", "Prefix", "ImplementationSpecific")
			j.where(at, entry)
			j.backend(objectIn(entry, "backend"), join(at, "backend"))
		})
	})
}

// host judges a name that requests are sent to.
func (j *judge) host(path, host string) {
	_, notAddress := netip.ParseAddr(host)
	switch {
	case notAddress == nil:
		j.refuse(path, "%q is an address; must be a DNS name", host)
	case strings.HasPrefix(host, "*."):
		j.errors(path, host, validation.IsWildcardDNS1123Subdomain(host))
	default:
		j.errors(path, host, validation.IsDNS1123Subdomain(host))
	}
}

// where judges a path of an Ingress.
func (j *judge) where(at string, entry map[string]any) {
	where, kind := text(entry, "path"), text(entry, "pathType")
	j.required(entry, at, "pathType")
	isStrict := kind == "Exact" || kind == "Prefix"
	switch {
	case where == "" && isStrict:
		j.required(entry, at, "path")
	case where != "" && !strings.HasPrefix(where, "/"):
		j.refuse(join(at, "path"), "%q does not begin with /", where)
	case isStrict:
		for _, part := range []string{"//", "/./", "/../", "%2f", "%2F"} {
			if strings.Contains(where, part) {
				j.refuse(join(at, "path"), "%q may not have %s", where, part)
			}
		}
		if strings.HasSuffix(where, "/..") || strings.HasSuffix(where, "/.") {
			j.refuse(join(at, "path"), "%q may not end with a dot as name", where)
		}
	}
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
	j.name(service, join(path, "service"), "name", validation.IsDNS1035Label)
}

// scaler judges a HorizontalPodAutoscaler.
func scaler(j *judge, o simulate.Object) {
	spec := o.Map("spec")
	j.atLeast(spec, "spec", "minReplicas", 1)
	j.atLeast(spec, "spec", "maxReplicas", 1)
	if target := objectIn(spec, "scaleTargetRef"); target != nil {
		j.required(target, "spec.scaleTargetRef", "kind")
		j.required(target, "spec.scaleTargetRef", "name")
	}
	for _, direction := range []string{"scaleUp", "scaleDown"} {
		of, at := objectIn(objectIn(spec, "behavior"), direction), "spec.behavior."+direction
		window, ok := amountOf(of, "stabilizationWindowSeconds")
		if ok && (window < 0 || window > 3600) {
			j.refuse(at+".stabilizationWindowSeconds", "is %v; must be from 0 to 3600", window)
		}
		j.oneOf(of, at, "selectPolicy", "Max", "Min", "Disabled")
		if policies, isList := of["policies"].([]any); isList && len(policies) == 0 {
			j.refuse(at+".policies", "is empty; must have a policy")
		}
		each(of, at, "policies", func(at string, policy map[string]any) {
			j.oneOf(policy, at, "type", "Pods", "Percent")
			j.atLeast(policy, at, "value", 1)
			j.atLeast(policy, at, "periodSeconds", 1)
			if n, _ := amountOf(policy, "periodSeconds"); n > 1800 {
				j.refuse(join(at, "periodSeconds"), "is %v; must be 1800 or less", n)
			}
		})
	}
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
		target, at := objectIn(objectIn(metric, kinds[text(metric, "type")]), "target"), join(path, kinds[text(metric, "type")]+".target")
		if target == nil {
			return
		}
		j.oneOf(target, at, "type", "Utilization", "Value", "AverageValue")
		j.atLeast(target, at, "averageUtilization", 1)
		field := map[string]string{"Utilization": "averageUtilization", "Value": "value", "AverageValue": "averageValue"}[text(target, "type")]
		if field != "" && target[field] == nil {
			j.lacks(join(at, field), "is required for the type %s", text(target, "type"))
		}
	})
}

// budget judges a PodDisruptionBudget.
func budget(j *judge, o simulate.Object) {
	spec := o.Map("spec")
	if spec["minAvailable"] != nil && spec["maxUnavailable"] != nil {
		j.refuse("spec", "minAvailable and maxUnavailable cannot be both set")
	}
	j.share(spec, "spec", "minAvailable", "maxUnavailable")
	j.oneOf(spec, "spec", "unhealthyPodEvictionPolicy", "IfHealthyBudget", "AlwaysAllow")
	j.selector(spec, "spec", "selector")
}

// network judges a NetworkPolicy.
func network(j *judge, o simulate.Object) {
	spec := o.Map("spec")
	j.selector(spec, "spec", "podSelector")
	j.allOf(spec, "spec", "policyTypes", "Ingress", "Egress")
	for direction, peers := range map[string]string{"ingress": "from", "egress": "to"} {
		each(spec, "spec", direction, func(path string, rule map[string]any) {
			each(rule, path, "ports", func(at string, port map[string]any) {
				j.port(port, at, "port")
				j.oneOf(port, at, "protocol", "TCP", "UDP", "SCTP")
				first, isNumber := amountOf(port, "port")
				switch last, ok := amountOf(port, "endPort"); {
				case ok && !isNumber:
					j.lacks(join(at, "endPort"), "needs a port, by number")
				case ok && last < first:
					j.refuse(join(at, "endPort"), "is %v; must be port (%v) or more", last, first)
				}
			})
			each(rule, path, peers, func(at string, peer map[string]any) {
				if len(peer) == 0 {
					j.lacks(at, "must have podSelector, namespaceSelector or ipBlock")
				}
				j.selector(peer, at, "podSelector")
				j.selector(peer, at, "namespaceSelector")
				block := objectIn(peer, "ipBlock")
				if block != nil && (peer["podSelector"] != nil || peer["namespaceSelector"] != nil) {
					j.refuse(at, "may not have ipBlock and a selector")
				}
				if written := text(block, "cidr"); written != "" {
					whole, ok := j.cidr(join(at, "ipBlock.cidr"), written)
					except, _ := block["except"].([]any)
					for _, part := range except {
						inner, isRange := j.cidr(join(at, "ipBlock.except"), fmt.Sprint(part))
						if ok && isRange && !(whole.Contains(inner.Addr()) && inner.Bits() > whole.Bits()) {
							j.refuse(join(at, "ipBlock.except"), "%s is not a part of %s", inner, whole)
						}
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
	j.modes(spec, path)
	j.oneOf(spec, path, "volumeMode", "Block", "Filesystem")
	j.name(spec, path, "storageClassName", validation.IsDNS1123Subdomain)
	if source := objectIn(spec, "dataSource"); source != nil && source["apiGroup"] == nil {
		j.oneOf(source, join(path, "dataSource"), "kind", "PersistentVolumeClaim")
	}
	asked := objectIn(spec, "resources")
	requests, isMap := asked["requests"].(map[string]any)
	if spec["resources"] == nil || asked != nil && asked["requests"] == nil || isMap && requests["storage"] == nil {
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
	const most = 1 << 20 // bytes of all values
	keys, size := map[string]bool{}, 0
	for _, section := range []string{"data", "stringData", "binaryData"} {
		for key, value := range o.Map(section) {
			if keys[key] && !isSecret {
				j.refuse(section+"."+key, "is there in data as well")
			}
			keys[key] = true
			j.errors(section, key, validation.IsConfigMapKey(key))
			written, ok := value.(string)
			length := len(written)
			if isBase64 := isSecret && section == "data" || section == "binaryData"; ok && isBase64 {
				decoded, err := base64.StdEncoding.DecodeString(written)
				if err != nil {
					j.refuse(section+"."+key, "is not base64; texts belong into stringData")
				}
				length = len(decoded)
			}
			size += length
		}
	}
	if size > most {
		j.refuse("data", "has %d bytes; at most %d are allowed", size, most)
	}
	if isSecret {
		j.typed(o)
	}
}

// limitsOf judges a ResourceQuota or a LimitRange.
func limitsOf(j *judge, o simulate.Object) {
	counts := []string{
		"pods", "services", "replicationcontrollers", "resourcequotas", "secrets", "configmaps", "persistentvolumeclaims",
		"services.nodeports", "services.loadbalancers",
	}
	others := []string{"cpu", "memory", "storage", "ephemeral-storage", "requests.cpu", "requests.memory", "requests.storage",
		"requests.ephemeral-storage", "limits.cpu", "limits.memory", "limits.ephemeral-storage"}
	for name, amount := range j.amounts(o.Map("spec"), "spec", "hard") {
		switch isCount := slices.Contains(counts, name) || strings.HasPrefix(name, "count/"); {
		case isCount && amount.MilliValue()%1000 != 0:
			j.refuse("spec.hard."+name, "is %s; must be a whole number", amount.String())
		case !isCount && !slices.Contains(others, name) && !strings.Contains(name, "/") && !strings.HasPrefix(name, "hugepages-") &&
			!strings.HasPrefix(name, "requests.hugepages-"):
			j.refuse("spec.hard."+name, "is not a resource of quotas%s", config.DidYouMean(name, slices.Concat(counts, others)))
		}
	}
	each(o.Map("spec"), "spec", "limits", func(path string, limit map[string]any) {
		j.oneOf(limit, path, "type", "Container", "Pod", "PersistentVolumeClaim")
		read := map[string]map[string]resource.Quantity{}
		for _, key := range []string{"max", "min", "default", "defaultRequest"} {
			read[key] = j.amounts(limit, path, key)
			if strings.HasPrefix(key, "default") && text(limit, "type") == "Pod" && limit[key] != nil {
				j.refuse(join(path, key), "may not be specified for the type Pod")
			}
		}
		for _, pair := range [][2]string{{"min", "max"}, {"min", "default"}, {"min", "defaultRequest"}, {"default", "max"}, {"defaultRequest", "default"}, {"defaultRequest", "max"}} {
			for name, lower := range read[pair[0]] {
				if upper, ok := read[pair[1]][name]; ok && lower.Cmp(upper) > 0 {
					j.refuse(join(path, pair[0]+"."+name), "is %s, which is more than %s (%s)", lower.String(), pair[1], upper.String())
				}
			}
		}
	})
}

// namespaceName judges the name of a namespace.
func namespaceName(j *judge, o simulate.Object) {
	if name := o.Text("metadata.name"); name != "" {
		j.errors("metadata.name", name, validation.IsDNS1123Label(name))
	}
}
