package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

// TestFullDisk: wherever the disk with the states is full in the middle of an operation, nothing is forgotten, and the next one
// goes on, once there is room.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	sizes := []int{100, 250} // of 40 resources with states of 240 kB: in the whole states before the journal, and in it
	if n, err := strconv.Atoi(os.Getenv("CHAOS_CASES")); err == nil {
		for range n / 10 {
			sizes = append(sizes, 10+rand.IntN(400))
		}
	}
	var turns atomic.Int32
	for _, kilo := range sizes {
		for _, operation := range []string{"up", "replace"} {
			by := recoveries[int(turns.Add(1))%len(recoveries)]
			t.Run(fmt.Sprint(kilo, " kB, ", operation, ", then ", by), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=512m,mode=0700"); err != nil {
					t.Skipf("no file system can be mounted here, so none can be full: %v", err)
				}
				t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
				a := newArena(t, "file://"+dir, 40)
				if operation != "up" {
					a.must(a.operation("up")...)
					a.program.zone = "b"
				}
				var now unix.Statfs_t
				if err := unix.Statfs(dir, &now); err != nil {
					t.Fatal(err)
				}
				resize := func(size string) {
					if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_REMOUNT, "size="+size); err != nil {
						t.Fatal(err)
					}
				}
				resize(fmt.Sprint(int(now.Blocks-now.Bfree)*int(now.Bsize)/1024+kilo, "k"))
				r := a.do(a.operation("up")...)
				resize("512m")
				when := fmt.Sprintf("on a disk of %d kB, exit code %d, %d files of journals", kilo, r.code, len(a.journals()))
				t.Log(when)
				a.check(when)
				a.finish(when, by)
			})
		}
	}
}
