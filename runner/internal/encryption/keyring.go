package encryption

import (
	"sync"

	"github.com/pulumi/pulumi/sdk/v3/go/common/slice"
)

// Keyring keeps keys that were made, since making one takes a while. A nil one
// keeps none.
type Keyring struct {
	mu   sync.Mutex // guards kept
	kept []keptKey
}

type keptKey struct {
	passphrase string
	key        *Key
}

// Open is OpenKey, but for a key that is kept.
func (r *Keyring) Open(passphrase, salt string) (*Key, error) {
	if r == nil {
		return OpenKey(passphrase, salt)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, kept := range r.kept {
		if kept.passphrase == passphrase && kept.key.salt == salt {
			return kept.key, nil
		}
	}
	key, err := OpenKey(passphrase, salt)
	if err == nil {
		r.kept = append(r.kept, keptKey{passphrase, key})
	}
	return key, err
}

// add keeps a key that was made elsewhere.
func (r *Keyring) add(passphrase string, key *Key) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kept = append(r.kept, keptKey{passphrase, key})
}

// Keys are the keys that are kept, in the order in which they were made.
func (r *Keyring) Keys() []*Key {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slice.Map(r.kept, func(kept keptKey) *Key { return kept.key })
}
