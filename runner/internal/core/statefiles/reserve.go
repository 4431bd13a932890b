package statefiles

import (
	"os"

	"mara/runner/internal/machine/disk"
)

// reserveSize is how much room is kept for the states, in bytes: enough for a
// large one, the one before it and a third that is being written.
const reserveSize = 16 << 20

// reserve is room on the disk of the states. What exists in a cloud and in no
// state is lost to everybody; so when the disk is full the reserve is given up,
// while Pulumi still tries to write a state. A nil reserve has nothing to give.
type reserve struct {
	file *os.File
	dir  string
}

// isWanted says whether the disk is full.
func (r *reserve) isWanted() bool {
	if r == nil {
		return false
	}
	free, ok := disk.Free(r.dir)
	return ok && free < disk.LeastSpace
}

// giveUp makes room, and reports whether there was any to make.
func (r *reserve) giveUp() bool { return r != nil && r.file.Close() == nil }
