package e2e

import (
	"flag"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
)

// TestMain listens to SIGHUP: where it is ignored, as under nohup, the programs
// that the tests start would ignore it as well. Twice as many tests as usual run
// at once, for most wait for programs, and some of those for time to pass.
//
// Under the name of a language host the program is that one, and runs the policy pack of the tests.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == fakeHostName {
		serveFakeHost()
		return
	}
	if filepath.Base(os.Args[0]) == scriptHostName {
		serveScripts(os.Args[len(os.Args)-1])
		return
	}
	_ = flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))) // unless the command line says another number
	useMemory()
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	os.Exit(m.Run())
}

// long marks a test that takes many seconds and whose subject has shorter tests, too. `make test` runs with -short and
// skips it; `make test-all` and continuous integration run it.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it takes long: make test-all runs it")
	}
}
