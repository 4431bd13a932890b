package feed

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"mara/runner/internal/machine/interrupt"
)

// Place is a place in a log: a byte, and the number of the line before it.
type Place struct {
	Offset int64
	Line   int
}

// String returns the place as the id of an event.
func (p Place) String() string { return fmt.Sprintf("%d-%d", p.Offset, p.Line) }

// parsePlace reads a place; anything else is the beginning.
func parsePlace(text string) Place {
	before, after, _ := strings.Cut(text, "-")
	offset, err := strconv.ParseInt(before, 10, 64)
	line, lineErr := strconv.Atoi(after)
	if err != nil || lineErr != nil || offset < 0 || line < 0 {
		return Place{}
	}
	return Place{offset, line}
}

// Lines returns what a log got after a place, as HTML, and how the run ended if nothing more comes.
type Lines func(at Place) (html string, next Place, result string, err error)

// ServeLines sends the lines of a log as they come, from the place that the browser has. What a slow reader has not
// taken is still in the file. A browser that has too many streams gets the lines once.
func (s *Streams) ServeLines(w http.ResponseWriter, r *http.Request, cookie string, lines Lines) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	out := s.newStream(w)
	leave, ok := s.enter(cookie)
	defer leave()
	if out.send("hello", map[string]any{"generation": s.generation, "poll": !ok}) != nil {
		return
	}
	at := parsePlace(r.URL.Query().Get("from"))
	if id := r.Header.Get("Last-Event-ID"); id != "" { // the browser comes again
		at = parsePlace(id)
	}
	s.followLines(r.Context(), out, at, lines, !ok)
}

// followLines sends lines until the run has ended.
func (s *Streams) followLines(ctx context.Context, out *stream, at Place, lines Lines, once bool) {
	for {
		html, next, result, err := lines(at)
		switch {
		case err != nil:
			return
		case html != "":
			content, err := json.Marshal(map[string]string{"html": html})
			if err != nil || out.write(fmt.Sprintf("id: %s\nevent: lines\ndata: %s\n\n", next, content)) != nil {
				return
			}
			at = next
			continue // there may be more
		case result != "":
			_ = out.send("end", map[string]string{"result": result})
			return
		case once:
			return
		}
		s.watcher.Visit()
		select {
		case <-s.stop:
			return
		default:
		}
		if interrupt.Sleep(ctx, pause) != nil {
			return
		}
		if s.beat(out) != nil {
			return
		}
	}
}
