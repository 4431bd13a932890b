package ui

import (
	"slices"
	"time"

	"mara/runner/internal/core/event"
)

// forecast is how far a run is and how long it will still take.
type forecast struct {
	share float64 // of its time, from 0 to 1
	left  time.Duration
	over  bool // what still runs has taken longer than expected
}

// newForecast plays the rest of the run: every step takes as long as it is
// expected to, and starts when what it needs is done and there is a place.
// Without a usual time for every unfinished step there is nothing to play.
func newForecast(s *event.Summary, durations map[string]time.Duration, now time.Time) (f forecast, known bool) {
	remaining, over, known := remainders(s, durations, now)
	if !known {
		return forecast{}, false
	}
	f = forecast{left: play(s, remaining), over: over}
	if past := now.Sub(s.Started); past > 0 && past+f.left > 0 {
		f.share = float64(past) / float64(past+f.left)
	}
	return f, true
}

// remainders returns the remaining time of each step, in plan order; zero for steps that
// ended or will not start. over reports whether a running step exceeds its estimate.
func remainders(s *event.Summary, durations map[string]time.Duration, now time.Time) (all []time.Duration, over,
	ok bool) {
	all = make([]time.Duration, len(s.Steps))
	for i, step := range s.Steps {
		running := !step.Started.IsZero()
		if step.Result != "" || !running && s.Stopping != "" {
			continue
		}
		usual, known := durations[step.Name]
		if !known {
			return nil, false, false
		}
		all[i] = usual
		if running {
			all[i] = max(0, usual-now.Sub(step.Started))
			over = over || all[i] == 0
		}
	}
	return all, over, true
}

// play returns when the last step is done if all takes as long as it should.
func play(s *event.Summary, remaining []time.Duration) time.Duration {
	places := make([]time.Duration, max(1, s.Parallel)) // when each is free again
	done := make([]time.Duration, len(s.Steps))
	var last time.Duration
	run := func(i int, earliest time.Duration) {
		at := slices.Index(places, slices.Min(places))
		done[i] = max(places[at], earliest) + remaining[i]
		places[at] = done[i]
		last = max(last, done[i])
	}
	for i, step := range s.Steps {
		if step.Result == "" && !step.Started.IsZero() {
			run(i, 0)
		}
	}
	for i, step := range s.Steps { // edges point backwards, so needs come first
		if step.Result != "" || !step.Started.IsZero() || remaining[i] == 0 {
			continue
		}
		var earliest time.Duration
		for _, name := range step.All() {
			if _, position := s.Step(name); position > 0 {
				earliest = max(earliest, done[position-1])
			}
		}
		run(i, earliest)
	}
	return last
}

// words tells the rest the way a person would: not to the second.
func (f forecast) words() string {
	switch {
	case f.left == 0 && f.over:
		return "longer than last time"
	case f.left < time.Minute:
		const step = 10 * time.Second
		return "about " + seconds((f.left+step-1)/step*step) + " left"
	default:
		return "about " + minutes(f.left.Round(time.Minute)) + " left"
	}
}
