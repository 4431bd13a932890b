package e2e

import (
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
)

// TestMain listens to SIGHUP: where it is ignored, as under nohup, the programs
// that the tests start would ignore it as well.
//
// Under the name of a language host the program is that one.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == fakeHostName {
		serveFakeHost()
		return
	}
	useMemory()
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	os.Exit(m.Run())
}
