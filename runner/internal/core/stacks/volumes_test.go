package stacks

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestVolumes: what StatefulSets and the values of charts claim; the memory that a Pod requests is no volume.
func TestVolumes(t *testing.T) {
	t.Parallel()
	got, err := VolumesIn([]byte(`{"resources": [
		{"type": "kubernetes:apps/v1:StatefulSet", "inputs": {"spec": {
			"template": {"spec": {"containers": [{"resources": {"requests": {"memory": "1Gi"}}}]}},
			"volumeClaimTemplates": [{"spec": {"storageClassName": "slow", "resources": {"requests": {"storage": "5Gi"}}}}]}}},
		{"type": "kubernetes:helm.sh/v3:Release", "inputs": {"values": {
			"persistence": {"enabled": true, "size": "10Gi", "storageClass": "fast"},
			"prometheusSpec": {"storageSpec": {"volumeClaimTemplate": {"spec": {"resources": {"requests": {"storage": "20Gi"}}}}}}}}},
		{"type": "kubernetes:core/v1:Pod", "inputs": {"persistence": {"size": "99Gi"}}}]}`))
	if diff := cmp.Diff([]Volume{{"10Gi", "fast"}, {"20Gi", ""}, {"5Gi", "slow"}}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}
