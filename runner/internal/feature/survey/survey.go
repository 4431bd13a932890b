package survey

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"mara/config"
	"mara/projects"
	"mara/projects/model"
	"mara/projects/model/cloud"
	"mara/runner/internal/machine/typeset"
)

// Survey implements cloud.Surveyor.
func (c client) Survey(ctx context.Context, q cloud.Question) (cloud.Survey, error) {
	s, err := c.connect()
	if err != nil {
		return cloud.Survey{}, err
	}
	version, err := s.kinds.ServerVersion()
	if err != nil {
		return cloud.Survey{}, c.explain(ctx, err)
	}
	e := &examination{server: s, ctx: ctx, question: q, version: version.GitVersion}
	for _, step := range []func(){
		e.identify, e.nodes, e.distribution, e.storage, e.namespaces, e.entry, e.certManager, e.prometheus,
		e.ingressClasses, e.taken, e.hosts, e.gateways,
	} {
		step()
	}
	if q.Rights {
		e.rights()
	}
	return e.found, nil
}

// examination is a survey while it is made.
type examination struct {
	server
	ctx      context.Context
	question cloud.Question
	version  string
	all      []node
	spaces   []unstructured.Unstructured // namespaces; nil if they may not be listed
	ours     map[string]bool             // namespaces that this environment has made
	made     string                      // distribution
	foreign  bool                        // others have installed cert-manager
	found    cloud.Survey
}

// node is what counts of a node.
type node struct {
	name, provider, arch, image string
	labels, annotations         map[string]string
	external, internal          string
	ready, schedulable          bool
	cpu, memory                 resource.Quantity
}

func (e *examination) fact(format string, args ...any) {
	e.found.Facts = append(e.found.Facts, fmt.Sprintf(format, args...))
}

func (e *examination) problem(next, format string, args ...any) {
	e.found.Problems = append(e.found.Problems, cloud.Obstacle{Text: fmt.Sprintf(format, args...), Next: next})
}

func (e *examination) doubt(next, format string, args ...any) {
	e.found.Doubts = append(e.found.Doubts, cloud.Obstacle{Text: fmt.Sprintf(format, args...), Next: next})
}

func (e *examination) answer(key string, value any, why string) {
	e.found.Answers = append(e.found.Answers, config.Answer{Key: key, Value: value, Why: why})
}

// list lists the objects of a resource in all namespaces. ok is false if the cluster does not say; a resource that it
// does not have has no objects.
func (e *examination) list(group, version, name, selector string) (items []unstructured.Unstructured, ok bool) {
	found, err := e.objects.Resource(schema.GroupVersionResource{Group: group, Version: version, Resource: name}).
		List(e.ctx, metav1.ListOptions{LabelSelector: selector})
	switch {
	case apierrors.IsNotFound(err):
		return nil, true
	case err != nil:
		return nil, false
	}
	return found.Items, true
}

// identify compares the cluster with the one that the configuration names.
func (e *examination) identify() {
	wanted := e.question.Settings.Text(projects.IdentityKey)
	if wanted == "" {
		return
	}
	uid, err := e.identity(e.ctx)
	switch {
	case err != nil:
		e.problem("have an administrator let the user of the kubeconfig read the namespace kube-system, or unset "+
			projects.IdentityKey, "whether it is the cluster %s is not known: %v", wanted, err)
	case uid != wanted:
		e.problem("correct cluster:kubeconfig or cluster:context; only if everything shall be deleted in the other "+
			"cluster and created in this one, set "+projects.IdentityKey+" to "+uid,
			"it is another cluster: %s is %s, and the UID of its namespace kube-system is %s", projects.IdentityKey,
			wanted, uid)
	default:
		e.fact("identity: %s, as configured", uid)
	}
}

// nodes reads the nodes: capacity, architectures, and whether there are enough to run several of everything.
func (e *examination) nodes() {
	items, ok := e.list("", "v1", "nodes", "")
	if !ok {
		e.doubt("set "+projects.SmallKey+" and "+projects.DistributionKey, "the nodes may not be listed")
		return
	}
	var cpu, memory resource.Quantity
	workers := 0
	var architectures []string
	unknown := false
	for _, item := range items {
		n := nodeOf(item)
		e.all = append(e.all, n)
		if !n.ready || !n.schedulable {
			continue
		}
		workers++
		cpu.Add(n.cpu)
		memory.Add(n.memory)
		if n.arch == "" {
			unknown = true // its kubelet has not said
		} else if !slices.Contains(architectures, n.arch) {
			architectures = append(architectures, n.arch)
		}
	}
	slices.SortFunc(e.all, func(a, b node) int { return strings.Compare(a.name, b.name) })
	slices.Sort(architectures)
	gib := float64(memory.Value()) / (1 << 30)
	e.fact("%s for Pods: %s, %.0f GiB of memory, %s", typeset.Counted(workers, "node"),
		typeset.Counted(int(cpu.Value()), "processor"), gib,
		cmp.Or(strings.Join(architectures, " and "), "architecture unknown"))
	e.answer(projects.SmallKey, workers < 3, typeset.Counted(workers, "node")+" for Pods")
	if workers > 0 && (cpu.Value() < 2 || gib < 5.5) {
		e.doubt("leave projects out with --skip, or add nodes", "the nodes have %s and %.0f GiB of memory; all projects "+
			"together need 2 processors and 6 GiB", typeset.Counted(int(cpu.Value()), "processor"), gib)
	}
	if len(architectures) == 1 && !unknown && architectures[0] != "amd64" {
		e.answer("kic:platform", "linux/"+architectures[0], "all nodes are "+architectures[0])
	}
}

// nodeOf reads a node.
func nodeOf(item unstructured.Unstructured) node {
	text := func(fields ...string) string {
		found, _, _ := unstructured.NestedString(item.Object, fields...)
		return found
	}
	n := node{
		name: item.GetName(), provider: text("spec", "providerID"),
		labels: item.GetLabels(), annotations: item.GetAnnotations(),
		arch: text("status", "nodeInfo", "architecture"), image: text("status", "nodeInfo", "osImage"),
	}
	unschedulable, _, _ := unstructured.NestedBool(item.Object, "spec", "unschedulable")
	n.schedulable = !unschedulable
	for _, taint := range maps(item, "spec", "taints") {
		if taint["effect"] == "NoSchedule" || taint["effect"] == "NoExecute" {
			n.schedulable = false
		}
	}
	for _, condition := range maps(item, "status", "conditions") {
		n.ready = n.ready || condition["type"] == "Ready" && condition["status"] == "True"
	}
	for _, address := range maps(item, "status", "addresses") {
		value, _ := address["address"].(string)
		switch address["type"] {
		case "ExternalIP":
			n.external = cmp.Or(n.external, value)
		case "InternalIP":
			n.internal = cmp.Or(n.internal, value)
		}
	}
	n.cpu, _ = resource.ParseQuantity(cmp.Or(text("status", "allocatable", "cpu"), "0"))
	n.memory, _ = resource.ParseQuantity(cmp.Or(text("status", "allocatable", "memory"), "0"))
	return n
}

// maps returns the maps of a list.
func maps(item unstructured.Unstructured, fields ...string) []map[string]any {
	list, _, _ := unstructured.NestedSlice(item.Object, fields...)
	var found []map[string]any
	for _, element := range list {
		if m, ok := element.(map[string]any); ok {
			found = append(found, m)
		}
	}
	return found
}

// storage finds the class of volumes.
func (e *examination) storage() {
	class := e.question.Settings.Text(projects.StorageClass)
	items, ok := e.list("storage.k8s.io", "v1", "storageclasses", "")
	if !ok {
		e.doubt("", "the StorageClasses may not be listed; volumes need a default one, or %s", projects.StorageClass)
		return
	}
	var names []string
	var standard unstructured.Unstructured
	for _, item := range items {
		names = append(names, item.GetName())
		isNewer := item.GetCreationTimestamp().After(standard.GetCreationTimestamp().Time)
		if item.GetAnnotations()["storageclass.kubernetes.io/is-default-class"] == "true" &&
			(standard.Object == nil || isNewer) { // of several, Kubernetes takes the newest
			standard = item
		}
	}
	slices.Sort(names)
	has := "it has " + cmp.Or(strings.Join(names, ", "), "none")
	switch {
	case class != "" && !slices.Contains(names, class):
		e.problem("set "+projects.StorageClass+" to one of them", "there is no StorageClass %q; %s%s", class, has,
			config.DidYouMean(class, names))
	case class == "" && standard.Object == nil && e.needsVolumes():
		e.problem("set "+projects.StorageClass, "no StorageClass is the default, and volumes would wait for ever; %s", has)
	case standard.Object != nil:
		provisioner, _, _ := unstructured.NestedString(standard.Object, "provisioner")
		e.fact("volumes: StorageClass %s of %s", standard.GetName(), provisioner)
		// Volumes without a class keep the class they got, also when another one becomes the default.
		e.found.Answers = append(e.found.Answers, config.Answer{
			Key: projects.StorageClass, Value: standard.GetName(), ShownOnly: true,
			Why: "the default StorageClass, which the cluster chooses for each new volume",
		})
	}
}

// needsVolumes reports whether a project that will run has volumes.
func (e *examination) needsVolumes() bool {
	return slices.ContainsFunc(e.question.Projects, func(p model.Project) bool {
		_, ok := p.Key(projects.StorageClass)
		return ok
	})
}
