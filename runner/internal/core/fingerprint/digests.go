package fingerprint

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"mara/config/lists"
)

// Fingerprint shows whether something has changed, and what: a digest for each
// part, by its name.
type Fingerprint map[string]string

// New computes the digests of parts, such as the contents of the stack
// file by its path. A short secret could be guessed from its digest: parts must
// not be made of secrets that are not encrypted.
func New(parts map[string][]byte) Fingerprint {
	f := make(Fingerprint, len(parts))
	for name, content := range parts {
		f[name] = Digest(content)
	}
	return f
}

// Digest returns a digest of 32 hexadecimal digits.
func Digest(content []byte) string {
	digest := sha256.Sum256(content)
	return hex.EncodeToString(digest[:16])
}

// Changes lists the parts that differ, have come or have gone, sorted.
func (f Fingerprint) Changes(now Fingerprint) []string {
	return slices.DeleteFunc(lists.Keys(f, now), func(name string) bool {
		before, was := f[name]
		after, is := now[name]
		return was == is && before == after
	})
}
