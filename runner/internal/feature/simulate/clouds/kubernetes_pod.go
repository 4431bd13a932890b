package clouds

import (
	"encoding/json"
	"net/netip"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
)

// The rules over Pods that are not about their containers' names, ports and mounts: where they run, as whom, and with what.

// required reports a text that is empty or missing.
func (j *judge) required(m map[string]any, path, key string) {
	if value, isText := m[key].(string); m[key] == nil || isText && value == "" {
		j.lacks(join(path, key), "is required")
	}
}

// name reports a text that is no name of an object.
func (j *judge) name(m map[string]any, path, key string, isName func(string) []string) {
	if value := text(m, key); value != "" {
		j.errors(join(path, key), value, isName(value))
	}
}

// oneSource reports a map that does not have exactly one of its entries.
func (j *judge) oneSource(m map[string]any, path string) {
	switch {
	case len(m) == 0:
		j.lacks(path, "must have a source")
	case len(m) > 1:
		j.refuse(path, "may not have more than one source")
	}
}

// node judges where a Pod may run, and as whom.
func (j *judge) node(spec map[string]any, path string) {
	j.atLeast(spec, path, "activeDeadlineSeconds", 1)
	j.name(spec, path, "serviceAccountName", validation.IsDNS1123Subdomain)
	j.name(spec, path, "hostname", validation.IsDNS1123Label)
	j.name(spec, path, "priorityClassName", validation.IsDNS1123Subdomain)
	j.labels(map[string]any{"labels": spec["nodeSelector"]}, path)
	if text(spec, "dnsPolicy") == "None" {
		if servers, isList := objectIn(spec, "dnsConfig")["nameservers"].([]any); len(servers) == 0 &&
			(isList || objectIn(spec, "dnsConfig")["nameservers"] == nil) {
			j.lacks(join(path, "dnsConfig.nameservers"), "is required for the policy None")
		}
	}
	each(spec, path, "hostAliases", func(at string, alias map[string]any) { j.address(alias, at, "ip") })
	each(spec, path, "tolerations", j.toleration)
	each(spec, path, "topologySpreadConstraints", func(at string, spread map[string]any) {
		j.atLeast(spread, at, "maxSkew", 1)
		j.required(spread, at, "topologyKey")
		j.oneOf(spread, at, "whenUnsatisfiable", "DoNotSchedule", "ScheduleAnyway")
		j.selector(spread, at, "labelSelector")
	})
	j.affinity(objectIn(spec, "affinity"), join(path, "affinity"))
	j.security(objectIn(spec, "securityContext"), join(path, "securityContext"))
}

// address reports a text that is no IP address.
func (j *judge) address(m map[string]any, path, key string) {
	if value := text(m, key); value != "" {
		if _, err := netip.ParseAddr(value); err != nil {
			j.refuse(join(path, key), "%q is not an IP address", value)
		}
	}
}

func (j *judge) toleration(path string, t map[string]any) {
	j.oneOf(t, path, "effect", "NoSchedule", "PreferNoSchedule", "NoExecute")
	j.oneOf(t, path, "operator", "Exists", "Equal", "Lt", "Gt")
	switch operator := text(t, "operator"); {
	case t["key"] == nil && operator != "Exists":
		j.lacks(join(path, "operator"), "must be Exists where there is no key")
	case operator == "Exists" && text(t, "value") != "":
		j.refuse(join(path, "value"), "must be empty for the operator Exists")
	}
	if key := text(t, "key"); key != "" {
		j.errors(join(path, "key"), key, validation.IsQualifiedName(key))
	}
	if effect := text(t, "effect"); t["tolerationSeconds"] != nil && effect != "NoExecute" && (effect != "" || t["effect"] == nil) {
		j.lacks(join(path, "effect"), "must be NoExecute where tolerationSeconds is set")
	}
}

func (j *judge) affinity(a map[string]any, path string) {
	const required, preferred = "requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"
	for _, kind := range []string{"podAffinity", "podAntiAffinity"} {
		of, at := objectIn(a, kind), join(path, kind)
		term := func(at string, t map[string]any) {
			j.required(t, at, "topologyKey")
			j.selector(t, at, "labelSelector")
		}
		each(of, at, required, term)
		each(of, at, preferred, func(at string, weighted map[string]any) {
			j.weight(weighted, at)
			if inner := objectIn(weighted, "podAffinityTerm"); inner != nil {
				term(join(at, "podAffinityTerm"), inner)
			}
		})
	}
	nodes, at := objectIn(a, "nodeAffinity"), join(path, "nodeAffinity")
	term := func(at string, t map[string]any) {
		each(t, at, "matchExpressions", func(at string, e map[string]any) {
			j.oneOf(e, at, "operator", "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
			values, isList := e["values"].([]any)
			switch operator := text(e, "operator"); {
			case (operator == "In" || operator == "NotIn") && len(values) == 0 && (isList || e["values"] == nil):
				j.lacks(join(at, "values"), "is required for the operator %s", operator)
			case (operator == "Exists" || operator == "DoesNotExist") && len(values) > 0:
				j.refuse(join(at, "values"), "may not be specified for the operator %s", operator)
			}
		})
	}
	each(objectIn(nodes, required), join(at, required), "nodeSelectorTerms", term)
	each(nodes, at, preferred, func(at string, weighted map[string]any) {
		j.weight(weighted, at)
		term(join(at, "preference"), objectIn(weighted, "preference"))
	})
}

func (j *judge) weight(m map[string]any, path string) {
	if weight, ok := amountOf(m, "weight"); ok && (weight < 1 || weight > 100) {
		j.refuse(join(path, "weight"), "is %v; must be from 1 to 100", weight)
	}
}

// security judges the security context of a Pod or of a container.
func (j *judge) security(s map[string]any, path string) {
	for _, key := range []string{"runAsUser", "runAsGroup", "fsGroup"} {
		j.atLeast(s, path, key, 0)
	}
	if s["privileged"] == true && s["allowPrivilegeEscalation"] == false {
		j.refuse(join(path, "allowPrivilegeEscalation"), "cannot be false where privileged is true")
	}
	profile, at := objectIn(s, "seccompProfile"), join(path, "seccompProfile")
	j.oneOf(profile, at, "type", "RuntimeDefault", "Unconfined", "Localhost")
	if text(profile, "type") == "Localhost" {
		j.required(profile, at, "localhostProfile")
	}
}

// selector judges a selector of labels, and returns its expressions.
func (j *judge) selector(m map[string]any, path, key string) (selector labels.Selector, ok bool) {
	written := objectIn(m, key)
	if written == nil {
		return nil, false
	}
	for name, value := range objectIn(written, "matchLabels") {
		j.errors(join(path, key+".matchLabels"), name, validation.IsQualifiedName(name))
		if label, isText := value.(string); isText {
			j.errors(join(path, key+".matchLabels."+name), label, validation.IsValidLabelValue(label))
		}
	}
	data, err := json.Marshal(written)
	var typed metav1.LabelSelector
	if err != nil || json.Unmarshal(data, &typed) != nil {
		return nil, false // a part is not known yet
	}
	expressions, err := metav1.LabelSelectorAsSelector(&metav1.LabelSelector{MatchExpressions: typed.MatchExpressions})
	if err != nil && !j.partial {
		j.refuse(join(path, key+".matchExpressions"), "%v", err)
		return nil, false
	}
	return expressions, err == nil
}

// variable judges where a variable of a container has its value from.
func (j *judge) variable(path string, variable map[string]any) {
	from := objectIn(variable, "valueFrom")
	if from == nil {
		return
	}
	at := join(path, "valueFrom")
	j.oneSource(from, at)
	fields := []string{
		"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs",
		"status.podIP", "status.podIPs",
	}
	field := text(objectIn(from, "fieldRef"), "fieldPath")
	isMap := strings.HasPrefix(field, "metadata.labels[") || strings.HasPrefix(field, "metadata.annotations[")
	if field != "" && !isMap && !slices.Contains(fields, field) {
		j.refuse(join(at, "fieldRef.fieldPath"), "%q is not supported; supported: %s, and metadata.labels['KEY'] and metadata.annotations['KEY']",
			field, strings.Join(fields, ", "))
	}
}

// source judges where a volume comes from.
func (j *judge) source(path string, volume map[string]any) {
	for _, key := range []string{"secret", "configMap", "projected"} {
		source := objectIn(volume, key)
		if mode, ok := amountOf(source, "defaultMode"); ok && (mode < 0 || mode > 0o777) {
			j.refuse(join(path, key+".defaultMode"), "is %v; must be from 0 to 0777, which YAML reads as 511", mode)
		}
	}
	if source := objectIn(volume, "secret"); source != nil {
		j.required(source, join(path, "secret"), "secretName")
	}
	if source := objectIn(volume, "configMap"); source != nil {
		j.required(source, join(path, "configMap"), "name")
	}
	if source := objectIn(volume, "persistentVolumeClaim"); source != nil {
		j.required(source, join(path, "persistentVolumeClaim"), "claimName")
	}
	host := objectIn(volume, "hostPath")
	j.noBackSteps(host, join(path, "hostPath"), "path")
	j.oneOf(host, join(path, "hostPath"), "type",
		"DirectoryOrCreate", "Directory", "FileOrCreate", "File", "Socket", "CharDevice", "BlockDevice")
}

// noBackSteps reports a path with "..".
func (j *judge) noBackSteps(m map[string]any, at, key string) {
	if slices.Contains(strings.Split(text(m, key), "/"), "..") {
		j.refuse(join(at, key), "%q may not have ..", text(m, key))
	}
}

// handler judges a hook or a probe, which has one way to ask.
func (j *judge) handler(m map[string]any, at string, ways ...string) {
	found := 0
	for _, way := range ways {
		if m[way] != nil {
			found++
		}
	}
	if found != 1 {
		j.lacks(at, "must have one of %s", strings.Join(ways[:len(ways)-1], ", ")+" and "+ways[len(ways)-1])
	}
	for _, way := range []string{"httpGet", "tcpSocket"} { // their ports are a number or a name, which the schema leaves open
		if asked := objectIn(m, way); asked != nil {
			j.required(asked, join(at, way), "port")
			j.port(asked, join(at, way), "port")
			j.oneOf(asked, join(at, way), "scheme", "HTTP", "HTTPS")
		}
	}
	command, isList := objectIn(m, "exec")["command"].([]any)
	if run := objectIn(m, "exec"); run != nil && len(command) == 0 && (isList || run["command"] == nil) {
		j.lacks(join(at, "exec.command"), "is required")
	}
}

// mayUse judges the names of resources, and amounts that cannot be divided.
func (j *judge) mayUse(at string, requests, limits map[string]resource.Quantity) {
	for key, amounts := range map[string]map[string]resource.Quantity{"requests": requests, "limits": limits} {
		for name, amount := range amounts {
			where := join(at, key+"."+name)
			switch standard := slices.Contains([]string{"cpu", "memory", "ephemeral-storage"}, name); {
			case standard || strings.HasPrefix(name, "hugepages-"):
			case !strings.Contains(name, "/"):
				j.refuse(where, "is not a resource of a container; others have a domain, such as nvidia.com/gpu")
			case amount.MilliValue()%1000 != 0:
				j.refuse(where, "is %s; must be a whole number", amount.String())
			case key == "requests":
				if limit, ok := limits[name]; !ok || limit.Cmp(amount) != 0 {
					j.lacks(where, "must be equal to the limit, as for every resource that cannot be shared")
				}
			}
		}
	}
}

// hostPorts judges the ports of the node that the containers of a Pod take.
func (j *judge) hostPorts(spec map[string]any, at string) {
	taken := map[string]bool{}
	each(spec, at, "containers", func(at string, c map[string]any) {
		each(c, at, "ports", func(at string, port map[string]any) {
			number, ok := amountOf(port, "hostPort")
			if !ok || number == 0 {
				return
			}
			if inner, isKnown := amountOf(port, "containerPort"); spec["hostNetwork"] == true && isKnown && inner != number {
				j.refuse(join(at, "hostPort"), "must be equal to containerPort on the node's network")
			}
			key := strings.Join([]string{text(port, "hostIP"), text(port, "protocol"), resource.NewQuantity(int64(number), resource.DecimalSI).String()}, " ")
			if taken[key] {
				j.refuse(join(at, "hostPort"), "%v is taken by another port of the Pod", number)
			}
			taken[key] = true
		})
	})
}

// isBelow reports whether a path stays below where it begins.
func isBelow(name string) bool {
	return !path.IsAbs(name) && !slices.Contains(strings.Split(name, "/"), "..")
}
