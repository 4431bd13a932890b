package examine

import (
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"mara/runner/internal/kube/kubeapi"
)

// recordLimit exceeds what a Secret can hold, unpacked.
const recordLimit = 256 << 20

// readManifest reads the manifest that a release has installed; "" if there is no
// such release. Helm keeps each revision in a Secret, and labels the deployed one.
// https://helm.sh/docs/topics/kubernetes_apis/ and Helm's pkg/storage/driver.
func readManifest(ctx context.Context, c *kubeapi.Cluster, namespace, name string) (string, error) {
	selector := metav1.ListOptions{LabelSelector: "owner=helm,status=deployed,name=" + name}
	secrets := c.Objects.Resource(corev1.SchemeGroupVersion.WithResource("secrets"))
	list, err := secrets.Namespace(namespace).List(ctx, selector)
	if err != nil {
		return "", fmt.Errorf("reading Helm's record: %w", err)
	}
	record, ok := last(list.Items)
	if !ok {
		return "", nil
	}
	encoded, _, err := unstructured.NestedString(record.Object, "data", "release")
	if err != nil {
		return "", errors.New("the record of Helm has another form than expected")
	}
	return unpack(encoded)
}

// last returns the record with the highest revision.
func last(records []unstructured.Unstructured) (found unstructured.Unstructured, ok bool) {
	highest := -1
	for _, record := range records {
		if revision, err := strconv.Atoi(record.GetLabels()["version"]); err == nil && revision > highest {
			highest, found, ok = revision, record, true
		}
	}
	return found, ok
}

// unpack returns the manifest in the data of a record: gzipped JSON, encoded by
// Helm, and once more by the API.
func unpack(encoded string) (string, error) {
	reader, err := gzip.NewReader(decoded(decoded(strings.NewReader(encoded))))
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

func decoded(encoded io.Reader) io.Reader { return base64.NewDecoder(base64.StdEncoding, encoded) }
