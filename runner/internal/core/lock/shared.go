package lock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mara/runner/internal/machine/atomicfile"
)

// A lock in a shared backend consists of one object for each run that has or wants it. A run
// lists the objects of other runs, writes its own, and lists again. If two runs start at once,
// both may be refused, but never will both proceed. The store only needs to list objects right
// after they were written. Pulumi locks stacks in the same way.

// Store stores the objects of shared locks.
type Store interface {
	// List returns the objects of an environment by key.
	List(ctx context.Context) (map[string][]byte, error)
	Put(ctx context.Context, key string, content []byte) error
	// Delete removes an object; a missing object is no error.
	Delete(ctx context.Context, key string) error
}

const (
	// sharedInterval is the time between attempts to take a held shared lock.
	sharedInterval = time.Second
	// maxMeetings is how often a run retries after it has met another new run.
	maxMeetings = 3
	meetingGap  = 300 * time.Millisecond
	// dropTime limits the release of a lock, also after an interruption.
	dropTime = 30 * time.Second
	// releaseTries limits the wait between tries to release a lock, which doubles: a backend that refuses requests for
	// some seconds must not fail a run that has done its work.
	releaseTries = 2 * time.Second
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

// AcquireShared takes the lock in a store. It returns a *HeldError if another run still holds
// it after the wait. The previous owner of the lock died on this machine.
func AcquireShared(ctx context.Context, store Store, o Options) (*Lock, error) {
	s := &shared{store: store, key: o.Owner.Run + ".json"}
	if err := await(ctx, o, sharedInterval, func() (bool, error) { return s.try(ctx, o.Owner) }); err != nil {
		return nil, err
	}
	return &Lock{Previous: s.previous, Release: s.release}, nil
}

// shared is a lock in a backend.
type shared struct {
	store    Store
	key      string
	previous Owner
}

// release removes the object of the lock.
func (l *shared) release() error {
	ctx, cancel := context.WithTimeout(context.Background(), dropTime)
	defer cancel()
	var err error
	for wait := releaseTries / 4; ; wait *= 2 {
		if err = l.store.Delete(ctx, l.key); err == nil {
			return nil
		}
		if wait > releaseTries {
			return fmt.Errorf("releasing the lock in the backend: %w", err)
		}
		time.Sleep(wait)
	}
}

// try takes the lock if it is free, and removes objects of runs that died on this machine.
// met says that another run started at the same time.
func (l *shared) try(ctx context.Context, self Owner) (met bool, err error) {
	if err := l.check(ctx); err != nil {
		return false, err
	}
	content, err := json.Marshal(self)
	if err != nil {
		return false, err
	}
	if err = l.store.Put(ctx, l.key, content); err == nil {
		err = l.check(ctx)
	}
	if err == nil {
		return false, nil
	}
	undo, cancel := context.WithTimeout(context.WithoutCancel(ctx), dropTime)
	defer cancel()
	return true, errors.Join(err, l.store.Delete(undo, l.key))
}

// check returns an error if another run holds the lock, and removes objects of dead runs.
func (l *shared) check(ctx context.Context) error {
	others, err := OwnersIn(ctx, l.store)
	if err != nil {
		return err
	}
	for _, other := range others {
		switch {
		case other.Key == l.key:
		case !other.Owner.isDead():
			return &HeldError{Owner: other.Owner, Foreign: !other.Owner.isLocal()}
		default:
			if err := l.store.Delete(ctx, other.Key); err != nil {
				return fmt.Errorf("taking over the lock of %s: %w", other.Owner, err)
			}
			l.previous = other.Owner
		}
	}
	return nil
}

// Left is the object of an owner.
type Left struct {
	Key   string
	Owner Owner
}

// IsHeld reports whether the owner is a process that runs on this machine.
func (l Left) IsHeld() bool { return l.Owner.isLocal() && l.Owner.isAlive() }

// IsDead reports whether the owner has certainly ended; the next run takes over its lock.
func (l Left) IsDead() bool { return l.Owner.isDead() }

// OwnersIn lists all owners of the lock, including dead ones. An unreadable object belongs to
// an unknown owner.
func OwnersIn(ctx context.Context, store Store) ([]Left, error) {
	objects, err := store.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("listing the locks in the backend: %w", err)
	}
	var all []Left
	for key, content := range objects {
		left := Left{Key: key}
		if json.Unmarshal(content, &left.Owner) != nil || left.Owner == (Owner{}) {
			left.Owner = Owner{User: "an unknown user", Host: "an unknown machine", Operation: "an unknown operation",
				Run: strings.TrimSuffix(key, ".json")}
		}
		all = append(all, left)
	}
	slices.SortFunc(all, func(a, b Left) int { return strings.Compare(a.Key, b.Key) })
	return all, nil
}

// isLocal reports whether an owner's process ID is valid in this process. Containers on one
// machine have separate process IDs.
func (o Owner) isLocal() bool {
	self := Self("", "", time.Time{})
	return o.Boot != "" && o.Boot == self.Boot && o.Space == self.Space && o.Host == self.Host
}

// isDead reports whether an owner has certainly ended: its process belonged to this machine
// since the last boot. Host names prove nothing, because machines may share them.
func (o Owner) isDead() bool { return o.isLocal() && !o.isAlive() }

// Age describes how long ago an owner took the lock.
func (o Owner) Age(now time.Time) string {
	age := now.Sub(o.Since)
	switch {
	case o.Since.IsZero() || age < 0:
		return "of unknown age"
	case age < time.Minute:
		return "less than a minute old"
	case age < 2*time.Hour:
		return fmt.Sprintf("%d minutes old", int(age.Minutes()))
	case age < 48*time.Hour:
		return fmt.Sprintf("%d hours old", int(age.Hours()))
	}
	return fmt.Sprintf("%d days old", int(age.Hours())/24)
}
