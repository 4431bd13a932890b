package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unsafe"

	"github.com/pulumi/pulumi/pkg/v3/backend"
	"github.com/pulumi/pulumi/pkg/v3/resource/deploy"
	"github.com/pulumi/pulumi/pkg/v3/resource/stack"
	"github.com/pulumi/pulumi/pkg/v3/resource/stack/snapshot"
	"github.com/pulumi/pulumi/pkg/v3/secrets"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/encoding"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/tokens"
	"github.com/pulumi/pulumi/sdk/v3/go/property"
	"gocloud.dev/gcerrors"
)

// stackFiles are the state and the journals of a stack.
type stackFiles struct {
	b     *Backend
	ref   unsafe.Pointer
	name  tokens.QName
	place place
	file  string // that save has written
}

// read reads the state as it is.
func (f *stackFiles) read(ctx context.Context) (content, error) {
	stored, err := f.b.bucket.ReadAll(ctx, stackPath(f.b.self, ctx, f.ref))
	if err != nil {
		return content{}, err
	}
	return decodeContent(stored)
}

// mostReads is how often a state is read whose operation ends meanwhile.
const mostReads = 5

// current reads the state with what is in its journal, and writes nothing. The journal may belong to an operation that
// is going on: the state is the one that it would leave if it were cut off now.
func (f *stackFiles) current(ctx context.Context) (now content, err error) {
	for range mostReads {
		if now, err = f.read(ctx); err != nil || now.fencedBy() == "" {
			return now, err
		}
		var journals []stored
		if journals, err = f.place.list(ctx); err != nil {
			return now, err
		}
		var found finding
		if found, err = judge(f.name.String(), journals, now); err == nil {
			return f.replayed(*found.replay)
		}
		// The operation may have ended since the state was read.
	}
	return now, err
}

func (f *stackFiles) replayed(j journal) (content, error) {
	d, err := replay(j)
	if err != nil {
		return content{}, &UnclearError{f.name.String(), err.Error()}
	}
	return encodeDeployment(f.name, d)
}

// recover takes over what is in the journals of the stack.
func (f *stackFiles) recover(ctx context.Context) error {
	journals, err := f.place.list(ctx)
	if err != nil || len(journals) == 0 && !f.b.Forget {
		return err // a state that is fenced all the same is refused by whoever reads it
	}
	now, err := f.read(ctx)
	if err != nil {
		return fmt.Errorf("taking over a journal: %w", err)
	}
	found, err := judge(f.name.String(), journals, now)
	if _, unclear := errors.AsType[*UnclearError](err); unclear && f.b.Forget {
		return f.abandon(ctx, journals, now)
	}
	if err != nil {
		return err
	}
	if found.replay != nil {
		if err := f.takeOver(ctx, *found.replay, now.fencedBy() != ""); err != nil {
			return err
		}
	}
	for _, epoch := range found.drop {
		if err := f.place.drop(ctx, epoch); err != nil {
			return err
		}
	}
	return nil
}

// takeOver writes the state that an operation has left. The journal names it before: a takeover that is cut off as well
// is done again, or found to be done.
func (f *stackFiles) takeOver(ctx context.Context, j journal, fenced bool) error {
	if err := refuseLiving(j); err != nil {
		return err
	}
	whole, err := f.replayed(j)
	if err != nil {
		return err
	}
	line, err := record{Checkpoint: whole.digest, Last: true}.encode()
	if err == nil {
		err = f.place.put(ctx, j.Epoch, recoveryName, line)
	}
	if err == nil {
		err = f.write(ctx, whole, fenced)
	}
	if err == nil {
		err = f.settle(ctx)
	}
	if err == nil {
		err = f.place.drop(ctx, j.Epoch)
	}
	if err != nil {
		return fmt.Errorf("taking over the journal of %s: %w", f.name, err)
	}
	time.Sleep(f.b.pace().last) // the operation that follows may write the state at once
	f.b.Warn(fmt.Sprintf("%s: %s of %s was cut off; the state has %d changes from its journal now",
		f.name, j.Owner.Operation, j.Owner, len(j.entries)))
	return nil
}

// abandonedMark begins the names of journals that were dropped although they did not belong to the state. They are kept,
// and nothing reads them.
const abandonedMark = "dropped-"

// abandon drops journals, and takes the state as it is. Copies of both stay.
func (f *stackFiles) abandon(ctx context.Context, journals []stored, now content) error {
	state, err := compact(now.versioned)
	if err != nil {
		return fmt.Errorf("dropping a journal: %w", err)
	}
	for _, j := range journals {
		copies := map[string][]byte{"state.json": state, "journal.txt": bytes.Join(j.records, nil)}
		maps.Copy(copies, j.others)
		for name, content := range copies {
			if err := f.place.put(ctx, abandonedMark+j.epoch, name, content); err != nil {
				return err
			}
		}
	}
	if now.fencedBy() != "" {
		d := now.checkpoint.Latest
		unfence(d)
		whole, err := encodeDeployment(f.name, apitype.TypedDeployment{
			Deployment: d, Version: now.versioned.Version, Features: now.versioned.Features,
		})
		if err != nil {
			return err
		}
		if err := f.write(ctx, whole, true); err != nil {
			return err
		}
	}
	f.b.Warn(fmt.Sprintf("%s: its journal is dropped, and a copy is kept in the backend, in %s", f.name, Dir))
	return f.forget(ctx)
}

// write writes the state: over one with a fence, of which no copy is worth keeping, or as Pulumi does.
func (f *stackFiles) write(ctx context.Context, c content, fenced bool) error {
	if !fenced {
		return f.save(ctx, c)
	}
	f.file = ""
	return f.replace(ctx, c)
}

// forget removes all journals of the stack.
func (f *stackFiles) forget(ctx context.Context) error {
	journals, err := f.place.list(ctx)
	for _, j := range journals {
		if err == nil {
			err = f.place.drop(ctx, j.epoch)
		}
	}
	return err
}

// save implements states. In a directory it is done in a way that leaves the state, and its copy, as they were if there is
// no room: Pulumi's driver puts the part in its place that it could write, and then copies that.
func (f *stackFiles) save(ctx context.Context, c content) (err error) {
	dir, isDirectory := f.b.directory()
	file := stackPath(f.b.self, ctx, f.ref)
	if !isDirectory || strings.TrimPrefix(filepath.Ext(file), encoding.JSONExt) != f.b.compression.Ext() {
		_, f.file, err = saveCheckpoint(f.b.self, ctx, f.ref, c.versioned) // it may give the file another name
		return err
	}
	if err := keepFile(filepath.Join(dir, filepath.FromSlash(file))); err != nil {
		_ = f.b.bucket.Copy(ctx, file+backupEnd, file, nil) // as in Pulumi: without it there is no new copy
	}
	f.file = file
	return f.replace(ctx, c)
}

// backupEnd ends the name of the copy of the state before, as Pulumi names it.
const backupEnd = ".bak"

// keepFile keeps a state as the one before. It makes a link, which takes no room; some file systems have none.
func keepFile(path string) error {
	_ = os.Remove(path + backupEnd + ".new")
	if err := os.Link(path, path+backupEnd+".new"); err != nil {
		return err
	}
	if err := os.Rename(path+backupEnd+".new", path+backupEnd); err != nil {
		return err
	}
	_ = os.Remove(path + backupEnd + sidecar) // it has the checksum of the one before
	return nil
}

// replace implements states.
func (f *stackFiles) replace(ctx context.Context, c content) error {
	if f.file == "" { // save has failed
		f.file = stackPath(f.b.self, ctx, f.ref)
	}
	m := encoding.Marshaler(plainJSON{})
	switch filepath.Ext(f.file) {
	case encoding.GZIPExt:
		m = encoding.Compress(m, encoding.CompressionGzip)
	case encoding.ZSTDExt:
		m = encoding.Compress(m, encoding.CompressionZstd)
	}
	text, err := m.Marshal(c.versioned)
	if err != nil {
		return fmt.Errorf("encoding the state: %w", err)
	}
	write := func() error { return f.b.bucket.WriteAll(ctx, f.file, text, nil) }
	if dir, ok := f.b.directory(); ok {
		write = func() error { return replaceFile(filepath.Join(dir, filepath.FromSlash(f.file)), text) }
	}
	if err := attempt(ctx, FirstPause, write); err != nil {
		return fmt.Errorf("writing the state: %w", err)
	}
	return nil
}

// sidecar ends the name of the file with the checksum of a state, which Pulumi's driver writes and nothing needs.
const sidecar = ".attrs"

// replaceFile replaces a state in a file, or leaves it as it was: on a full disk, Pulumi's driver puts the part in its place
// that it could write.
func replaceFile(path string, content []byte) error {
	err := writeSynced(path+".new", content)
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		_ = os.Remove(path + ".new")
		return err
	}
	_ = os.Remove(path + sidecar) // it has the checksum of the one before
	return nil
}

// settle implements states: Pulumi does not have the system write a file through to the disk, but without its journal
// the state is all there is.
func (f *stackFiles) settle(context.Context) error {
	dir, ok := f.b.directory()
	if !ok {
		return nil
	}
	path := filepath.Join(dir, filepath.FromSlash(f.file))
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("writing the state: %w", err)
	}
	if err := errors.Join(file.Sync(), file.Close(), syncDirectories(filepath.Dir(path))); err != nil {
		return fmt.Errorf("writing the state: %w", err)
	}
	return nil
}

// plainJSON encodes states as Pulumi's backend does.
type plainJSON struct{}

func (plainJSON) Marshal(v any) ([]byte, error) { return compact(v) }

func (plainJSON) Unmarshal(data []byte, v any) error { return encoding.JSON.Unmarshal(data, v) }

// Snapshot implements Stack.
func (s journaledStack) Snapshot(ctx context.Context, provider secrets.Provider) (*deploy.Snapshot, error) {
	snap, err := s.Stack.Snapshot(ctx, provider)
	if err == nil && (snap == nil || !isFence(snap.Manifest.Magic)) {
		return snap, nil
	}
	files, filesErr := s.b.of(s.Ref())
	if filesErr != nil {
		return nil, errors.Join(err, filesErr)
	}
	now, readErr := files.read(ctx)
	if readErr != nil || now.fencedBy() == "" {
		return snap, err
	}
	_, snap, err = files.snapshot(ctx, provider)
	return snap, err
}

// snapshot reads the state with what is in its journal.
func (f *stackFiles) snapshot(ctx context.Context, provider secrets.Provider) (content, *deploy.Snapshot, error) {
	now, err := f.current(ctx)
	if err != nil {
		return now, nil, fmt.Errorf("failed to load checkpoint: %w", err)
	}
	snap, err := stack.DeserializeCheckpoint(ctx, provider, now.checkpoint)
	if err != nil {
		return now, nil, err
	}
	if backend.DisableIntegrityChecking {
		return now, snap, nil
	}
	err = snap.VerifyIntegrity()
	if wrong, ok := snapshot.AsSnapshotIntegrityError(err); ok {
		err = wrong.ForReadWithMetadata(now.checkpoint.Latest.Metadata.IntegrityErrorMetadata)
	}
	if err != nil {
		return now, nil, fmt.Errorf("snapshot integrity failure; refusing to use it: %w", err)
	}
	return now, snap, nil
}

// SnapshotStackOutputs implements Stack.
func (s journaledStack) SnapshotStackOutputs(ctx context.Context, provider secrets.Provider) (property.Map, error) {
	files, err := s.b.of(s.Ref())
	if err != nil {
		return property.Map{}, err
	}
	now, err := files.current(ctx)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return property.Map{}, fmt.Errorf("failed to load checkpoint: %w", err)
	}
	if err != nil {
		return property.Map{}, err
	}
	if now.checkpoint.Latest == nil {
		return property.Map{}, nil
	}
	outputs, err := stack.DeserializeStackOutputs(ctx, *now.checkpoint.Latest, provider)
	if err != nil {
		return property.Map{}, err
	}
	return resource.FromResourcePropertyMap(outputs), nil
}
