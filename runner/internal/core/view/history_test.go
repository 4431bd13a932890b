package view

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"mara/runner/internal/core/event"
	"mara/runner/internal/core/journal"
	"mara/runner/internal/core/lock"
	"mara/runner/internal/testing/eventtest"
)

// TestHistoryFollowsARun: a run is seen to begin, to progress and to end, in another process than its own; one whose process is
// gone is cut off, and not running.
func TestHistoryFollowsARun(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	dir := filepath.Join(root, "runs")
	h := NewHistory(dir)
	if changed, err := h.Refresh(); err != nil || len(changed) > 0 {
		t.Fatalf("without runs: %v, %v", changed, err)
	}
	events := eventtest.Failure()
	began := time.Now()
	id := journal.NewID(began)
	first := events[0]
	path := filepath.Join(root, "locks", first.Provider+"-"+first.Stack+".lock")
	held, err := lock.Acquire(t.Context(), lock.Options{Path: path, Owner: lock.Self("up", id, began)})
	if err != nil {
		t.Fatal(err)
	}
	meta := journal.Meta{User: "ann", Host: "box", Commit: "c0ffee", Rollout: "r"}
	j, err := journal.Create(journal.Options{Dir: dir, ID: id, Meta: meta, Warn: func(e event.Event) { t.Error(e.Message) }})
	if err != nil {
		t.Fatal(err)
	}
	half := len(events) / 2
	for _, e := range events[:half] {
		j.Emit(e)
	}
	changed, err := h.Refresh()
	if err != nil || len(changed) != 1 || changed[0].Result != ResultRunning || changed[0].By != "ann@box" || changed[0].Commit != "c0ffee" {
		t.Fatalf("while it runs: %+v, %v", changed, err)
	}
	detailed, err := h.Read(id)
	if err != nil || detailed.Summary.Result != "" || detailed.Version == 0 {
		t.Fatalf("details: %+v, %v", detailed, err)
	}
	if changed, _ := h.Refresh(); len(changed) > 0 {
		t.Errorf("nothing new is a change: %+v", changed[0])
	}
	if err := held.Release(); err != nil { // as if it were killed
		t.Fatal(err)
	}
	if changed, _ = h.Refresh(); len(changed) != 1 || !changed[0].CutOff || changed[0].Result != event.Interrupted {
		t.Fatalf("cut off: %+v", changed)
	}
	if changed, _ := h.Refresh(); len(changed) > 0 {
		t.Errorf("cut off once more: %+v", changed[0])
	}
	for _, e := range events[half:] {
		j.Emit(e)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if changed, _ = h.Refresh(); len(changed) != 1 || changed[0].CutOff || changed[0].Result != event.Failed || len(changed[0].Causes) == 0 {
		t.Fatalf("ended: %+v", changed)
	}
	if past := h.Find(id); past == nil || past.Progress[0] != past.Progress[1] {
		t.Errorf("found %+v", past)
	}
	if detailed, err := h.Read(id); err != nil || detailed.Summary.Result != event.Failed {
		t.Errorf("details at the end: %+v, %v", detailed, err)
	}
	if err := os.RemoveAll(filepath.Join(dir, id)); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Refresh(); err != nil || len(h.Runs()) > 0 || h.Find(id) != nil {
		t.Errorf("a pruned run stays: %v, %v", h.Runs(), err)
	}
}

// What is written for others does not say who held a lock on which machine.
func TestWithoutOwners(t *testing.T) {
	t.Parallel()
	before := []event.Alert{{Project: "db", Message: "the last run (x, up by ann@vm (process 20871)) did not end properly"}}
	after := withoutOwners(before)
	if got := after[0].Message; got != "the last run (x, up by another user) did not end properly" || after[0].Project != "db" {
		t.Errorf("%+v", after)
	}
	if before[0].Message == after[0].Message {
		t.Error("the run itself has lost it")
	}
}
