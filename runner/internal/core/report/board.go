package report

import (
	"cmp"
	_ "embed"
	"html/template"
	"strings"
	"time"

	"mara/runner/internal/core/event"
	"mara/runner/internal/machine/typeset"
)

// Column is a wave on the board of a rollout.
type Column struct {
	Wave  string
	Done  int // environments that have succeeded, or had nothing to do
	Cards []Card
	After []Pause // between this wave and the next
}

// Card is an environment on the board.
type Card struct {
	Name   string
	Is     string // its result, or how far it is
	Class  string // of the style sheet
	Time   string
	Reason string
	Link   string
}

// Pause is what follows a wave: the time that it soaks, or a gate.
type Pause struct{ Text, Is, Class string }

//go:embed board.html
var boardHTML string

//go:embed board.css
var boardStyle string

// BoardStyle returns the style sheet of the board. It takes its colours from that of the graph.
func BoardStyle() string { return boardStyle }

// Columns returns the waves of a rollout in their order, with a card for each environment as the caller makes it.
func (p Page) Columns(card func(Row) Card, now time.Time) (columns []Column) {
	at := map[string]int{}
	column := func(wave string) *Column {
		if _, ok := at[wave]; !ok {
			at[wave] = len(columns)
			columns = append(columns, Column{Wave: wave})
		}
		return &columns[at[wave]]
	}
	for i, step := range p.Steps {
		if event.EndsWave(step.Name) {
			column(strings.TrimPrefix(step.Name, event.WavePrefix)).After = pauses(step, now)
			continue
		}
		c := column(strings.TrimPrefix(step.Title, "Wave "))
		c.Cards = append(c.Cards, card(p.Rows[i]))
		if step.Result == event.Succeeded || step.Result == event.Skipped && step.Unchanged != "" {
			c.Done++
		}
	}
	return columns
}

// pauses lists what a wave waits for at its end.
func pauses(step event.Step, now time.Time) (all []Pause) {
	for _, hook := range step.Hooks {
		p := Pause{Text: hook.Name, Is: string(hook.Result), Class: string(hook.Result)}
		if hook.Result == "" {
			p.Is, p.Class = "for "+event.FormatDuration(now.Sub(hook.Started)), "running"
		}
		all = append(all, p)
	}
	return all
}

// Board draws the waves beside one another.
func Board(columns []Column) template.HTML {
	t := template.Must(template.New("board").Funcs(template.FuncMap{"visible": typeset.Visible}).Parse(boardHTML))
	var b strings.Builder
	if err := t.Execute(&b, columns); err != nil {
		return template.HTML(template.HTMLEscapeString(err.Error()))
	}
	return template.HTML(b.String()) // made by a template, which has escaped it
}

// Board returns the board of a rollout that has ended.
func (p Page) Board() template.HTML {
	return Board(p.Columns(func(row Row) Card {
		return Card{Name: row.Name, Is: string(row.Result), Class: string(row.Result), Time: row.Time, Reason: row.Reason, Link: "#project-" + row.Name}
	}, cmp.Or(p.Finished, p.Started)))
}
