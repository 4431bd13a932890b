package main

import (
	"fmt"
	"html"
	"slices"
	"strings"
)

// How the picture moves.
const (
	mostFrames = 44
	frameTime  = 0.25 // seconds
	endTime    = 5.0  // seconds that the last frame stays
)

// film is a recording: the lines of each frame.
type film struct {
	frames [][][]cell
	still  int // the frame to show where pictures do not move
}

// thin keeps a part of the frames, the still one among them.
func (f *film) thin() {
	step := float64(len(f.frames)-1) / (mostFrames - 1)
	if step <= 1 {
		return
	}
	var kept [][][]cell
	still := int(float64(f.still)/step + 0.5)
	for i := range mostFrames {
		at := int(float64(i) * step)
		if i == still {
			at = f.still
		}
		kept = append(kept, f.frames[at])
	}
	f.frames, f.still = kept, still
}

// wrap breaks lines that are longer than the terminal was wide, as it did.
func (f *film) wrap(columns int) {
	for i, lines := range f.frames {
		var wrapped [][]cell
		for _, line := range lines {
			for len(line) > columns {
				wrapped, line = append(wrapped, line[:columns]), line[columns:]
			}
			wrapped = append(wrapped, line)
		}
		f.frames[i] = wrapped
	}
}

// crop makes no frame higher than the one to show where pictures do not move, as a terminal of that height would scroll:
// a few high frames would leave the lower part of all others empty.
func (f *film) crop() {
	height := len(f.frames[f.still])
	for i, lines := range f.frames {
		f.frames[i] = lines[max(0, len(lines)-height):]
	}
}

func (f *film) height() int {
	height := 0
	for _, frame := range f.frames {
		height = max(height, len(frame))
	}
	return height
}

// svg draws the film. Each piece of text is drawn once for all frames that follow one another and have it; a style
// shows it during their time.
func (f *film) svg(title string) string {
	width, height := 0, f.height()
	for _, frame := range f.frames {
		for _, line := range frame {
			width = max(width, len(line))
		}
	}
	var body strings.Builder
	times := map[[2]int]bool{}
	for number := range height {
		for from := 0; from < len(f.frames); {
			to := from + 1
			for to < len(f.frames) && slices.Equal(f.line(from, number), f.line(to, number)) {
				to++
			}
			f.piece(&body, number, from, to, times)
			from = to
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %d" role="img" aria-label="%s">`+"\n",
		float64(width)*cellWidth+2*margin, (height+2)*lineHeight+2*margin, html.EscapeString(title))
	b.WriteString("<style>text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;" +
		"white-space:pre}.b{font-weight:bold}.f{opacity:.6}.l{opacity:0}.s{opacity:1}\n" + f.keyframes(times) +
		"@media(prefers-reduced-motion:reduce){.l{animation:none!important}}</style>\n")
	b.WriteString(`<rect width="100%" height="100%" rx="10" fill="#161b22"/>` + "\n")
	f.text(&b, 0, row(prompt+title, style{bold: true}))
	return b.String() + body.String() + "</svg>\n"
}

// line returns a line of a frame, nil below its last one.
func (f *film) line(frame, row int) []cell {
	if lines := f.frames[frame]; row < len(lines) {
		return lines[row]
	}
	return nil
}

// piece draws a line for the frames that have it.
func (f *film) piece(b *strings.Builder, row, from, to int, times map[[2]int]bool) {
	line := f.line(from, row)
	if blank(line) {
		return
	}
	class := ""
	if from > 0 || to < len(f.frames) {
		times[[2]int{from, to}] = true
		class = fmt.Sprintf("l a%d-%d", from, to)
		if from <= f.still && f.still < to {
			class += " s"
		}
	}
	fmt.Fprintf(b, `<g class="%s">`, class)
	f.text(b, row+2, line)
	b.WriteString("</g>\n")
}

// keyframes returns the styles that show pieces during their time.
func (f *film) keyframes(times map[[2]int]bool) string {
	total := float64(len(f.frames)-1)*frameTime + endTime
	percent := func(frame int) float64 { return 100 * float64(frame) * frameTime / total }
	var all [][2]int
	for time := range times {
		all = append(all, time)
	}
	slices.SortFunc(all, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	var b strings.Builder
	for _, time := range all {
		name := fmt.Sprintf("a%d-%d", time[0], time[1])
		fmt.Fprintf(&b, ".%s{animation:%s %.1fs step-end infinite}@keyframes %s{", name, name, total, name)
		if time[0] > 0 {
			fmt.Fprintf(&b, "0%%{opacity:0}")
		}
		fmt.Fprintf(&b, "%.2f%%{opacity:1}", percent(time[0]))
		if time[1] < len(f.frames) {
			fmt.Fprintf(&b, "%.2f%%{opacity:0}", percent(time[1]))
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// text draws a line, in pieces of one style.
func (f *film) text(b *strings.Builder, row int, line []cell) {
	y := margin + row*lineHeight + 14
	for at := 0; at < len(line); {
		end := at + 1
		for end < len(line) && line[end].style == line[at].style {
			end++
		}
		text(b, line[at:end], at, y)
		at = end
	}
}
