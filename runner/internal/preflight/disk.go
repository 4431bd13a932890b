package preflight

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Folder is a folder that a run writes to. It need not exist yet.
type Folder struct {
	Name string // "the state", for people
	Path string
}

// How much space there has to be, and should be.
const (
	leastSpace  = 1 << 20
	enoughSpace = 256 << 20
)

// Disk looks whether folders can be written to, and how much space they have.
// It writes nothing to find out.
func Disk(folders []Folder) Check {
	return Check{Name: "disk", Title: "disk", Group: State, Look: func(context.Context) []Finding {
		var wrong []Finding
		smallest := uint64(1) << 63
		for _, folder := range folders {
			free, finding := folder.look()
			wrong = append(wrong, finding...)
			smallest = min(smallest, free)
		}
		if len(wrong) > 0 {
			return wrong
		}
		return Good(fmt.Sprintf("everything can be written, %s free", size(smallest)))
	}}
}

// look is the free space of a folder, and what is wrong with it.
func (f Folder) look() (free uint64, wrong []Finding) {
	path := existing(f.Path)
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return 0, Bad(fmt.Sprintf("the folder of %s, %s, cannot be made: %s is a file", f.Name, f.Path, path), "move that file away")
	}
	if err := unix.Access(path, unix.W_OK|unix.X_OK); err != nil {
		return 0, Bad(fmt.Sprintf("the folder of %s, %s, cannot be written: %v", f.Name, f.Path, err), "make it writable for you")
	}
	var stat unix.Statfs_t
	if err := unix.Statfs(path, &stat); err != nil {
		return 0, Doubtful(fmt.Sprintf("the free space of %s is not known: %v", f.Path, err), "")
	}
	free = uint64(stat.Bavail) * uint64(stat.Bsize)
	text := fmt.Sprintf("only %s are free for %s, in %s", size(free), f.Name, f.Path)
	switch {
	case free < leastSpace:
		return free, Bad(text, "free some space: a state that cannot be written is lost")
	case free < enoughSpace:
		return free, Doubtful(text, "free some space")
	case stat.Files > 0 && stat.Ffree == 0:
		return free, Bad(fmt.Sprintf("no more files can be made for %s, in %s", f.Name, f.Path), "remove files: the disk has no inodes left")
	}
	return free, nil
}

// existing is the nearest folder upward that exists.
func existing(path string) string {
	for {
		_, err := os.Stat(path)
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.ENOTDIR) || filepath.Dir(path) == path {
			return path
		}
		path = filepath.Dir(path)
	}
}

// size is a number of bytes for people.
func size(bytes uint64) string {
	switch {
	case bytes >= 10<<30:
		return fmt.Sprintf("%d GB", bytes>>30)
	case bytes >= 1<<30:
		return fmt.Sprintf("%.1f GB", float64(bytes)/(1<<30))
	}
	return fmt.Sprintf("%d MB", bytes>>20)
}
