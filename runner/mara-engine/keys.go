package main

import (
	"encoding/json"
	_ "unsafe" // for go:linkname

	"github.com/pulumi/pulumi/pkg/v3/secrets"
	"github.com/pulumi/pulumi/pkg/v3/secrets/passphrase"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/config"

	"mara/runner/internal/core/pulumicli/wire"
)

// Pulumi derives the key of a passphrase in each process, with a million rounds for each
// salt, and caches it. Writing to that cache is the only way to pass it a key. A version of
// Pulumi without these two functions does not link.

// setCachedSecretsManager adds a secrets manager to Pulumi's cache.
//
//go:linkname setCachedSecretsManager github.com/pulumi/pulumi/pkg/v3/secrets/passphrase.setCachedSecretsManager
func setCachedSecretsManager(state string, manager secrets.Manager)

// clearCachedSecretsManagers empties Pulumi's cache.
//
//go:linkname clearCachedSecretsManagers github.com/pulumi/pulumi/pkg/v3/secrets/passphrase.clearCachedSecretsManagers
func clearCachedSecretsManagers()

// keepKeys makes Pulumi use these keys alone, and clears its cache of the keys of other
// environments.
func keepKeys(keys []wire.Key) {
	clearCachedSecretsManagers()
	for _, key := range keys {
		state, err := json.Marshal(map[string]string{"salt": key.Salt})
		if err != nil {
			panic(err) // strings can always be encoded
		}
		crypter := config.NewSymmetricCrypter(key.Raw)
		setCachedSecretsManager(key.Salt, manager{state, config.NewCiphertextToPlaintextCachedCrypter(crypter, crypter)})
	}
}

// manager encrypts as Pulumi's own does for a passphrase.
type manager struct {
	state   json.RawMessage
	crypter config.Crypter
}

// Type implements secrets.Manager.
func (manager) Type() string { return passphrase.Type }

// State implements secrets.Manager.
func (m manager) State() json.RawMessage { return m.state }

// Encrypter implements secrets.Manager.
func (m manager) Encrypter() config.Encrypter { return m.crypter }

// Decrypter implements secrets.Manager.
func (m manager) Decrypter() config.Decrypter { return m.crypter }
