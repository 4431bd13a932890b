// Package journal keeps runs on disk, one directory each:
//
//	<id>/meta.json            who runs what on which configuration
//	<id>/events.ndjson        every event, appended as it comes
//	<id>/logs/<project>.log   what happened in one project, for reading
//	<id>/summary.json         what the events add up to, written at the end
//	<id>/outputs.json         the outputs that an up has reported, without secrets
//
// The events are the truth; they survive a crash at any moment, and the logs
// and the summary can be made from them again. What is on disk answers what a
// later run asks: which projects are unfinished (Resume) and how long things take
// (Durations). Files are readable by their owner only. Events are masked before
// they come here.
package journal

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"mara/runner/internal/core/event"
)

const (
	metaFile    = "meta.json"
	eventsFile  = "events.ndjson"
	summaryFile = "summary.json"
	logsDir     = "logs"
	// idTime is how an id begins.
	idTime = "20060102-150405"
)

// Journal writes one run. It is an event.Sink.
type Journal struct {
	id      string
	dir     string
	warn    func(event.Event)
	warned  bool
	events  *appendFile
	logs    logs
	summary event.Summary
	said    map[string]int // bytes of messages by project
}

// maxSaid is how many bytes of messages of one project are recorded. A program in a loop must not fill the disk on
// which states are written.
const maxSaid = 64 << 20

// Options are the inputs of Create.
type Options struct {
	// Dir is the directory that holds all runs, such as .runner/runs.
	Dir string
	// ID is the id of the run, from NewID.
	ID string
	// Meta is kept with the run.
	Meta Meta
	// Warn receives one run.warning if the journal cannot be written, as on a
	// full disk. It is called while an event is handled; an Emitter's Emit will
	// do. The run goes on without a complete journal.
	Warn func(event.Event)
}

// Create makes the directory of a new run.
func Create(o Options) (*Journal, error) {
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("creating the directory for runs: %w", err)
	}
	dir := filepath.Join(o.Dir, o.ID)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, fmt.Errorf("creating the directory of the run: %w", err)
	}
	logDir := filepath.Join(dir, logsDir)
	if err := os.Mkdir(logDir, 0o700); err != nil {
		return nil, fmt.Errorf("creating the directory for logs: %w", err)
	}
	o.Meta.Format = MetaFormat
	if err := writeJSON(filepath.Join(dir, metaFile), o.Meta); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, eventsFile), os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("creating the journal: %w", err)
	}
	return &Journal{
		id: o.ID, dir: dir, warn: o.Warn, events: &appendFile{f: f}, logs: newLogs(logDir), said: map[string]int{},
	}, nil
}

// NewID returns an id that sorts by time and is short enough to type:
// 20261120-193000-250k3f, the last part being milliseconds and chance.
func NewID(now time.Time) string {
	now = now.UTC()
	return fmt.Sprintf("%s-%03d%s", now.Format(idTime), now.Nanosecond()/1e6, strings.ToLower(rand.Text()[:3]))
}

// isID reports whether a name is that of a directory of a run.
func isID(name string) bool {
	if len(name) != len(idTime)+len("-250k3f") {
		return false
	}
	_, err := time.Parse(idTime, name[:len(idTime)])
	return err == nil && !strings.ContainsAny(name, "./")
}

// ID returns the id of the run.
func (j *Journal) ID() string { return j.id }

// Dir returns the directory of the run.
func (j *Journal) Dir() string { return j.dir }

// Emit appends an event. Of a project that says too much it records how it ends, and that the rest is missing.
func (j *Journal) Emit(e event.Event) {
	j.summary.Apply(e)
	e, record := j.limit(e)
	if !record {
		return
	}
	line, err := event.Marshal(e)
	if err == nil {
		err = j.events.append(line)
	}
	j.check(err)
	j.check(j.logs.write(&j.summary, e))
}

// limit returns an event as it is recorded, if it is: the message with which a project exceeds its share is replaced.
func (j *Journal) limit(e event.Event) (limited event.Event, record bool) {
	if e.Type != event.StepLog || e.Severity == event.Error {
		return e, true
	}
	before := j.said[e.Project]
	j.said[e.Project] = before + len(e.Message)
	if before <= maxSaid && j.said[e.Project] > maxSaid {
		e.Message = fmt.Sprintf("more than %d MiB of messages: the others are not recorded", maxSaid>>20)
		e.Severity = event.Warning
	}
	return e, before <= maxSaid
}

// check reports the first error, once.
func (j *Journal) check(err error) {
	if err == nil || j.warned {
		return
	}
	j.warned = true
	if j.warn != nil {
		j.warn(event.Event{Type: event.RunWarning, Message: fmt.Sprintf("the journal of this run is incomplete: %v", err)})
	}
}

// Close writes the summary and ends the journal. It is called after the last
// event.
func (j *Journal) Close() error {
	return errors.Join(j.logs.close(), j.events.f.Close(), writeJSON(filepath.Join(j.dir, summaryFile), &j.summary))
}

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
