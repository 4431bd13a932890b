package journal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pulumi/pulumi/pkg/v3/backend"
	"github.com/pulumi/pulumi/pkg/v3/backend/diy"
	"github.com/pulumi/pulumi/pkg/v3/display"
	"github.com/pulumi/pulumi/pkg/v3/engine"
	"github.com/pulumi/pulumi/pkg/v3/resource/deploy"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/env"
	"github.com/pulumi/pulumi/sdk/v3/go/common/tokens"
	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"
	"gocloud.dev/blob"

	"mara/runner/internal/core/lock"
)

// Dir is where journals are in a backend.
const Dir = workspace.BookkeepingDir + "/mara-journal"

// Backend is a backend whose operations keep journals. What it does not do itself, Pulumi's own does.
type Backend struct {
	inner
	Options
}

// Options are how a backend keeps journals.
type Options struct {
	// Off has operations write states as Pulumi does. Journals that are there are read and taken over all the same.
	Off bool
	// Forget drops journals that do not belong to their states, where they would be taken over. Copies stay.
	Forget bool
	Warn   func(text string)
}

// Wrap returns a backend with journals, or the same if it is none for directories, buckets and databases, or if journals are
// off and it has none.
func Wrap(b backend.Backend, o Options) backend.Backend {
	i, ok := open(b)
	if !ok {
		return b
	}
	o.Off = o.Off || env.SkipCheckpoints.Value() || env.DIYBackendRetainCheckpoints.Value()
	if o.Off && !o.Forget && i.hasNoJournals() {
		return b
	}
	return &Backend{i, o}
}

// hasNoJournals reports whether it is certain that the backend has no journals.
func (i inner) hasNoJournals() bool {
	_, err := i.bucket.List(&blob.ListOptions{Prefix: Dir + "/"}).Next(context.Background())
	return errors.Is(err, io.EOF)
}

// of returns where the journals of a stack are, and its state.
func (b *Backend) of(ref backend.StackReference) (*stackFiles, error) {
	self, err := pointer(ref)
	if err != nil {
		return nil, err
	}
	below := journalsOf(ref)
	f := &stackFiles{b: b, ref: self, name: ref.FullyQualifiedName()}
	if dir, ok := b.directory(); ok {
		f.place = &directory{path: filepath.Join(dir, filepath.FromSlash(below))}
	} else {
		f.place = objects{bucket: b.bucket, prefix: below + "/"}
	}
	return f, nil
}

// journalsOf returns the directory of a stack's journals. It is made as the path of its state is.
func journalsOf(ref backend.StackReference) string {
	base := filepath.ToSlash(ref.(paths).StackBasePath())
	return path.Join(Dir, strings.TrimPrefix(base, filepath.ToSlash(diy.StacksDir)))
}

// directory returns the directory of a backend whose states are files.
func (b *Backend) directory() (string, bool) {
	dir, ok := strings.CutPrefix(b.url, diy.FilePathPrefix)
	dir, _, _ = strings.Cut(dir, "?")
	if plain, err := url.PathUnescape(dir); err == nil { // an address has %20 for a space
		dir = plain
	}
	return filepath.FromSlash(dir), ok
}

// FreeTime is how long states in files are written after each step, as Pulumi does. That is all of most operations. Tests, whose
// states are small, make it shorter.
var FreeTime = 200 * time.Millisecond

// pace returns how often states are written.
func (b *Backend) pace() pace {
	if _, ok := b.directory(); ok {
		return pace{free: FreeTime}
	}
	p := pace{atOnce: true, apart: time.Second}
	if !strings.HasPrefix(b.url, "postgres://") {
		p.last = time.Second // what Google and Cloudflare, which speaks as S3 does, allow for an object
	}
	return p
}

// GetStack implements Backend.
func (b *Backend) GetStack(ctx context.Context, ref backend.StackReference) (backend.Stack, error) {
	s, err := b.Backend.GetStack(ctx, ref)
	if err != nil || s == nil {
		return s, err
	}
	return journaledStack{s, b}, nil
}

// CreateStack implements Backend.
func (b *Backend) CreateStack(ctx context.Context, ref backend.StackReference, root string,
	initial *apitype.UntypedDeployment, options *backend.CreateStackOptions) (backend.Stack, error) {
	s, err := b.Backend.CreateStack(ctx, ref, root, initial, options)
	if err != nil || s == nil {
		return s, err
	}
	return journaledStack{s, b}, nil
}

// ListStacks implements Backend. The list counts what is in journals: a stack that lags behind may seem to be empty.
func (b *Backend) ListStacks(ctx context.Context, filter backend.ListStacksFilter, token backend.ContinuationToken) (
	[]backend.StackSummary, backend.ContinuationToken, error,
) {
	summaries, next, err := b.Backend.ListStacks(ctx, filter, token)
	if err != nil {
		return nil, nil, err
	}
	keys, err := objects{bucket: b.bucket}.keys(ctx, Dir+"/")
	if err != nil {
		return nil, nil, fmt.Errorf("looking for journals: %w", err)
	}
	for i, s := range summaries {
		below := journalsOf(s.Name())
		if slices.ContainsFunc(keys, func(key string) bool { return strings.HasPrefix(Dir+"/"+key, below+"/") }) {
			summaries[i] = b.Counted(ctx, s)
		}
	}
	return summaries, next, nil
}

// Counted returns the summary of a stack with the number of resources that its journal says. Operations that were cut off
// count as well, and a stack whose journal cannot be read has something.
func (b *Backend) Counted(ctx context.Context, s backend.StackSummary) backend.StackSummary {
	files, err := b.of(s.Name())
	if err != nil {
		return s
	}
	now, err := files.current(ctx)
	switch {
	case err != nil:
		return counted{s, 1}
	case now.checkpoint.Latest == nil:
		return s
	}
	return counted{s, len(now.checkpoint.Latest.Resources) + len(now.checkpoint.Latest.PendingOperations)}
}

// counted is a summary of a stack with another number of resources.
type counted struct {
	backend.StackSummary
	resources int
}

// ResourceCount implements StackSummary.
func (c counted) ResourceCount() *int { return &c.resources }

// Preview implements Backend.
func (b *Backend) Preview(ctx context.Context, s backend.Stack, op backend.UpdateOperation,
	events chan<- engine.Event) (*deploy.Plan, display.ResourceChanges, error) {
	return backend.Preview(ctx, s, op, b.apply, events)
}

// Update implements Backend.
func (b *Backend) Update(ctx context.Context, s backend.Stack, op backend.UpdateOperation,
	events chan<- engine.Event) (changes display.ResourceChanges, err error) {
	if b.Off {
		if err := b.settle(ctx, s.Ref()); err != nil {
			return nil, err
		}
		return b.Backend.Update(ctx, plain(s), op, events)
	}
	err = b.locked(ctx, s.Ref(), func() error {
		changes, err = backend.PreviewThenPromptThenExecute(ctx, apitype.UpdateUpdate, s, op, b.apply, nil, events)
		return err
	})
	return changes, err
}

// Refresh implements Backend.
func (b *Backend) Refresh(ctx context.Context, s backend.Stack, op backend.UpdateOperation) (display.ResourceChanges, error) {
	return b.operate(ctx, apitype.RefreshUpdate, s, op, b.Backend.Refresh)
}

// Destroy implements Backend.
func (b *Backend) Destroy(ctx context.Context, s backend.Stack, op backend.UpdateOperation) (display.ResourceChanges, error) {
	return b.operate(ctx, apitype.DestroyUpdate, s, op, b.Backend.Destroy)
}

// operate does an operation that may be only a preview.
func (b *Backend) operate(ctx context.Context, kind apitype.UpdateKind, s backend.Stack, op backend.UpdateOperation,
	plainly func(context.Context, backend.Stack, backend.UpdateOperation) (display.ResourceChanges, error),
) (changes display.ResourceChanges, err error) {
	switch {
	case op.Opts.PreviewOnly:
		op.Opts.Engine.GeneratePlan = false
		_, changes, _, err = b.apply(ctx, kind, s, op, backend.ApplierOptions{DryRun: true, ShowLink: true}, nil)
	case b.Off:
		if err = b.settle(ctx, s.Ref()); err == nil {
			changes, err = plainly(ctx, plain(s), op)
		}
	default:
		err = b.locked(ctx, s.Ref(), func() error {
			changes, err = backend.PreviewThenPromptThenExecute(ctx, kind, s, op, b.apply, nil, nil)
			return err
		})
	}
	return changes, err
}

// Import implements Backend.
func (b *Backend) Import(ctx context.Context, s backend.Stack, op backend.UpdateOperation,
	imports []deploy.Import) (changes display.ResourceChanges, snap *deploy.Snapshot, err error) {
	op.Imports = imports
	switch {
	case op.Opts.PreviewOnly:
		op.Opts.Engine.GeneratePlan = false
		_, changes, snap, err = b.apply(ctx, apitype.ResourceImportUpdate, s, op,
			backend.ApplierOptions{DryRun: true, ShowLink: true}, nil)
	case b.Off:
		if err = b.settle(ctx, s.Ref()); err == nil {
			changes, snap, err = b.Backend.Import(ctx, plain(s), op, imports)
		}
	default:
		err = b.locked(ctx, s.Ref(), func() error {
			changes, snap, err = backend.PreviewThenPromptThenExecuteImport(ctx, s, op, b.apply, nil)
			return err
		})
	}
	return changes, snap, err
}

// locked does something while this process has Pulumi's lock of a stack, on a state that has been put in order.
func (b *Backend) locked(ctx context.Context, ref backend.StackReference, do func() error) error {
	if err := b.Lock(ctx, ref); err != nil {
		return err
	}
	defer b.Backend.(unlocker).Unlock(ctx, ref)
	if err := b.recover(ctx, ref); err != nil {
		return err
	}
	return do()
}

// settle puts a state in order, for what takes Pulumi's lock itself.
func (b *Backend) settle(ctx context.Context, ref backend.StackReference) error {
	files, err := b.of(ref)
	if err != nil {
		return err
	}
	journals, err := files.place.list(ctx)
	if err != nil || len(journals) == 0 && !b.Forget {
		return err // a state that is fenced all the same is one that Pulumi refuses
	}
	return b.locked(ctx, ref, func() error { return nil })
}

// recover takes over what operations that were cut off have left in journals. This process has Pulumi's lock of the
// stack, so that no other works on it.
func (b *Backend) recover(ctx context.Context, ref backend.StackReference) error {
	files, err := b.of(ref)
	if err != nil {
		return err
	}
	return files.recover(ctx)
}

// ExportDeployment implements Backend.
func (b *Backend) ExportDeployment(ctx context.Context, s backend.Stack) (*apitype.UntypedDeployment, error) {
	files, err := b.of(s.Ref())
	if err != nil {
		return nil, err
	}
	now, err := files.current(ctx)
	if err != nil {
		return nil, fmt.Errorf("failed to load checkpoint: %w", err)
	}
	deployment, err := compact(now.checkpoint.Latest)
	if err != nil {
		return nil, err
	}
	return &apitype.UntypedDeployment{Version: now.versioned.Version, Features: now.versioned.Features, Deployment: deployment}, nil
}

// ImportDeployment implements Backend.
func (b *Backend) ImportDeployment(ctx context.Context, s backend.Stack, d *apitype.UntypedDeployment) error {
	if err := b.settle(ctx, s.Ref()); err != nil {
		return err
	}
	return b.Backend.ImportDeployment(ctx, plain(s), d)
}

// RemoveStack implements Backend. By force it also removes a stack whose journal cannot be taken over.
func (b *Backend) RemoveStack(ctx context.Context, s backend.Stack, force, removeBackups bool) (bool, error) {
	if err := b.settle(ctx, s.Ref()); err != nil && !force {
		return false, err
	}
	has, err := b.Backend.RemoveStack(ctx, plain(s), force, removeBackups)
	if err != nil || has {
		return has, err
	}
	files, err := b.of(s.Ref())
	if err != nil {
		return false, err
	}
	return false, files.forget(ctx)
}

// RenameStack implements Backend.
func (b *Backend) RenameStack(ctx context.Context, s backend.Stack, name tokens.QName) (backend.StackReference, error) {
	if err := b.settle(ctx, s.Ref()); err != nil {
		return nil, err
	}
	return b.Backend.RenameStack(ctx, plain(s), name)
}

// UpdateStackTags implements Backend.
func (b *Backend) UpdateStackTags(ctx context.Context, s backend.Stack, tags map[apitype.StackTagName]string) error {
	return b.Backend.UpdateStackTags(ctx, plain(s), tags)
}

// CancelCurrentUpdate implements Backend: the lock is gone then, and the state is in order.
func (b *Backend) CancelCurrentUpdate(ctx context.Context, ref backend.StackReference) error {
	if err := b.Backend.CancelCurrentUpdate(ctx, ref); err != nil {
		return err
	}
	return b.settle(ctx, ref)
}

// Upgrade implements diy.Backend. It moves states, so that their journals would no longer be beside them.
func (b *Backend) Upgrade(ctx context.Context, options *diy.UpgradeOptions) error {
	keys, err := objects{bucket: b.bucket}.keys(ctx, Dir+"/")
	if err != nil {
		return fmt.Errorf("looking for journals: %w", err)
	}
	if len(keys) > 0 {
		return fmt.Errorf("an operation was cut off, and its changes are still in the journal %s: take them over with an "+
			"operation on its stack, then upgrade", path.Dir(keys[0]))
	}
	return b.Backend.Upgrade(ctx, options)
}

// owner returns this process as the owner of a journal.
func owner(kind apitype.UpdateKind) lock.Owner { return lock.Self(string(kind), "", time.Now()) }

// refuseLiving returns an error if the operation of a journal is going on in another process here, although its lock is
// gone: someone has removed that. Of another machine nothing is known but the lock.
func refuseLiving(j journal) error {
	if j.over || !j.Owner.IsRunning() || j.Owner.PID == owner("").PID {
		return nil
	}
	return &UnclearError{Stack: j.Stack, Text: fmt.Sprintf("%s of %s is still going on, although its lock was removed: wait "+
		"for its end", j.Owner.Operation, j.Owner)}
}

// journaledStack is a stack of a Backend.
type journaledStack struct {
	backend.Stack
	b *Backend
}

// Backend implements Stack.
func (s journaledStack) Backend() backend.Backend { return s.b }

// plain returns the stack as Pulumi's own backend knows it.
func plain(s backend.Stack) backend.Stack {
	if wrapped, ok := s.(journaledStack); ok {
		return wrapped.Stack
	}
	return s
}
