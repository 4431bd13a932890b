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

	"mara/runner/internal/interrupt"
)

// A lock in a backend that several machines share is an object for each run that
// has it, or wants it: a run looks for others, writes its own, and looks again.
// Of two that come at the same time both may be refused, but never both get it.
// It takes no more than a store that lists at once what was written. Pulumi
// locks stacks in the same way.

// Store keeps the objects of shared locks.
type Store interface {
	// List returns the objects of an environment by key.
	List(ctx context.Context) (map[string][]byte, error)
	Put(ctx context.Context, key string, content []byte) error
	// Delete removes an object; one that is not there is no error.
	Delete(ctx context.Context, key string) error
}

const (
	// sharedInterval is how often a shared lock that is held is tried again.
	sharedInterval = time.Second
	// meetings is how often two runs that have met may try again, after a while that
	// is different for each.
	meetings   = 3
	meetingGap = 300 * time.Millisecond
	// dropTime is how long giving a lock back may take, after an interruption, too.
	dropTime = 30 * time.Second
)

// Shared is a lock in a backend that is held.
type Shared struct {
	store    Store
	key      string
	previous Owner
}

// Previous returns the owner that died on this machine holding the lock, if one
// did.
func (l *Shared) Previous() (Owner, bool) { return l.previous, l.previous != Owner{} }

// Release gives the lock back.
func (l *Shared) Release() error {
	ctx, cancel := context.WithTimeout(context.Background(), dropTime)
	defer cancel()
	if err := l.store.Delete(ctx, l.key); err != nil {
		return fmt.Errorf("giving the lock in the backend back: %w", err)
	}
	return nil
}

// AcquireShared takes the lock in a store. It returns a *HeldError if another run
// still has it after the wait. Path is not used.
func AcquireShared(ctx context.Context, store Store, o Options) (*Shared, error) {
	l := &Shared{store: store, key: o.Owner.Run + ".json"}
	deadline, told := time.Now().Add(o.Wait), false
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
		case !told && o.Waiting != nil:
			o.Waiting(held.Owner)
			told = true
		}
		if err := interrupt.Sleep(ctx, pause); err != nil {
			return nil, fmt.Errorf("waiting for the lock: %w", err)
		}
	}
}

// try takes the lock if nobody has it; wrote says that it has met another run that
// came at the same time. Objects of runs that died here are removed.
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

// check refuses a lock that others have, and removes what the dead have left.
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

// Left is the object of one owner.
type Left struct {
	Key   string
	Owner Owner
}

// IsHeld reports whether the owner is a process that runs on this machine.
func (l Left) IsHeld() bool { return l.Owner.isLocal() && l.Owner.isAlive() }

// IsDead reports whether the owner is gone for certain; the next run takes its
// lock over.
func (l Left) IsDead() bool { return l.Owner.isDead() }

// OwnersIn lists who has the lock, or had it and died. An object that cannot be
// read is one of somebody whom nobody knows.
func OwnersIn(ctx context.Context, store Store) ([]Left, error) {
	objects, err := store.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("looking for the lock in the backend: %w", err)
	}
	var all []Left
	for key, content := range objects {
		left := Left{Key: key}
		if json.Unmarshal(content, &left.Owner) != nil || left.Owner == (Owner{}) {
			left.Owner = Owner{User: "somebody", Host: "an unknown machine", Operation: "something", Run: strings.TrimSuffix(key, ".json")}
		}
		all = append(all, left)
	}
	slices.SortFunc(all, func(a, b Left) int { return strings.Compare(a.Key, b.Key) })
	return all, nil
}

// isLocal reports whether the process ids of an owner mean here what they meant
// to it. Containers on one machine have process ids of their own.
func (o Owner) isLocal() bool {
	self := Self("", "", time.Time{})
	return o.Boot != "" && o.Boot == self.Boot && o.Space == self.Space && o.Host == self.Host
}

// isDead reports whether it is certain that an owner is gone: its process was one
// of this machine since its last start. Names of machines prove nothing, for
// several may have the same.
func (o Owner) isDead() bool { return o.isLocal() && !o.isAlive() }

// Age returns how long ago an owner took the lock, in words.
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
