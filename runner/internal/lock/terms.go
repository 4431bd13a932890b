package lock

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"time"

	"mara/runner/internal/atomicfile"
)

// Pulumi's locks name a process by number and host name. Containers and machines may
// share host names, so that these prove nothing alone. What proves that a process is
// gone is a record of ours: at the time of the lock, a run of this machine had the
// environment.

// Terms is a file that records which runs had an environment, and when.
type Terms string

// term is the time in which a run had the environment.
type term struct {
	Owner   Owner     `json:"owner"`
	Machine string    `json:"machine,omitempty"` // a digest of the machine's ID
	Until   time.Time `json:"until,omitzero"`    // zero for a run that goes on or was killed
}

// maxTerms is how many terms are recorded, the newest ones.
const maxTerms = 50

// Begin records that an owner has the environment from now on.
func (t Terms) Begin(owner Owner) error {
	all := append(t.read(), term{Owner: owner, Machine: machineID()})
	return t.write(all[max(0, len(all)-maxTerms):])
}

// End records that an owner no longer has the environment.
func (t Terms) End(owner Owner, now time.Time) error {
	all := t.read()
	for i := range all {
		if all[i].Owner.Run == owner.Run {
			all[i].Until = now.UTC()
		}
	}
	return t.write(all)
}

// read reads the terms. Of a file that cannot be read nothing is known, so that no
// process counts as gone.
func (t Terms) read() []term {
	var all []term
	content, err := os.ReadFile(string(t))
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

// at returns the term that a time is in.
func (t Terms) at(when time.Time) (found term, ok bool) {
	for _, one := range t.read() { // in their order: a later run ends the term of a killed one
		if !one.Owner.Since.After(when) {
			found, ok = one, true
		}
	}
	return found, ok && (found.Until.IsZero() || !when.After(found.Until))
}

// IsGone reports whether it is certain that a process is gone that has locked
// something: a run had the environment then, on this machine, and the process is not
// one of this machine any more.
func (t Terms) IsGone(host string, pid int, when time.Time) bool {
	found, ok := t.at(when)
	if !ok || host != found.Owner.Host {
		return false
	}
	return found.Owner.isSameMachine() && !IsAlive(pid) || found.isBeforeRestart()
}

// IsOver reports whether it is certain that whatever wrote something at a time is gone:
// the run that had the environment then was one of this machine and is dead, or is
// the one that asks.
func (t Terms) IsOver(when time.Time) bool {
	found, ok := t.at(when)
	if !ok {
		return false
	}
	owner := found.Owner
	return owner.isSameMachine() && (owner.PID == os.Getpid() || !owner.isAlive()) || found.isBeforeRestart()
}

// isSameMachine reports whether process ids of an owner mean the same here. A system
// that names neither the run of its kernel nor spaces of process ids has only names.
func (o Owner) isSameMachine() bool {
	if o.isLocal() {
		return true
	}
	self := Self("", "", time.Time{})
	return o.Boot == "" && self.Boot == "" && o.Host == self.Host && o.User == self.User
}

// initialSpace is the space of process ids of a machine itself, outside of containers,
// on every Linux.
const initialSpace = "pid:[4026531836]"

// isBeforeRestart reports whether this machine was restarted since the term. In a
// container that is not known: images share the ID of a machine.
func (t term) isBeforeRestart() bool {
	self := Self("", "", time.Time{})
	return t.Machine != "" && t.Machine == machineID() && t.Owner.Host == self.Host &&
		t.Owner.Space == initialSpace && self.Space == initialSpace && t.Owner.Boot != self.Boot
}

// machineID returns a digest of the machine's ID, "" where there is none. The ID itself
// is not to be shown.
func machineID() string {
	content, err := os.ReadFile("/etc/machine-id")
	if id := strings.TrimSpace(string(content)); err == nil && id != "" {
		sum := sha256.Sum256([]byte("mara " + id))
		return hex.EncodeToString(sum[:8])
	}
	return ""
}
