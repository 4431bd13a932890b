package lock_test

import (
	"os"
	"path/filepath"
	"testing"

	"mara/runner/internal/core/lock"
)

// FuzzOwner: whatever is in the file of a lock that nobody holds, it is judged, and the next run takes it over unless its
// owner may still work elsewhere.
func FuzzOwner(f *testing.F) {
	for _, seed := range []string{
		"", "{", "null", "[]", `{"pid":-1}`, `{"pid":1e400}`, `{"host":"elsewhere","boot":"abc","pid":7,"run":"r1"}`,
		`{"pid":0,"started":"x","since":"9999-12-31T23:59:59Z"}`, "\x00\x00", `{"user":"` + "\x1b[2J" + `"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		path := filepath.Join(t.TempDir(), "dev.lock")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		state, owner, err := lock.Inspect(path)
		if err != nil {
			t.Fatal(err)
		}
		held, err := lock.Acquire(t.Context(), lock.Options{Path: path, Owner: lock.Self("up", "next", now)})
		if (state == lock.Foreign) != (err != nil) {
			t.Fatalf("%s of %s, and taking it: %v", state, owner, err)
		}
		if err != nil {
			return
		}
		if err := held.Release(); err != nil {
			t.Fatal(err)
		}
		if state, _, err := lock.Inspect(path); state != lock.Free || err != nil {
			t.Errorf("after its release it is %s, %v", state, err)
		}
	})
}
