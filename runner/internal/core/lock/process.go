package lock

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"mara/config/files"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/filelock"
)

// State is the state of a lock, according to its file.
type State string

// The states of a lock.
const (
	Free      State = "free"
	Held      State = "held"
	Abandoned State = "abandoned" // its owner is dead; the next run takes over
	Foreign   State = "foreign"   // its owner is on another machine or in a container
)

// Inspect reads the owner of a lock and checks whether its process runs, without taking the
// lock. The result may be outdated at once.
func Inspect(path string) (State, Owner, error) {
	f, _, err := files.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Free, Owner{}, nil
	}
	if err != nil {
		return Free, Owner{}, failure.RunnerDir(err)
	}
	defer f.Close()
	self := Self("", "", time.Time{})
	switch o := readOwner(f); {
	case o == Owner{}:
		return Free, o, nil
	case !o.isHere():
		return Foreign, o, nil
	case o.Boot == self.Boot && (o.Host != self.Host || o.Space != self.Space):
		return probe(f, o) // its process ID may mean nothing here
	case o.isAlive():
		return Held, o, nil
	default:
		return Abandoned, o, nil
	}
}

// probe asks the kernel whether the owner still has its lock. That takes the lock for a moment if nobody has it.
func probe(f *os.File, o Owner) (State, Owner, error) {
	taken, err := filelock.Try(f)
	switch {
	case taken:
		return Held, o, nil
	case err != nil:
		return Held, o, fmt.Errorf("asking for the lock %s: %w", f.Name(), err)
	}
	return Abandoned, o, filelock.Unlock(f)
}

// isHere reports whether the owner is or was on this machine: under the same kernel, even
// with another host name in a container, or on a host of the same name before the last boot.
func (o Owner) isHere() bool {
	host, err := os.Hostname()
	return o.Boot != "" && o.Boot == bootID() || err == nil && o.Host == host
}

// IsRunning reports whether it is certain that the owner's process runs on this machine.
func (o Owner) IsRunning() bool { return o.isHere() && o.isAlive() }

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
		return false // the system has /proc, but no such process
	}
	return isProcess(pid)
}

// IsAliveSince reports whether a process runs on this machine that began before a time: process IDs are reused. On
// systems without /proc it cannot tell, and asks only whether the process runs.
func IsAliveSince(pid int, when time.Time) bool {
	const clocks = 5 * time.Second // by which the clocks of the kernel and of the journal may differ
	began := beginOf(pid)
	return IsAlive(pid) && (began.IsZero() || began.Before(when.Add(clocks)))
}

// beginOf returns when a process began, or the zero time where the system does not say.
func beginOf(pid int) (began time.Time) {
	const perSecond = 100 // USER_HZ, which Linux fixes for what it tells programs
	ticks, err := strconv.ParseInt(startOf(pid), 10, 64)
	if err != nil {
		return began
	}
	text, _ := os.ReadFile("/proc/stat")
	for line := range strings.Lines(string(text)) {
		if boot, ok := strings.CutPrefix(line, "btime "); ok {
			if seconds, err := strconv.ParseInt(strings.TrimSpace(boot), 10, 64); err == nil {
				began = time.Unix(seconds, 0).Add(time.Duration(ticks) * time.Second / perSecond)
			}
		}
	}
	return began
}

// bootID returns the boot ID of the kernel, or "" on other systems than Linux.
func bootID() string {
	text, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // other systems have none
	return strings.TrimSpace(string(text))
}

// startOf returns the start time of a process in the system's unit. It returns "" for a process
// that does not run, and on other systems than Linux.
func startOf(pid int) string {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	// The command in parentheses may contain anything. The state and, as the 20th word, the
	// start time follow it.
	rest := string(text[strings.LastIndexByte(string(text), ')')+1:])
	words := strings.Fields(rest)
	if len(words) < 20 || slices.Contains([]string{"Z", "X"}, words[0]) {
		return ""
	}
	return words[19]
}
