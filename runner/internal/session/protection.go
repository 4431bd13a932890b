package session

import (
	"mara/config"
	"mara/providers/operation"
)

// ownKeys are the keys that the runner itself reads.
func ownKeys() []config.Key {
	return []config.Key{
		{Name: config.ProtectKey, Kind: config.Bool, Default: false, Doc: "refuse to destroy this environment"},
		{Name: config.TTLKey, Kind: config.String, Form: config.Duration, Example: "8h", Doc: "how long this environment is meant to live"},
	}
}

// DeclaredKeys are the keys that somebody reads: projects, or the runner.
func (r Request) DeclaredKeys() []config.Key {
	known := r.Known()
	keys := append(known.Keys(), ownKeys()...)
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
	if !op.Destroys() || s.Settings.Config.Protected() == (config.Origin{}) {
		return nil
	}
	return &config.Error{
		Problems: []config.Problem{s.Settings.Config.Problem(config.ProtectKey, "protects this environment from being destroyed")},
		Next:     "to destroy it all the same, set it to false there first",
	}
}
