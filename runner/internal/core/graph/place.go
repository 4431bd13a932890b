package graph

import "math"

// The measures of the picture, in pixels.
const (
	boxHeight  = 46.0
	boxGap     = 16.0 // between boxes of a layer
	bendHeight = 6.0  // what an edge takes up that passes a layer
	rounds     = 30   // of moving points towards their neighbours
)

// place gives every point a height. At the end it considers both sides of a layer.
func (l *layered) place() {
	for _, layer := range l.layers {
		l.stack(layer, 0)
	}
	for range rounds {
		for _, side := range []int{back, next} {
			for _, layer := range l.along(side) {
				l.settle(l.layers[layer], side)
			}
		}
	}
	for range rounds {
		for _, layer := range l.layers {
			l.settle(layer, back, next)
		}
	}
	top := math.Inf(1)
	for i, p := range l.points {
		top = min(top, p.y-l.height(i)/2)
	}
	for i := range l.points {
		l.points[i].y -= top
	}
}

// stack puts points below one another, the first one at a height.
func (l *layered) stack(points []int, y float64) {
	for i, p := range points {
		if i > 0 {
			y += l.distance(points[i-1], p)
		}
		l.points[p].y = y
	}
}

// distance returns the least distance between the middles of two neighbours.
func (l *layered) distance(above, below int) float64 {
	return (l.height(above)+l.height(below))/2 + boxGap
}

func (l *layered) height(p int) float64 {
	if l.points[p].node < 0 {
		return bendHeight
	}
	return boxHeight
}

// block is a run of points that touch each other and move as one.
type block struct {
	first, last int // places in the layer
	sum         float64
	weight      float64
	offset      float64 // of the last point from the first
}

// settle moves the points of a layer as close as possible to the mean height of
// their neighbours on some sides, in the sense of least squares, without changing their order
// or letting them overlap: points that would, form a block, and blocks that
// would, are joined (pool adjacent violators).
func (l *layered) settle(layer []int, sides ...int) {
	var blocks []block
	for i, p := range layer {
		wish, weight := l.wish(p, sides)
		b := block{first: i, last: i, sum: weight * wish, weight: weight}
		for len(blocks) > 0 {
			before := blocks[len(blocks)-1]
			gap := l.distance(layer[before.last], layer[b.first])
			if before.position()+before.offset+gap <= b.position() {
				break
			}
			b = before.join(b, before.offset+gap)
			blocks = blocks[:len(blocks)-1]
		}
		blocks = append(blocks, b)
	}
	for _, b := range blocks {
		l.stack(layer[b.first:b.last+1], b.position())
	}
}

// position returns the preferred position of the block's first point.
func (b block) position() float64 { return b.sum / b.weight }

// join appends a block whose first point comes shift below this one's.
func (b block) join(c block, shift float64) block {
	return block{first: b.first, last: c.last, sum: b.sum + c.sum - c.weight*shift, weight: b.weight + c.weight,
		offset: shift + c.offset}
}

// wish returns the preferred height of a point and its weight. Bends have a larger weight
// than boxes, so that long edges are straight; points without neighbours have hardly any.
func (l *layered) wish(p int, sides []int) (y, weight float64) {
	sum := 0.0
	for _, side := range sides {
		for _, n := range l.points[p].near[side] {
			w := 1.0
			if l.points[p].node < 0 && l.points[n].node < 0 {
				w = 8
			}
			sum += w * l.points[n].y
			weight += w
		}
	}
	if weight == 0 {
		return l.points[p].y, 0.1
	}
	return sum / weight, weight
}
