package journal

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/core/event"
)

// smallDisk is a file on a disk with little space.
type smallDisk struct {
	text        string
	space       int
	truncateErr error
}

func (d *smallDisk) Write(p []byte) (int, error) {
	n := min(len(p), d.space)
	d.text += string(p[:n])
	d.space -= n
	if n < len(p) {
		return n, syscall.ENOSPC
	}
	return n, nil
}

func (d *smallDisk) Truncate(size int64) error {
	if d.truncateErr == nil {
		d.space += len(d.text) - int(size)
		d.text = d.text[:size]
	}
	return d.truncateErr
}

func (d *smallDisk) Close() error { return nil }

func TestAppendTakesBackBrokenLines(t *testing.T) {
	t.Parallel()
	disk := &smallDisk{space: 6}
	a := appendFile{f: disk}
	errs := []error{a.append([]byte("one\n")), a.append([]byte("two\n")), a.append([]byte("3\n"))}
	disk.space = 100 // a user has made space
	errs = append(errs, a.append([]byte("four\n")))
	if diff := cmp.Diff([]bool{false, true, false, false}, failed(errs)); diff != "" {
		t.Errorf("failed (-want +got):\n%s", diff)
	}
	if want := "one\n3\nfour\n"; disk.text != want {
		t.Errorf("got %q, want %q", disk.text, want)
	}
}

func TestAppendStopsWhenALineStaysBroken(t *testing.T) {
	t.Parallel()
	disk := &smallDisk{space: 6, truncateErr: errors.New("read-only")}
	a := appendFile{f: disk}
	errs := []error{a.append([]byte("one\n")), a.append([]byte("two\n"))}
	disk.space = 100
	errs = append(errs, a.append([]byte("three\n")))
	if diff := cmp.Diff([]bool{false, true, true}, failed(errs)); diff != "" {
		t.Errorf("failed (-want +got):\n%s", diff)
	}
	if want := "one\ntw"; disk.text != want {
		t.Errorf("got %q, want %q", disk.text, want)
	}
}

func TestFullDiskIsReportedOnceAndEventsGoOnAfterwards(t *testing.T) {
	t.Parallel()
	disk := &smallDisk{space: 200}
	warnings := 0
	j := Journal{events: &appendFile{f: disk}, logs: newLogs(t.TempDir()), said: map[string]int{},
		warn: func(event.Event) { warnings++ }}
	for range 10 {
		j.Emit(event.Event{Type: event.StepLog, Message: "something that takes space"})
	}
	disk.space = 1000
	j.Emit(event.Event{Type: event.RunFinished})
	if warnings != 1 {
		t.Errorf("warned %d times", warnings)
	}
	var last event.Type
	for e, err := range event.Decode(strings.NewReader(disk.text)) {
		if err != nil {
			t.Fatal(err)
		}
		last = e.Type
	}
	if last != event.RunFinished {
		t.Errorf("the last event on disk is %s", last)
	}
}

func failed(errs []error) []bool {
	out := make([]bool, len(errs))
	for i, err := range errs {
		out[i] = err != nil
	}
	return out
}
