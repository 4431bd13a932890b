package lock

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"time"

	"mara/config/files"
	"mara/runner/internal/machine/atomicfile"
)

// Pulumi's locks name a process by ID and host name. Containers and machines may share host
// names, so the lock alone does not prove that the process has ended. A record of the runner
// does: at the time of the lock, a run of this machine had the environment.

// Terms is a file that records which runs had an environment, and when.
type Terms string

// term is the time during which a run had the environment.
type term struct {
	Owner   Owner     `json:"owner"`
	Machine string    `json:"machine,omitempty"` // a digest of the machine's ID
	Until   time.Time `json:"until,omitzero"`    // zero for a run that still runs or was killed
}

// maxTerms is how many terms the file keeps.
const maxTerms = 50

// Begin records that an owner has taken the environment.
func (t Terms) Begin(owner Owner) error {
	all := append(t.read(), term{Owner: owner, Machine: machineID()})
	return t.write(all[max(0, len(all)-maxTerms):])
}

// End records that an owner has released the environment.
func (t Terms) End(owner Owner, now time.Time) error {
	all := t.read()
	for i := range all {
		if all[i].Owner.Run == owner.Run {
			all[i].Until = now.UTC()
		}
	}
	return t.write(all)
}

// read reads the terms. It returns none for an unreadable file, so that no process counts as
// ended.
func (t Terms) read() []term {
	var all []term
	content, err := files.Read(string(t), files.Data)
	if err != nil || json.Unmarshal(content, &all) != nil {
		return nil
	}
	return all
}

func (t Terms) write(all []term) error {
	content, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return atomicfile.WriteDeep(string(t), content, 0o600, 0o700)
}

// at returns the term that contains a time.
func (t Terms) at(when time.Time) (found term, ok bool) {
	for _, one := range t.read() { // in order: a later run ends the term of a killed one
		if !one.Owner.Since.After(when) {
			found, ok = one, true
		}
	}
	return found, ok && (found.Until.IsZero() || !when.After(found.Until))
}

// IsGone reports whether the process that wrote a lock has certainly ended: a run of this
// machine had the environment then, and the process does not run any more.
func (t Terms) IsGone(host string, pid int, when time.Time) bool {
	found, ok := t.at(when)
	if !ok || host != found.Owner.Host {
		return false
	}
	return found.Owner.isSameMachine() && !IsAlive(pid) || found.isBeforeRestart()
}

// IsOver reports whether the run that had the environment at a time has certainly ended: it
// was a run of this machine and is dead, or it is the current process.
func (t Terms) IsOver(when time.Time) bool {
	found, ok := t.at(when)
	if !ok {
		return false
	}
	owner := found.Owner
	return owner.isSameMachine() && (owner.PID == os.Getpid() || !owner.isAlive()) || found.isBeforeRestart()
}

// isSameMachine reports whether an owner's process ID is valid here. On systems without boot
// IDs and PID namespaces it compares names of host and user.
func (o Owner) isSameMachine() bool {
	if o.isLocal() {
		return true
	}
	self := Self("", "", time.Time{})
	return o.Boot == "" && self.Boot == "" && o.Host == self.Host && o.User == self.User
}

// initialSpace is the PID namespace outside of containers on every Linux.
const initialSpace = "pid:[4026531836]"

// isBeforeRestart reports whether this machine was rebooted since the term. In a container
// that is unknown, because images share the ID of a machine.
func (t term) isBeforeRestart() bool {
	self := Self("", "", time.Time{})
	return t.Machine != "" && t.Machine == machineID() && t.Owner.Host == self.Host &&
		t.Owner.Space == initialSpace && self.Space == initialSpace && t.Owner.Boot != self.Boot
}

// machineID returns a digest of the machine's ID, or "". The ID itself is confidential.
func machineID() string {
	content, err := os.ReadFile("/etc/machine-id")
	if id := strings.TrimSpace(string(content)); err == nil && id != "" {
		sum := sha256.Sum256([]byte("mara " + id))
		return hex.EncodeToString(sum[:8])
	}
	return ""
}
