package page

import (
	"fmt"
	"html/template"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"al.essio.dev/pkg/shellescape"

	"mara/config/lists"
	"mara/projects/model"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/query"
	"mara/runner/internal/core/report"
	"mara/runner/internal/core/view"
	"mara/runner/internal/machine/typeset"
)

// ago describes an age. Under a minute it counts nothing, so that a page does not change every second.
func ago(now, t time.Time) string {
	switch age := now.Sub(t); {
	case t.IsZero():
		return "never"
	case age < 0:
		return "in " + strings.TrimSuffix(typeset.Ago(-age), " ago")
	case age < time.Minute:
		return "just now"
	case age < 2*time.Minute:
		return "1m ago"
	default:
		return typeset.Ago(age)
	}
}

// host returns the provider of an environment, "" for one of projects of the user's own, which has none that they know of.
func host(provider string) string {
	if provider == model.OwnProvider {
		return ""
	}
	return provider
}

func when(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

// Visible shows a value as text in which nothing is hidden.
func Visible(text any) string { return typeset.Visible(fmt.Sprint(text)) }

// Class returns the class of a state or a result, which gives it its colour.
func Class(state any) string {
	switch s := fmt.Sprint(state); view.State(s) {
	case view.Failed, view.Unknown:
		return "failed"
	case view.Unfinished, view.Locked, view.Drifted, "cut off", "interrupted", "cancelled":
		return "cancelled"
	case view.Running:
		return "running"
	case view.Changed, view.Partly:
		return "changed"
	case view.UpToDate, "succeeded":
		return "succeeded"
	default:
		return "never"
	}
}

// Link returns an address that a page may link to, or nothing: outputs come from programs.
func Link(value any) string {
	text, _ := value.(string)
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil ||
		Visible(text) != text {
		return ""
	}
	return text
}

// Command returns a command to copy: its words are quoted, so that a name is never more than a name.
func (s *Site) Command(words ...string) string {
	quoted := append([]string{"runner"}, lists.Map(words, shellescape.Quote)...)
	if s.Reader.Options().Simulation.On {
		quoted = append(quoted, "--simulate")
	}
	return strings.Join(quoted, " ")
}

// ShowValue shows a value on one line.
func ShowValue(value any) string { return Visible(typeset.Value(value)) }

// Short cuts a text.
func Short(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}

// capital begins a text with a capital letter.
func capital(text string) string {
	r, n := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(r)) + text[n:]
}

// HasWords reports whether all words of a text are found in some texts.
func HasWords(words string, texts ...string) bool {
	in := strings.ToLower(strings.Join(texts, " "))
	for word := range strings.FieldsSeq(strings.ToLower(words)) {
		if !strings.Contains(in, word) {
			return false
		}
	}
	return true
}

// Advice is a command that a user may want to copy.
type Advice struct {
	Why     string
	Command string
}

// Functions returns what templates call.
func (s *Site) Functions() template.FuncMap {
	return template.FuncMap{
		"ago": func(t time.Time) string { return s.age(t) }, "when": when, "place": model.Place, "host": host, "iso": func(t time.Time) string { return t.UTC().Format(time.RFC3339) }, "took": event.FormatDuration,
		"visible": Visible, "path": url.PathEscape, "query": url.QueryEscape, "counted": typeset.Counted,
		"class": Class, "link": Link, "command": s.Command, "sign": report.Sign, "lines": report.ChangedLines, "value": ShowValue, "short": Short,
		"join":   func(all []string) string { return strings.Join(all, ", ") },
		"add":    func(a, b int) int { return a + b },
		"first":  func(most int, all []string) []string { return all[:min(len(all), most)] },
		"title":  capital,
		"secret": func(value any) bool { return value == any(query.Secret) },
		"shown":  view.Show,
		"advise": func(why string, words ...string) Advice { return Advice{why, s.Command(words...)} },
		"share": func(progress [2]int) string {
			return fmt.Sprintf("%.1f%%", 100*float64(progress[0])/float64(max(progress[1], 1)))
		},
		"static":    func() bool { return s.Static },
		"advised":   func(why, command string) Advice { return Advice{why, command} },
		"simulated": func() bool { return s.Reader.Options().Simulation.On },
	}
}

// age describes how long ago something was; in files, which are read later, when it was.
func (s *Site) age(t time.Time) string {
	if s.Static && !t.IsZero() {
		return t.UTC().Format("2006-01-02 15:04")
	}
	return ago(s.Reader.Deps().Now(), t)
}
