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
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"mara/runner/internal/kube/kubeapi"
)

// recordLimit exceeds what a Secret can hold, unpacked.
const recordLimit = 256 << 20

// readManifest reads the manifest that a release has installed; "" if there is no
// such release. Helm keeps each revision in a Secret, and labels the deployed one.
// https://helm.sh/docs/topics/kubernetes_apis/ and Helm's pkg/storage/driver.
func readManifest(ctx context.Context, c *kubeapi.Cluster, namespace, name string) (string, error) {
	deployed := metav1.ListOptions{LabelSelector: "owner=helm,status=deployed,name=" + name}
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
