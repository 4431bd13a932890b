package statefiles

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"mara/config/files"
)

// Pulumi compresses states where PULUMI_DIY_BACKEND_GZIP or PULUMI_DIY_BACKEND_ZSTD
// is set, and reads what an earlier setting has left.

const (
	gzipEnding = ".gz"
	zstdEnding = ".zst"
)

// variants returns the files in which the state of a project may be, plain first.
func (f Directory) variants(project string) []string {
	plain := f.Of(project).files().Stack(project, f.stackOf(project))
	return []string{plain, plain + gzipEnding, plain + zstdEnding}
}

// state returns the file with the state of a project. Of several it is the one that
// was written last, as for Pulumi; of none the plain one.
func (f Directory) state(project string) string {
	all := f.variants(project)
	newest, written := all[0], time.Time{}
	for _, file := range all {
		if info, err := os.Stat(file); err == nil && !info.ModTime().Before(written) {
			newest, written = file, info.ModTime()
		}
	}
	return newest
}

// readState reads a state file, or a copy of one, and decompresses it.
func readState(file string) ([]byte, error) {
	content, err := files.Read(file, files.State)
	if err != nil {
		return nil, err
	}
	plain := strings.TrimSuffix(strings.TrimSuffix(file, ".bak"), guardedEnd)
	switch filepath.Ext(plain) {
	case gzipEnding:
		content, err = gunzip(content)
	case zstdEnding:
		content, err = unzstd(content)
	}
	if err != nil {
		return nil, &cutOffError{file, fmt.Sprintf("cannot be decompressed: %v", err)}
	}
	return content, nil
}

// cutOffError says that a state does not decompress, or is no JSON.
type cutOffError struct{ file, problem string }

// Error names the file.
func (e *cutOffError) Error() string {
	return fmt.Sprintf("%s %s; %s.bak is the state before it", e.file, e.problem, filepath.Base(e.file))
}

func gunzip(content []byte) ([]byte, error) {
	reader, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(reader)
}

func unzstd(content []byte) ([]byte, error) {
	reader, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	return reader.DecodeAll(content, nil)
}

// list lists the stacks whose states are in the directory, by project.
func (f Directory) list() (map[string][]string, error) {
	projects, err := readDirectory(f.files().Stacks())
	if err != nil {
		return nil, err
	}
	found := map[string][]string{}
	for _, project := range projects {
		if project.Type().IsRegular() {
			continue
		}
		files, err := readDirectory(filepath.Join(f.files().Stacks(), project.Name()))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			if stack, ok := stackOfFile(file.Name()); ok && !slices.Contains(found[project.Name()], stack) {
				found[project.Name()] = append(found[project.Name()], stack)
			}
		}
	}
	return found, nil
}

// stackOfFile returns the stack whose state a file keeps.
func stackOfFile(name string) (stack string, ok bool) {
	if ending := filepath.Ext(name); ending == gzipEnding || ending == zstdEnding {
		name = strings.TrimSuffix(name, ending)
	}
	return strings.CutSuffix(name, ".json")
}

// readDirectory lists a directory; one that is missing is empty.
func readDirectory(path string) ([]fs.DirEntry, error) {
	entries, err := os.ReadDir(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, unreadable(err)
	}
	return entries, nil
}

// isWhole reports whether a file is JSON to its end.
func isWhole(file string) bool {
	content, err := readState(file)
	return err == nil && json.Valid(content)
}

// isCutOff reports whether a file was read and is not JSON to its end. A missing file
// is not cut off; one that cannot be read is an error.
func isCutOff(file string) (bool, error) {
	content, err := readState(file)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if _, cutOff := errors.AsType[*cutOffError](err); cutOff {
		return true, nil
	}
	if err != nil {
		return false, unreadable(err)
	}
	return !json.Valid(content), nil
}
