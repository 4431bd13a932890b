package view

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"mara/config"
	"mara/runner/internal/core/inventory"
	"mara/runner/internal/core/session"
	"mara/runner/internal/machine/failure"
)

// IsPast reports whether the environment is past its time.
func (l Life) IsPast(now time.Time) bool {
	return !l.Ends().IsZero() && !now.Before(l.Ends())
}

// LifeOf reads when an environment was created, if it has a ttl. Its settings are resolved. A creation after now is a
// clock that was wrong: the age is unknown.
func LifeOf(ctx context.Context, s *session.Resolved, now time.Time) (l Life, err error) {
	if protected := s.Settings.Config.Protected(); protected != (config.Origin{}) {
		l.Protected = protected.String()
	}
	var origin config.Origin
	if l.TTL, origin, err = s.Settings.Config.TTL(); err != nil || l.TTL == 0 {
		return l, err
	}
	if l.Origin = origin.String(); !s.States().MayHaveStates() {
		return l, nil
	}
	stack := s.Settings.Stack.Text
	states, err := inventory.OfEnvironment(ctx, s)
	if err != nil {
		return l, &failure.Environment{Text: fmt.Sprintf("reading the age of %s: %v", stack, err)}
	}
	resources := 0
	for _, state := range states {
		n, err := l.add(state)
		if err != nil {
			return l, fmt.Errorf("reading the age of %s: %w", stack, err)
		}
		resources += n
	}
	if l.Born.After(now) {
		l.Born = time.Time{}
	}
	l.Unknown = resources > 0 && l.Born.IsZero()
	return l, nil
}

// add counts the resources of a state, and notes when the oldest was created.
func (l *Life) add(state json.RawMessage) (resources int, err error) {
	found, err := resourcesIn(state)
	for _, r := range found {
		if !r.Created.IsZero() && (l.Born.IsZero() || r.Created.Before(l.Born)) {
			l.Born = r.Created
		}
	}
	return len(found), err
}
