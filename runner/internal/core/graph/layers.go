package graph

import "slices"

// point is a node, or the bend of an edge in a layer that it passes.
type point struct {
	node  int // -1 for a bend
	layer int
	near  [2][]int // by side: the points there that an edge joins with this one
	y     float64
}

// The sides of a layer.
const (
	back = 0 // the layer before
	next = 1
)

// layered is a graph whose edges lead from each layer to the next.
type layered struct {
	points []point
	layers [][]int // points in order
	routes [][]int // points that each link passes, ends included
}

// newLayered puts nodes into layers and bends into edges.
func newLayered(nodes int, links []link) *layered {
	layers := layersOf(nodes, links)
	l := &layered{}
	for node, layer := range layers {
		l.add(node, layer)
	}
	for _, link := range links {
		l.routes = append(l.routes, l.route(link))
	}
	return l
}

// add makes a point and returns its index; nodes come first, so that theirs is
// the index of the node.
func (l *layered) add(node, layer int) int {
	for len(l.layers) <= layer {
		l.layers = append(l.layers, nil)
	}
	at := len(l.points)
	l.points = append(l.points, point{node: node, layer: layer})
	l.layers[layer] = append(l.layers[layer], at)
	return at
}

// route leads a link from layer to layer.
func (l *layered) route(k link) []int {
	way := []int{k.from}
	for layer := l.points[k.from].layer + 1; layer < l.points[k.to].layer; layer++ {
		way = append(way, l.add(-1, layer))
	}
	way = append(way, k.to)
	for i := 1; i < len(way); i++ {
		from, to := &l.points[way[i-1]], &l.points[way[i]]
		from.near[next], to.near[back] = append(from.near[next], way[i]), append(to.near[back], way[i-1])
	}
	return way
}

// along returns the layers that have one on a side, beginning on that side.
func (l *layered) along(side int) []int {
	var order []int
	for i := 1; i < len(l.layers); i++ {
		order = append(order, i-side)
	}
	if side == next {
		slices.Reverse(order)
	}
	return order
}

// layersOf returns the layer of every node: after all its predecessors, and without any, just
// before its first successor.
func layersOf(nodes int, links []link) []int {
	layer := make([]int, nodes)
	for to := range nodes { // links lead forwards, so what leads here is settled
		for _, l := range links {
			if l.to == to {
				layer[to] = max(layer[to], layer[l.from]+1)
			}
		}
	}
	for from := range nodes {
		var after []int
		for _, l := range links {
			if l.from == from {
				after = append(after, layer[l.to])
			}
		}
		if layer[from] == 0 && len(after) > 0 {
			layer[from] = slices.Min(after) - 1
		}
	}
	return layer
}
