package logs

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"mara/runner/internal/core/journal"
	"mara/runner/internal/core/view"
	"mara/runner/internal/feature/web/feed"
	"mara/runner/internal/feature/web/page"
)

// chunk is how many bytes of a log are read at a time.
const chunk = 64 << 10

// Follower reads a log as it grows.
type Follower struct {
	history  *view.History
	past     *view.Past
	run      journal.Run
	project  string
	projects []string // of the run, that have logs
	base     string   // address of the run
}

// Follow returns a follower of the log that an address names.
func Follow(s *page.Site, r *http.Request) (f Follower, err error) {
	f = Follower{history: s.Reader.Runs, project: r.PathValue("project"), base: "/r/"}
	if strings.HasPrefix(r.URL.Path, "/rollout/") {
		f.history, f.base = s.Reader.Rollouts, "/rollout/"
	}
	id := r.PathValue("run")
	f.base += url.PathEscape(id)
	if f.past = f.history.Find(id); f.past == nil {
		return f, page.NotFound("no run %q; runs are pruned after a while", page.Visible(id))
	}
	f.run = f.history.Run(id)
	f.projects, err = f.run.Logs()
	if err == nil && !slices.Contains(f.projects, f.project) {
		err = page.NotFound("run %s has no log of %q yet", id, page.Visible(f.project))
	}
	return f, err
}

// Added are lines that a log got, as its page shows them.
type Added struct {
	Lines   []logLine
	Base    string
	Project string
	Find    bool // they are the results of a search
}

// Next returns the lines after a place, the place after them, and how the run ended if nothing more comes. A line
// without its end is not returned before the run has ended.
func (f Follower) Next(at feed.Place) (added Added, next feed.Place, result string, err error) {
	past := f.history.Find(f.run.ID)
	over := past == nil || past.Ended() // before the log is read
	file, err := f.run.OpenLog(f.project)
	if err != nil {
		return added, at, "", err
	}
	defer file.Close()
	content, rest, err := readLines(file, at.Offset, over)
	if err != nil {
		return added, at, "", err
	}
	next = feed.Place{Offset: at.Offset + int64(len(content)) + rest, Line: at.Line}
	for line := range bytes.Lines(content) {
		next.Line++
		text := string(bytes.TrimRight(line, "\r\n"))
		text = strings.ToValidUTF8(text[:min(len(text), mostCut)], "�")
		added.Lines = append(added.Lines, logLine{N: next.Line, Bad: isBad(text),
			Parts: []part{{Text: page.Visible(text)}}})
	}
	if over && len(content) == 0 {
		result = "gone"
		if past != nil {
			result = past.Word()
		}
	}
	return added, next, result, nil
}

// readLines reads whole lines from a place on, up to a chunk. Of a line that is longer than a chunk it returns the
// beginning, and how many bytes of it follow. all says that the last line will get no end.
func readLines(file *os.File, offset int64, all bool) (content []byte, rest int64, err error) {
	content = make([]byte, chunk)
	n, err := file.ReadAt(content, offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, 0, err
	}
	content = content[:n]
	last := bytes.LastIndexByte(content, '\n')
	switch {
	case last >= 0:
		return content[:last+1], 0, nil
	case n < chunk && all:
		return content, 0, nil
	case n < chunk:
		return nil, 0, nil
	}
	more := make([]byte, chunk)
	for at := offset + int64(n); ; {
		n, err := file.ReadAt(more, at)
		if end := bytes.IndexByte(more[:n], '\n'); end >= 0 {
			return content, at + int64(end) + 1 - offset - int64(len(content)), nil
		}
		at += int64(n)
		switch {
		case errors.Is(err, io.EOF) && all:
			return content, at - offset - int64(len(content)), nil
		case errors.Is(err, io.EOF):
			return nil, 0, nil
		case err != nil:
			return nil, 0, err
		}
	}
}
