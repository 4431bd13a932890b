package session

import (
	"fmt"
	"strings"

	"mara/config"
	"mara/providers/operation"
)

// ProtectKey declares what keeps an environment from being destroyed.
func ProtectKey() config.Key {
	return config.Key{Name: "runner:protect", Kind: config.Bool, Default: false, Doc: "refuse to destroy this environment"}
}

// DeclaredKeys are the keys that somebody reads: projects, or the runner.
func (r Request) DeclaredKeys() []config.Key {
	known := r.Known()
	keys := append(known.Keys(), ProtectKey())
	for _, secret := range known.Secrets() {
		if secret.Own { // it may stand in the stack file, encrypted
			keys = append(keys, config.Key{Name: secret.Key, Kind: config.String, Doc: secret.Doc})
		}
	}
	return keys
}

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
