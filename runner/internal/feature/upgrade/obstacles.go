package upgrade

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// Obstacle is what stands against an upgrade.
type Obstacle struct {
	Stops bool   `json:"stops"` // else it is something to know
	Where string `json:"where"`
	Text  string `json:"text"`
}

// Obstacles returns what stands against an upgrade of Kubernetes to a version: in all that is declared or runs, and in
// what is drained. Both are items of states or of a cluster.
func Obstacles(all, drained []map[string]any, to string) []Obstacle {
	found := append(removed(all, to), drains(drained)...)
	slices.SortStableFunc(found, func(a, b Obstacle) int {
		switch {
		case a.Stops == b.Stops:
			return strings.Compare(a.Where, b.Where)
		case a.Stops:
			return -1
		}
		return 1
	})
	return slices.Compact(found)
}

// removed finds objects of API versions that the version of Kubernetes does not serve any more. The list is that of
// Kubernetes' own code, which says of each type when it goes, and of what this program does not know it says nothing.
func removed(items []map[string]any, to string) (found []Obstacle) {
	for _, item := range items {
		object := mapOf(item["object"])
		for version, manager := range versionsOf(object) {
			kind := schema.FromAPIVersionAndKind(version, textOf(object["kind"]))
			gone := RemovedIn(kind)
			if gone == "" || Compare(gone, to) > 0 {
				continue
			}
			text := fmt.Sprintf("%s of %s is not served any more from Kubernetes %s on", kind.Kind, version, gone)
			if manager != "" {
				text = fmt.Sprintf("%s writes it as %s, which is not served any more from Kubernetes %s on", manager,
					version, gone)
			}
			found = append(found, Obstacle{Stops: true, Where: place(item), Text: text})
		}
	}
	return found
}

// versionsOf returns the API versions that an object is declared in or was last written in, with the field manager that
// has. A cluster answers in whatever version it is asked for, so that only the second says what its writers use.
func versionsOf(object map[string]any) map[string]string {
	managed, isLive := mapOf(object["metadata"])["managedFields"].([]any)
	if !isLive {
		return map[string]string{textOf(object["apiVersion"]): ""}
	}
	versions := map[string]string{}
	for _, entry := range managed {
		entry := mapOf(entry)
		versions[textOf(entry["apiVersion"])] = textOf(entry["manager"])
	}
	return versions
}

// RemovedIn returns the first version of Kubernetes that does not serve a kind, or "".
func RemovedIn(kind schema.GroupVersionKind) string {
	object, err := scheme.Scheme.New(kind)
	if err != nil {
		return older()[kind.GroupVersion().String()+" "+kind.Kind]
	}
	ending, ok := object.(interface {
		APILifecycleRemoved() (major, minor int)
	})
	if !ok {
		return ""
	}
	major, minor := ending.APILifecycleRemoved()
	return fmt.Sprintf("%d.%d", major, minor)
}

// older returns kinds whose types are gone from Kubernetes' code.
func older() map[string]string {
	return map[string]string{"policy/v1beta1 PodSecurityPolicy": "1.25",
		"autoscaling/v2beta1 HorizontalPodAutoscaler": "1.25",
		"autoscaling/v2beta2 HorizontalPodAutoscaler": "1.26"}
}

// workload is what runs Pods and can be drained from a node.
type workload struct {
	where, namespace string
	replicas         int
	labels           map[string]any
	budgets          int // disruption budgets that it has
	onHost           bool
}

// drains finds what keeps nodes from being drained, and what does not answer meanwhile.
func drains(items []map[string]any) (found []Obstacle) {
	var workloads []*workload
	for _, item := range items {
		if w := workloadOf(item); w != nil {
			workloads = append(workloads, w)
		}
	}
	for _, item := range items {
		object := mapOf(item["object"])
		if object["kind"] != "PodDisruptionBudget" {
			continue
		}
		spec := mapOf(object["spec"])
		match := mapOf(mapOf(spec["selector"])["matchLabels"])
		for _, w := range workloads {
			if w.namespace != namespaceOf(object) || !selects(match, w.labels) {
				continue
			}
			w.budgets++
			if why := forbids(spec, w.replicas); why != "" {
				found = append(found, Obstacle{Stops: true, Where: place(item),
					Text: fmt.Sprintf("%s, so that no Pod of %s may be evicted and no node drained", why, w.where)})
			}
		}
	}
	for _, w := range workloads {
		switch {
		case w.budgets > 1:
			found = append(found, Obstacle{Stops: true, Where: w.where,
				Text: fmt.Sprintf("has %d disruption budgets; Kubernetes never evicts such a Pod", w.budgets)})
		case w.replicas == 1:
			found = append(found, Obstacle{Where: w.where,
				Text: "has one replica, and does not answer while its node is drained"})
		}
		if w.onHost {
			found = append(found, Obstacle{Where: w.where,
				Text: "has ports of its nodes: a new Pod begins when the old one on its node has ended, " +
					"and nothing answers there meanwhile"})
		}
	}
	return found
}

// workloadOf returns the workload of an item, or nil.
func workloadOf(item map[string]any) *workload {
	object := mapOf(item["object"])
	if !slices.Contains([]any{"Deployment", "StatefulSet", "DaemonSet"}, object["kind"]) {
		return nil
	}
	spec := mapOf(object["spec"])
	template := mapOf(spec["template"])
	replicas, ok := number(spec["replicas"])
	switch {
	case object["kind"] == "DaemonSet":
		replicas = 0 // as many as there are nodes
	case !ok:
		replicas = 1 // Kubernetes' default
	}
	return &workload{where: place(item), namespace: namespaceOf(object), replicas: replicas,
		labels: mapOf(mapOf(template["metadata"])["labels"]), onHost: hasHostPorts(mapOf(template["spec"]))}
}

// hasHostPorts reports whether a Pod takes ports of its node. Pods in the network of the host do not count: they serve
// the node itself.
func hasHostPorts(pod map[string]any) bool {
	if inHost, _ := pod["hostNetwork"].(bool); inHost {
		return false
	}
	containers, _ := pod["containers"].([]any)
	return slices.ContainsFunc(containers, func(container any) bool {
		ports, _ := mapOf(container)["ports"].([]any)
		return slices.ContainsFunc(ports, func(port any) bool {
			n, ok := number(mapOf(port)["hostPort"])
			return ok && n > 0
		})
	})
}

// forbids returns why a budget allows no disruption of so many replicas, or "".
func forbids(spec map[string]any, replicas int) string {
	if most, ok := number(spec["maxUnavailable"]); ok && most == 0 || spec["maxUnavailable"] == "0%" {
		return "maxUnavailable is 0"
	}
	least, ok := number(spec["minAvailable"])
	if spec["minAvailable"] == "100%" || ok && replicas > 0 && least >= replicas {
		return fmt.Sprintf("minAvailable is %v of %d", spec["minAvailable"], replicas)
	}
	return ""
}

func number(value any) (int, bool) {
	switch value := value.(type) {
	case float64:
		return int(value), true
	case int:
		return value, true
	case interface{ Int64() (int64, error) }: // of a document with exact numbers
		n, err := value.Int64()
		return int(n), err == nil
	}
	return 0, false
}

// selects reports whether labels match a selector. An empty one matches all, as that of a budget does.
func selects(match, labels map[string]any) bool {
	for key, value := range match {
		if labels[key] != value {
			return false
		}
	}
	return true
}

func namespaceOf(object map[string]any) string {
	return textOf(mapOf(object["metadata"])["namespace"])
}

// place returns where an item is, for people.
func place(item map[string]any) string {
	name := textOf(item["name"])
	if object := mapOf(item["object"]); object != nil {
		name = textOf(object["kind"]) + " " + name
	}
	return strings.TrimPrefix(cmp.Or(textOf(item["project"]), textOf(item["namespace"]))+"/"+name, "/")
}

// BackupObstacle says that there is no backup younger than a day. Newest is zero for none.
func BackupObstacle(newest, now time.Time) []Obstacle {
	const young = 24 * time.Hour
	switch {
	case newest.IsZero():
		return []Obstacle{{Stops: true, Where: "backup",
			Text: "there is no complete backup; `runner backup now` makes one"}}
	case now.Sub(newest) > young:
		return []Obstacle{{Stops: true, Where: "backup", Text: fmt.Sprintf("the newest complete backup is of %s, more "+
			"than a day ago; `runner backup now` makes one", newest.UTC().Format("2006-01-02 15:04"))}}
	}
	return nil
}
