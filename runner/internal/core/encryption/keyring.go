package encryption

import (
	"slices"
	"sync"
)

// Keyring caches keys by salt. A nil Keyring caches none.
type Keyring struct {
	mu   sync.Mutex // guards kept
	kept []*Key
}

// Open calls OpenKey and adds the key to the keyring.
func (r *Keyring) Open(passphrase, salt string) (*Key, error) {
	key, err := OpenKey(passphrase, salt)
	if err == nil {
		r.add(key)
	}
	return key, err
}

// add adds a key, unless the keyring has one with the same salt.
func (r *Keyring) add(key *Key) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.ContainsFunc(r.kept, func(kept *Key) bool { return kept.salt == key.salt }) {
		r.kept = append(r.kept, key)
	}
}

// Keys returns the keys in the order in which they were added.
func (r *Keyring) Keys() []*Key {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.kept)
}
