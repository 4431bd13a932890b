package graph

// The measures of the picture, in pixels.
const (
	boxHeight  = 46.0
	boxGap     = 16.0 // between boxes of a layer
	bendHeight = 6.0  // what an edge takes up that passes a layer
	rounds     = 30   // of moving points towards their neighbours
)

// place gives every point a height.
func (l *layered) place() {
	for _, layer := range l.layers {
		y := 0.0
		for i, p := range layer {
			if i > 0 {
				y += l.distance(layer[i-1], p)
			}
			l.points[p].y = y
		}
	}
	for range rounds {
		for i := 1; i < len(l.layers); i++ {
			l.settle(l.layers[i], func(p point) []int { return p.back })
		}
		for i := len(l.layers) - 2; i >= 0; i-- {
			l.settle(l.layers[i], func(p point) []int { return p.next })
		}
	}
	l.straighten()
	l.moveToTop()
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

// straighten considers both sides at the end.
func (l *layered) straighten() {
	for range rounds {
		for _, layer := range l.layers {
			l.settle(layer, func(p point) []int { return append(append([]int{}, p.back...), p.next...) })
		}
	}
}

// block is a run of points that touch each other and move as one.
type block struct {
	first, last int // places in the layer
	sum         float64
	weight      float64
	offset      float64 // of the last point from the first
}

// settle moves the points of a layer as close as possible to the mean height of
// their neighbours, in the sense of least squares, without changing their order
// or letting them overlap: points that would, form a block, and blocks that
// would, are joined (pool adjacent violators).
func (l *layered) settle(layer []int, neighbours func(point) []int) {
	var blocks []block
	for i, p := range layer {
		wish, weight := l.wish(p, neighbours(l.points[p]))
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
		y := b.position()
		for i := b.first; i <= b.last; i++ {
			if i > b.first {
				y += l.distance(layer[i-1], layer[i])
			}
			l.points[layer[i]].y = y
		}
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
func (l *layered) wish(p int, near []int) (y, weight float64) {
	if len(near) == 0 {
		return l.points[p].y, 0.1
	}
	sum, total := 0.0, 0.0
	for _, n := range near {
		w := 1.0
		if l.points[p].node < 0 && l.points[n].node < 0 {
			w = 8
		}
		sum += w * l.points[n].y
		total += w
	}
	return sum / total, total
}

// moveToTop puts the highest point's middle at half a box.
func (l *layered) moveToTop() {
	top := 0.0
	for i, p := range l.points {
		if y := p.y - l.height(i)/2; i == 0 || y < top {
			top = y
		}
	}
	for i := range l.points {
		l.points[i].y -= top
	}
}
