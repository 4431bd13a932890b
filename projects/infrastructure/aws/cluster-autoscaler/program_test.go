package clusterautoscaler

import (
	"strings"
	"testing"
)

// TestImageTag takes the newest known patch of the cluster's minor version, and no other minor version.
func TestImageTag(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ minor, wanted, tag, problem string }{
		{"1.34", "", "v1.34.5", ""}, {"1.36", "1.36.9", "v1.36.9", ""},
		{"1.36", "1.35.2", "", "set a version 1.36.N"}, {"1.3", "1.36.1", "", "set a version 1.3.N"},
		{"1.99", "", "", "no version of the cluster autoscaler is known for Kubernetes 1.99, but for 1.33, 1.34, 1.35, 1.36, 1.37"},
	} {
		tag, err := imageTag(test.minor, test.wanted)
		if tag != test.tag || (err == nil) != (test.problem == "") || err != nil && !strings.Contains(err.Error(), test.problem) {
			t.Errorf("%+v: %q, %v", test, tag, err)
		}
	}
}
