package inputs_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects/internal/inputs"
)

func TestOf(t *testing.T) {
	t.Parallel()
	got := inputs.Of(struct {
		Name    pulumi.StringInput    `pulumi:"name"`
		Workers pulumi.IntPtrInput    `pulumi:"workers"`
		Labels  pulumi.StringMapInput `pulumi:"labels"`
	}{Name: pulumi.String("dev"), Workers: pulumi.Int(0)})
	if diff := cmp.Diff(pulumi.Map{"name": pulumi.String("dev"), "workers": pulumi.Int(0)}, got); diff != "" {
		t.Errorf("inputs (-want +got):\n%s", diff)
	}
}
