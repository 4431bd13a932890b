package e2e

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// roomy is the size of a disk that is not full, in kilobytes.
const roomy = 256 << 10

// mountDisk puts a file system of its own below the environment, where the
// system allows it.
func (e *environment) mountDisk(d disk) {
	e.t.Helper()
	if d.folder == "" {
		return
	}
	folder := filepath.Join(e.root, d.folder)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		e.t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", folder, "tmpfs", 0, fmt.Sprintf("size=%dk,mode=0700", roomy)); err != nil {
		e.t.Skipf("no file system can be mounted here, so none can be full: %v", err)
	}
	e.t.Cleanup(func() { _ = unix.Unmount(folder, unix.MNT_DETACH) })
}

// fill leaves little room on the disk.
func (e *environment) fill(d disk) {
	e.t.Helper()
	var now unix.Statfs_t
	if err := unix.Statfs(filepath.Join(e.root, d.folder), &now); err != nil {
		e.t.Fatal(err)
	}
	used := int(now.Blocks-now.Bfree) * int(now.Bsize) / 1024
	e.resize(d, 0, used+d.kilo)
}

// protect lets nobody write to the disk.
func (e *environment) protect(d disk) { e.resize(d, unix.MS_RDONLY, roomy) }

// heal makes the disk large, and lets everybody write.
func (e *environment) heal(d disk) {
	if d.folder != "" {
		e.resize(d, 0, roomy)
	}
}

func (e *environment) resize(d disk, flags uintptr, kilo int) {
	e.t.Helper()
	err := unix.Mount("tmpfs", filepath.Join(e.root, d.folder), "tmpfs", unix.MS_REMOUNT|flags, fmt.Sprintf("size=%dk", kilo))
	if err != nil {
		e.t.Errorf("the disk cannot be changed: %v", err)
	}
}
