package cli_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails when a goroutine outlives the tests. Pulumi's packages start
// theirs when they initialise.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m, goleak.IgnoreCurrent()) }
