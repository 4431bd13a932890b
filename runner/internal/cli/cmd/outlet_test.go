package cmd

import (
	"errors"
	"os"
	"syscall"
	"testing"
)

// TestABrokenDiskIsNoClosedTerminal: the same error counts where a file is
// written.
func TestABrokenDiskIsNoClosedTerminal(t *testing.T) {
	t.Parallel()
	if _, err := NewOutlet(failing{}, false).Write([]byte("text")); !errors.Is(err, syscall.EIO) {
		t.Errorf("got %v", err)
	}
}

// failing is a disk that is broken.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, syscall.EIO }

func TestOutletDiscardsWithoutReader(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	o := NewOutlet(w, false)
	if !HasReader(o) || Direct(o) != w {
		t.Error("a pipe that is read is taken for one that is not")
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if n, err := o.Write([]byte("text")); n != 4 || err != nil {
			t.Errorf("got %d, %v", n, err)
		}
	}
	if HasReader(o) {
		t.Error("HasReader is true after the reader has closed")
	}
}
