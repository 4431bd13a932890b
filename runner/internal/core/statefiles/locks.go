package statefiles

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mara/config/lists"
	"mara/runner/internal/machine/atomicfile"
	"mara/runner/internal/machine/failure"
)

// LockStore is where a backend keeps Pulumi's locks on stacks: a file or an object
// for each, PROJECT/STACK/ID. Pulumi has no command that lists them.
type LockStore interface {
	// ListIn returns what is in some of the directories, by key.
	ListIn(ctx context.Context, dirs []string) (map[string][]byte, error)
	Delete(ctx context.Context, key string) error
}

// Lock is a lock of Pulumi's on a stack. Its operation may be running or dead.
type Lock struct {
	User    string    `json:"username"`
	Host    string    `json:"hostname"`
	PID     int       `json:"pid"`
	Created time.Time `json:"timestamp"`
	Project string    `json:"-"`
	Key     string    `json:"-"` // in the store
	// Broken says that it cannot be read, because writing it was cut off, for
	// example on a full disk. It locks the stack all the same.
	Broken bool `json:"-"`
}

// String says who holds the lock, and since when.
func (l Lock) String() string {
	if l.Broken {
		return "a process that could not finish writing " + path.Base(l.Key)
	}
	return fmt.Sprintf("%s@%s (pid %d) since %s", l.User, l.Host, l.PID, l.Created.Local().Format(time.DateTime))
}

// Locks lists the locks on the stacks of projects, in the order of the projects.
func (f Directory) Locks(ctx context.Context, store LockStore, projects []string) ([]Lock, error) {
	dirs := lists.Map(projects, func(project string) string { return project + "/" + f.stackOf(project) })
	objects, err := store.ListIn(ctx, dirs)
	if err != nil {
		return nil, fmt.Errorf("looking for Pulumi's locks on stacks: %w", err)
	}
	keys := slices.Sorted(maps.Keys(objects))
	var locks []Lock
	for i, project := range projects {
		for _, key := range keys {
			if path.Dir(key) != dirs[i] || path.Ext(key) == sidecar {
				continue // Pulumi takes everything else for a lock
			}
			lock := Lock{Project: project, Key: key}
			if lock.Broken = json.Unmarshal(objects[key], &lock) != nil; lock.Broken {
				lock = Lock{Project: project, Key: key, Broken: true, Created: f.Of(project).lockWritten(key)}
			}
			locks = append(locks, lock)
		}
	}
	return locks, nil
}

// lockWritten returns when the file of a lock was written; a zero time where that is
// not known.
func (f Directory) lockWritten(key string) time.Time {
	if !f.IsFile() {
		return time.Time{}
	}
	info, err := os.Stat(lockFiles(f.files().Locks()).path(key))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// LockFiles returns the store of Pulumi's locks if states are files.
func (f Directory) LockFiles() LockStore { return lockFiles(f.files().Locks()) }

// LockStores are the stores of several backends as one.
type LockStores struct {
	Of        map[string]LockStore // by backend; "" is that of most projects
	Elsewhere map[string]string    // backends of the other projects
}

// backend returns the backend of a directory or an object.
func (s LockStores) backend(key string) string {
	project, _, _ := strings.Cut(key, "/")
	return s.Elsewhere[project]
}

// ListIn implements LockStore. Each backend is asked once.
func (s LockStores) ListIn(ctx context.Context, dirs []string) (map[string][]byte, error) {
	in := map[string][]string{}
	for _, dir := range dirs {
		in[s.backend(dir)] = append(in[s.backend(dir)], dir)
	}
	found := map[string][]byte{}
	for _, backend := range slices.Sorted(maps.Keys(in)) {
		objects, err := s.Of[backend].ListIn(ctx, in[backend])
		if err != nil {
			return nil, err
		}
		maps.Copy(found, objects)
	}
	return found, nil
}

// Delete implements LockStore.
func (s LockStores) Delete(ctx context.Context, key string) error {
	return s.Of[s.backend(key)].Delete(ctx, key)
}

// lockFiles is the directory of all locks.
type lockFiles string

// ListIn implements LockStore.
func (f lockFiles) ListIn(_ context.Context, dirs []string) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, dir := range dirs {
		locks, err := atomicfile.ReadDir(f.path(dir), func(string) bool { return true })
		if err != nil {
			return nil, err
		}
		for name, content := range locks {
			files[dir+"/"+name] = content
		}
	}
	return files, nil
}

// Delete implements LockStore.
func (f lockFiles) Delete(_ context.Context, key string) error {
	return failure.RunnerDir(atomicfile.Remove(f.path(key)))
}

func (f lockFiles) path(key string) string {
	return filepath.Join(string(f), filepath.FromSlash(key))
}
