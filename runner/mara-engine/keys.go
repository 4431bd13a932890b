package main

import (
	"encoding/json"
	_ "unsafe" // for go:linkname

	"github.com/pulumi/pulumi/pkg/v3/secrets"
	"github.com/pulumi/pulumi/pkg/v3/secrets/passphrase"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/config"

	"mara/runner/internal/pulumicli/wire"
)

// Pulumi derives the key of a passphrase in each process, a million rounds for
// each salt, and keeps it. There is no way to hand it a key but to put it where
// Pulumi keeps those that it has derived. Another Pulumi that has none of these two
// functions does not link.

//go:linkname setCachedSecretsManager github.com/pulumi/pulumi/pkg/v3/secrets/passphrase.setCachedSecretsManager
func setCachedSecretsManager(state string, manager secrets.Manager)

//go:linkname clearCachedSecretsManagers github.com/pulumi/pulumi/pkg/v3/secrets/passphrase.clearCachedSecretsManagers
func clearCachedSecretsManagers()

// keepKeys has Pulumi use these keys, and forget all others with what they have
// opened: those are of environments that other commands have worked on.
func keepKeys(keys []wire.Key) {
	clearCachedSecretsManagers()
	for _, key := range keys {
		setCachedSecretsManager(key.Salt, newManager(key))
	}
}

// manager encrypts as Pulumi's own does for a passphrase.
type manager struct {
	state   json.RawMessage
	crypter config.Crypter
}

func newManager(key wire.Key) secrets.Manager {
	state, err := json.Marshal(map[string]string{"salt": key.Salt})
	if err != nil {
		panic(err) // texts always can be written
	}
	crypter := config.NewSymmetricCrypter(key.Raw)
	return manager{state: state, crypter: config.NewCiphertextToPlaintextCachedCrypter(crypter, crypter)}
}

// Type implements secrets.Manager.
func (manager) Type() string { return passphrase.Type }

// State implements secrets.Manager.
func (m manager) State() json.RawMessage { return m.state }

// Encrypter implements secrets.Manager.
func (m manager) Encrypter() config.Encrypter { return m.crypter }

// Decrypter implements secrets.Manager.
func (m manager) Decrypter() config.Decrypter { return m.crypter }
