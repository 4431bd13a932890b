package event

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// finder hides texts wherever they occur.
type finder struct {
	texts []string
	quick *strings.Replacer // tells at once that none of them occurs, as in most texts
}

func newFinder(texts map[string]struct{}) *finder {
	f := &finder{texts: slices.Sorted(maps.Keys(texts))}
	var pairs []string
	for _, text := range f.texts {
		pairs = append(pairs, text, Masked)
	}
	f.quick = strings.NewReplacer(pairs...)
	return f
}

// piece is a part of a text, from the first byte to the one behind the last.
type piece struct{ from, to int }

// hide masks every byte of every occurrence. Occurrences that overlap are masked
// as one: a replacement from left to right would leave the tail of the second.
func (f *finder) hide(text string) string {
	if f.quick.Replace(text) == text {
		return text
	}
	return replace(text, f.pieces(text), Masked)
}

// replace puts a word in the place of pieces, which are in order. What begins within
// another piece goes with that.
func replace(text string, pieces []piece, word string) string {
	var b strings.Builder
	end := 0
	for _, p := range pieces {
		if p.from >= end {
			b.WriteString(text[end:p.from] + word)
			end = p.to
		}
	}
	return b.String() + text[end:]
}

// pieces returns what to mask, in order. Pieces may touch, and do not overlap.
func (f *finder) pieces(text string) []piece {
	var all []piece
	for _, secret := range f.texts {
		for from := 0; ; from++ {
			i := strings.Index(text[from:], secret)
			if i < 0 {
				break
			}
			from += i
			all = append(all, piece{from, from + len(secret)})
		}
	}
	slices.SortFunc(all, func(a, b piece) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to)) })
	var merged []piece
	for _, p := range all {
		if last := len(merged) - 1; last >= 0 && p.from < merged[last].to {
			merged[last].to = max(merged[last].to, p.to)
			continue
		}
		merged = append(merged, p)
	}
	return merged
}
