package graph

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html"
	"math"
	"strings"
	"unicode/utf8"

	"mara/runner/internal/machine/typeset"
)

// More measures of the picture, in pixels.
const (
	margin     = 14.0
	layerGap   = 52.0
	titleWidth = 8.1 // of a character, generously: fonts differ
	textWidth  = 6.6
	boxPadding = 30.0
	boxMinimum = 96.0
	edgeEnd    = 5.0 // what the arrow's head takes
)

// Style is the style sheet that the picture needs, with colours as custom
// properties for light and dark surroundings. A page that holds several pictures
// needs it once.
//
//go:embed style.css
var Style string

//go:embed head.html
var head string

// Head returns the beginning of a page that is complete in itself, for a page with this one style sheet. Its policy
// allows the sheet by its digest, and no other style and no script.
func Head(style string) string {
	sum := sha256.Sum256([]byte(style))
	return strings.Replace(head, "STYLE", "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'", 1)
}

// SVG draws the graph as an element for a page that has Style.
// There it shrinks a little where it does not fit, before it has to be scrolled.
func (g Graph) SVG() string {
	p := g.layout()
	const smallest, step, most = 0.7, 160, 20 // of the width; the classes least-1 to least-20 of Style
	return p.draw(fmt.Sprintf(" least-%d", min(int(smallest*p.w/step), most)), "", "")
}

// Still draws the graph as SVG does, for a page without script that has the rules of Pointing as well.
func (g Graph) Still() string {
	g.still = true
	return g.SVG()
}

// File draws the graph as a file of its own.
func (g Graph) File() string {
	g.still = true
	return g.layout().draw("", ` xmlns="http://www.w3.org/2000/svg"`,
		"<style>"+Style+g.Pointing()+"svg { background: var(--back); }\n</style>\n")
}

// picture is a graph whose nodes have found their places.
type picture struct {
	g      Graph
	links  []link
	l      *layered
	left   []float64 // of the layers
	widths []float64
	near   [][]bool // which nodes are related; nil if nobody is told
	b      strings.Builder
	w, h   float64
}

func (p *picture) draw(class, attributes, head string) string {
	fmt.Fprintf(&p.b, `<svg class="graph%s"%s width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" role="group"`,
		class, attributes, p.w, p.h, p.w, p.h)
	fmt.Fprintf(&p.b, ` aria-label="%s">`+"\n", html.EscapeString(typeset.Visible(p.g.Title)))
	p.b.WriteString(head)
	for _, marked := range []bool{false, true} { // marked edges lie on top
		for i, k := range p.links {
			if k.Marked == marked {
				p.edge(k, p.l.routes[i])
			}
		}
	}
	for i := range p.g.Nodes {
		p.node(i)
	}
	p.b.WriteString("</svg>\n")
	return p.b.String()
}

// layout finds the places.
func (g Graph) layout() *picture {
	links := g.links()
	l := newLayered(len(g.Nodes), links)
	l.order()
	l.place()
	p := &picture{g: g, links: links, l: l, w: margin, h: 0}
	if g.still && len(g.Nodes) <= mostPointed {
		p.near = g.related()
	}
	for _, layer := range l.layers {
		width := 0.0
		for _, at := range layer {
			if n := l.points[at].node; n >= 0 {
				width = max(width, boxWidth(g.Nodes[n]))
			}
		}
		p.left, p.widths = append(p.left, p.w), append(p.widths, width)
		p.w += width + layerGap
	}
	p.w += margin - layerGap
	for i, at := range l.points {
		p.h = max(p.h, at.y+l.height(i)/2)
	}
	p.w, p.h = max(math.Ceil(p.w), 2*margin), math.Ceil(p.h+2*margin)
	return p
}

// What a box shows of longer texts; its title has the whole.
const mostTitle, mostText = 28, 36

func shownTitle(n Node) string { return typeset.Cut(typeset.Visible(n.Title), mostTitle, "…") }
func shownText(n Node) string  { return typeset.Cut(typeset.Visible(n.Text), mostText, "…") }

func boxWidth(n Node) float64 {
	title := float64(utf8.RuneCountInString(shownTitle(n))+2*len(n.News)) * titleWidth
	text := float64(utf8.RuneCountInString(shownText(n))) * textWidth
	return math.Ceil(max(title, text, boxMinimum-boxPadding) + boxPadding)
}

// y returns the middle of a point in the picture.
func (p *picture) y(at int) float64 { return margin + p.l.points[at].y }

// edge draws a curve that leaves and enters every layer horizontally, with an
// arrow's head.
func (p *picture) edge(k link, route []int) {
	var d strings.Builder
	from := p.l.points[route[0]].layer
	x, y := p.left[from]+p.widths[from], p.y(route[0])
	fmt.Fprintf(&d, "M%.1f %.1f", x, y)
	for i, at := range route[1:] {
		layer := p.l.points[at].layer
		endX, endY := p.left[layer], p.y(at)
		last := i == len(route)-2
		if last {
			endX -= edgeEnd
		}
		if math.Abs(endY-y) < 0.5 {
			fmt.Fprintf(&d, "H%.1f", endX)
		} else {
			middle := (x + endX) / 2
			fmt.Fprintf(&d, "C%.1f %.1f %.1f %.1f %.1f %.1f", middle, y, middle, endY, endX, endY)
		}
		x, y = endX, endY
		if !last {
			x += p.widths[layer]
			fmt.Fprintf(&d, "H%.1f", x)
		}
	}
	dashed, class := "", ""
	if k.Dashed {
		dashed = " dashed"
	}
	if k.implied {
		class = " implied"
	}
	if k.Marked {
		class += " marked"
	}
	between := fmt.Sprintf(`data-from="%d" data-to="%d"`, k.from, k.to) + p.nearTo(k.from, k.to)
	fmt.Fprintf(&p.b, `<path class="edge%s%s" %s d="%s"/>`+"\n", dashed, class, between, d.String())
	fmt.Fprintf(&p.b, `<path class="head%s" %s d="M%.1f %.1fl-7 -3.5v7z"/>`+"\n", class, between, x+edgeEnd, y)
}

// node draws a box.
func (p *picture) node(i int) {
	n := p.g.Nodes[i]
	layer := p.l.points[i].layer
	x, y, w := p.left[layer], p.y(i)-boxHeight/2, p.widths[layer]
	class := strings.TrimSpace("node " + n.State)
	if n.Marked {
		class += " marked"
	}
	signs := ""
	for _, mark := range n.News {
		class += " " + string(mark)
		signs += mark.Sign()
	}
	words := cmp.Or(n.Label, strings.TrimSpace(n.Title+" "+n.Text))
	label := html.EscapeString(typeset.Visible(strings.Join(append([]string{words}, n.Lines...), "; ")))
	hint := html.EscapeString(typeset.Visible(strings.Join(append([]string{words}, n.Lines...), "\n")))
	begin, end := fmt.Sprintf(`<g class="%s" role="img"`, class), "</g>\n"
	if n.Link != "" {
		begin, end = fmt.Sprintf(`<a href="%s" class="%s"`, html.EscapeString(n.Link), class), "</a>\n"
	}
	fmt.Fprintf(&p.b, `%s data-n="%d"%s aria-label="%s"><title>%s</title>`, begin, i, p.nearTo(i, i), label, hint)
	fmt.Fprintf(&p.b, `<rect class="box" x="%.1f" y="%.1f" width="%.1f" height="%.0f" rx="7"/>`, x, y, w, boxHeight)
	if n.State != "" {
		fmt.Fprintf(&p.b, `<rect class="side" x="%.1f" y="%.1f" width="4" height="%.0f" rx="2"/>`, x+6, y+8,
			boxHeight-16)
	}
	if signs != "" {
		fmt.Fprintf(&p.b, `<text class="sign" x="%.1f" y="%.1f">%s</text>`, x+w-10, y+20, signs)
	}
	fmt.Fprintf(&p.b, `<text class="title" x="%.1f" y="%.1f">%s</text>`, x+17, y+20, html.EscapeString(shownTitle(n)))
	fmt.Fprintf(&p.b, `<text class="text" x="%.1f" y="%.1f">%s</text>%s`, x+17, y+36, html.EscapeString(shownText(n)), end)
}
