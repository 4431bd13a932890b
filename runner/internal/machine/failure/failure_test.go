package failure_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"testing"

	"mara/runner/internal/machine/failure"
)

func TestWriteRemedy(t *testing.T) {
	t.Parallel()
	at := func(err error) error {
		return fmt.Errorf("writing x: %w", &os.PathError{Op: "write", Path: "x", Err: err})
	}
	for _, tt := range []struct {
		err  error
		want string
	}{
		{at(syscall.ENOSPC), "free some space on its disk"},
		{at(syscall.EDQUOT), "free some space on its disk"},
		{at(syscall.EROFS), "mount its file system writable"},
		{at(syscall.EACCES), "make the directory writable"},
		{at(syscall.EPERM), "make the directory writable"},
		{fs.ErrPermission, "make the directory writable"},
		{at(syscall.EMFILE), "raise the limit of open files with `ulimit -n 4096`"},
		{at(syscall.EIO), "check that the directory can be written"},
		{errors.New("odd"), "check that the directory can be written"},
	} {
		if got := failure.WriteRemedy(tt.err, "the directory"); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.err, got, tt.want)
		}
	}
}

func TestHint(t *testing.T) {
	t.Parallel()
	few := &os.PathError{Op: "open", Path: "/dev/null", Err: syscall.EMFILE}
	for want, err := range map[string]error{
		"":               errors.New("odd"),
		failure.FewFiles: fmt.Errorf("starting the engine: %w", errors.Join(errors.New("odd"), few)),
		"look there":     fmt.Errorf("x: %w", failure.Advise(few, "look there")),
	} {
		if got := failure.Hint(err); got != want {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
	}
}
