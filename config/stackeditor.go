package config

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// stackEditor makes one edit in a stack file: it replaces content[from:to] by text.
type stackEditor struct {
	content   []byte
	lines     []int  // where each line begins, and the end of the content
	eol       string // line end of the file
	root      *yaml.Node
	configKey *yaml.Node // nil without a configuration
	config    *yaml.Node
	configEnd int // index of the first line after the configuration

	from, to int
	text     string
}

func newStackEditor(file string, content []byte) (*stackEditor, error) {
	root, err := decodeWritten(file, content)
	if err != nil {
		return nil, err
	}
	e := &stackEditor{content: content, lines: lineStarts(content), eol: "\n", root: root}
	if i := bytes.IndexByte(content, '\n'); i > 0 && content[i-1] == '\r' {
		e.eol = "\r\n"
	}
	if root == nil {
		return e, nil
	}
	e.configEnd = len(e.lines) - 1
	for i := 0; i+1 < len(root.Content); i += 2 {
		switch key := root.Content[i]; {
		case e.configKey != nil:
			e.configEnd = min(e.configEnd, key.Line-1)
		case key.Value == "config":
			e.configKey, e.config = key, root.Content[i+1]
		}
	}
	return e, nil
}

// lineStarts returns the offsets at which lines begin, by the line ends that YAML knows, and
// the end of the content.
func lineStarts(content []byte) []int {
	starts := []int{0}
	for _, end := range regexp.MustCompile(`\r\n|[\r\n\x{85}\x{2028}\x{2029}]`).FindAllIndex(content, -1) {
		starts = append(starts, end[1])
	}
	if starts[len(starts)-1] != len(content) {
		starts = append(starts, len(content))
	}
	return starts
}

func (e *stackEditor) bytes() []byte {
	return slices.Concat(e.content[:e.from], []byte(e.text), e.content[e.to:])
}

func (e *stackEditor) splice(from, to int, text string) { e.from, e.to, e.text = from, to, text }

// lineEnd returns the offset at which a line ends, before its line end.
func (e *stackEditor) lineEnd(i int) int {
	line := e.content[e.lines[i]:e.lines[i+1]]
	return e.lines[i] + len(strings.TrimRight(string(line), "\r\n\u0085\u2028\u2029"))
}

// restOfLine returns the rest of the line after an offset.
func (e *stackEditor) restOfLine(offset int) string {
	return string(e.content[offset:e.lineEnd(e.lineOf(offset))])
}

func (e *stackEditor) line(i int) string { return string(e.content[e.lines[i]:e.lineEnd(i)]) }

// lineOf returns the line of an offset; the end of the content is in the last line.
func (e *stackEditor) lineOf(offset int) int {
	i, found := slices.BinarySearch(e.lines, offset)
	if !found {
		i--
	}
	return min(i, len(e.lines)-2)
}

// offset returns the offset of a node. The parser counts columns in characters.
func (e *stackEditor) offset(node *yaml.Node) int {
	start, column := e.lines[node.Line-1], 1
	for i := range string(e.content[start:]) {
		if column == node.Column {
			return start + i
		}
		column++
	}
	return len(e.content)
}

// apply makes the change; exists says whether the key is written in the configuration already.
func (e *stackEditor) apply(change Change, exists bool) error {
	switch {
	case e.config != nil && e.config.Kind == yaml.MappingNode && e.config.Style&yaml.FlowStyle != 0,
		e.config != nil && isNull(e.config) && e.config.Value != "":
		return e.unfold(change)
	case change.Unset && !exists:
		return nil // a merge has the key: isEdit reports that it is still there
	case change.Unset:
		entry := e.findBlock(change.Key)
		e.splice(e.lines[entry.first], e.lines[entry.end], "")
		return nil
	case exists:
		return e.replace(change)
	}
	return e.add(change)
}

// block is an entry of the configuration: its nodes and its lines.
type block struct {
	key, value *yaml.Node
	first, end int // indexes of its first line, and of the line after it
}

// blocks returns the entries in order.
func (e *stackEditor) blocks() []block {
	if e.config == nil {
		return nil
	}
	var blocks []block
	nodes := e.config.Content
	for i := 0; i+1 < len(nodes); i += 2 {
		b := block{key: nodes[i], value: nodes[i+1], first: nodes[i].Line - 1, end: e.configEnd}
		if i+2 < len(nodes) {
			b.end = nodes[i+2].Line - 1
		}
		b.end = e.trimmedEnd(b)
		blocks = append(blocks, b)
	}
	return blocks
}

// trimmedEnd returns the end of an entry without the comments and empty lines after it. Inside
// a block scalar such lines belong to its text.
func (e *stackEditor) trimmedEnd(b block) int {
	least := 0 // indentation of the text of a block scalar
	last, column := b.value, 1
	if b.key != nil { // items of lists have none
		column = b.key.Column
	}
	for last.Style&yaml.FlowStyle == 0 && len(last.Content) > 0 { // the last value within it ends it
		if column = 1; last.Kind == yaml.MappingNode {
			column = last.Content[len(last.Content)-2].Column
		}
		last = last.Content[len(last.Content)-1]
	}
	if last.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		least = column
	}
	end := b.end
	for ; end > b.first+1; end-- {
		line := e.line(end - 1)
		rest := strings.TrimLeft(line, " ")
		inside := least > 0 && len(line)-len(rest) >= least
		loose := strings.TrimSpace(rest) == "" || rest[0] == '#' ||
			strings.HasPrefix(line, "---") || strings.HasPrefix(line, "...")
		if !loose || inside && strings.TrimSpace(rest) != "" {
			break
		}
	}
	return end
}

// isWritten reports whether the configuration itself has a key, and not only a map that is merged into it.
func (e *stackEditor) isWritten(key string) bool {
	return e.config != nil && indexOfKey(e.config, key) >= 0
}

// findBlock returns the entry of a key, which must exist.
func (e *stackEditor) findBlock(key string) block {
	blocks := e.blocks()
	i := slices.IndexFunc(blocks, func(b block) bool {
		name, _ := normalKey(b.key.Value)
		return name == key
	})
	return blocks[i]
}

// replace writes a new value after an existing key.
func (e *stackEditor) replace(change Change) error {
	return e.replaceValue(e.findBlock(change.Key), change.Value)
}

// replaceValue writes a new value after the key of an entry, or after the dash of an item.
func (e *stackEditor) replaceValue(b block, value any) error {
	indent, from := 0, -1
	if b.key != nil {
		indent, from = b.key.Column-1, e.offsetAfterColon(b.key)
	} else if indent = e.dash(b.value); indent >= 0 {
		from = e.lines[b.first] + indent + len("-")
	}
	if from < 0 {
		return nil // isEdit reports that nothing has changed
	}
	text, err := e.render(value, indent)
	if err != nil {
		return err
	}
	end, comment := e.lineEnd(b.end-1), ""
	if inline := e.inlineEnd(b.value); inline >= 0 {
		comment = e.restOfLine(inline)
	} else if at := strings.Index(e.restOfLine(from), " #"); at >= 0 {
		comment = e.restOfLine(from)[at:]
	}
	e.splice(from, end, withComment(text, comment, e.eol))
	return nil
}

// withComment returns a value as it follows the colon of its key, with a comment after its
// first line.
func withComment(value, comment, eol string) string {
	first, rest, more := strings.Cut(value, eol)
	if first != "" {
		first = " " + first
	}
	if more {
		rest = eol + rest
	}
	return first + comment + rest
}

// add adds an entry: below its line in comments, if the file has one as the examples do, else
// after the other keys of its namespace, else at the end.
func (e *stackEditor) add(change Change) error {
	blocks := e.blocks()
	indent := 2
	if len(blocks) > 0 {
		indent = blocks[0].key.Column - 1
	}
	value, err := e.render(change.Value, indent)
	if err != nil {
		return err
	}
	text := strings.Repeat(" ", indent) + change.Key + ":" + withComment(value, "", e.eol) + e.eol
	if e.configKey == nil {
		e.insert(len(e.lines)-1, "config:"+e.eol+text)
		return nil
	}
	e.insert(e.lineForNew(change.Key, blocks), text)
	return nil
}

// insert inserts text before a line. It ends the line before if that has no line end.
func (e *stackEditor) insert(line int, text string) {
	at := e.lines[line]
	if at > 0 && at == len(e.content) && e.lineEnd(line-1) == at {
		text = e.eol + text
	}
	e.splice(at, at, text)
}

// lineForNew returns the line before which a new key goes.
func (e *stackEditor) lineForNew(key string, blocks []block) int {
	namespace, _, _ := strings.Cut(key, ":")
	place := e.configKey.Line
	sibling := false
	for _, b := range blocks {
		name, _ := normalKey(b.key.Value)
		same := strings.HasPrefix(name, namespace+":")
		if same || !sibling {
			place = b.end
		}
		sibling = sibling || same
	}
	for i := e.configKey.Line; i < e.configEnd; i++ {
		inside := slices.ContainsFunc(blocks, func(b block) bool { return b.first <= i && i < b.end })
		if !inside && isCommentedOut(e.line(i), key) {
			return i + 1
		}
	}
	return place
}

// isCommentedOut reports whether a line sets the key, but for a # before it.
func isCommentedOut(line, key string) bool {
	text, isComment := strings.CutPrefix(strings.TrimSpace(line), "#")
	value, isKey := strings.CutPrefix(strings.TrimSpace(text), key+":")
	return isComment && isKey && (value == "" || value[0] == ' ')
}
