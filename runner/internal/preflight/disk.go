package preflight

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"syscall"
)

// Folder is a folder that a run writes to. It need not exist yet.
type Folder struct {
	Name string // "the state", for people
	Path string
}

// How much space there has to be on a disk, so that a state can be written, and
// should be, in bytes.
const (
	LeastSpace  = 1 << 20
	enoughSpace = 256 << 20
)

// Disk looks whether folders can be written to, and how much space they have.
// It writes nothing to find out. What is wrong with a whole disk is told once.
func Disk(folders []Folder) Check {
	return Check{Name: "disk", Title: "disk", Group: State, Look: func(context.Context) []Finding {
		var wrong []Finding
		told := map[string]bool{}
		smallest := uint64(math.MaxUint64)
		for _, folder := range folders {
			seen := folder.look()
			smallest = min(smallest, seen.free)
			if seen.wrong.Text != "" && !told[seen.subject] {
				wrong = append(wrong, seen.wrong)
			}
			told[seen.subject] = true
		}
		if len(wrong) > 0 {
			return wrong
		}
		return Good(fmt.Sprintf("everything can be written, %s free", size(smallest)))
	}}
}

// space is what there is on the disk of a path.
type space struct {
	disk    string // names the disk
	free    uint64 // bytes that anybody may use
	noFiles bool   // no more files can be made
}

// view is what a look at a folder shows.
type view struct {
	free    uint64
	wrong   Finding // no text when nothing is
	subject string  // the disk, or the folder where only that is wrong
}

func (f Folder) look() view {
	path := existing(f.Path)
	info, err := os.Stat(path)
	space, spaceErr := spaceOf(path)
	if err := errors.Join(err, spaceErr); err != nil {
		return view{subject: path, wrong: Doubtful(fmt.Sprintf("the folder of %s, %s, cannot be looked at: %v", f.Name, f.Path, err), "")[0]}
	}
	if !info.IsDir() {
		return view{subject: path, wrong: Bad(fmt.Sprintf("the folder of %s, %s, cannot be made: %s is a file", f.Name, f.Path, path), "move that file away")[0]}
	}
	seen := view{free: space.free, subject: "disk " + space.disk}
	if err := writable(path); err != nil {
		if !errors.Is(err, syscall.EROFS) {
			seen.subject = path
		}
		seen.wrong = Bad(fmt.Sprintf("the folder of %s, %s, cannot be written: %v", f.Name, f.Path, err), "make it writable for you, or choose another root with --root")[0]
		return seen
	}
	seen.wrong = f.shortage(space)
	return seen
}

// shortage is the finding about a folder that can be written, but not much.
func (f Folder) shortage(disk space) Finding {
	text := fmt.Sprintf("only %s are free for %s, in %s", size(disk.free), f.Name, f.Path)
	switch {
	case disk.free < LeastSpace:
		return Bad(text, "free some space: a state that cannot be written is lost")[0]
	case disk.noFiles:
		return Bad(fmt.Sprintf("no more files can be made for %s, in %s", f.Name, f.Path), "remove files: the disk has no inodes left")[0]
	case disk.free < enoughSpace:
		return Doubtful(text, "free some space")[0]
	}
	return Finding{}
}

// FreeSpace is the free space on the disk of a path, in bytes, unless it cannot
// be told.
func FreeSpace(path string) (uint64, bool) {
	if path == "" {
		return 0, false
	}
	space, err := spaceOf(path)
	return space.free, err == nil
}

// existing is the nearest folder upward that exists.
func existing(path string) string {
	for {
		_, err := os.Stat(path)
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) || filepath.Dir(path) == path {
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
