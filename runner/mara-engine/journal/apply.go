package journal

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/pulumi/pulumi/pkg/v3/backend"
	"github.com/pulumi/pulumi/pkg/v3/backend/display"
	"github.com/pulumi/pulumi/pkg/v3/backend/diy"
	sdkDisplay "github.com/pulumi/pulumi/pkg/v3/display"
	"github.com/pulumi/pulumi/pkg/v3/engine"
	"github.com/pulumi/pulumi/pkg/v3/resource/deploy"
	"github.com/pulumi/pulumi/pkg/v3/resource/stack"
	"github.com/pulumi/pulumi/pkg/v3/resource/stack/snapshot"
	"github.com/pulumi/pulumi/pkg/v3/secrets"
	"github.com/pulumi/pulumi/pkg/v3/util/nosleep"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/diag/colors"
)

// apply does an operation, as the function of this name in Pulumi's backend does. The difference is where what the
// steps have done is kept.
func (b *Backend) apply(ctx context.Context, kind apitype.UpdateKind, s backend.Stack, op backend.UpdateOperation,
	options backend.ApplierOptions, events chan<- engine.Event,
) (*deploy.Plan, sdkDisplay.ResourceChanges, *deploy.Snapshot, error) {
	defer nosleep.KeepRunning()()
	if err := backend.CurrentProjectContradictsWorkspace(b.project.Load(), s.Ref()); err != nil {
		return nil, nil, nil, err
	}
	if op.CoherenceWindow != "" {
		return nil, nil, nil, errors.New("coherence windows are only supported by the Pulumi Cloud backend")
	}
	files, err := b.of(s.Ref())
	if err != nil {
		return nil, nil, nil, err
	}
	label := backend.ActionLabel(kind, options.DryRun)
	talks := !op.Opts.Display.JSONDisplay && !op.Opts.Display.SummaryJSON
	if talks {
		fmt.Print(op.Opts.Display.Color.Colorize(fmt.Sprintf(colors.SpecHeadline+"%s (%s):"+colors.Reset+"\n", label, s.Ref())))
	}
	update, kept, err := files.prepare(ctx, kind, s, op, kind == apitype.PreviewUpdate || options.DryRun)
	if err != nil {
		return nil, nil, nil, err
	}

	shown, displayed := make(chan engine.Event), make(chan bool)
	go display.ShowEvents(strings.ToLower(label), kind, s.Ref().Name(), op.Proj.Name, "", shown, displayed,
		op.Opts.Display, options.DryRun)
	happened, forwarded := make(chan engine.Event), make(chan bool)
	scope := op.Scopes.NewScope(ctx, happened, options.DryRun)
	go func() {
		defer close(forwarded)
		for e := range happened {
			shown <- e
			if events != nil {
				events <- e
			}
		}
	}()
	if op.Opts.Engine.HostFactory == nil {
		op.Opts.Engine.HostFactory = backend.DefaultHostFactory(b.GetReadOnlyCloudRegistry())
	}
	engineContext := &engine.Context{
		Cancel: scope.Context(), Events: happened, SnapshotManager: kept.manager,
		BackendClient:               backend.NewBackendClient(b, op.SecretsProvider),
		SnapshotManagerCapabilities: engine.SnapshotManagerCapabilities{StateMigrations: true},
	}
	start := time.Now().Unix()
	plan, changes, updateErr := run(kind, update, engineContext, op, options.DryRun)
	end := time.Now().Unix()
	<-displayed
	scope.Close() // from now on nothing is cancelled any more
	close(happened)
	snap, err := kept.close(ctx)
	if err != nil {
		return plan, changes, snap, fmt.Errorf("writing snapshot: %w", err)
	}
	<-forwarded
	close(shown)

	if !options.DryRun {
		err = files.remember(ctx, backend.UpdateInfo{
			Kind: kind, StartTime: start, Message: op.M.Message, Environment: op.M.Environment, Config: update.Target.Config,
			Result: resultOf(updateErr), EndTime: end, ResourceChanges: changes,
		})
	}
	if updateErr != nil {
		return plan, changes, snap, updateErr
	}
	if err != nil {
		return plan, changes, snap, err
	}
	if talks && !op.Opts.Display.SuppressPermalink && options.ShowLink {
		if link := files.link(ctx); link != "" {
			fmt.Print(op.Opts.Display.Color.Colorize(
				colors.SpecHeadline + "Permalink: " + colors.Underline + colors.BrightBlue + link + colors.Reset + "\n"))
		}
	}
	return plan, changes, snap, nil
}

// run has the engine do the operation.
func run(kind apitype.UpdateKind, update engine.UpdateInfo, c *engine.Context, op backend.UpdateOperation, dryRun bool) (
	plan *deploy.Plan, changes sdkDisplay.ResourceChanges, err error,
) {
	options := op.Opts.Engine
	switch {
	case kind == apitype.PreviewUpdate:
		return engine.Update(update, c, options, true)
	case kind == apitype.UpdateUpdate:
		return engine.Update(update, c, options, dryRun)
	case kind == apitype.ResourceImportUpdate:
		_, changes, err = engine.Import(update, c, options, op.Imports, dryRun)
	case kind == apitype.RefreshUpdate && options.RefreshProgram:
		_, changes, err = engine.RefreshV2(update, c, options, dryRun)
	case kind == apitype.RefreshUpdate:
		_, changes, err = engine.Refresh(update, c, options, dryRun)
	case kind == apitype.DestroyUpdate && options.DestroyProgram:
		_, changes, err = engine.DestroyV2(update, c, options, dryRun)
	case kind == apitype.DestroyUpdate:
		_, changes, err = engine.Destroy(update, c, options, dryRun)
	default:
		return nil, nil, fmt.Errorf("an operation of an unknown kind: %s", kind)
	}
	return nil, changes, err
}

func resultOf(err error) backend.UpdateResult {
	if err != nil {
		return backend.FailedResult
	}
	return backend.SucceededResult
}

// keeper is what keeps the results of an operation's steps.
type keeper struct {
	manager engine.SnapshotManager // nil if nothing is kept, as in a preview
	// close writes what is to be written, and returns the state in memory where something reads it.
	close func(context.Context) (*deploy.Snapshot, error)
}

// prepare reads the state, and returns what the engine works on, and what keeps the results.
func (f *stackFiles) prepare(ctx context.Context, kind apitype.UpdateKind, s backend.Stack, op backend.UpdateOperation,
	dryRun bool) (update engine.UpdateInfo, kept keeper, err error) {
	now, snap, err := f.snapshot(ctx, op.SecretsProvider)
	if err != nil {
		return update, kept, err
	}
	update = engine.UpdateInfo{Root: op.Root, Project: op.Proj, Target: &deploy.Target{
		Name: s.Ref().Name(), Organization: "organization", Config: op.StackConfiguration.Config,
		Decrypter: op.StackConfiguration.Decrypter, Snapshot: snap, Tags: s.Tags(),
	}}
	manager, compatible := managerOf(snap, op.SecretsManager)
	switch {
	case dryRun && kind == apitype.ResourceImportUpdate: // its program is written from the result
		kept = whole(backend.DiscardPersister{}, op.SecretsManager, snap)
	case dryRun: // Pulumi makes the whole state at each step here as well, and throws it away
		kept = keeper{close: func(context.Context) (*deploy.Snapshot, error) { return nil, nil }}
	case !compatible: // all secrets of the state are to be encrypted anew
		kept = whole(persister{ctx, f}, op.SecretsManager, snap)
	default:
		kept, err = f.journal(ctx, kind, op, now, snap, manager)
	}
	return update, kept, err
}

// managerOf returns the manager that has encrypted the secrets of a state, if that of an operation is the same: it
// remembers what it has decrypted, so that secrets that stay the same are encrypted as they are.
func managerOf(snap *deploy.Snapshot, own secrets.Manager) (_ secrets.Manager, compatible bool) {
	if snap == nil || snap.SecretsManager == nil {
		return own, own != nil
	}
	return snap.SecretsManager, secrets.AreCompatible(snap.SecretsManager, own)
}

// whole keeps the results in memory, and saves whole states, as Pulumi does.
func whole(to backend.SnapshotPersister, manager secrets.Manager, snap *deploy.Snapshot) keeper {
	m := backend.NewSnapshotManager(to, manager, snap, nil)
	return keeper{m, func(context.Context) (*deploy.Snapshot, error) {
		result := m.Snap()
		return result, m.Close()
	}}
}

// journal keeps the results in a journal.
func (f *stackFiles) journal(ctx context.Context, kind apitype.UpdateKind, op backend.UpdateOperation, now content,
	snap *deploy.Snapshot, manager secrets.Manager) (keeper, error) {
	l := (&log{
		ctx: ctx, name: f.name, before: now, states: f, place: f.place, owner: owner(kind), manager: manager,
		pace: f.b.pace(), warn: f.b.Warn, pause: FirstPause,
	}).start()
	m, err := engine.NewJournalSnapshotManagerWithVersion(l, snap, manager, apitype.LatestJournalVersion)
	if err != nil {
		return keeper{}, errors.Join(err, l.Close())
	}
	return keeper{m, func(ctx context.Context) (*deploy.Snapshot, error) {
		if err := m.Close(); err != nil || kind != apitype.ResourceImportUpdate {
			return nil, err
		}
		return stack.DeserializeDeploymentV3(ctx, *l.result.Deployment, op.SecretsProvider) // its program is written from it
	}}, nil
}

// persister saves whole states.
type persister struct {
	ctx   context.Context
	files *stackFiles
}

// Save implements backend.SnapshotPersister.
func (p persister) Save(d apitype.TypedDeployment) error {
	c, err := encodeDeployment(p.files.name, d)
	if err != nil {
		return err
	}
	if err := p.files.save(p.ctx, c); err != nil {
		return err
	}
	if err := snapshot.VerifyIntegrity(d.Deployment); err != nil && !backend.DisableIntegrityChecking {
		return fmt.Errorf("%s: snapshot integrity failure; it was already written, but is invalid: %w", p.files.file, err)
	}
	return nil
}

// remember adds the operation to the history, and copies the state to the backups.
func (f *stackFiles) remember(ctx context.Context, info backend.UpdateInfo) error {
	err := addToHistory(f.b.self, ctx, f.ref, info)
	if backupErr := backupStack(f.b.self, ctx, f.ref); err == nil && backupErr != nil {
		return fmt.Errorf("saving backup: %w", backupErr)
	}
	if err != nil {
		return fmt.Errorf("saving update info: %w", err)
	}
	return nil
}

// link returns an address of the state, or "" if the backend has none.
func (f *stackFiles) link(ctx context.Context) string {
	file := stackPath(f.b.self, ctx, f.ref)
	if strings.HasPrefix(f.b.url, diy.FilePathPrefix) {
		address, err := url.Parse(f.b.url)
		if err != nil {
			return ""
		}
		address.Path = filepath.ToSlash(path.Join(address.Path, file))
		return address.String()
	}
	link, err := f.b.bucket.SignedURL(ctx, file, nil)
	if err != nil {
		f.b.Warn("Unable to create signed url for current backend to create a Permalink. Please visit " +
			"https://www.pulumi.com/docs/troubleshooting/ for more information")
		return ""
	}
	return link
}
