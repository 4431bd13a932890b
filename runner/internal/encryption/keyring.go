package encryption

import (
	"slices"
	"sync"
)

// Keyring keeps keys that were opened or made, each once. A nil one keeps none.
type Keyring struct {
	mu   sync.Mutex // guards kept
	kept []*Key
}

// Open is OpenKey, and keeps the key.
func (r *Keyring) Open(passphrase, salt string) (*Key, error) {
	key, err := OpenKey(passphrase, salt)
	if err == nil {
		r.add(key)
	}
	return key, err
}

// add keeps a key, unless there is one with its salt.
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

// Keys are the keys that are kept, in the order in which they came.
func (r *Keyring) Keys() []*Key {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.kept)
}
