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

	"mara/runner/internal/machine/disk"
)

// Directory is a directory that a run writes to. It need not exist yet.
type Directory struct {
	Name string // "the state", for people
	Path string
}

// enoughSpace is the free space on a disk, in bytes, below which Disk warns.
const enoughSpace = 256 << 20

// Disk checks whether directories can be written to, and how much space they have. It
// writes nothing. A problem of a whole disk is reported once.
func Disk(dirs []Directory) Check {
	return Check{Name: "disk", Title: "disk", Group: State, Look: func(context.Context) []Finding {
		var wrong []Finding
		reported := map[string]bool{} // by subject
		smallest := uint64(math.MaxUint64)
		for _, dir := range dirs {
			seen := dir.look()
			smallest = min(smallest, seen.free)
			if !reported[seen.subject] {
				wrong = append(wrong, seen.wrong...)
			}
			reported[seen.subject] = true
		}
		if len(wrong) > 0 {
			return wrong
		}
		return Good(fmt.Sprintf("everything can be written, %s free", size(smallest)))
	}}
}

// view is the result of looking at a directory.
type view struct {
	free    uint64
	wrong   []Finding
	subject string // the disk, or the directory if only that is wrong
}

func (f Directory) look() view {
	path := existing(f.Path)
	info, err := os.Stat(path)
	space, spaceErr := disk.SpaceOf(path)
	cannot := fmt.Sprintf("the directory of %s, %s, cannot be ", f.Name, f.Path)
	if err := errors.Join(err, spaceErr); err != nil {
		return view{subject: path, wrong: Doubtful(fmt.Sprintf("%slooked at: %v", cannot, err), "")}
	}
	if !info.IsDir() {
		return view{subject: path, wrong: Bad(cannot+"made: "+path+" is a file", "move that file away")}
	}
	seen := view{free: space.Free, subject: "disk " + space.Disk}
	if err := writable(path); err != nil {
		if !errors.Is(err, syscall.EROFS) {
			seen.subject = path
		}
		seen.wrong = Bad(fmt.Sprintf("%swritten: %v", cannot, err),
			"make it writable for you, or choose another root with --root")
		return seen
	}
	seen.wrong = f.shortage(space)
	return seen
}

// shortage returns the finding about a writable directory with little free space.
func (f Directory) shortage(space disk.Space) []Finding {
	text := fmt.Sprintf("only %s are free for %s, in %s", size(space.Free), f.Name, f.Path)
	switch {
	case space.Free < disk.LeastSpace:
		return Bad(text, "free some space: a state that cannot be written is lost")
	case space.NoFiles:
		text := fmt.Sprintf("no more files can be made for %s, in %s", f.Name, f.Path)
		return Bad(text, "remove files: the disk has no inodes left")
	case space.Free < enoughSpace:
		return Doubtful(text, "free some space")
	}
	return nil
}

// existing returns path or its nearest parent that exists.
func existing(path string) string {
	for {
		_, err := os.Stat(path)
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) || filepath.Dir(path) == path {
			return path
		}
		path = filepath.Dir(path)
	}
}

// size formats a number of bytes.
func size(bytes uint64) string {
	switch {
	case bytes >= 10<<30:
		return fmt.Sprintf("%d GB", bytes>>30)
	case bytes >= 1<<30:
		return fmt.Sprintf("%.1f GB", float64(bytes)/(1<<30))
	}
	return fmt.Sprintf("%d MB", bytes>>20)
}
