package scripttest_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"mara/runner/internal/testing/scripttest"
)

// TestWrite runs scripts at once while others start processes all the time.
func TestWrite(t *testing.T) {
	t.Parallel()
	done := make(chan struct{})
	var others sync.WaitGroup
	for range 8 {
		others.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					_ = exec.CommandContext(t.Context(), "true").Run()
				}
			}
		})
	}
	dir := t.TempDir()
	for i := range 100 {
		path := filepath.Join(dir, fmt.Sprint(i))
		scripttest.Write(t, path, "echo done")
		if out, err := exec.CommandContext(t.Context(), path).Output(); err != nil || string(out) != "done\n" {
			t.Errorf("%q, %v", out, err)
		}
	}
	close(done)
	others.Wait()
}
