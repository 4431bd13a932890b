package doctor

import (
	"context"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mara/projects/loopback"
	"mara/runner/internal/core/engine"
	"mara/runner/internal/feature/doctor/preflight"
	"mara/runner/internal/machine/typeset"
)

// othersCheck warns of other people on this machine: Pulumi's processes talk through ports of the loopback address, which
// every user can reach. Without other people there is no check.
func (e *Examination) othersCheck() []preflight.Check {
	if e.Session.Deps.Probes.Read != nil {
		return nil // the machine is not the real one
	}
	people := othersIn("/proc", os.Getuid())
	if len(people) == 0 {
		return nil
	}
	return []preflight.Check{{
		Name: "others", Title: "other users", Group: preflight.Tools,
		Look: func(context.Context) []preflight.Finding {
			text := fmt.Sprintf("processes of %s run on this machine: while an operation works, they can read its secret "+
				"outputs through Pulumi's ports on 127.0.0.1", typeset.Few(people, 3))
			if e.closesPorts() {
				text = fmt.Sprintf("processes of %s run on this machine: they can reach providers and language hosts through "+
					"ports on 127.0.0.1 in the moment in which these start", typeset.Few(people, 3))
			}
			return preflight.Doubtful(text, "run operations on a machine or in a container of your own; SECURITY.md has more")
		},
	}}
}

// closesPorts reports whether the ports of an operation refuse other users: this system tells whose a connection is, and
// the engine is our own.
func (e *Examination) closesPorts() bool {
	found, err := engine.Find(e.Session.Deps.Engines, e.Options.Pulumi)
	return err == nil && found.Embedded && loopback.Tells()
}

// The range of user IDs that people have. Services of the system have smaller ones, and nobody has 65534.
const firstPerson, lastPerson = 1000, 65533

// othersIn returns the names of other people whose processes a directory like /proc lists. Other systems have none.
func othersIn(proc string, own int) []string {
	entries, _ := os.ReadDir(proc)
	var people []string
	for _, entry := range entries {
		if _, err := strconv.Atoi(entry.Name()); err != nil {
			continue
		}
		status, err := os.ReadFile(filepath.Join(proc, entry.Name(), "status"))
		if err != nil {
			continue // it has ended
		}
		_, rest, _ := strings.Cut(string(status), "\nUid:")
		fields := strings.Fields(rest)
		if len(fields) == 0 {
			continue
		}
		id, err := strconv.Atoi(fields[0])
		if err != nil || id == own || id < firstPerson || id > lastPerson {
			continue
		}
		name := "user " + fields[0]
		if known, err := user.LookupId(fields[0]); err == nil {
			name = known.Username
		}
		if !slices.Contains(people, name) {
			people = append(people, name)
		}
	}
	slices.Sort(people)
	return people
}
