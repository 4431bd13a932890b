package projects

import "testing"

// TestMemoryOf: the names of types tell their memory, or nothing.
func TestMemoryOf(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int{
		"t3.large": 8, "m6i.xlarge": 16, "c7g.2xlarge": 16, "r6i.large": 16, "t3.medium": 0, "g5.xlarge": 0, "u-3tb1.56xlarge": 0,
		"g6-standard-4": 8, "g6-dedicated-8": 16, "g8-dedicated-8-4": 8, "g7-premium-4": 8, "g6-nanode-1": 0,
		"s-4vcpu-8gb": 8, "s-4vcpu-16gb-amd": 16, "c-4": 0, "": 0,
	} {
		if got := memoryOf(name); got != want {
			t.Errorf("%s: got %d, want %d", name, got, want)
		}
	}
	for heap, want := range map[string]float64{"2g": 2, "512m": 0.5, "": 0, "2G": 2, "x": 0, "100": 0} {
		if got := inGiB(heap); got != want {
			t.Errorf("%q: got %v, want %v", heap, got, want)
		}
	}
}
