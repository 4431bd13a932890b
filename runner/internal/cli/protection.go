package cli

import (
	"context"
	"fmt"
	"strings"

	"mara/config"
	"mara/runner/internal/event"
)

// protectKey declares what keeps an environment from being destroyed.
func protectKey() config.Key {
	return config.Key{Name: "runner:protect", Kind: config.Bool, Default: false, Doc: "refuse to destroy this environment"}
}

// checkProtection refuses to destroy an environment that is protected. There is
// no flag to overrule it: whoever wants to destroy it has to say so in the
// configuration first.
func (s *session) checkProtection(o operateOptions) error {
	entry, ok := s.settings.Config.Lookup(protectKey().Name)
	if o.Operation != event.Destroy || !ok || strings.ToLower(fmt.Sprint(entry.Value)) != "true" {
		return nil
	}
	return &config.Error{
		Problems: []config.Problem{{File: s.settings.Config.File, Line: entry.Line, Key: entry.Key, Text: "protects this environment from being destroyed"}},
		Next:     "to destroy it all the same, set it to false there first",
	}
}

// checkNothingLeft asks the backend once more, after a destroy, whether
// anything is left.
func (s *session) checkNothingLeft(ctx context.Context, o operateOptions, w work) error {
	if o.Operation != event.Destroy || len(w.plan.Steps) == 0 {
		return nil
	}
	if err := s.stacks.List(ctx); err != nil {
		return err
	}
	var left []string
	for _, name := range w.plan.Names() {
		if n := s.stacks.Summary(name).Resources; n > 0 {
			left = append(left, fmt.Sprintf("%s (%d resources)", name, n))
		}
	}
	if len(left) > 0 {
		return fmt.Errorf("something is left after the destroy: %s", strings.Join(left, ", "))
	}
	return nil
}
