package vault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"al.essio.dev/pkg/shellescape"
	"gopkg.in/yaml.v3"

	"mara/config"
	"mara/runner/internal/machine/atomicfile"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/layout"
	"mara/runner/internal/secrets/encryption"
	"mara/runner/internal/state/lock"
)

// A change of the key provider that has begun is noted in
// .runner/environments/<stack>.change.yaml until it has ended: the new
// encryption, without the passphrase or anything that it protects.

// markerFile is where the note is; simulations are never changed.
type markerFile string

func markerOf(s *config.Settings) markerFile {
	return markerFile(layout.Of(s.Root, false).KeyChange(s.Stack.Text))
}

// read is the encryption that a change has begun with, if one has.
func (f markerFile) read() (scheme encryption.Scheme, begun bool, err error) {
	content, err := os.ReadFile(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return encryption.Scheme{}, false, nil
	}
	if err != nil {
		return encryption.Scheme{}, false, failure.RunnerDir(err)
	}
	if err := yaml.Unmarshal(content, &scheme); err != nil || scheme.Salt == "" && scheme.Provider == "" {
		return encryption.Scheme{}, false, &failure.Environment{Text: string(f) + " is damaged", Next: "restore it from a backup: it says how a change of the key provider has begun"}
	}
	return scheme, true, nil
}

func (f markerFile) write(scheme encryption.Scheme) error {
	content, err := markerContent(scheme)
	if err != nil {
		return err
	}
	if err := atomicfile.WriteDeep(string(f), content, 0o600, 0o700); err != nil {
		return failure.RunnerDir(err)
	}
	return nil
}

func markerContent(scheme encryption.Scheme) ([]byte, error) {
	content, err := yaml.Marshal(scheme)
	return append([]byte("# A change of the key provider has begun: this is the new one.\n"), content...), err
}

// sharedMarker is the key of the note in a backend that others share: the states there are half changed for all of them.
const sharedMarker = "change.json"

// ReadSharedMarker reads the note that a change in another checkout has left in the backend. A nil store has none.
func (v *Vault) ReadSharedMarker(ctx context.Context, store lock.Store) error {
	if store == nil {
		return nil
	}
	notes, err := store.List(ctx)
	if err != nil {
		return fmt.Errorf("reading whether the key provider is being changed: %w", err)
	}
	content, there := notes[sharedMarker]
	if !there {
		return nil
	}
	var noted encryption.Scheme
	if err := yaml.Unmarshal(content, &noted); err != nil || noted.Salt == "" && noted.Provider == "" {
		return &failure.Environment{Text: "the note " + sharedMarker + " in the backend is damaged", Next: "continue the change of the key provider where it was begun"}
	}
	v.sharedChange = &noted
	return nil
}

// begunChange returns the encryption that an unfinished change has begun with, here or in another checkout.
func (v *Vault) begunChange() (scheme encryption.Scheme, begun bool, err error) {
	if scheme, begun, err = markerOf(v.Settings).read(); err == nil && !begun && v.sharedChange != nil {
		return *v.sharedChange, true, nil
	}
	return scheme, begun, err
}

// mark notes the new encryption, also for those who share the backend, before the first state changes.
func (c *change) mark(ctx context.Context) error {
	scheme := c.to.Scheme()
	if err := markerOf(c.Settings).write(scheme); err != nil || c.how.Shared == nil {
		return err
	}
	content, err := markerContent(scheme)
	if err != nil {
		return err
	}
	return c.how.Shared.Put(ctx, sharedMarker, content)
}

// unmark removes the note: from the backend first, so that this checkout still knows the change if that fails.
func (c *change) unmark(ctx context.Context) error {
	if c.how.Shared != nil {
		if err := c.how.Shared.Delete(ctx, sharedMarker); err != nil {
			return err
		}
	}
	return remove(string(markerOf(c.Settings)))
}

// remove removes a file of the runner's that may be missing.
func remove(file string) error {
	if err := atomicfile.Remove(file); err != nil {
		return failure.RunnerDir(err)
	}
	return nil
}

// RefuseHalfChanged refuses to work on an environment whose change of keys was
// interrupted: some of it needs the old key, and the rest the new one.
func (v *Vault) RefuseHalfChanged() error {
	scheme, begun, err := v.begunChange()
	if err != nil || !begun {
		return err
	}
	return &failure.Environment{
		Text: fmt.Sprintf("the key provider of %s is being changed to %s, and that was interrupted", v.stack(), providerName(scheme)),
		Next: "carry on with `" + changeCommand(v.stack(), scheme) + "`",
	}
}

// providerName is the key provider as the user names it.
func providerName(scheme encryption.Scheme) string {
	if scheme.Salt != "" {
		return "passphrase"
	}
	return scheme.Provider
}

// changeCommand is what changes a stack to a key provider.
func changeCommand(stack string, scheme encryption.Scheme) string {
	return fmt.Sprintf("runner secrets change-provider %s -s %s", shellescape.Quote(providerName(scheme)), stack)
}
