package statefiles

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// takeReserve takes up room in a directory. The file has no name, so that nothing
// of it remains however this process ends. No process writes to it, so that its
// disk can be made read-only.
func takeReserve(dir string, size int64) (*reserve, error) {
	file, err := os.CreateTemp(dir, "reserve-*")
	if err != nil {
		return nil, err
	}
	taken := unix.Fallocate(int(file.Fd()), 0, 0, size)
	reader, opened := os.Open(file.Name())
	if err := errors.Join(taken, opened, os.Remove(file.Name()), file.Close()); err != nil {
		_ = reader.Close()
		return nil, err
	}
	return &reserve{file: reader, dir: dir}, nil
}
