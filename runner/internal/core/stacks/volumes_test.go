package stacks

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestVolumeSizes: what StatefulSets and the values of charts claim; the memory that a Pod requests is no volume.
func TestVolumeSizes(t *testing.T) {
	t.Parallel()
	got, err := VolumeSizesIn([]byte(`{"resources": [
		{"type": "kubernetes:apps/v1:StatefulSet", "inputs": {"spec": {
			"template": {"spec": {"containers": [{"resources": {"requests": {"memory": "1Gi"}}}]}},
			"volumeClaimTemplates": [{"spec": {"resources": {"requests": {"storage": "5Gi"}}}}]}}},
		{"type": "kubernetes:helm.sh/v3:Release", "inputs": {"values": {
			"persistence": {"enabled": true, "size": "10Gi"},
			"prometheusSpec": {"storageSpec": {"volumeClaimTemplate": {"spec": {"resources": {"requests": {"storage": "20Gi"}}}}}}}}},
		{"type": "kubernetes:core/v1:Pod", "inputs": {"persistence": {"size": "99Gi"}}}]}`))
	if diff := cmp.Diff([]string{"10Gi", "20Gi", "5Gi"}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}
