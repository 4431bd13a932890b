package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// readFile reads a file that the user may have made. A link that leads nowhere
// is a mistake, not a missing file; and a pipe would be waited for forever.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if target, link := os.Readlink(path); link == nil && errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("is a link to %s, which does not exist", target)
	}
	if err == nil && info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) != 0 {
		return nil, errors.New("is a pipe, not a file")
	}
	return os.ReadFile(path)
}
