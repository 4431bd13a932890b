// Package disk asks how much space a disk has.
package disk

// LeastSpace is the free space, in bytes, that writing a state needs.
const LeastSpace = 1 << 20

// Space is what a disk has left.
type Space struct {
	Disk    string // identifies the disk
	Free    uint64 // bytes
	NoFiles bool   // the disk has no inodes left
}

// Free returns the free space on the disk of a path, in bytes, and reports
// whether it is known.
func Free(path string) (uint64, bool) {
	if path == "" {
		return 0, false
	}
	space, err := SpaceOf(path)
	return space.Free, err == nil
}
