// Package logs has the page of the log of a project, in parts, with search.
package logs

import (
	"bufio"
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"mara/runner/internal/core/journal"
	"mara/runner/internal/core/view"
	"mara/runner/internal/feature/web/feed"
	"mara/runner/internal/feature/web/page"
)

const (
	logPage = 2000    // lines of a log on a page
	logTail = 500     // lines at the end of a log that grows
	mostCut = 4 << 10 // characters of a line that are shown
	logPart = 8 << 20 // bytes of a log in one answer
)

//go:embed *.html
var templates embed.FS

// Pages returns the pages of logs.
func Pages() page.Pages {
	return page.Pages{Templates: templates, Routes: map[string]page.Show{
		"/r/{run}/log/{project}":       show,
		"/rollout/{run}/log/{project}": show,
	}}
}

// logLine is a line of a log.
type logLine struct {
	N     int
	Text  string
	Parts []part // for a search: the text, in pieces
	Bad   bool
}

// part is a piece of a line; Hit is what was searched.
type part struct {
	Text string
	Hit  bool
}

// logData is what the page of a log shows.
type logData struct {
	Added
	Past     *view.Past
	Projects []string
	Total    int
	Hits     int
	Text     string
	Errors   bool
	First    int
	Last     int
	Earlier  string
	Later    string
	Live     bool
	Follow   string // place after the last line, of a log that grows; "" for a part of it
	All      string // address of the text
}

// show shows the page of a project's log, a part of it.
func show(r *page.Visit) (page.Content, error) {
	f, err := Follow(r.Site, r.Request)
	if err != nil {
		return page.Content{}, err
	}
	data := logData{Past: f.past, Added: Added{Base: f.base, Project: f.project}, Projects: f.projects,
		Text: r.Query.Get("q"), Errors: r.Query.Get("errors") != "", Live: !f.past.Ended(),
		All: f.base + "/text/" + url.PathEscape(f.project)}
	if err := data.read(f.run, r); err != nil {
		return page.Content{}, err
	}
	content := page.Content{Template: "log.html", Title: page.Visible(f.project) + ", log", Nav: "runs", Data: &data}
	if data.Follow != "" {
		content.Live, content.Refresh = true, 5
	}
	return content, nil
}

// read reads the part of the log that the query asks for: a page, or what is found.
func (d *logData) read(run journal.Run, r *page.Visit) error {
	f, err := run.OpenLog(d.Project)
	if err != nil {
		return err
	}
	defer f.Close()
	first, err := strconv.Atoi(r.Query.Get("from"))
	tail := err != nil && d.Live
	if err != nil || first < 1 {
		first = 1
	}
	most := logPage
	if tail {
		most = logTail
	}
	d.Find = d.Text != "" || d.Errors
	offset := int64(0) // after the last line
	words := strings.ToLower(d.Text)
	reader := bufio.NewReaderSize(f, 64<<10)
	for {
		text, n, err := readLine(reader)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("reading the log of %s: %w", d.Project, err)
		}
		if d.Live && !n.ended { // it is shown when it is whole
			break
		}
		d.Total++
		offset += n.bytes
		line := logLine{N: d.Total, Bad: isBad(text)}
		switch {
		case d.Find && (d.Errors && !line.Bad || !strings.Contains(strings.ToLower(text), words)):
			continue
		case d.Find:
			if d.Hits++; d.Hits > most {
				continue
			}
		case !tail && (d.Total < first || len(d.Lines) == most):
			continue
		}
		line.Text = page.Visible(text)
		line.Parts = mark(line.Text, words)
		d.Lines = append(d.Lines, line)
		if tail && len(d.Lines) > most {
			d.Lines = d.Lines[1:]
		}
	}
	if tail && !d.Find {
		d.Follow = feed.Place{Offset: offset, Line: d.Total}.String()
	}
	if n := len(d.Lines); n > 0 && !d.Find {
		d.First, d.Last = d.Lines[0].N, d.Lines[n-1].N
		if d.First > 1 {
			d.Earlier = r.With("from", strconv.Itoa(max(1, d.First-logPage)))
		}
		if d.Last < d.Total {
			d.Later = r.With("from", strconv.Itoa(d.Last+1))
		}
	}
	return nil
}

// readLine reads a line without its end. It keeps the beginning of a very long one, and passes over the rest.
func readLine(r *bufio.Reader) (text string, n extent, err error) {
	var line []byte
	for !n.ended {
		part, err := r.ReadSlice('\n')
		n.bytes += int64(len(part))
		n.ended = bytes.HasSuffix(part, []byte("\n"))
		line = append(line, part[:min(len(part), mostCut-min(len(line), mostCut))]...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && n.bytes > 0:
			return lineText(line), n, nil
		case err != nil:
			return "", n, err
		}
	}
	return lineText(line), n, nil
}

// extent is how long a line is in its file.
type extent struct {
	bytes int64
	ended bool
}

func lineText(line []byte) string {
	return strings.ToValidUTF8(strings.TrimRight(string(line), "\r\n"), "�")
}

var (
	badWords  = regexp.MustCompile(`(?i)\b(errors?|failed|failures?|fatal|panic)\b`)
	goodWords = regexp.MustCompile(`(?i)\b(0|no|zero|without|without any) (errors?|failed|failures?)\b|\b(errors?|failed|failures?)[:=] ?0\b`)
)

// isBad reports whether a line tells of an error, in whole words: not one that has none, nor one with a name such as onerror.
func isBad(line string) bool { return badWords.MatchString(goodWords.ReplaceAllString(line, "")) }

// mark splits a line where the text is found that was searched.
func mark(line, text string) (parts []part) {
	low := strings.ToLower(line)
	if text == "" || len(low) != len(line) {
		return []part{{Text: line}}
	}
	for {
		at := strings.Index(low, text)
		if at < 0 {
			return append(parts, part{Text: line})
		}
		parts = append(parts, part{Text: line[:at]}, part{line[at : at+len(text)], true})
		line, low = line[at+len(text):], low[at+len(text):]
	}
}

// Text answers with a log as plain text, from a byte on.
func Text(s *page.Site, w http.ResponseWriter, r *http.Request) {
	f, err := Follow(s, r)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	file, err := f.run.OpenLog(f.project)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	defer file.Close()
	from, err := strconv.ParseInt(r.URL.Query().Get("from"), 10, 64)
	if err != nil || from < 0 {
		from = 0
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Content-Disposition", `inline; filename="log.txt"`)
	_, _ = io.Copy(w, io.NewSectionReader(file, from, logPart))
}
