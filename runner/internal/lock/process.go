package lock

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
)

// State is what a lock file tells.
type State string

// The states of a lock.
const (
	Free      State = "free"
	Held      State = "held"
	Abandoned State = "abandoned" // its owner is dead; the next run takes it
	Foreign   State = "foreign"   // its owner is or was on another machine or in a container
)

// Inspect tells who has a lock without touching it: it looks for the process.
// The answer may be out of date at once.
func Inspect(path string) (State, Owner, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Free, Owner{}, nil
	}
	if err != nil {
		return Free, Owner{}, err
	}
	defer f.Close()
	host, _ := os.Hostname()
	switch o := readOwner(f); {
	case o == Owner{}:
		return Free, o, nil
	case o.Host != host: // its process ids are not ours
		return Foreign, o, nil
	case o.isAlive():
		return Held, o, nil
	default:
		return Abandoned, o, nil
	}
}

// isHere reports whether the owner is or was on this machine: under the same
// kernel, whatever its container calls the host, or on a host of the same name
// before the last start.
func (o Owner) isHere() bool {
	host, err := os.Hostname()
	return o.Boot != "" && o.Boot == bootID() || err == nil && o.Host == host
}

// isAlive reports whether the process of an owner on this machine still runs.
func (o Owner) isAlive() bool {
	return o.Boot == bootID() && startOf(o.PID) == o.Started && IsAlive(o.PID)
}

// IsAlive reports whether a process runs on this machine.
func IsAlive(pid int) bool {
	if startOf(pid) != "" {
		return true
	}
	if _, err := os.Stat("/proc/self/stat"); err == nil {
		return false // there is a /proc, and the process is not in it
	}
	return isProcess(pid)
}

// bootID names the run of the kernel, where the system tells it.
func bootID() string {
	text, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // elsewhere there is none
	return strings.TrimSpace(string(text))
}

// startOf returns when a process began, in the system's own unit; empty for one that
// does not run, and where the system does not tell it.
func startOf(pid int) string {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	// The command in parentheses may contain anything; what follows is the
	// state and, as the 20th word, the start.
	rest := string(text[strings.LastIndexByte(string(text), ')')+1:])
	words := strings.Fields(rest)
	if len(words) < 20 || slices.Contains([]string{"Z", "X"}, words[0]) {
		return ""
	}
	return words[19]
}
