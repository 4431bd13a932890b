package statefiles

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Lock is a lock on a stack of a file backend. Its operation may be running or
// dead.
type Lock struct {
	User    string    `json:"username"`
	Host    string    `json:"hostname"`
	PID     int       `json:"pid"`
	Created time.Time `json:"timestamp"`
	File    string    `json:"-"`
	// Broken says that the file cannot be read, because writing it was cut off,
	// for example on a full disk. It locks the stack all the same.
	Broken bool `json:"-"`
}

// String says who holds the lock, and since when.
func (l Lock) String() string {
	if l.Broken {
		return "a process that could not finish writing " + filepath.Base(l.File)
	}
	return fmt.Sprintf("%s@%s (pid %d) since %s", l.User, l.Host, l.PID, l.Created.Local().Format(time.DateTime))
}

// Locks lists the locks on a project's stack below the folder of a file
// backend. Pulumi has no command for that.
func (f Folder) Locks(project string) ([]Lock, error) {
	folder := f.files().Locks("organization", project, f.stackOf(project))
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading the locks: %w", err)
	}
	var locks []Lock
	for _, entry := range entries {
		if entry.IsDir() || filepath.Ext(entry.Name()) == ".attrs" {
			continue // Pulumi takes everything else for a lock
		}
		file := filepath.Join(folder, entry.Name())
		content, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue // released since
		}
		if err != nil {
			return nil, fmt.Errorf("reading a lock: %w", err)
		}
		lock := Lock{File: file}
		lock.Broken = json.Unmarshal(content, &lock) != nil
		locks = append(locks, lock)
	}
	return locks, nil
}
