package e2e

import (
	"os"
	"os/signal"
	"syscall"
	"testing"
)

// TestMain listens to SIGHUP: where it is ignored, as under nohup, the programs
// that the tests start would ignore it as well.
func TestMain(m *testing.M) {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	os.Exit(m.Run())
}
