package request

import "mara/config"

// ownKeys are the keys that the runner itself reads.
func ownKeys() []config.Key {
	return []config.Key{
		{Name: config.ProtectKey, Kind: config.Bool, Default: false, Doc: "destroy this environment, and replace or delete what holds data in it, only if somebody says its name"},
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
