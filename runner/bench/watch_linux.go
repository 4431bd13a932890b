package main

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// watchMemory looks at this process and all that it has started, and returns
// the most memory they had at once. Memory that they share counts once.
func watchMemory() (peak func() int64) {
	stop := make(chan struct{})
	var most int64
	var watching sync.WaitGroup
	watching.Go(func() {
		ticker := time.NewTicker(20 * time.Millisecond)
		defer ticker.Stop()
		for {
			most = max(most, memoryBelow(os.Getpid()))
			select {
			case <-stop:
				return
			case <-ticker.C:
			}
		}
	})
	return func() int64 {
		close(stop)
		watching.Wait()
		return most
	}
}

// memoryBelow adds up the proportional sets of all descendants of a process,
// but not its own.
func memoryBelow(pid int) int64 {
	var sum int64
	for _, child := range children(pid) {
		sum += proportionalSet(child) + memoryBelow(child)
	}
	return sum
}

func children(pid int) []int {
	var all []int
	lists, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/children")
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		for word := range strings.FieldsSeq(string(text)) {
			if child, err := strconv.Atoi(word); err == nil {
				all = append(all, child)
			}
		}
	}
	return all
}

// proportionalSet returns the memory of a process, in which each page is divided by the number
// of processes that share it.
func proportionalSet(pid int) int64 { return memoryOf(pid, "Pss:") }

// ownMemory returns the memory of a process that is no part of a file.
func ownMemory(pid int) int64 { return memoryOf(pid, "Anonymous:") }

// memoryOf returns a sum over all mappings of a process, in bytes.
func memoryOf(pid int, sum string) int64 {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/smaps_rollup")
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, sum); ok {
			kilo, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return kilo << 10
		}
	}
	return 0
}

// watchOpens counts how often a file is opened. Whoever derives a key from the
// passphrase reads its file first, and whoever has the key does not.
func watchOpens(path string) (opened func() int, err error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	if err != nil {
		return nil, err
	}
	if _, err := unix.InotifyAddWatch(fd, path, unix.IN_OPEN|unix.IN_CLOSE); err != nil {
		return nil, err
	}
	// A writer that opens the file ends the watch.
	count := 0
	var watching sync.WaitGroup
	watching.Go(func() {
		buffer := make([]byte, 4096)
		for {
			n, err := unix.Read(fd, buffer)
			if err != nil {
				return
			}
			for at := 0; at+unix.SizeofInotifyEvent <= n; {
				mask := binary.NativeEndian.Uint32(buffer[at+4:])
				switch {
				case mask&unix.IN_OPEN != 0:
					count++
				case mask&unix.IN_CLOSE_WRITE != 0:
					return
				}
				at += unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(buffer[at+12:]))
			}
		}
	})
	return func() int {
		if file, err := os.OpenFile(path, os.O_WRONLY, 0); err == nil {
			file.Close()
		}
		watching.Wait()
		_ = unix.Close(fd)
		return count - 1
	}, nil
}

// watchMoves counts how often a file gets a name in a directory that a finished file is given by renaming it.
func watchMoves(dir, name string) (moved func() int, err error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, err
	}
	events := os.NewFile(uintptr(fd), "inotify")
	if _, err := unix.InotifyAddWatch(fd, dir, unix.IN_MOVED_TO); err != nil {
		return nil, errors.Join(err, events.Close())
	}
	count := 0
	var watching sync.WaitGroup
	watching.Go(func() {
		buffer := make([]byte, 64<<10)
		for {
			n, err := events.Read(buffer)
			if err != nil {
				return
			}
			for at := 0; at+unix.SizeofInotifyEvent <= n; {
				end := at + unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(buffer[at+12:]))
				if strings.TrimRight(string(buffer[at+unix.SizeofInotifyEvent:end]), "\x00") == name {
					count++
				}
				at = end
			}
		}
	})
	return func() int {
		time.Sleep(100 * time.Millisecond) // for the last of them
		_ = events.Close()
		watching.Wait()
		return count
	}, nil
}

// processorOf returns the processor time that a process has taken.
func processorOf(pid int) time.Duration {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	const user, system, perSecond = 11, 12, 100 // words after the name; ticks
	words := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	var sum time.Duration
	for _, at := range []int{user, system} {
		if ticks, err := strconv.Atoi(words[at]); err == nil {
			sum += time.Duration(ticks) * time.Second / perSecond
		}
	}
	return sum
}

// writtenBy returns how many bytes a process that has ended has written to disks, as the kernel counts them.
func writtenBy(p *os.ProcessState) int64 {
	const block = 512
	usage, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return usage.Oublock * block
}
