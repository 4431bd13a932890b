package lock

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"mara/config"
	"mara/runner/internal/core/event"
)

// everywhere is a lock in several backends: who has it has its object in each. All runs go through the backends in the
// same order, so that of two that begin at once never both get it.
type everywhere []place

// place is the store of the lock in one of the backends.
type place struct {
	Store
	backend config.Value
}

// wrap says in which backend something went wrong, and where that is named.
func (p place) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s (%s): %w", event.MaskURLs(p.backend.Text), p.backend.Origin, err)
}

// List implements Store: a run that has the lock in one backend has it.
func (e everywhere) List(ctx context.Context) (map[string][]byte, error) {
	all := map[string][]byte{}
	for _, p := range e {
		objects, err := p.Store.List(ctx)
		if err != nil {
			return nil, p.wrap(err)
		}
		maps.Copy(all, objects)
	}
	return all, nil
}

// Put implements Store.
func (e everywhere) Put(ctx context.Context, key string, content []byte) error {
	for _, p := range e {
		if err := p.Store.Put(ctx, key, content); err != nil {
			return p.wrap(err)
		}
	}
	return nil
}

// Delete implements Store.
func (e everywhere) Delete(ctx context.Context, key string) error {
	var errs []error
	for _, p := range e {
		errs = append(errs, p.wrap(p.Store.Delete(ctx, key)))
	}
	return errors.Join(errs...)
}
