package lock

import (
	"context"
	"path/filepath"
	"strings"

	"mara/runner/internal/machine/atomicfile"
)

// Folder stores the objects of shared locks in a folder that several machines may share. New
// files get the user's default permissions.
type Folder string

// List implements Store.
func (f Folder) List(context.Context) (map[string][]byte, error) {
	return atomicfile.ReadFolder(string(f), func(name string) bool { return strings.HasSuffix(name, ".json") })
}

// Put implements Store.
func (f Folder) Put(_ context.Context, key string, content []byte) error {
	return atomicfile.WriteDeep(filepath.Join(string(f), key), content, 0o644, 0o777)
}

// Delete implements Store.
func (f Folder) Delete(_ context.Context, key string) error {
	return atomicfile.Remove(filepath.Join(string(f), key))
}
