package journal

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// mostJSON is how many bytes of a summary, or of another JSON file, are read.
const mostJSON = 64 << 20

// openRegular opens a file of a run for reading. It opens no link that leads out of the directory, and nothing that
// would block, such as a named pipe: whoever can write there must not decide what else is read.
func openRegular(dir, name string) (*os.File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file", name)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// readJSON reads a file as openRegular opens it.
func readJSON(dir, name string, value any) error {
	f, err := openRegular(dir, name)
	if err != nil {
		return err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, mostJSON+1))
	switch {
	case err != nil:
		return err
	case len(content) > mostJSON:
		return fmt.Errorf("%s has more than %d MiB", name, mostJSON>>20)
	}
	return json.Unmarshal(content, value)
}

// OpenLog opens the log of a project.
func (r Run) OpenLog(project string) (*os.File, error) {
	f, err := openRegular(r.Dir, filepath.Join(logsDir, logName(project)))
	if err != nil {
		return nil, fmt.Errorf("reading the log of %s: %w", project, err)
	}
	return f, nil
}
