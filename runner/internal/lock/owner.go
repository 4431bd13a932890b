package lock

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/user"
	"strconv"
	"time"
)

// Owner is who holds a lock, as it is written in the lock file.
type Owner struct {
	User    string `json:"user"`
	Host    string `json:"host"`
	Boot    string `json:"boot,omitempty"` // names the run of the kernel
	PID     int    `json:"pid"`
	Started string `json:"started,omitempty"` // when the process began: a process id is used again
	Space   string `json:"space,omitempty"`   // in which the process id is one; a container has its own

	Operation string    `json:"operation"`
	Run       string    `json:"run"`
	Since     time.Time `json:"since"`
}

// Self describes this process, about to do an operation in a run.
func Self(operation, run string, now time.Time) Owner {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return Owner{
		User: userName(), Host: host, Boot: bootID(), PID: os.Getpid(), Started: startOf(os.Getpid()), Space: processSpace(),
		Operation: operation, Run: run, Since: now.UTC().Truncate(time.Second),
	}
}

// processSpace names the space of process ids, where the system tells.
func processSpace() string {
	name, _ := os.Readlink("/proc/self/ns/pid") // elsewhere there is one for all
	return name
}

// userName returns the name of the user, or the number if there is no name, as in
// many containers.
func userName() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "uid " + strconv.Itoa(os.Getuid())
}

// String names user, machine and process.
func (o Owner) String() string { return fmt.Sprintf("%s@%s (process %d)", o.User, o.Host, o.PID) }

// maxOwner is more than an owner takes in a file.
const maxOwner = 64 << 10

// readOwner reads who holds or held the lock. The owner of an empty or broken
// file died before it could write its name.
func readOwner(f *os.File) Owner {
	var o Owner
	text, err := io.ReadAll(io.NewSectionReader(f, 0, maxOwner))
	if err != nil || json.Unmarshal(text, &o) != nil {
		return Owner{}
	}
	return o
}

// newOwner reads who holds the kernel's lock. It waits a moment for an owner
// that has only just got it.
func newOwner(f *os.File) Owner {
	for range 20 {
		if o := readOwner(f); o != (Owner{}) {
			return o
		}
		time.Sleep(5 * time.Millisecond)
	}
	return Owner{}
}

// writeOwner replaces the content of the file. It overwrites first and truncates
// afterwards, so that it needs no more space on a full disk.
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

// HeldError says that another run has the lock.
type HeldError struct {
	// Owner is who; zero if it could not be found out.
	Owner Owner
	// Foreign says that the owner is on another machine: from here nobody can
	// tell whether it still runs.
	Foreign bool
}

// Error names the owner, what it does and since when.
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
		text += "; it is on another machine, so that nobody can tell from here whether it still runs"
	}
	return text
}

// NextStep says how to get the lock.
func (e *HeldError) NextStep() string {
	if e.Foreign {
		return "if that run is over, `runner unlock --force` removes the lock"
	}
	return "wait for it with --lock-timeout"
}
