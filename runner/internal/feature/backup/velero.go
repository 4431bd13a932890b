// Package backup makes, lists and restores backups with the Velero that the project backup has installed: its
// server works on objects of the cluster, which this package creates and reads.
package backup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"mara/config/lists"
	"mara/runner/internal/kube/kubeapi"
	"mara/runner/internal/machine/interrupt"
)

// Changes lists the changes that this package makes in a cluster.
func Changes() []string {
	return []string{"create backups.velero.io", "create restores.velero.io", "delete restores.velero.io"}
}

// Server is the Velero of a cluster.
type Server struct {
	Cluster   *kubeapi.Cluster
	Namespace string        // in which Velero runs
	Interval  time.Duration // between two looks at work in progress
}

// Backup is one backup.
type Backup struct {
	Name       string    `json:"name"`
	Phase      string    `json:"phase"` // Completed, PartiallyFailed, Failed, InProgress...
	Started    time.Time `json:"started,omitzero"`
	Expires    time.Time `json:"expires,omitzero"`
	Namespaces []string  `json:"namespaces,omitempty"` // none for all
	Schedule   string    `json:"schedule,omitempty"`
	Problem    string    `json:"problem,omitempty"`
}

// work is the part of a Backup or Restore that is read.
type work struct {
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		IncludedNamespaces []string `json:"includedNamespaces"`
	} `json:"spec"`
	Status struct {
		Phase            string      `json:"phase"`
		StartTimestamp   metav1.Time `json:"startTimestamp"`
		Expiration       metav1.Time `json:"expiration"`
		FailureReason    string      `json:"failureReason"`
		ValidationErrors []string    `json:"validationErrors"`
		Errors           int         `json:"errors"`
	} `json:"status"`
}

// resource returns a resource of Velero.
func resource(name string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "velero.io", Version: "v1", Resource: name}
}

// List lists the backups, the newest first.
func (s Server) List(ctx context.Context) ([]Backup, error) {
	found, err := list[work](ctx, s, "backups", "")
	if err != nil {
		return nil, err
	}
	backups := append([]Backup{}, lists.Map(found, backupOf)...)
	slices.SortFunc(backups, func(a, b Backup) int {
		return cmp.Or(b.Started.Compare(a.Started), strings.Compare(a.Name, b.Name))
	})
	return backups, nil
}

// backupOf describes a Backup.
func backupOf(w work) Backup {
	b := Backup{
		Name: w.Name, Phase: cmp.Or(w.Status.Phase, "New"), Schedule: w.Labels["velero.io/schedule-name"],
		Problem: w.problem(), Started: w.Status.StartTimestamp.Time, Expires: w.Status.Expiration.Time,
	}
	if !slices.Contains(w.Spec.IncludedNamespaces, "*") {
		b.Namespaces = w.Spec.IncludedNamespaces
	}
	return b
}

// problem returns why a Backup or Restore is not complete.
func (w work) problem() string {
	reasons := slices.Clone(w.Status.ValidationErrors)
	if w.Status.FailureReason != "" {
		reasons = append(reasons, w.Status.FailureReason)
	}
	if w.Status.Errors > 0 {
		reasons = append(reasons, fmt.Sprintf("%d errors in its log", w.Status.Errors))
	}
	return strings.Join(reasons, "; ")
}

// Skipped lists the claims in namespaces, or in all, whose volumes Velero would skip without a word:
// directories of a node.
func (s Server) Skipped(ctx context.Context, namespaces []string) ([]string, error) {
	volumes, err := kubeapi.List[corev1.PersistentVolume](ctx, s.Cluster, "persistentvolumes", "", "")
	if err != nil {
		return nil, err
	}
	var skipped []string
	for _, volume := range volumes {
		claim := volume.Spec.ClaimRef
		if volume.Spec.HostPath != nil && claim != nil &&
			(len(namespaces) == 0 || slices.Contains(namespaces, claim.Namespace)) {
			skipped = append(skipped, claim.Namespace+"/"+claim.Name)
		}
	}
	slices.Sort(skipped)
	return skipped, nil
}

// Back makes a backup, and returns it when it has ended.
func (s Server) Back(ctx context.Context, name string, namespaces []string) (Backup, error) {
	spec := map[string]any{"storageLocation": "default", "defaultVolumesToFsBackup": true}
	w, err := s.make(ctx, "Backup", name, namespaces, spec)
	if err != nil {
		return Backup{}, err
	}
	return backupOf(w), ended("the backup "+name, w)
}

// Lost lists the volumes of Pods that a backup should have and that are not complete in it.
func (s Server) Lost(ctx context.Context, backup string) ([]string, error) {
	type volumeBackup struct {
		Spec struct {
			Pod    metav1.ObjectMeta `json:"pod"` // its namespace and name
			Volume string            `json:"volume"`
		} `json:"spec"`
		Status struct {
			Phase   string `json:"phase"`
			Message string `json:"message"`
		} `json:"status"`
	}
	found, err := list[volumeBackup](ctx, s, "podvolumebackups", "velero.io/backup-name="+backup)
	if err != nil {
		return nil, err
	}
	var lost []string
	for _, volume := range found {
		if volume.Status.Phase != "Completed" {
			text := fmt.Sprintf("%s/%s %s: %s %s", volume.Spec.Pod.Namespace, volume.Spec.Pod.Name, volume.Spec.Volume,
				volume.Status.Phase, volume.Status.Message)
			lost = append(lost, strings.TrimSuffix(text, " "))
		}
	}
	slices.Sort(lost)
	return lost, nil
}

// Restore restores a backup, or some of its namespaces, and returns when it has ended. It changes no object
// that is there. A restore that is complete is not kept in the cluster: only a running Velero can remove it, so that
// the namespace of a Velero that is destroyed would stay. One that is not complete is kept with its log.
func (s Server) Restore(ctx context.Context, name, backup string, namespaces []string) error {
	spec := map[string]any{"backupName": backup, "existingResourcePolicy": "none"}
	w, err := s.make(ctx, "Restore", name, namespaces, spec)
	if err != nil {
		return err
	}
	if err := ended("the restore of "+backup, w); err != nil {
		return err
	}
	restores := s.Cluster.Objects.Resource(resource("restores")).Namespace(s.Namespace)
	if err := restores.Delete(ctx, name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("the backup is restored; removing %s, which is done: %w", name, err)
	}
	return nil
}

// make creates a Backup or Restore of namespaces, or of all, and waits for its end.
func (s Server) make(ctx context.Context, kind, name string, namespaces []string, spec map[string]any) (
	w work, err error) {
	if len(namespaces) > 0 {
		spec["includedNamespaces"] = lists.Map(namespaces, func(namespace string) any { return namespace })
	}
	client := s.Cluster.Objects.Resource(resource(strings.ToLower(kind) + "s")).Namespace(s.Namespace)
	created, err := client.Create(ctx, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "velero.io/v1", "kind": kind, "spec": spec,
		"metadata": map[string]any{"name": name, "namespace": s.Namespace},
	}}, metav1.CreateOptions{FieldManager: "mara"})
	if err != nil {
		return w, fmt.Errorf("making %s: %w", name, err)
	}
	for {
		w = work{}
		if err := decode(created.Object, &w); err != nil {
			return w, err
		}
		switch w.Status.Phase {
		case "", "New", "Queued", "ReadyToStart", "InProgress", "WaitingForPluginOperations", "Finalizing",
			"WaitingForPluginOperationsPartiallyFailed", "FinalizingPartiallyFailed":
		default:
			return w, nil
		}
		if err := interrupt.Sleep(ctx, s.Interval); err != nil {
			return w, fmt.Errorf("waiting for %s, which continues in the cluster: %w", name, err)
		}
		if created, err = client.Get(ctx, name, metav1.GetOptions{}); err != nil {
			return w, fmt.Errorf("reading %s: %w", name, err)
		}
	}
}

// ended returns an error for work that is not complete.
func ended(what string, w work) error {
	if w.Status.Phase == "Completed" {
		return nil
	}
	if problem := w.problem(); problem != "" {
		return fmt.Errorf("%s is %s: %s", what, w.Status.Phase, problem)
	}
	return fmt.Errorf("%s is %s", what, w.Status.Phase)
}

// list lists objects of Velero whose labels match the selector. T is Go's type of them.
func list[T any](ctx context.Context, s Server, kind, selector string) ([]T, error) {
	found, err := s.Cluster.Objects.Resource(resource(kind)).Namespace(s.Namespace).
		List(ctx, metav1.ListOptions{LabelSelector: selector})
	if apierrors.IsNotFound(err) {
		return nil, errors.New("the cluster has no Velero: name backup in `with` of mara.yaml, and run `runner up`")
	}
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", kind, err)
	}
	objects := make([]T, len(found.Items))
	for i, item := range found.Items {
		if err := decode(item.Object, &objects[i]); err != nil {
			return nil, err
		}
	}
	return objects, nil
}

// decode reads an object.
func decode(object map[string]any, into any) error {
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object, into); err != nil {
		return fmt.Errorf("reading what Velero says: %w", err)
	}
	return nil
}
