package simulate_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"google.golang.org/grpc/status"

	"mara/runner/internal/core/request"
	"mara/runner/internal/feature/simulate"
)

func TestNamedFaults(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, fault string
		want        []string // errors of the creations of networks a and b, and of a plain resource
	}{
		{"everywhere it happens", "quota", []string{"too many networks, n (Network) in here", "too many networks, n (Network) in here", ""}},
		{"of one resource", "quota@b", []string{"", "too many networks, n (Network) in here", ""}},
		{"of a type", plainType + "=quota", []string{"", "", "too many of type Plain"}},
		{"of a type, once", networkType + "=1x:quota", []string{"too many networks, n (Network) in here", "", ""}},
		{"once by itself", "not-yet-visible", []string{"not found", "", ""}},
		{"of deletions", "deletion-blocked", []string{"", "", ""}},
		{"a message that begins with a name", networkType + "=quota reached", []string{"quota reached", "quota reached", ""}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := connect(t, start(t, simulate.Options{Fail: []simulate.Fault{fault(t, c.fault)}}), "fake", nil)
			inputs := resource.NewPropertyMapFromMap(map[string]any{"range": "r", "name": "n"})
			_, _, errA := e.tryCreate(t.Context(), networkType, "a", inputs)
			_, _, errB := e.tryCreate(t.Context(), networkType, "b", inputs)
			_, _, errPlain := e.tryCreate(t.Context(), plainType, "p", resource.PropertyMap{"size": resource.NewNumberProperty(1)})
			for i, err := range []error{errA, errB, errPlain} {
				if got := status.Convert(err).Message(); got != c.want[i] {
					t.Errorf("creation %d: got %q, want %q", i, got, c.want[i])
				}
			}
		})
	}
}

func TestNamedFaultOfADeletion(t *testing.T) {
	t.Parallel()
	e := connect(t, start(t, simulate.Options{Fail: []simulate.Fault{fault(t, "deletion-blocked")}}), "fake", nil)
	id, _ := e.create(networkType, "n", map[string]any{"range": "r"})
	wantError(t, e.delete(networkType, "n", id, nil), id+" is in use")
}

// TestThrottled: the provider retries for a minute, and then the operation succeeds.
func TestThrottled(t *testing.T) {
	t.Parallel()
	const speed = 300 // a minute takes 200ms
	e := connect(t, start(t, simulate.Options{Speed: speed, Fail: []simulate.Fault{fault(t, "throttled")}}), "fake", nil)
	for i, isSlow := range []bool{true, false} {
		begin := time.Now()
		_, _, err := e.tryCreate(t.Context(), plainType, string(rune('a'+i)), resource.PropertyMap{"size": resource.NewNumberProperty(1)})
		if took := time.Since(begin); err != nil || (took >= time.Minute/speed) != isSlow {
			t.Errorf("creation %d took %v, error %v", i, took, err)
		}
	}
}

// TestFaultsAreDocumented holds the table of docs/simulation.md against the faults.
func TestFaultsAreDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../../docs/simulation.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range simulate.FaultKinds() {
		if !strings.Contains(string(page), "\n| `"+kind.Name+"` | ") {
			t.Errorf("docs/simulation.md does not list %s", kind.Name)
		}
	}
}

func TestFaultsThatDoNotExist(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"quoat":                    `"quoat" is neither a resource type, which has a colon, nor one of the faults quota, capacity, `,
		"nothing-alike":            "credentials-expired, deletion-blocked",
		"quotas":                   `; did you mean "quota"?`,
		"quota@":                   "write for example quota@cluster",
		"quota=5":                  `"quota=5" has no resource type; write TYPE=5`,
		"":                         "has no resource type",
		"=quota":                   "has no resource type",
		"fake:x@=quota":            "has no resource type",
		"fake:x=init:read:no":      "init goes with create and update only",
		"fake:x=init:delete:quota": "init goes with create and update only",
	} {
		if _, err := simulate.ParseFault(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
	for text, want := range map[string]string{
		"capacity":                      "no simulated cloud has a fault capacity",
		plainType + "=capacity":         "give the error as a text: " + plainType + "=MESSAGE",
		plainType + "=deletion-blocked": "no simulated cloud has a fault deletion-blocked",
		"fake:index:Plan=quota":         "did you mean",
	} {
		_, err := simulate.Start(t.Context(), fakePackages(), simulate.Options{Dir: t.TempDir(), Fail: []simulate.Fault{fault(t, text)}})
		wantError(t, err, want)
	}
}

// TestFaultsHaveBehaviour: every fault that --simulate-fail offers is one that the clouds know, and the other way round.
func TestFaultsHaveBehaviour(t *testing.T) {
	t.Parallel()
	var known []string
	for _, kind := range simulate.FaultKinds() {
		known = append(known, kind.Name)
	}
	if diff := cmp.Diff(request.FaultNames(), known); diff != "" {
		t.Error(diff)
	}
}
