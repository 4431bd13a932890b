package stacks

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails when a goroutine outlives the tests. Pulumi's packages start
// theirs when they initialise, and a preview whose command fails leaves one: the
// Automation API never closes the channel that it reads.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreCurrent(),
		goleak.IgnoreTopFunction("github.com/pulumi/pulumi/sdk/v3/go/auto.(*Stack).Preview.func1"),
		goleak.IgnoreTopFunction("github.com/pulumi/pulumi/sdk/v3/go/auto.(*Stack).PreviewRefresh.func1"))
}
