package statefiles

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mara/config/files"
	"mara/config/lists"
	"mara/runner/internal/machine/atomicfile"
	"mara/runner/internal/machine/failure"
)

// Broken is a file of the backend that cannot be read. Pulumi replaces a state
// even when it could not write all of the new one, as on a full disk.
type Broken struct {
	Project, File string
}

// sidecar ends the names of the files with a checksum and a content type that
// Pulumi keeps beside each of its files. It overwrites them in place, so that a
// kill can leave an empty one. Nothing is lost with it: Pulumi works without,
// and writes it again with the state.
const sidecar = ".attrs"

func (b Broken) isSidecar() bool { return strings.HasSuffix(b.File, sidecar) }

// OnlySidecars reports whether nothing is lost with what is broken.
func OnlySidecars(broken []Broken) bool {
	return !slices.ContainsFunc(broken, func(b Broken) bool { return !b.isSidecar() })
}

// Broken lists the projects whose states are no JSON, and every broken sidecar
// of the backend: listing the stacks fails on those, too. What cannot be read is an error.
func (f Directory) Broken(projects []string) ([]Broken, error) {
	broken, err := f.brokenFiles(projects, "")
	errs := []error{err}
	for _, one := range f.each() {
		if one.IsFile() {
			sidecars, err := one.allBrokenSidecars()
			broken, errs = append(broken, sidecars...), append(errs, err)
		}
	}
	return broken, errors.Join(errs...)
}

func (f Directory) allBrokenSidecars() (broken []Broken, err error) {
	stacks := f.files().Stacks()
	directories, listErr := readDirectory(stacks)
	errs := []error{listErr}
	for _, directory := range directories {
		if !directory.IsDir() {
			continue
		}
		files, err := readDirectory(filepath.Join(stacks, directory.Name()))
		errs = append(errs, err)
		for _, entry := range files {
			file := filepath.Join(stacks, directory.Name(), entry.Name())
			if !strings.HasSuffix(file, sidecar) {
				continue
			}
			cutOff, err := isCutOff(file)
			errs = append(errs, err)
			if cutOff {
				broken = append(broken, Broken{directory.Name(), file})
			}
		}
	}
	return broken, errors.Join(errs...)
}

// BrokenSidecars lists the broken files next to states of these projects. It looks at
// no others, of which a backend may have thousands. What cannot be read is an error.
func (f Directory) BrokenSidecars(projects []string) ([]Broken, error) {
	return f.brokenFiles(projects, sidecar)
}

// brokenFiles lists the broken ones among the states of projects, or among the files
// next to them with an ending.
func (f Directory) brokenFiles(projects []string, ending string) ([]Broken, error) {
	var broken []Broken
	var errs []error
	for _, project := range projects {
		if !f.Of(project).IsFile() {
			continue
		}
		file := f.state(project) + ending
		cutOff, err := isCutOff(file)
		errs = append(errs, err)
		if cutOff {
			broken = append(broken, Broken{project, file})
		}
	}
	return broken, errors.Join(errs...)
}

// Restore replaces each broken state with the one before it. It keeps broken
// states in the directory backups, removes broken sidecars, and reports both to w.
func (f Directory) Restore(w io.Writer, broken []Broken, backups string) error {
	if err := os.MkdirAll(backups, 0o700); err != nil {
		return err
	}
	for _, b := range broken {
		what, err := f.restore(b, filepath.Join(backups, b.Project+".broken.json"))
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s: %s\n", b.Project, what)
	}
	return nil
}

// restore restores one state and says how.
func (f Directory) restore(b Broken, backup string) (report string, err error) {
	if b.isSidecar() {
		return b.File + " is truncated (disk full, or the process was killed); it is removed, and Pulumi makes it anew", os.Remove(b.File)
	}
	before, err := f.before(b)
	if err != nil {
		return "", err
	}
	what := "the one before it is restored"
	if before == nil {
		what = "it was that of a new stack, and is removed"
	}
	return fmt.Sprintf("the state file was truncated; %s (the truncated one is %s)", what, backup),
		replace(b.File, before, backup)
}

// replace keeps a copy of a file and gives it another content; nil removes it.
func replace(file string, content []byte, backup string) error {
	broken, err := files.Read(file, files.State)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(backup, broken, 0o600); err != nil {
		return err
	}
	if content == nil {
		return os.Remove(file)
	}
	return atomicfile.Write(file, content, 0o600)
}

// before reads the last whole state: Pulumi's own copy, or the guard's. It is nil
// if the stack was new and had no state yet.
func (f Directory) before(b Broken) ([]byte, error) {
	for _, end := range []string{".bak", guardedEnd} {
		if !isWhole(b.File + end) {
			continue
		}
		if content, err := files.Read(b.File+end, files.State); err == nil {
			return content, nil
		}
	}
	_, err := os.Stat(b.File + ".bak")
	_, historyErr := os.Stat(f.Of(b.Project).files().History(b.Project, f.stackOf(b.Project)))
	if errors.Is(err, fs.ErrNotExist) && errors.Is(historyErr, fs.ErrNotExist) {
		return nil, nil
	}
	return nil, &failure.Environment{
		Text: fmt.Sprintf("the state of %s, %s, is broken, and so is the one before it", b.Project, b.File),
		Next: "look for a copy in " + f.Of(b.Project).files().Backups(b.Project) + ", and put it in its place",
	}
}

// BrokenError says that states cannot be read.
type BrokenError struct {
	Broken []Broken
	Repair string // the command that restores them
}

// Error lists the files.
func (e *BrokenError) Error() string {
	parts := lists.Map(e.Broken, func(b Broken) string { return b.Project + " (" + b.File + ")" })
	return "the state file is truncated (disk full, or the process was killed): " + strings.Join(parts, ", ")
}

// NextStep says how to restore them.
func (e *BrokenError) NextStep() string { return "repair it with `" + e.Repair + "`" }
