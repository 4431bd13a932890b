package journal

import "io"

// file is what an appendFile needs of an *os.File.
type file interface {
	io.WriteCloser
	Truncate(size int64) error
}

// appendFile appends whole lines. When a line can be written in part only, as
// on a full disk, that part is taken back: what follows once there is space
// again must not continue a broken line.
type appendFile struct {
	f      file
	size   int64
	broken error // set when a part of a line could not be taken back
}

func (a *appendFile) append(line []byte) error {
	if a.broken != nil {
		return a.broken
	}
	n, err := a.f.Write(line)
	if err == nil {
		a.size += int64(n)
		return nil
	}
	if n > 0 && a.f.Truncate(a.size) != nil {
		a.broken = err
	}
	return err
}
