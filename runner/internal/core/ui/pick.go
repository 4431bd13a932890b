package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mara/runner/internal/core/event"
)

// hidden counts the steps that have no line of their own.
type hidden struct {
	running, waiting int
	results          event.Results
}

// String counts what is hidden, empty if nothing is.
func (h hidden) String() string {
	var parts []string
	if h.running > 0 {
		parts = append(parts, fmt.Sprintf("%d running", h.running))
	}
	if h.results != (event.Results{}) {
		parts = append(parts, h.results.String())
	}
	if h.waiting > 0 {
		parts = append(parts, fmt.Sprintf("%d waiting", h.waiting))
	}
	if parts == nil {
		return ""
	}
	return "not shown: " + strings.Join(parts, ", ")
}

func (h *hidden) add(s event.Step) {
	switch {
	case s.Result != "":
		h.results = h.results.CountStep(s.Name, s.Result, s.Unchanged)
	case s.Started.IsZero():
		h.waiting++
	default:
		h.running++
	}
}

// pick chooses the steps that get a line, in plan order. Without room for all, running steps
// come first, then failed, then waiting, then finished ones, the latest first; one line
// counts the rest.
func pick(s *event.Summary, room int) (shown []int, rest hidden) {
	shown = make([]int, len(s.Steps))
	for i := range shown {
		shown[i] = i
	}
	if len(shown) <= room {
		return shown, rest
	}
	slices.SortStableFunc(shown, func(a, b int) int { return compareInterest(s.Steps[a], s.Steps[b]) })
	room = max(0, room-1)
	for _, i := range shown[room:] {
		rest.add(s.Steps[i])
	}
	shown = shown[:room]
	slices.Sort(shown)
	return shown, rest
}

// compareInterest puts the step first that a user would rather see.
func compareInterest(a, b event.Step) int {
	return cmp.Or(cmp.Compare(interest(a), interest(b)), b.Finished.Compare(a.Finished))
}

func interest(s event.Step) int {
	switch {
	case s.Result == "" && !s.Started.IsZero():
		return 0
	case s.Result == event.Failed:
		return 1
	case s.Result == "":
		return 2
	default:
		return 3
	}
}
