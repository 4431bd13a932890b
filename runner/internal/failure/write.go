package failure

import (
	"errors"
	"io/fs"
	"syscall"
)

// WriteRemedy says what to do about something that could not be written, in
// words that go on: "free some space on its disk". The target is what it is
// called where it is to be made writable: "the folder".
func WriteRemedy(err error, target string) string {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "free some space on its disk"
	case errors.Is(err, syscall.EROFS):
		return "mount its file system writable"
	case errors.Is(err, fs.ErrPermission):
		return "make " + target + " writable"
	}
	return "look whether " + target + " can be written"
}
