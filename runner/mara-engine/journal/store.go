package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/pulumi/pulumi/pkg/v3/backend/diy"
	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
	"golang.org/x/sync/errgroup"
)

// place is where the journals of one stack are.
type place interface {
	// list reads all journals.
	list(ctx context.Context) ([]stored, error)
	// put writes a file that is not a record.
	put(ctx context.Context, epoch, name string, content []byte) error
	// append writes a record, the nth of its journal from 1 on. A record that could not be written may be appended again.
	append(ctx context.Context, epoch string, n int, record []byte) error
	// drop removes a journal, its first record first: a journal without it is none.
	drop(ctx context.Context, epoch string) error
}

// directory keeps the records of a journal as lines of one file.
type directory struct {
	path string
	file *os.File // of the journal that is being written
	end  int64    // of its last whole record
}

// recordsName is the file of records in a directory.
const recordsName = "journal"

func (d *directory) list(context.Context) ([]stored, error) {
	epochs, err := os.ReadDir(d.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("looking for journals: %w", err)
	}
	var journals []stored
	for _, epoch := range epochs {
		if !epoch.IsDir() || strings.HasPrefix(epoch.Name(), abandonedMark) {
			continue
		}
		j := stored{epoch: epoch.Name(), others: map[string][]byte{}}
		for _, name := range []string{recordsName, baseName, recoveryName, overName} {
			content, err := os.ReadFile(filepath.Join(d.path, epoch.Name(), name))
			switch {
			case errors.Is(err, fs.ErrNotExist):
			case err != nil:
				return nil, fmt.Errorf("reading a journal: %w", err)
			case name == recordsName:
				j.records = bytes.SplitAfter(content, []byte("\n"))
			default:
				j.others[name] = content
			}
		}
		journals = append(journals, j)
	}
	return journals, nil
}

func (d *directory) put(_ context.Context, epoch, name string, content []byte) error {
	file := filepath.Join(d.path, epoch, name)
	err := os.MkdirAll(filepath.Dir(file), 0o700)
	if err == nil {
		err = writeSynced(file+".new", content)
	}
	if err == nil {
		err = os.Rename(file+".new", file)
	}
	if err == nil {
		err = syncDirectories(filepath.Dir(file), d.path)
	}
	if err != nil {
		return fmt.Errorf("writing a journal: %w", err)
	}
	return nil
}

func writeSynced(path string, content []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Sync(), f.Close())
}

// syncDirectories makes new names in directories last.
func syncDirectories(directories ...string) error {
	for _, directory := range directories {
		f, err := os.Open(directory)
		if err != nil {
			return err
		}
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// append implements place. A line that could not be written wholly is cut off before the next attempt: what follows a
// line that is not whole counts for nothing.
func (d *directory) append(_ context.Context, epoch string, n int, line []byte) error {
	if n == 1 && d.file == nil {
		file := filepath.Join(d.path, epoch, recordsName)
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			d.file, d.end, err = f, 0, syncDirectories(filepath.Dir(file))
		}
		if err != nil {
			return fmt.Errorf("writing a journal: %w", err)
		}
	}
	if err := d.file.Truncate(d.end); err != nil {
		return fmt.Errorf("writing a journal: %w", err)
	}
	if _, err := d.file.WriteAt(line, d.end); err != nil {
		return fmt.Errorf("writing a journal: %w", errors.Join(err, d.file.Truncate(d.end)))
	}
	if err := d.file.Sync(); err != nil {
		return fmt.Errorf("writing a journal: %w", err)
	}
	d.end += int64(len(line))
	return nil
}

func (d *directory) drop(_ context.Context, epoch string) error {
	if d.file != nil {
		_ = d.file.Close()
		d.file = nil
	}
	directory := filepath.Join(d.path, epoch)
	if err := os.Remove(filepath.Join(directory, recordsName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing a journal: %w", err)
	}
	if err := os.RemoveAll(directory); err != nil {
		return fmt.Errorf("removing a journal: %w", err)
	}
	_ = os.Remove(d.path) // it stays while there is another journal
	return nil
}

// objects keeps each record of a journal as an object, for buckets and databases: no object is written twice.
type objects struct {
	bucket diy.Bucket
	prefix string
}

// atOnce is how many objects of a journal are read or removed at once.
const atOnce = 16

// mostLists is how often a directory is listed in which objects come and go.
const mostLists = 20

func (o objects) list(ctx context.Context) (journals []stored, err error) {
	for range mostLists { // the driver for PostgreSQL fails where an object goes meanwhile
		if journals, err = o.read(ctx); gcerrors.Code(err) != gcerrors.NotFound {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("reading the journals: %w", err)
	}
	return journals, nil
}

func (o objects) read(ctx context.Context) ([]stored, error) {
	keys, err := o.keys(ctx, o.prefix)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex // guards contents
	contents := map[string][]byte{}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, key := range keys {
		group.Go(func() error {
			content, err := o.bucket.ReadAll(ctx, o.prefix+key)
			mu.Lock()
			defer mu.Unlock()
			contents[key] = content
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	found := map[string]*stored{}
	for _, key := range slices.Sorted(maps.Keys(contents)) {
		epoch, name, ok := strings.Cut(key, "/")
		if !ok || strings.Contains(name, "/") || strings.HasPrefix(epoch, abandonedMark) {
			continue // what was dropped, or of another stack, in the layout without projects
		}
		j := found[epoch]
		if j == nil {
			j = &stored{epoch: epoch, others: map[string][]byte{}}
			found[epoch] = j
		}
		switch {
		case name == baseName || name == recoveryName || name == overName:
			j.others[name] = contents[key]
		case name == recordObject(len(j.records)+1):
			j.records = append(j.records, contents[key])
		}
	}
	var journals []stored
	for _, epoch := range slices.Sorted(maps.Keys(found)) {
		journals = append(journals, *found[epoch])
	}
	return journals, nil
}

// keys lists the objects below a prefix, without it.
func (o objects) keys(ctx context.Context, prefix string) ([]string, error) {
	var keys []string
	list := o.bucket.List(&blob.ListOptions{Prefix: prefix})
	for {
		object, err := list.Next(ctx)
		if errors.Is(err, io.EOF) {
			return keys, nil
		}
		if err != nil {
			return nil, err
		}
		keys = append(keys, strings.TrimPrefix(object.Key, prefix))
	}
}

// recordObject names the nth record, so that names sort as numbers.
func recordObject(n int) string { return fmt.Sprintf("%010d.json", n) }

func (o objects) put(ctx context.Context, epoch, name string, content []byte) error {
	if err := o.bucket.WriteAll(ctx, o.prefix+path.Join(epoch, name), content, nil); err != nil {
		return fmt.Errorf("writing a journal: %w", err)
	}
	return nil
}

func (o objects) append(ctx context.Context, epoch string, n int, record []byte) error {
	return o.put(ctx, epoch, recordObject(n), record)
}

func (o objects) drop(ctx context.Context, epoch string) error {
	if err := o.delete(ctx, epoch+"/"+recordObject(1)); err != nil {
		return fmt.Errorf("removing a journal: %w", err)
	}
	keys, err := o.keys(ctx, o.prefix+epoch+"/")
	if err != nil {
		return nil // without its first record it is none, and the next operation removes the rest
	}
	var group errgroup.Group
	group.SetLimit(atOnce)
	for _, key := range keys {
		group.Go(func() error { return o.delete(ctx, epoch+"/"+key) })
	}
	_ = group.Wait()
	return nil
}

// delete removes an object that there may be.
func (o objects) delete(ctx context.Context, key string) error {
	err := o.bucket.Delete(ctx, o.prefix+key)
	if err == nil || gcerrors.Code(err) == gcerrors.NotFound {
		return nil
	}
	// The driver for PostgreSQL has no code for what it does not find.
	if exists, unknown := o.bucket.Exists(ctx, o.prefix+key); exists || unknown != nil {
		return err
	}
	return nil
}
