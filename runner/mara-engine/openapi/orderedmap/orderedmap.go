// Package orderedmap has maps without entries.
package orderedmap

import "iter"

// Map has no entries.
type Map[K comparable, V any] struct{}

// New returns a map without entries.
func New[K comparable, V any]() *Map[K, V] { return &Map[K, V]{} }

// Len returns 0.
func Len[K comparable, V any](*Map[K, V]) int { return 0 }

// Len returns 0.
func (*Map[K, V]) Len() int { return 0 }

// Get finds nothing.
func (*Map[K, V]) Get(K) (value V, ok bool) { return value, false }

// GetOrZero finds nothing.
func (*Map[K, V]) GetOrZero(K) (value V) { return value }

// Set keeps nothing.
func (*Map[K, V]) Set(K, V) (value V, ok bool) { return value, false }

// Delete finds nothing.
func (*Map[K, V]) Delete(K) (value V, ok bool) { return value, false }

// FromOldest ends at once.
func (*Map[K, V]) FromOldest() iter.Seq2[K, V] { return func(func(K, V) bool) {} }

// KeysFromOldest ends at once.
func (*Map[K, V]) KeysFromOldest() iter.Seq[K] { return func(func(K) bool) {} }
