package examine

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"mara/config/lists"
	"mara/runner/internal/kube/kubeapi"
	"mara/runner/internal/kube/manifest"
	"mara/runner/internal/machine/parallel"
)

// fieldManager names the dry runs in the API server's log.
const fieldManager = "mara-drift"

// atOnce bounds how many objects are compared at the same time.
const atOnce = 8

// Difference describes an object that differs from the release.
type Difference struct {
	Kind    string   // "Deployment"
	Name    string   // with its namespace, if it has one: "shop/web"
	Missing bool     // the object was deleted
	Fields  []string // the changed fields; never their values
	Unknown string   // why the object cannot be compared; "" if it could be
}

// Release finds changes to the objects of a Helm release since Helm installed them. The
// release's own record in the cluster has the manifest. For each object, it sends the API
// server a server-side apply of that manifest as a dry run: the server knows defaults and
// normal forms, and fields that the release does not set are ignored. Nothing is changed.
//
// A missing release has no differences: other checks report it.
func Release(ctx context.Context, c *kubeapi.Cluster, namespace, name string) ([]Difference, error) {
	text, err := readManifest(ctx, c, namespace, name)
	if err != nil {
		return nil, fmt.Errorf("release %s/%s: %w", namespace, name, err)
	}
	objects, err := manifest.Objects(text)
	if err != nil {
		return nil, fmt.Errorf("release %s/%s: %w", namespace, name, err)
	}
	found, err := parallel.Limited(ctx, atOnce, objects, func(ctx context.Context, object manifest.Object) (
		Difference, error) {
		found, err := compare(ctx, c, namespace, object)
		if err != nil {
			err = fmt.Errorf("release %s/%s: %s: %w", namespace, name, object, err)
		}
		return found, err
	})
	return slices.DeleteFunc(found, Difference.isNone), err
}

func (d Difference) isNone() bool { return !d.Missing && len(d.Fields) == 0 && d.Unknown == "" }

// compare compares one object.
func compare(ctx context.Context, c *kubeapi.Cluster, namespace string, object manifest.Object) (Difference, error) {
	wanted := &unstructured.Unstructured{Object: object}
	client, err := c.Client(ctx, wanted, namespace)
	if errors.Is(err, kubeapi.ErrNoKind) { // its definition was deleted, and all objects with it
		return difference(wanted, Difference{Missing: true}), nil
	}
	if err != nil {
		return Difference{}, err
	}
	return compareWith(ctx, client, wanted)
}

// attempts bounds the comparisons of an object that keeps changing.
const attempts = 5

// compareWith compares an object with the one that its client gets. If a controller
// changes the object between the get and the dry run, it repeats both.
func compareWith(ctx context.Context, client dynamic.ResourceInterface,
	wanted *unstructured.Unstructured) (Difference, error) {
	for attempt := 1; ; attempt++ {
		live, err := client.Get(ctx, wanted.GetName(), metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			// Kubernetes deletes a Job with a time to live once it is done.
			_, limited, _ := unstructured.NestedFieldNoCopy(wanted.Object, "spec", "ttlSecondsAfterFinished")
			return difference(wanted, Difference{Missing: wanted.GetKind() != "Job" || !limited}), nil
		}
		if err != nil {
			return Difference{}, err
		}
		applied, err := kubeapi.DryRun(ctx, client, wanted, fieldManager)
		if err != nil {
			found, err := explainRefusal(err)
			return difference(wanted, found), err
		}
		found := difference(wanted, Difference{Fields: changed(live.Object, applied.Object)})
		if found.isNone() || attempt == attempts || isUnchanged(ctx, client, live) {
			return found, nil
		}
	}
}

// isUnchanged reports whether the object in the cluster still has the same version.
func isUnchanged(ctx context.Context, client dynamic.ResourceInterface, was *unstructured.Unstructured) bool {
	is, err := client.Get(ctx, was.GetName(), metav1.GetOptions{})
	return err == nil && is.GetResourceVersion() == was.GetResourceVersion()
}

// difference adds the kind and name of the object to a difference.
func difference(object *unstructured.Unstructured, found Difference) Difference {
	found.Kind, found.Name = object.GetKind(), strings.TrimPrefix(object.GetNamespace()+"/"+object.GetName(), "/")
	return found
}

// explainRefusal turns the error of a dry run into a difference: immutable fields
// that were changed, or the reason why this object cannot be compared. It returns
// errors that are not about the object.
func explainRefusal(err error) (Difference, error) {
	var found Difference
	status, ok := err.(apierrors.APIStatus)
	if !ok {
		return found, err
	}
	if apierrors.IsInvalid(err) && status.Status().Details != nil {
		for _, cause := range status.Status().Details.Causes {
			found.Fields = append(found.Fields, cause.Field)
		}
	}
	if len(found.Fields) == 0 {
		found.Unknown, _, _ = strings.Cut(err.Error(), "\n")
	}
	return found, nil
}

// recordLimit exceeds what a Secret can hold, unpacked.
const recordLimit = 256 << 20

// readManifest reads the manifest that a release has installed; "" if there is no
// such release. Helm keeps each revision in a Secret, and labels the deployed one.
// https://helm.sh/docs/topics/kubernetes_apis/ and Helm's pkg/storage/driver.
func readManifest(ctx context.Context, c *kubeapi.Cluster, namespace, name string) (string, error) {
	deployed := "owner=helm,status=deployed,name=" + name
	records, err := kubeapi.List[corev1.Secret](ctx, c, "secrets", namespace, deployed)
	if err != nil {
		return "", fmt.Errorf("reading Helm's record: %w", err)
	}
	var last *corev1.Secret
	highest := -1
	for i, record := range records {
		if revision, err := strconv.Atoi(record.Labels["version"]); err == nil && revision > highest {
			highest, last = revision, &records[i]
		}
	}
	if last == nil {
		return "", nil
	}
	return unpack(last.Data["release"])
}

// unpack returns the manifest in the data of a record: gzipped JSON in base64.
func unpack(encoded []byte) (string, error) {
	reader, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(encoded)))
	var record struct {
		Manifest string `json:"manifest"`
	}
	if err == nil {
		err = json.NewDecoder(io.LimitReader(reader, recordLimit)).Decode(&record)
	}
	if err != nil {
		return "", errors.New("the record of Helm cannot be read") // its content may hold secrets
	}
	return record.Manifest, nil
}

// serverFields are fields that the API server sets, and that a dry run changes
// although nothing else differs.
var serverFields = map[string]bool{
	"status": true, "metadata.managedFields": true, "metadata.resourceVersion": true,
	"metadata.generation": true, "metadata.creationTimestamp": true, "metadata.uid": true,
	"metadata.annotations.deprecated.daemonset.template.generation": true,
}

// changed lists the fields in which two objects differ, in order.
func changed(live, applied map[string]any) []string {
	var fields []string
	compareValues("", live, applied, &fields)
	slices.Sort(fields)
	return fields
}

func compareValues(path string, live, applied any, fields *[]string) {
	switch is := live.(type) {
	case map[string]any:
		if other, ok := applied.(map[string]any); ok {
			for _, key := range lists.Keys(is, other) {
				if at := strings.TrimPrefix(path+"."+key, "."); !serverFields[at] {
					compareValues(at, is[key], other[key], fields)
				}
			}
			return
		}
	case []any:
		if other, ok := applied.([]any); ok && len(is) == len(other) {
			for i := range is {
				compareValues(fmt.Sprintf("%s[%d]", path, i), is[i], other[i], fields)
			}
			return
		}
	}
	if !reflect.DeepEqual(live, applied) {
		*fields = append(*fields, path)
	}
}
