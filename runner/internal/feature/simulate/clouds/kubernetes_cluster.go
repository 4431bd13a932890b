package clouds

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	"k8s.io/apimachinery/pkg/util/validation"

	"mara/runner/internal/feature/simulate"
)

// The rules over schedules, rights, storage and priorities.

// cronJob judges a CronJob.
func cronJob(j *judge, o simulate.Object) {
	spec := o.Map("spec")
	if name := o.Text("metadata.name"); len(name) > 52 {
		j.refuse("metadata.name", "must be no more than 52 characters")
	}
	schedule, zone := text(spec, "schedule"), text(spec, "timeZone")
	switch _, err := cron.ParseStandard(schedule); {
	case schedule == "":
	case strings.Contains(schedule, "TZ"):
		j.refuse("spec.schedule", "%q: use timeZone instead of TZ or CRON_TZ", schedule)
	case err != nil:
		j.refuse("spec.schedule", "%q is not a time as cron writes it, such as 0 3 * * * or @daily", schedule)
	}
	_, err := time.LoadLocation(zone)
	_, errKnown := time.LoadLocation("Europe/Berlin") // a machine without zones tells nothing
	if strings.EqualFold(zone, "Local") || err != nil && errKnown == nil {
		j.refuse("spec.timeZone", "%q is not a time zone such as Europe/Berlin", zone)
	}
	j.oneOf(spec, "spec", "concurrencyPolicy", "Allow", "Forbid", "Replace")
	for _, key := range []string{"successfulJobsHistoryLimit", "failedJobsHistoryLimit", "startingDeadlineSeconds"} {
		j.atLeast(spec, "spec", key, 0)
	}
	j.job(objectIn(objectIn(spec, "jobTemplate"), "spec"), "spec.jobTemplate.spec")
}

// role judges a Role or a ClusterRole.
func role(j *judge, o simulate.Object) {
	isInNamespace := strings.HasSuffix(o.Token, ":Role")
	each(map[string]any{"rules": o.Value("rules")}, "", "rules", func(path string, rule map[string]any) {
		isEmpty := func(key string) bool {
			items, isList := rule[key].([]any)
			return rule[key] == nil || isList && len(items) == 0
		}
		if isEmpty("verbs") {
			j.lacks(join(path, "verbs"), "is required")
		}
		switch urls := !isEmpty("nonResourceURLs"); {
		case urls && isInNamespace:
			j.refuse(join(path, "nonResourceURLs"), "is for ClusterRoles only")
		case urls && !(isEmpty("apiGroups") && isEmpty("resources")):
			j.refuse(join(path, "nonResourceURLs"), "may not be together with resources")
		case urls:
		case isEmpty("apiGroups"):
			j.lacks(join(path, "apiGroups"), "is required; the group of Pods and Secrets is \"\"")
		case isEmpty("resources"):
			j.lacks(join(path, "resources"), "is required")
		}
	})
}

// binding judges a RoleBinding or a ClusterRoleBinding.
func binding(j *judge, o simulate.Object) {
	const group = "rbac.authorization.k8s.io"
	ref := o.Map("roleRef")
	j.oneOf(ref, "roleRef", "apiGroup", group)
	j.required(ref, "roleRef", "name")
	if strings.HasSuffix(o.Token, ":RoleBinding") {
		j.oneOf(ref, "roleRef", "kind", "Role", "ClusterRole")
	} else {
		j.oneOf(ref, "roleRef", "kind", "ClusterRole")
	}
	each(map[string]any{"subjects": o.Value("subjects")}, "", "subjects", func(path string, subject map[string]any) {
		j.oneOf(subject, path, "kind", "ServiceAccount", "User", "Group")
		j.required(subject, path, "name")
		if text(subject, "kind") != "ServiceAccount" {
			j.oneOf(subject, path, "apiGroup", group)
			return
		}
		j.name(subject, path, "name", validation.IsDNS1123Subdomain)
		j.required(subject, path, "namespace")
		if of := text(subject, "apiGroup"); of != "" {
			j.refuse(join(path, "apiGroup"), "%q is not supported; a ServiceAccount has none", of)
		}
	})
}

// volume judges a PersistentVolume.
func volume(j *judge, o simulate.Object) {
	spec := o.Map("spec")
	j.modes(spec, "spec")
	if capacity, isMap := spec["capacity"].(map[string]any); spec["capacity"] == nil || isMap && capacity["storage"] == nil {
		j.lacks("spec.capacity.storage", "is required")
	}
	j.amounts(spec, "spec", "capacity")
	j.oneOf(spec, "spec", "persistentVolumeReclaimPolicy", "Retain", "Delete", "Recycle")
	j.oneOf(spec, "spec", "volumeMode", "Block", "Filesystem")
	j.name(spec, "spec", "storageClassName", validation.IsDNS1123Subdomain)
	other := []string{
		"accessModes", "capacity", "claimRef", "mountOptions", "nodeAffinity", "persistentVolumeReclaimPolicy", "storageClassName",
		"volumeAttributesClassName", "volumeMode",
	}
	sources := map[string]any{}
	for key, value := range spec {
		if !slices.Contains(other, key) {
			sources[key] = value
		}
	}
	j.oneSource(sources, "spec")
	j.noBackSteps(objectIn(spec, "hostPath"), "spec.hostPath", "path")
}

// modes judges how a volume may be mounted.
func (j *judge) modes(spec map[string]any, path string) {
	modes, isList := spec["accessModes"].([]any)
	if isList && len(modes) == 0 || spec["accessModes"] == nil {
		j.lacks(join(path, "accessModes"), "is required")
	}
	known := []string{"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"}
	for _, mode := range modes {
		if name, ok := mode.(string); ok && !slices.Contains(known, name) {
			j.refuse(join(path, "accessModes"), "%q is not supported; supported: %s", name, strings.Join(known, ", "))
		}
	}
	if len(modes) > 1 && slices.Contains(modes, any("ReadWriteOncePod")) {
		j.refuse(join(path, "accessModes"), "may not have ReadWriteOncePod together with others")
	}
}

// storageClass judges a StorageClass.
func storageClass(j *judge, o simulate.Object) {
	of := map[string]any{}
	for _, key := range []string{"provisioner", "reclaimPolicy", "volumeBindingMode"} {
		of[key] = o.Value(key)
	}
	j.required(of, "", "provisioner")
	j.oneOf(of, "", "reclaimPolicy", "Delete", "Retain")
	j.oneOf(of, "", "volumeBindingMode", "Immediate", "WaitForFirstConsumer")
}

// priority judges a PriorityClass.
func priority(j *judge, o simulate.Object) {
	const highest = 1_000_000_000 // that users may give
	if value, ok := amountOf(map[string]any{"value": o.Value("value")}, "value"); ok && value > highest {
		j.refuse("value", "is %v; the highest is %d, and the system has those above", value, highest)
	}
	if strings.HasPrefix(o.Text("metadata.name"), "system-") {
		j.refuse("metadata.name", "names that begin with system- are those of the system")
	}
	j.oneOf(map[string]any{"preemptionPolicy": o.Value("preemptionPolicy")}, "", "preemptionPolicy", "Never", "PreemptLowerPriority")
}

// ingressClass judges an IngressClass.
func ingressClass(j *judge, o simulate.Object) {
	spec := o.Map("spec")
	j.required(spec, "spec", "controller")
	if name := text(spec, "controller"); name != "" && !strings.Contains(name, "/") {
		j.refuse("spec.controller", "%q has no domain, as in nginx.org/ingress-controller", name)
	}
}

// typed judges what the types of Secrets need.
func (j *judge) typed(o simulate.Object) {
	keys := map[string]string{}
	for _, section := range []string{"data", "stringData"} {
		for key, value := range o.Map(section) {
			written, _ := value.(string)
			keys[key] = map[bool]string{true: written}[section == "stringData"]
		}
	}
	needs := func(key string) {
		if _, ok := keys[key]; !ok {
			j.lacks("data."+key, "is required for the type %s", o.Text("type"))
		}
	}
	switch o.Text("type") {
	case "kubernetes.io/tls":
		needs("tls.crt")
		needs("tls.key")
	case "kubernetes.io/ssh-auth":
		needs("ssh-privatekey")
	case "kubernetes.io/dockerconfigjson":
		needs(".dockerconfigjson")
		if login := keys[".dockerconfigjson"]; login != "" && !json.Valid([]byte(login)) {
			j.refuse("stringData..dockerconfigjson", "is not JSON")
		}
	case "kubernetes.io/basic-auth":
		if _, hasUser := keys["username"]; !hasUser {
			if _, hasPassword := keys["password"]; !hasPassword {
				j.lacks("data", "must have username or password for the type kubernetes.io/basic-auth")
			}
		}
	case "kubernetes.io/service-account-token":
		if o.Map("metadata.annotations")["kubernetes.io/service-account.name"] == nil {
			j.lacks("metadata.annotations", "must have kubernetes.io/service-account.name, the account of the token")
		}
	}
}
