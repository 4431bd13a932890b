package simulate_test

import (
	"strings"
	"testing"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil/rpcerror"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"mara/runner/internal/feature/simulate"
)

func fault(t *testing.T, s string) simulate.Fault {
	t.Helper()
	f, err := simulate.ParseFault(s)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFaults(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, fault string
		want        []string // errors of the creations of a, b and then of an update of and a read of a
	}{
		{"by type", networkType, []string{"simulated failure of " + networkType, "simulated failure of " + networkType, "", ""}},
		{"with a message", networkType + "=quota: 5 = too few", []string{"quota: 5 = too few", "quota: 5 = too few", "", ""}},
		{"by glob", "fake:*=no", []string{"no", "no", "", ""}},
		{"by name", "*:Network@b=no", []string{"", "no", "", ""}},
		{"by the glob of a name", "*@?=no", []string{"no", "no", "", ""}},
		{"another type", machineType, []string{"", "", "", ""}},
		{"once", networkType + "=1x:no", []string{"no", "", "", ""}},
		{"updates", networkType + "=update:no", []string{"", "", "no", ""}},
		{"reads", networkType + "=read:no", []string{"", "", "", "no"}},
		{"updates and reads, once", networkType + "=update:read:1x:no", []string{"", "", "no", ""}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := connect(t, start(t, simulate.Options{Fail: []simulate.Fault{fault(t, c.fault)}}), "fake", nil)
			inputs := resource.PropertyMap{"range": resource.NewStringProperty("r")}
			id, _, errA := e.tryCreate(t.Context(), networkType, "a", inputs)
			_, _, errB := e.tryCreate(t.Context(), networkType, "b", inputs)
			errs := []error{errA, errB}
			if errA == nil {
				_, err := e.Update(t.Context(), &pulumirpc.UpdateRequest{Urn: urn(networkType, "a"), Id: id, News: e.packMap(inputs)})
				_, readErr := e.Read(t.Context(), &pulumirpc.ReadRequest{Urn: urn(networkType, "a"), Id: id})
				errs = append(errs, err, readErr)
			}
			for i, err := range errs {
				if got := status.Convert(err).Message(); got != c.want[i] {
					t.Errorf("operation %d: got %q, want %q", i, got, c.want[i])
				}
			}
		})
	}
}

func TestFaultsOfDeletions(t *testing.T) {
	t.Parallel()
	e := connect(t, start(t, simulate.Options{Fail: []simulate.Fault{fault(t, networkType+"=delete:2x:in use")}}), "fake", nil)
	id, _ := e.create(networkType, "n", map[string]any{"range": "r"})
	for range 2 {
		wantError(t, e.delete(networkType, "n", id, nil), "in use")
	}
	if err := e.delete(networkType, "n", id, nil); err != nil {
		t.Errorf("the third deletion: %v", err)
	}
}

func TestFailedCreationLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := connect(t, start(t, simulate.Options{Dir: dir, Fail: []simulate.Fault{fault(t, networkType)}}), "fake", nil)
	_, _, err := e.tryCreate(t.Context(), networkType, "n", resource.PropertyMap{"range": resource.NewStringProperty("r")})
	if status.Code(err) != codes.Aborted {
		t.Errorf("got the code %v, which would make the engine fear for its state", status.Code(err))
	}
	if left := files(t, dir); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestPartialFailure(t *testing.T) {
	t.Parallel()
	e := connect(t, start(t, simulate.Options{Fail: []simulate.Fault{fault(t, networkType+"=init:1x:not ready")}}), "fake", nil)
	inputs := resource.PropertyMap{"range": resource.MakeSecret(resource.NewStringProperty("r"))}
	_, _, err := e.tryCreate(t.Context(), networkType, "n", inputs)
	var partial *pulumirpc.ErrorResourceInitFailed
	for _, detail := range rpcerror.Convert(err).Details() {
		partial, _ = detail.(*pulumirpc.ErrorResourceInitFailed)
	}
	if partial == nil || len(partial.GetReasons()) != 1 || partial.GetReasons()[0] != "not ready" {
		t.Fatalf("got %v, want an initialization failure", err)
	}
	if got := e.unpack(partial.GetInputs()); !got.DeepEquals(inputs) {
		t.Errorf("got the inputs %v, want %v", got, inputs)
	}
	if _, ok := e.unpack(partial.GetProperties())["arn"]; !ok {
		t.Errorf("the outputs are missing: %v", partial.GetProperties())
	}
	if !e.exists(networkType, "n", partial.GetId()) {
		t.Error("the resource does not exist")
	}
	_, err = e.Update(t.Context(), &pulumirpc.UpdateRequest{Urn: urn(networkType, "n"), Id: partial.GetId(), News: e.packMap(inputs)})
	if err != nil {
		t.Errorf("the repair failed: %v", err)
	}
}

func TestSlow(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name string
		opts simulate.Options
		want time.Duration
	}{
		{"instant", simulate.Options{}, 0},
		{"a tenth of reality", simulate.Options{Speed: 10}, 100 * time.Millisecond},
		{"slowed down", simulate.Options{Speed: 1000, Slow: []simulate.Delay{delay(t, "*:Network=150ms")}}, 150 * time.Millisecond},
		{"slowed down though instant", simulate.Options{Slow: []simulate.Delay{delay(t, "*@n=50ms")}}, 50 * time.Millisecond},
		{"another is slow", simulate.Options{Slow: []simulate.Delay{delay(t, "*@other=1h")}}, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := connect(t, start(t, c.opts), "fake", nil)
			began := time.Now()
			e.create(networkType, "n", map[string]any{"range": "r"})
			if took := time.Since(began); took < c.want || took > c.want+5*time.Second {
				t.Errorf("took %v, want %v", took, c.want)
			}
		})
	}
}

func TestWrongOptions(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name string
		opts simulate.Options
		want string
	}{
		{"no directory", simulate.Options{Dir: "-"}, "no directory"},
		{"negative speed", simulate.Options{Speed: -1}, "the speed of a simulation cannot be -1"},
		{"a fault without a type", simulate.Options{Fail: []simulate.Fault{fault(t, "fake:index:Machin")}},
			`no simulated resource type matches "fake:index:Machin"; did you mean "fake:index:Machine"?`},
		{"a delay without a type", simulate.Options{Slow: []simulate.Delay{delay(t, "aws:*=1s")}}, `matches "aws:*"`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.opts.Dir == "" {
				c.opts.Dir = t.TempDir()
			} else {
				c.opts.Dir = ""
			}
			_, err := simulate.Start(t.Context(), fakePackages(), c.opts)
			wantError(t, err, c.want)
		})
	}
	custom := simulate.Options{Dir: t.TempDir(), Fail: []simulate.Fault{fault(t, "cluster:example.com/v1:Any")}}
	start(t, custom)
}

func TestDamagedRecord(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFile(t, dir, "fake/index.Machine/web.json", "{")
	_, err := simulate.Start(t.Context(), fakePackages(), simulate.Options{Dir: dir})
	wantError(t, err, "remove the file to forget the resource")
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, wrong := range []string{"", "=message", "@name", "a:b:C@=x", "a:b:C=init:delete:x"} {
		if f, err := simulate.ParseFault(wrong); err == nil {
			t.Errorf("the fault %q was read as %+v", wrong, f)
		}
	}
	for _, wrong := range []string{"", "a:b:C", "a:b:C=", "a:b:C=soon", "a:b:C=-1s", "=1s"} {
		_, err := simulate.ParseDelay(wrong)
		if err == nil || !strings.Contains(err.Error(), "write for example") {
			t.Errorf("the delay %q: %v", wrong, err)
		}
	}
	if got := fault(t, "a:b:C@n=4x4: no").Message; got != "4x4: no" {
		t.Errorf("got the message %q", got)
	}
	if got := delay(t, "a:b:C=1m30s"); got.Duration != 90*time.Second || got.Pattern.String() != "a:b:C" {
		t.Errorf("got %v", got)
	}
}
