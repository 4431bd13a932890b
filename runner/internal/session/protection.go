package session

import (
	"context"
	"fmt"
	"strings"

	"mara/config"
	"mara/operation"
	"mara/providers"
	"mara/runner/internal/plan"
)

// ProtectKey declares what keeps an environment from being destroyed.
func ProtectKey() config.Key {
	return config.Key{Name: "runner:protect", Kind: config.Bool, Default: false, Doc: "refuse to destroy this environment"}
}

// DeclaredKeys are the keys that somebody reads: projects, or the runner.
func DeclaredKeys() []config.Key { return append(providers.Keys(), ProtectKey()) }

// CheckProtection refuses to destroy an environment that is protected. There is
// no flag to overrule it: whoever wants to destroy it has to say so in the
// configuration first.
func (s *Session) CheckProtection(op operation.Operation) error {
	entry, ok := s.Settings.Config.Lookup(ProtectKey().Name)
	if !op.Destroys() || !ok || strings.ToLower(fmt.Sprint(entry.Value)) != "true" {
		return nil
	}
	return &config.Error{
		Problems: []config.Problem{{File: s.Settings.Config.File, Line: entry.Line, Key: entry.Key, Text: "protects this environment from being destroyed"}},
		Next:     "to destroy it all the same, set it to false there first",
	}
}

// CheckNothingLeft asks the backend once more, after a destroy, whether
// anything is left.
func (s *Session) CheckNothingLeft(ctx context.Context, op operation.Operation, p plan.Plan) error {
	if !op.Destroys() || len(p.Steps) == 0 {
		return nil
	}
	if err := s.Stacks.List(ctx); err != nil {
		return err
	}
	var left []string
	for _, name := range p.Names() {
		if n := s.Stacks.Summary(name).Resources; n > 0 {
			left = append(left, fmt.Sprintf("%s (%d resources)", name, n))
		}
	}
	if len(left) > 0 {
		return fmt.Errorf("something is left after the destroy: %s", strings.Join(left, ", "))
	}
	return nil
}
