// Package feed notices what changes on the disk, while a user looks at a page, and sends it to the pages that are
// open. Every page's state is sent whole, the newest only: a reader that is slow, or was asleep, misses nothing, and
// memory does not grow with what it has missed.
package feed

import (
	"context"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"mara/config"
	"mara/runner/internal/core/view"
)

const (
	often  = 250 * time.Millisecond // between two looks while something runs
	seldom = time.Second            // while nothing does
	idle   = 10 * time.Second       // after the last visit, nothing is read any more
	// least and share bound how often the files of all environments are compared with what ran: not more often than
	// this, and in at most a share of the time.
	least = 5 * time.Second
	share = 20
)

// Watcher keeps a reader up to date while pages are looked at. It reads nothing while they are not.
type Watcher struct {
	reader *view.Reader
	now    func() time.Time

	mu      sync.Mutex // holds what follows
	visited time.Time
	wake    chan struct{} // closed by the next visit
	version uint64
	news    chan struct{} // closed by the next version
	failure error         // of the last look
	looked  time.Time     // when the last look that succeeded began
	tried   time.Time     // when the last look began, whatever came of it
	looks   chan struct{} // closed by the end of the next look
}

// NewWatcher returns a watcher of a reader.
func NewWatcher(r *view.Reader) *Watcher {
	return &Watcher{reader: r, now: time.Now, wake: make(chan struct{}), news: make(chan struct{}), looks: make(chan struct{})}
}

// Visit notes that a user looks at a page.
func (w *Watcher) Visit() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.visited = w.now()
	close(w.wake)
	w.wake = make(chan struct{})
}

// Fresh notes that a user looks at a page, and waits until what is known is not older than a second. What it was not
// told within the limit stays unknown: Looked says how old the rest is.
func (w *Watcher) Fresh(ctx context.Context, limit time.Duration) {
	w.Visit()
	came := w.now()
	over := time.NewTimer(limit)
	defer over.Stop()
	for {
		w.mu.Lock()
		fresh, looks := w.tried.After(came) || came.Sub(w.tried) <= seldom, w.looks
		w.mu.Unlock()
		if fresh {
			return
		}
		select {
		case <-looks:
		case <-over.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// Looked returns when what is known was read, or zero time if nothing is.
func (w *Watcher) Looked() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.looked
}

// ended notes the end of a look that began at a time.
func (w *Watcher) ended(began time.Time, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tried = began
	if err == nil {
		w.looked = began
	}
	close(w.looks)
	w.looks = make(chan struct{})
}

// Version returns the version of what is known, and a channel that is closed when it is an old one.
func (w *Watcher) Version() (version uint64, news <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.version, w.news
}

// Failure returns why the last look failed, or nil.
func (w *Watcher) Failure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failure
}

func (w *Watcher) publish(failure error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.version++
	w.failure = failure
	close(w.news)
	w.news = make(chan struct{})
}

// isVisited reports whether a page is looked at; wake is closed when one is.
func (w *Watcher) isVisited() (is bool, wake <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now().Sub(w.visited) < idle, w.wake
}

// Run watches until the context ends.
func (w *Watcher) Run(ctx context.Context) {
	next := time.Time{} // whole comparison
	files := ""         // as they were compared
	first := true
	for ctx.Err() == nil {
		visited, wake := w.isVisited()
		if !visited {
			select {
			case <-ctx.Done():
			case <-wake:
			}
			continue
		}
		busy := false
		if !first { // runs are read at once, before all files are compared
			busy = w.look(ctx)
		}
		if now := filesOf(w.reader.Options().Root); now != files || !w.now().Before(next) {
			files = now
			took := w.compare(ctx)
			next = w.now().Add(max(least, share*took))
		}
		if first {
			first, busy = false, w.look(ctx)
		}
		pause := seldom
		if busy {
			pause = often
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// filesOf returns a digest of which files describe the environments, and of when they were changed: a change is
// noticed at once. Programs are found to have changed when all is compared the next time.
func filesOf(root string) string {
	digest := fnv.New128a()
	note := func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return nil // what cannot be read is an error of the comparison
		}
		if info, err := entry.Info(); err == nil {
			fmt.Fprintln(digest, path, info.Size(), info.ModTime().UnixNano())
		}
		return nil
	}
	_ = filepath.WalkDir(filepath.Join(root, "config"), note)
	if info, err := os.Stat(filepath.Join(root, config.MaraFile)); err == nil {
		fmt.Fprintln(digest, info.Size(), info.ModTime().UnixNano())
	}
	return string(digest.Sum(nil))
}

// compare compares all files with what ran, and returns how long that took.
func (w *Watcher) compare(ctx context.Context) time.Duration {
	began := w.now()
	_, first := w.reader.Look()
	err := w.reader.ReadFiles(view.Everything())
	if err == nil && first == nil {
		w.publish(nil) // the environments are shown before they are compared
	}
	if err == nil {
		err = w.reader.Compare(ctx)
	}
	if ctx.Err() == nil {
		w.publish(err)
	}
	return w.now().Sub(began)
}

// look reads runs and locks, and compares the environments whose runs have begun or ended. It reports whether anything
// runs.
func (w *Watcher) look(ctx context.Context) (runs bool) {
	began := w.now()
	changed, err := w.reader.Look()
	var names []string
	for _, run := range changed {
		if run.Writes() && !run.Fleet && (run.Ended() || run.Progress[0] == 0) {
			names = append(names, run.Stack)
		}
	}
	if names = w.reader.Known(names); len(names) > 0 && err == nil {
		err = w.reader.Compare(ctx, names...)
	}
	w.ended(began, err)
	if len(changed) > 0 || err != nil {
		w.publish(err)
	}
	return w.reader.IsBusy()
}
