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
	best, fewest := clone(l.layers), l.crossings()
	for range sweeps {
		for _, side := range []int{back, next} {
			for _, layer := range l.along(side) {
				l.sortLayer(l.layers[layer], side)
			}
			l.swapNeighbours()
			if n := l.crossings(); n < fewest {
				best, fewest = clone(l.layers), n
			}
		}
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

// sortLayer orders a layer by the mean place of the neighbours on a side. A point
// without neighbours there keeps its place.
func (l *layered) sortLayer(layer []int, side int) {
	place := l.places()
	weight := make(map[int]float64, len(layer))
	for i, p := range layer {
		near := l.points[p].near[side]
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
	slices.SortStableFunc(layer, func(a, b int) int { return cmp.Compare(weight[a], weight[b]) })
}

// places returns the place of every point in its layer.
func (l *layered) places() []int {
	place := make([]int, len(l.points))
	for _, layer := range l.layers {
		for i, p := range layer {
			place[p] = i
		}
	}
	return place
}

// swapNeighbours exchanges points that stand next to each other while that
// removes crossings.
func (l *layered) swapNeighbours() {
	for _, layer := range l.layers {
		place := l.places()
		for j := 1; j < len(layer); j++ {
			a, b := l.points[layer[j-1]].near, l.points[layer[j]].near
			now := crossed(a[back], b[back], place) + crossed(a[next], b[next], place)
			then := crossed(b[back], a[back], place) + crossed(b[next], a[next], place)
			if then < now {
				layer[j-1], layer[j] = layer[j], layer[j-1]
			}
		}
	}
}

// crossed counts the pairs of edges that cross when the point with the
// neighbours a stands above the one with the neighbours b.
func crossed(a, b, place []int) int {
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
	n, place := 0, l.places()
	for _, layer := range l.layers {
		for j, a := range layer {
			for _, b := range layer[j+1:] {
				n += crossed(l.points[a].near[next], l.points[b].near[next], place)
			}
		}
	}
	return n
}
