package prompttest

import (
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// open opens both ends of a terminal.
func open() (person, side *os.File, err error) {
	person, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	fd, err := raw(person)
	if err != nil {
		return nil, nil, errors.Join(err, person.Close())
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		side, err = os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		return nil, nil, errors.Join(err, person.Close())
	}
	return person, side, nil
}

// raw returns the descriptor of a file that stays pollable, so that closing the file
// ends a read.
func raw(file *os.File) (fd int, err error) {
	connection, err := file.SyscallConn()
	if err != nil {
		return 0, err
	}
	err = connection.Control(func(descriptor uintptr) { fd = int(descriptor) })
	return fd, err
}
