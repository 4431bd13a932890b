package graph

// point is a node, or the bend of an edge in a layer that it passes.
type point struct {
	node  int // -1 for a bend
	layer int
	next  []int // points in the next layer that an edge leads to
	back  []int // points in the layer before
	y     float64
}

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
		l.points[way[i-1]].next = append(l.points[way[i-1]].next, way[i])
		l.points[way[i]].back = append(l.points[way[i]].back, way[i-1])
	}
	return way
}

// layersOf returns the layer of every node: after all its predecessors, and without any, just
// before its first successor.
func layersOf(nodes int, links []link) []int {
	layer := make([]int, nodes)
	fed := make([]bool, nodes)
	for to := range nodes { // links lead forwards, so what leads here is settled
		for _, l := range links {
			if l.to == to {
				fed[to] = true
				layer[to] = max(layer[to], layer[l.from]+1)
			}
		}
	}
	for from := range nodes {
		first := -1
		for _, l := range links {
			if l.from == from && (first < 0 || layer[l.to] < first) {
				first = layer[l.to]
			}
		}
		if !fed[from] && first > 0 {
			layer[from] = first - 1
		}
	}
	return layer
}
