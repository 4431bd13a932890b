package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// roomy is the size of a disk that is not full, in kilobytes.
const roomy = 512 << 10

// mountDisk puts a file system of its own below the environment, where the
// system allows it.
func (e *environment) mountDisk(d disk) {
	e.t.Helper()
	if d.dir == "" {
		return
	}
	dir := filepath.Join(e.root, d.dir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		e.t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%dk,mode=0700", roomy)); err != nil {
		e.t.Skipf("no file system can be mounted here, so none can be full: %v", err)
	}
	e.t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
}

// fill leaves little room on the disk.
func (e *environment) fill(d disk) {
	e.t.Helper()
	var now unix.Statfs_t
	if err := unix.Statfs(filepath.Join(e.root, d.dir), &now); err != nil {
		e.t.Fatal(err)
	}
	used := int(now.Blocks-now.Bfree) * int(now.Bsize) / 1024
	if err := e.remount(d, 0, used+d.kilo); err != nil {
		e.t.Errorf("the disk cannot be made small: %v", err)
	}
}

// protect makes the disk read-only, as soon as no file is open for it.
func (e *environment) protect(d disk) bool {
	for range 2000 {
		err := e.remountAs(d, unix.MS_RDONLY)
		if err == nil {
			return true
		}
		if !errors.Is(err, unix.EBUSY) {
			e.t.Errorf("the disk cannot be made read-only: %v", err)
			return false
		}
	}
	return false
}

// heal makes the disk large, and lets everybody write.
func (e *environment) heal(d disk) {
	if d.dir == "" {
		return
	}
	if err := errors.Join(e.remountAs(d, 0), e.remount(d, 0, roomy)); err != nil {
		e.t.Fatalf("the disk cannot be made well: %v", err)
	}
}

// remountAs changes what may be done at the place of a disk. The disk itself
// cannot be made read-only as long as a file without a name is open on it.
func (e *environment) remountAs(d disk, flags uintptr) error {
	return unix.Mount("", filepath.Join(e.root, d.dir), "", unix.MS_REMOUNT|unix.MS_BIND|flags, "")
}

func (e *environment) remount(d disk, flags uintptr, kilo int) error {
	return unix.Mount("tmpfs", filepath.Join(e.root, d.dir), "tmpfs", unix.MS_REMOUNT|flags, fmt.Sprintf("size=%dk", kilo))
}
