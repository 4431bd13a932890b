package graph

import (
	"cmp"
	"slices"
)

// sweeps is how often the layers are ordered by their neighbours, forwards and
// backwards. Few are needed; the best result counts.
const sweeps = 16

// order arranges the points of every layer so that few edges cross.
func (l *layered) order() {
	best := clone(l.layers)
	fewest := l.crossings()
	keep := func() {
		l.swapNeighbours()
		if n := l.crossings(); n < fewest {
			best, fewest = clone(l.layers), n
		}
	}
	for range sweeps {
		for i := 1; i < len(l.layers); i++ {
			l.sortLayer(i, l.layers[i-1], func(p point) []int { return p.back })
		}
		keep()
		for i := len(l.layers) - 2; i >= 0; i-- {
			l.sortLayer(i, l.layers[i+1], func(p point) []int { return p.next })
		}
		keep()
	}
	l.layers = best
}

func clone(layers [][]int) [][]int {
	var cloned [][]int
	for _, layer := range layers {
		cloned = append(cloned, slices.Clone(layer))
	}
	return cloned
}

// sortLayer orders a layer by the mean place of the neighbours in another one.
// A point without neighbours there keeps its place.
func (l *layered) sortLayer(layer int, other []int, neighbours func(point) []int) {
	place := l.places(other)
	weight := make(map[int]float64, len(l.layers[layer]))
	for i, p := range l.layers[layer] {
		near := neighbours(l.points[p])
		if len(near) == 0 {
			weight[p] = float64(i)
			continue
		}
		sum := 0
		for _, n := range near {
			sum += place[n]
		}
		weight[p] = float64(sum) / float64(len(near))
	}
	slices.SortStableFunc(l.layers[layer], func(a, b int) int { return cmp.Compare(weight[a], weight[b]) })
}

func (l *layered) places(layer []int) map[int]int {
	place := make(map[int]int, len(layer))
	for i, p := range layer {
		place[p] = i
	}
	return place
}

// swapNeighbours exchanges points that stand next to each other while that
// removes crossings.
func (l *layered) swapNeighbours() {
	for i, layer := range l.layers {
		var before, after map[int]int
		if i > 0 {
			before = l.places(l.layers[i-1])
		}
		if i < len(l.layers)-1 {
			after = l.places(l.layers[i+1])
		}
		for j := 1; j < len(layer); j++ {
			a, b := l.points[layer[j-1]], l.points[layer[j]]
			now := crossed(a.back, b.back, before) + crossed(a.next, b.next, after)
			then := crossed(b.back, a.back, before) + crossed(b.next, a.next, after)
			if then < now {
				layer[j-1], layer[j] = layer[j], layer[j-1]
			}
		}
	}
}

// crossed counts the pairs of edges that cross when the point with the
// neighbours a stands above the one with the neighbours b.
func crossed(a, b []int, place map[int]int) int {
	n := 0
	for _, x := range a {
		for _, y := range b {
			if place[x] > place[y] {
				n++
			}
		}
	}
	return n
}

// crossings counts all edges that cross.
func (l *layered) crossings() int {
	n := 0
	for i := 0; i+1 < len(l.layers); i++ {
		place := l.places(l.layers[i+1])
		for j, a := range l.layers[i] {
			for _, b := range l.layers[i][j+1:] {
				n += crossed(l.points[a].next, l.points[b].next, place)
			}
		}
	}
	return n
}
