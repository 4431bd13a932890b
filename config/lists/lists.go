// Package lists has the helpers for slices and maps that the standard library lacks.
package lists

import (
	"maps"
	"slices"
)

// Find returns the first element for which match is true.
func Find[T any](all []T, match func(T) bool) (found T, ok bool) {
	i := slices.IndexFunc(all, match)
	if i < 0 {
		return found, false
	}
	return all[i], true
}

// Map returns f of each element, and nil for an empty slice.
func Map[T, R any](all []T, f func(T) R) (made []R) {
	for _, item := range all {
		made = append(made, f(item))
	}
	return made
}

// Keys returns the keys of all maps, sorted and without duplicates.
func Keys[V any](all ...map[string]V) []string {
	var keys []string
	for _, m := range all {
		keys = slices.AppendSeq(keys, maps.Keys(m))
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}
