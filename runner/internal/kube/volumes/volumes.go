// Package volumes makes the volumes of a project bigger, which neither Pulumi nor Helm can: the API server refuses to
// change the claim templates of a StatefulSet, and a new StatefulSet leaves the claims that exist as they are. So the
// claims are changed, and the StatefulSet is deleted without its Pods: the one that the project makes adopts them.
package volumes

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"mara/runner/internal/kube/kubeapi"
	"mara/runner/internal/machine/interrupt"
)

// Changes are those that Grow makes, for kubeapi.Connect.
func Changes() []string { return []string{"patch persistentvolumeclaims", "delete statefulsets.apps"} }

var (
	claimsOf  = schema.GroupVersionResource{Version: "v1", Resource: "persistentvolumeclaims"}
	setsOf    = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "statefulsets"}
	classesOf = schema.GroupVersionResource{Group: "storage.k8s.io", Version: "v1", Resource: "storageclasses"}
)

// Wanted is how the volumes of a namespace are to be.
type Wanted struct {
	Namespace string
	Size      string
	Class     string // "" for the cluster's default
	// Keep leaves the StatefulSets as they are: their program makes no new ones.
	Keep bool
}

// Growth is what makes the volumes of a namespace as big as they are to be.
type Growth struct {
	Claims []Claim
	Sets   []string // StatefulSets that are made anew
	wanted Wanted
	uids   map[string]types.UID
}

// Claim is a claim that gets bigger.
type Claim struct{ Name, From string }

// RefusedError says that the volumes cannot be as they are to be.
type RefusedError struct {
	Text, Next string
}

func (e *RefusedError) Error() string { return e.Text }

// NextStep says what to do.
func (e *RefusedError) NextStep() string { return e.Next }

// Needed reports whether something has to be done.
func (g Growth) Needed() bool { return len(g.Claims)+len(g.Sets) > 0 }

// String says what is done: "the volumes data-db-0 and data-db-1 grow from 5Gi to 10Gi, while their Pods run".
func (g Growth) String() string {
	var lines []string
	for _, claim := range g.Claims {
		lines = append(lines, fmt.Sprintf("the volume %s/%s grows from %s to %s", g.wanted.Namespace, claim.Name, claim.From, g.wanted.Size))
	}
	for _, set := range g.Sets {
		lines = append(lines, fmt.Sprintf("the StatefulSet %s/%s is made anew, and its Pods keep running", g.wanted.Namespace, set))
	}
	return strings.Join(lines, "; ")
}

// Find compares the volumes of a namespace with what they are to be. It returns a RefusedError if they cannot become so.
func Find(ctx context.Context, c *kubeapi.Cluster, w Wanted) (Growth, error) {
	g := Growth{wanted: w, uids: map[string]types.UID{}}
	size, err := resource.ParseQuantity(w.Size)
	if err != nil {
		return g, fmt.Errorf("the size of volumes %q: %w", w.Size, err)
	}
	sets, err := c.Objects.Resource(setsOf).Namespace(w.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return g, fmt.Errorf("listing the StatefulSets of the namespace %s: %w", w.Namespace, err)
	}
	claims, err := c.Objects.Resource(claimsOf).Namespace(w.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return g, fmt.Errorf("listing the claims of the namespace %s: %w", w.Namespace, err)
	}
	var templates []template
	for _, set := range sets.Items {
		of := templatesOf(set)
		templates = append(templates, of...)
		if w.Keep || len(set.GetOwnerReferences()) > 0 { // an operator makes its own anew
			continue
		}
		for _, t := range of {
			if err := t.allows(w, size, claims.Items); err != nil {
				return g, err
			}
		}
		if slices.ContainsFunc(of, func(t template) bool { return t.size.Cmp(size) != 0 || t.class != w.Class }) {
			g.Sets = append(g.Sets, set.GetName())
			g.uids[set.GetName()] = set.GetUID()
		}
	}
	for _, claim := range claims.Items {
		is := quantity(claim, "spec", "resources", "requests", "storage")
		if isOurs(claim, templates) && is.Cmp(size) < 0 {
			g.Claims = append(g.Claims, Claim{claim.GetName(), is.String()})
			if err := growable(ctx, c.Objects, claim, w); err != nil {
				return g, err
			}
		}
	}
	return g, nil
}

// template is a claim template of a StatefulSet.
type template struct {
	set, name, class string
	size             resource.Quantity
}

func templatesOf(set unstructured.Unstructured) (found []template) {
	list, _, _ := unstructured.NestedSlice(set.Object, "spec", "volumeClaimTemplates")
	for _, element := range list {
		object, _ := element.(map[string]any)
		claim := unstructured.Unstructured{Object: object}
		class, _, _ := unstructured.NestedString(object, "spec", "storageClassName")
		found = append(found, template{
			set: set.GetName(), name: claim.GetName(), class: class,
			size: quantity(claim, "spec", "resources", "requests", "storage"),
		})
	}
	return found
}

// has reports whether a claim is of a template: claims are named TEMPLATE-SET-NUMBER.
func (t template) has(claim unstructured.Unstructured) bool {
	number, ok := strings.CutPrefix(claim.GetName(), t.name+"-"+t.set+"-")
	return ok && number != "" && strings.Trim(number, "0123456789") == ""
}

// allows returns an error if a template cannot be changed as it is wanted. That a class is named which the claims have, or
// none any more, changes no volume.
func (t template) allows(w Wanted, size resource.Quantity, claims []unstructured.Unstructured) error {
	if t.size.Cmp(size) > 0 {
		return &RefusedError{
			Text: fmt.Sprintf("the volumes of the StatefulSet %s/%s have %s, and none can be made smaller: %s is wanted",
				w.Namespace, t.set, t.size.String(), w.Size),
			Next: "set the size to " + t.size.String() + " or more; for a smaller volume, make a new application and move the data",
		}
	}
	if w.Class == "" || t.class == w.Class {
		return nil
	}
	for _, claim := range claims {
		if class, _, _ := unstructured.NestedString(claim.Object, "spec", "storageClassName"); t.has(claim) && class != w.Class {
			return &RefusedError{
				Text: fmt.Sprintf("the volume of the claim %s/%s is of the StorageClass %s, which cannot be changed: %s is wanted",
					w.Namespace, claim.GetName(), class, w.Class),
				Next: "set the StorageClass to " + class + "; for another class, make a new application and move the data",
			}
		}
	}
	return nil
}

// isOurs reports whether a claim is of a StatefulSet or of a chart.
func isOurs(claim unstructured.Unstructured, templates []template) bool {
	return claim.GetAnnotations()["meta.helm.sh/release-name"] != "" ||
		slices.ContainsFunc(templates, func(t template) bool { return t.has(claim) })
}

// growable returns an error if the class of a claim cannot make its volume bigger.
func growable(ctx context.Context, objects dynamic.Interface, claim unstructured.Unstructured, w Wanted) error {
	name, _, _ := unstructured.NestedString(claim.Object, "spec", "storageClassName")
	refused := &RefusedError{
		Text: fmt.Sprintf("the volume of the claim %s/%s cannot be made bigger: its StorageClass %s does not allow it",
			w.Namespace, claim.GetName(), cmp.Or(name, "(none)")),
		Next: "keep the size; or, if the driver of the class can do it, `kubectl patch storageclass " + name +
			" -p '{\"allowVolumeExpansion\":true}'`",
	}
	if name == "" {
		return refused
	}
	class, err := objects.Resource(classesOf).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		refused.Text = fmt.Sprintf("whether the StorageClass %s allows bigger volumes is not known: %v", name, err)
		return refused
	}
	if allowed, _, _ := unstructured.NestedBool(class.Object, "allowVolumeExpansion"); !allowed {
		return refused
	}
	return nil
}

func quantity(object unstructured.Unstructured, fields ...string) resource.Quantity {
	text, _, _ := unstructured.NestedString(object.Object, fields...)
	parsed, _ := resource.ParseQuantity(cmp.Or(text, "0")) // the API server has checked it
	return parsed
}

// How long a StatefulSet may take to go, and how often it is looked at.
const (
	goneTime = time.Minute
	lookTime = time.Second
)

// Grow makes the claims bigger, and deletes the StatefulSets without their Pods.
func Grow(ctx context.Context, c *kubeapi.Cluster, g Growth) error {
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"resources": map[string]any{
		"requests": map[string]any{"storage": g.wanted.Size},
	}}})
	if err != nil {
		return err
	}
	for _, claim := range g.Claims {
		_, err := c.Objects.Resource(claimsOf).Namespace(g.wanted.Namespace).
			Patch(ctx, claim.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "mara"})
		if err != nil {
			return fmt.Errorf("making the volume of the claim %s/%s bigger: %w", g.wanted.Namespace, claim.Name, err)
		}
	}
	for _, set := range g.Sets {
		if err := g.orphan(ctx, c, set); err != nil {
			return fmt.Errorf("deleting the StatefulSet %s/%s without its Pods: %w", g.wanted.Namespace, set, err)
		}
	}
	return nil
}

// orphan deletes a StatefulSet without its Pods, and waits until it is gone.
func (g Growth) orphan(ctx context.Context, c *kubeapi.Cluster, set string) error {
	sets := c.Objects.Resource(setsOf).Namespace(g.wanted.Namespace)
	propagation, uid := metav1.DeletePropagationOrphan, g.uids[set]
	err := sets.Delete(ctx, set, metav1.DeleteOptions{
		PropagationPolicy: &propagation, Preconditions: &metav1.Preconditions{UID: &uid},
	})
	ctx, cancel := context.WithTimeout(ctx, goneTime)
	defer cancel()
	for err == nil {
		if _, err = sets.Get(ctx, set, metav1.GetOptions{}); err == nil {
			err = interrupt.Sleep(ctx, lookTime)
		}
	}
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
