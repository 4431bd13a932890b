package journal

import (
	"context"
	"fmt"
	"reflect"
	"sync/atomic"
	"unsafe" // for go:linkname, and to read fields

	"github.com/pulumi/pulumi/pkg/v3/backend"
	"github.com/pulumi/pulumi/pkg/v3/backend/diy"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/encoding"
	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"
)

// Pulumi's backend for states in directories and buckets has no exported functions for what surrounds an operation:
// where a state is, how it is written, its history and its copies. These are the backend's own; a version of Pulumi
// without them does not link. TestPulumi fails for one in which they, or what is done in their place here, have changed.

//go:linkname stackPath github.com/pulumi/pulumi/pkg/v3/backend/diy.(*diyBackend).stackPath
func stackPath(b unsafe.Pointer, ctx context.Context, ref unsafe.Pointer) string

//go:linkname saveCheckpoint github.com/pulumi/pulumi/pkg/v3/backend/diy.(*diyBackend).saveCheckpoint
func saveCheckpoint(b unsafe.Pointer, ctx context.Context, ref unsafe.Pointer, c *apitype.VersionedCheckpoint) (backup, file string, err error)

//go:linkname addToHistory github.com/pulumi/pulumi/pkg/v3/backend/diy.(*diyBackend).addToHistory
func addToHistory(b unsafe.Pointer, ctx context.Context, ref unsafe.Pointer, update backend.UpdateInfo) error

//go:linkname backupStack github.com/pulumi/pulumi/pkg/v3/backend/diy.(*diyBackend).backupStack
func backupStack(b unsafe.Pointer, ctx context.Context, ref unsafe.Pointer) error

// inner is Pulumi's own backend for a directory or a bucket.
type inner struct {
	diy.Backend
	self   unsafe.Pointer
	bucket diy.Bucket
	url    string // as the bucket was opened
	// compression is that of the states that it writes.
	compression encoding.Compression
	// project is that of the command.
	project *atomic.Pointer[workspace.Project]
}

// unlocker is the part of Pulumi's backend that diy.Backend does not show.
type unlocker interface {
	Unlock(ctx context.Context, ref backend.StackReference)
}

// paths are the part of Pulumi's references to stacks that says where their files are.
type paths interface{ StackBasePath() string }

// open returns the insides of a backend. ok is false for any other than Pulumi's own for directories and buckets.
func open(b backend.Backend) (i inner, ok bool) {
	if i.Backend, ok = b.(diy.Backend); !ok {
		return i, false
	}
	value := reflect.ValueOf(b)
	if value.Type().String() != "*diy.diyBackend" {
		return i, false
	}
	if _, ok := b.(unlocker); !ok {
		return i, false
	}
	i.self = value.UnsafePointer()
	bucket, hasBucket := field[diy.Bucket](value.Elem(), "bucket")
	address, hasURL := field[string](value.Elem(), "url")
	project, hasProject := field[atomic.Pointer[workspace.Project]](value.Elem(), "currentProject")
	compression, hasCompression := field[encoding.Compression](value.Elem(), "compression")
	if !hasBucket || !hasURL || !hasProject || !hasCompression {
		return i, false
	}
	i.bucket, i.url, i.project, i.compression = *bucket, *address, project, *compression
	return i, true
}

// field returns a field that is not exported.
func field[T any](value reflect.Value, name string) (*T, bool) {
	f := value.FieldByName(name)
	if !f.IsValid() || f.Type() != reflect.TypeFor[T]() {
		return nil, false
	}
	return (*T)(f.Addr().UnsafePointer()), true
}

// pointer returns the reference to a stack as Pulumi's functions take it.
func pointer(ref backend.StackReference) (unsafe.Pointer, error) {
	value := reflect.ValueOf(ref)
	if _, ok := ref.(paths); !ok || value.Type().String() != "*diy.diyBackendReference" {
		return nil, fmt.Errorf("the stack %s is not one of a directory or a bucket", ref)
	}
	return value.UnsafePointer(), nil
}
