// Package outdir writes generated files: a whole directory in one step, or one file. It
// replaces only what it wrote itself: a directory has a marker file with the digests of its
// files, a single file has its digest in the first line.
package outdir

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mara/config/files"
	"mara/runner/internal/machine/atomicfile"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/typeset"
)

// Marker is the file with the digests of a directory's files.
const Marker = ".written-by-runner"

// Write replaces a directory by files, whose paths have slashes, and creates its parents.
// command is the command that writes them, such as "runner render". The error is a
// *failure.Environment if the directory contains anything else.
func Write(dir, command string, files map[string][]byte) error {
	if target, err := filepath.EvalSymlinks(dir); err == nil {
		dir = target
	}
	if err := check(dir, command); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return problem(err)
	}
	made, err := os.MkdirTemp(filepath.Dir(dir), "."+filepath.Base(dir)+".*")
	if err != nil {
		return problem(err)
	}
	defer os.RemoveAll(made)
	if err := fill(made, command, files); err != nil {
		return problem(err)
	}
	return problem(atomicfile.ReplaceDirectory(dir, made))
}

func problem(err error) error {
	if err == nil {
		return nil
	}
	return &failure.Environment{Text: fmt.Sprintf("the files cannot be written: %v", err),
		Next: failure.WriteRemedy(err, "the directory")}
}

// fill writes all files and the marker.
func fill(dir, command string, files map[string][]byte) error {
	var marker bytes.Buffer
	fmt.Fprintf(&marker, "# Written by `%s`, which replaces these files and no others.\n", command)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, files[name], 0o644); err != nil {
			return err
		}
		fmt.Fprintf(&marker, "%s  %s\n", digest(files[name]), name)
	}
	if err := os.WriteFile(filepath.Join(dir, Marker), marker.Bytes(), 0o644); err != nil {
		return err
	}
	return os.Chmod(dir, 0o755)
}

func digest(content []byte) string { return fmt.Sprintf("%x", sha256.Sum256(content)) }

// check returns an error for a directory with files that command did not write, or that
// changed since.
func check(dir, command string) error {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return problem(err)
	}
	if !info.IsDir() {
		return &failure.Environment{Text: dir + " is not a directory", Next: "choose another directory"}
	}
	known, err := readMarker(dir, command)
	if err != nil {
		return err
	}
	var foreign, changed []string
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		name, _ := filepath.Rel(dir, path)
		name = filepath.ToSlash(name)
		switch {
		case err != nil:
			return err
		case name == Marker || entry.IsDir():
		case known[name] == "":
			foreign = append(foreign, name)
		default:
			content, err := files.Read(path, files.Data)
			if err != nil {
				return err
			}
			if digest(content) != known[name] {
				changed = append(changed, name)
			}
		}
		return nil
	})
	if err != nil {
		return problem(err)
	}
	return refuse(dir, command, foreign, changed)
}

// readMarker reads the digests of the files that command wrote.
func readMarker(dir, command string) (map[string]string, error) {
	content, err := files.Read(filepath.Join(dir, Marker), files.Data)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, problem(err)
	}
	known := map[string]string{}
	for line := range strings.Lines(string(content)) {
		if sum, name, ok := strings.Cut(strings.TrimRight(line, "\r\n"), "  "); ok && !strings.HasPrefix(sum, "#") {
			known[name] = sum
		}
	}
	if !bytes.HasPrefix(content, []byte("# Written by `"+command+"`")) {
		first, _, _ := strings.Cut(string(content), ",")
		return nil, &failure.Environment{
			Text: fmt.Sprintf("%s is not a directory of `%s`; its %s says: %s", dir, command, Marker,
				strings.TrimPrefix(first, "# ")),
			Next: "choose another directory; nothing was written",
		}
	}
	return known, nil
}

func refuse(dir, command string, foreign, changed []string) error {
	var problems []string
	if len(foreign) > 0 {
		problems = append(problems, fmt.Sprintf("has files that `%s` did not write: %s", command, typeset.Few(foreign, 5)))
	}
	if len(changed) > 0 {
		problems = append(problems, "has files that were changed by hand: "+typeset.Few(changed, 5))
	}
	if len(problems) == 0 {
		return nil
	}
	return &failure.Environment{
		Text: dir + " " + strings.Join(problems, ", and "),
		Next: "choose another directory, or move them away; nothing was written",
	}
}

// WriteFile writes one file in a format with # comments. Its first line has the command
// that wrote it and a digest of the rest.
func WriteFile(path, command string, content []byte) error {
	const written = "# Written by `%s`, which replaces this file unless it was changed. sha256:%s\n"
	there, err := files.Read(path, files.Data)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return problem(err)
	}
	first, rest, _ := bytes.Cut(there, []byte("\n"))
	if err == nil && string(first)+"\n" != fmt.Sprintf(written, command, digest(rest)) {
		return &failure.Environment{
			Text: fmt.Sprintf("%s was not written by `%s`, or was changed since", path, command),
			Next: "choose another file with --out, or move it away; nothing was written",
		}
	}
	whole := append(fmt.Appendf(nil, written, command, digest(content)), content...)
	return problem(atomicfile.WriteDeep(path, whole, 0o644, 0o755))
}
