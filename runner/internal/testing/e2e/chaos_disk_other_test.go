//go:build !linux

package e2e

// mountDisk skips: only Linux can do that here.
func (e *environment) mountDisk(d disk) {
	if d.dir != "" {
		e.t.Skip("no file system can be mounted here, so none can be full")
	}
}

func (e *environment) fill(disk)         {}
func (e *environment) protect(disk) bool { return false }
func (e *environment) heal(disk)         {}
