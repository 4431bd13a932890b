package main

import (
	"os"
	"runtime"
	"strings"

	"github.com/pulumi/pulumi/pkg/v3/backend"
	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"
)

// databases keeps the backends in PostgreSQL that a worker has opened, by address. Pulumi opens a pool of connections
// for each command and closes none: it expects its process to end. Here the next command gets the same pool, and the
// end of the worker closes it.
type databases map[string]backend.Backend

// open returns a backend for a project: the one that was opened before, if it is in PostgreSQL.
func (d databases) open(
	address string, project *workspace.Project, open func() (backend.Backend, error),
) (backend.Backend, error) {
	if !strings.HasPrefix(address, "postgres://") {
		return open()
	}
	if os.Getenv(parallelVariable) == "" {
		_ = os.Setenv(parallelVariable, "1") // with more, a list of more stacks than connections waits for itself
	}
	if known := d[address]; known != nil {
		known.SetCurrentProject(project)
		return known, nil
	}
	b, err := openPool(open)
	if err == nil && b != nil {
		d[address] = b
	}
	return b, err
}

// parallelVariable is how many states Pulumi reads at once.
const parallelVariable = "PULUMI_DIY_BACKEND_PARALLEL"

// openPool opens something that may be a pool of connections to a database. The pool gets two, which is the least.
func openPool[T any](open func() (T, error)) (opened T, err error) {
	all := runtime.GOMAXPROCS(1) // Pulumi takes the size of the pool from it
	defer runtime.GOMAXPROCS(all)
	if opened, err = open(); isMadeMeanwhile(err) {
		return open()
	}
	return opened, err
}

// isMadeMeanwhile reports whether another process has made the table of a new
// PostgreSQL database at the same moment. "if not exists" is no help against that.
func isMadeMeanwhile(err error) bool {
	return err != nil && strings.Contains(err.Error(), "pg_type_typname_nsp_index")
}
