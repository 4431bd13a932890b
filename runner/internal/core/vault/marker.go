package vault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"al.essio.dev/pkg/shellescape"
	"gopkg.in/yaml.v3"

	"mara/config"
	"mara/config/files"
	"mara/runner/internal/core/encryption"
	"mara/runner/internal/core/lock"
	"mara/runner/internal/machine/atomicfile"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/layout"
)

// A change of the key provider that has begun is noted in
// .runner/environments/<stack>.change.yaml until it has ended: the new
// encryption, without the passphrase or anything that it protects.

// markerOf returns the file of the note; simulations are never changed.
func markerOf(s *config.Settings) string { return layout.Of(s.Root, false).KeyChange(s.Stack.Text) }

// readMarker reads the encryption that a change has begun with, if there is one.
func readMarker(file string) (scheme encryption.Scheme, begun bool, err error) {
	content, err := files.Read(file, files.Text)
	if errors.Is(err, fs.ErrNotExist) {
		return encryption.Scheme{}, false, nil
	}
	if err != nil {
		return encryption.Scheme{}, false, failure.RunnerDir(err)
	}
	if scheme, begun = parseMarker(content); !begun {
		return encryption.Scheme{}, false, &failure.Environment{Text: file + " is damaged",
			Next: "restore it from a backup: it says how a change of the key provider has begun"}
	}
	return scheme, true, nil
}

// parseMarker parses a note; ok is false if it is damaged.
func parseMarker(content []byte) (scheme encryption.Scheme, ok bool) {
	err := yaml.Unmarshal(content, &scheme)
	return scheme, err == nil && (scheme.Salt != "" || scheme.Provider != "")
}

// sharedMarker is the key of the note in a backend that others share: the states there are half changed for all of
// them.
const sharedMarker = "change.json"

// readShared reads, once, the note that a change in another checkout has left in the backend.
func (v *Vault) readShared(ctx context.Context) (lock.Store, error) {
	if v.Shared == nil {
		return nil, nil
	}
	store, err := v.Shared(ctx)
	if err != nil || store == nil || v.sharedRead {
		return store, err
	}
	notes, err := store.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading whether the key provider is being changed: %w", err)
	}
	if content, there := notes[sharedMarker]; there {
		noted, ok := parseMarker(content)
		if !ok {
			return nil, &failure.Environment{Text: "the note " + sharedMarker + " in the backend is damaged",
				Next: "continue the change of the key provider where it was begun"}
		}
		v.sharedChange = &noted
	}
	v.sharedRead = true
	return store, nil
}

// begunChange returns the encryption that an unfinished change has begun with, here or, as far as it was read, in
// another checkout.
func (v *Vault) begunChange() (scheme encryption.Scheme, begun bool, err error) {
	if scheme, begun, err = readMarker(markerOf(v.Settings)); err == nil && !begun && v.sharedChange != nil {
		return *v.sharedChange, true, nil
	}
	return scheme, begun, err
}

// mark notes the new encryption, also for those who share the backend, before the first state changes.
func (c *change) mark(ctx context.Context) error {
	content, err := yaml.Marshal(c.to.Scheme())
	if err != nil {
		return err
	}
	content = append([]byte("# A change of the key provider has begun: this is the new one.\n"), content...)
	if err := atomicfile.WriteDeep(markerOf(c.Settings), content, 0o600, 0o700); err != nil {
		return failure.RunnerDir(err)
	}
	store, err := c.readShared(ctx)
	if err != nil || store == nil {
		return err
	}
	return store.Put(ctx, sharedMarker, content)
}

// unmark removes the note: from the backend first, so that this checkout still knows the change if that fails.
func (c *change) unmark(ctx context.Context) error {
	store, err := c.readShared(ctx)
	if err == nil && store != nil {
		err = store.Delete(ctx, sharedMarker)
	}
	if err != nil {
		return err
	}
	c.sharedChange = nil
	return failure.RunnerDir(atomicfile.Remove(markerOf(c.Settings)))
}

// RefuseHalfChanged refuses to work on an environment whose change of keys was interrupted, here or in another checkout
// that shares the backend: some of it needs the old key, and the rest the new one.
func (v *Vault) RefuseHalfChanged(ctx context.Context) error {
	if _, err := v.readShared(ctx); err != nil {
		return err
	}
	return v.refuseKnownChange()
}

// refuseKnownChange refuses as RefuseHalfChanged does, without asking the backend.
func (v *Vault) refuseKnownChange() error {
	scheme, begun, err := v.begunChange()
	if err != nil || !begun {
		return err
	}
	return &failure.Environment{
		Text: fmt.Sprintf("the key provider of %s is being changed to %s, and that was interrupted", v.stack(),
			providerName(scheme)),
		Next: "continue with `" + changeCommand(v.stack(), scheme) + "`",
	}
}

// providerName returns the key provider as the user names it.
func providerName(scheme encryption.Scheme) string {
	if scheme.Salt != "" {
		return "passphrase"
	}
	return scheme.Provider
}

// changeCommand returns the command that changes a stack to a key provider.
func changeCommand(stack string, scheme encryption.Scheme) string {
	return fmt.Sprintf("runner secrets change-provider %s -s %s", shellescape.Quote(providerName(scheme)), stack)
}
