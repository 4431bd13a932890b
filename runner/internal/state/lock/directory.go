package lock

import (
	"context"
	"path/filepath"
	"strings"

	"mara/runner/internal/machine/atomicfile"
)

// Directory stores the objects of shared locks in a directory that several machines may share. New
// files get the user's default permissions.
type Directory string

// List implements Store.
func (f Directory) List(context.Context) (map[string][]byte, error) {
	return atomicfile.ReadDir(string(f), func(name string) bool { return strings.HasSuffix(name, ".json") })
}

// Put implements Store.
func (f Directory) Put(_ context.Context, key string, content []byte) error {
	return atomicfile.WriteDeep(filepath.Join(string(f), key), content, 0o644, 0o777)
}

// Delete implements Store.
func (f Directory) Delete(_ context.Context, key string) error {
	return atomicfile.Remove(filepath.Join(string(f), key))
}
