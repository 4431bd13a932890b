package lock

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/user"
	"strconv"
	"time"

	"mara/runner/internal/core/refusal"
)

// Owner identifies the owner of a lock, in the lock file.
type Owner struct {
	User    string `json:"user"`
	Host    string `json:"host"`
	Boot    string `json:"boot,omitempty"` // boot ID of the kernel
	PID     int    `json:"pid"`
	Started string `json:"started,omitempty"` // start time of the process: process IDs are reused
	Space   string `json:"space,omitempty"`   // PID namespace; a container has its own

	Operation string    `json:"operation"`
	Run       string    `json:"run"`
	Since     time.Time `json:"since"`
}

// Self returns this process as the owner of a lock for an operation in a run.
func Self(operation, run string, now time.Time) Owner {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	space, _ := os.Readlink("/proc/self/ns/pid") // only Linux has it
	return Owner{
		User: userName(), Host: host, Boot: bootID(), PID: os.Getpid(), Started: startOf(os.Getpid()), Space: space,
		Operation: operation, Run: run, Since: now.UTC().Truncate(time.Second),
	}
}

// userName returns the name of the user, or the user ID if there is no name, as in many
// containers.
func userName() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "uid " + strconv.Itoa(os.Getuid())
}

// String names user, machine and process.
func (o Owner) String() string { return fmt.Sprintf("%s@%s (process %d)", o.User, o.Host, o.PID) }

// maxOwner limits how much of a lock file is read.
const maxOwner = 64 << 10

// readOwner reads the last owner from the file. It returns a zero Owner for an empty or broken
// file, whose owner died before it could write its name.
func readOwner(f *os.File) Owner {
	var o Owner
	text, err := io.ReadAll(io.NewSectionReader(f, 0, maxOwner))
	if err != nil || json.Unmarshal(text, &o) != nil {
		return Owner{}
	}
	return o
}

// newOwner reads the owner of a file locked by another process. It waits a moment for an
// owner that is about to write its name.
func newOwner(f *os.File) Owner {
	for range 20 {
		if o := readOwner(f); o != (Owner{}) {
			return o
		}
		time.Sleep(5 * time.Millisecond)
	}
	return Owner{}
}

// writeOwner replaces the content of the file. It overwrites before it truncates, so it
// needs no extra space on a full disk.
func writeOwner(f *os.File, o Owner) error {
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	if _, err := f.WriteAt(text, 0); err != nil {
		return err
	}
	return f.Truncate(int64(len(text)))
}

// HeldError is the error of a lock that another run holds.
type HeldError struct {
	// Owner holds the lock; zero if unknown.
	Owner Owner
	// Foreign says that the owner is on another machine, so it is unknown whether it still
	// runs.
	Foreign bool
}

// Error names the owner, its operation and since when it holds the lock.
func (e *HeldError) Error() string {
	if e.Owner == (Owner{}) {
		return "the environment is locked by another run"
	}
	text := fmt.Sprintf("the environment is locked by %s: %s", e.Owner, e.Owner.Operation)
	if e.Owner.Run != "" {
		text += ", run " + e.Owner.Run
	}
	if !e.Owner.Since.IsZero() {
		text += ", since " + e.Owner.Since.UTC().Format("2006-01-02 15:04:05 UTC")
	}
	if e.Foreign {
		text += "; it belongs to another machine, where the run may still be active"
	}
	return text
}

// RefusedBy returns the guard.
func (*HeldError) RefusedBy() refusal.Guard { return refusal.Lock }

// NextStep returns how to get the lock.
func (e *HeldError) NextStep() string {
	if e.Foreign {
		return "once that run has ended, remove the lock with `runner unlock --force`"
	}
	return "wait for it with --lock-timeout"
}
