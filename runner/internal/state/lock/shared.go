package lock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"mara/runner/internal/machine/interrupt"
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
	// meetings is how often a run retries after it has met another new run. Each waits for a
	// random time.
	meetings   = 3
	meetingGap = 300 * time.Millisecond
	// dropTime limits the release of a lock, also after an interruption.
	dropTime = 30 * time.Second
)

// Shared is a held lock in a backend.
type Shared struct {
	store    Store
	key      string
	previous Owner
}

// Previous returns the owner that died on this machine holding the lock, if any.
func (l *Shared) Previous() (Owner, bool) { return l.previous, l.previous != Owner{} }

// Release removes the object of the lock.
func (l *Shared) Release() error {
	ctx, cancel := context.WithTimeout(context.Background(), dropTime)
	defer cancel()
	if err := l.store.Delete(ctx, l.key); err != nil {
		return fmt.Errorf("releasing the lock in the backend: %w", err)
	}
	return nil
}

// AcquireShared takes the lock in a store. It returns a *HeldError if another run still holds
// it after the wait. It does not use Path.
func AcquireShared(ctx context.Context, store Store, o Options) (*Shared, error) {
	l := &Shared{store: store, key: o.Owner.Run + ".json"}
	deadline, announced := time.Now().Add(o.Wait), false
	for met := 0; ; {
		wrote, err := l.try(ctx, o.Owner)
		held, isHeld := errors.AsType[*HeldError](err)
		if !isHeld {
			return l, err
		}
		pause := sharedInterval
		switch {
		case wrote && met < meetings:
			met++
			pause = time.Duration(rand.Int64N(int64(meetingGap)))
		case !time.Now().Before(deadline):
			return nil, held
		case !announced && o.Waiting != nil:
			o.Waiting(held.Owner)
			announced = true
		}
		if err := interrupt.Sleep(ctx, pause); err != nil {
			return nil, fmt.Errorf("waiting for the lock: %w", err)
		}
	}
}

// try takes the lock if it is free, and removes objects of runs that died on this machine.
// wrote says that it met another run that started at the same time.
func (l *Shared) try(ctx context.Context, self Owner) (wrote bool, err error) {
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
		return true, nil
	}
	undo, cancel := context.WithTimeout(context.WithoutCancel(ctx), dropTime)
	defer cancel()
	return true, errors.Join(err, l.store.Delete(undo, l.key))
}

// check returns an error if another run holds the lock, and removes objects of dead runs.
func (l *Shared) check(ctx context.Context) error {
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
