// Package docs parses the project's documentation for tests: pages, code blocks with the
// marks that say how to run them, headings and links. It parses the subset of Markdown
// that these pages use.
package docs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Page is a file in Markdown.
type Page struct {
	// Path is relative to the repository, with slashes.
	Path  string
	lines []string
}

// Block is a block of code between fences.
type Block struct {
	Page string
	// Line is the line of the fence, from 1.
	Line int
	// Language is the word after the fence.
	Language string
	// Mark is the comment right before the block, without its brackets.
	Mark  string
	Lines []string
}

// At returns the file and line of a block.
func (b Block) At() string { return fmt.Sprintf("%s:%d", b.Page, b.Line) }

// Commands reports whether the block has commands for the reader to type.
func (b Block) Commands() bool { return b.Language == "sh" || b.Language == "console" }

// Typed returns the lines that a reader types: in a block that also shows output, the lines
// with a prompt.
func (b Block) Typed() []string {
	if b.Language != "console" {
		return b.Lines
	}
	var typed []string
	for _, line := range b.Lines {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			typed = append(typed, command)
		}
	}
	return typed
}

// Generated reports whether tests generate the page from the program. They also check its
// examples.
func (p Page) Generated() bool { return p.Path == "docs/commands.md" || p.Path == "docs/schemas.md" }

// Pages reads all pages of a repository.
func Pages(repository string) ([]Page, error) {
	var paths []string
	for _, pattern := range []string{"*.md", "examples/*/*.md"} {
		found, err := filepath.Glob(filepath.Join(repository, pattern))
		if err != nil {
			return nil, err
		}
		paths = append(paths, found...)
	}
	err := filepath.WalkDir(filepath.Join(repository, "docs"), func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".md") {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	var pages []Page
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		name, err := filepath.Rel(repository, path)
		if err != nil {
			return nil, err
		}
		pages = append(pages, Parse(filepath.ToSlash(name), string(text)))
	}
	return pages, nil
}

// Parse returns the page with a text.
func Parse(path, text string) Page {
	return Page{Path: path, lines: strings.Split(text, "\n")}
}

var comment = regexp.MustCompile(`^<!-- (.*) -->$`)

// Blocks returns the code blocks in order.
func (p Page) Blocks() []Block {
	var blocks []Block
	mark, open := "", false
	for i, line := range p.lines {
		switch fence, isFence := strings.CutPrefix(line, "```"); {
		case open && isFence:
			open, mark = false, ""
		case open:
			last := &blocks[len(blocks)-1]
			last.Lines = append(last.Lines, line)
		case isFence:
			open = true
			blocks = append(blocks, Block{Page: p.Path, Line: i + 1, Language: fence, Mark: mark})
		case comment.MatchString(line):
			mark = comment.FindStringSubmatch(line)[1]
		case line != "":
			mark = ""
		}
	}
	return blocks
}

// Line is a line of the text around the blocks.
type Line struct {
	Number int // from 1
	Text   string
}

// Prose returns the lines outside of code blocks.
func (p Page) Prose() []Line {
	var prose []Line
	open := false
	for i, line := range p.lines {
		fence := strings.HasPrefix(line, "```")
		if !open && !fence {
			prose = append(prose, Line{i + 1, line})
		}
		if fence {
			open = !open
		}
	}
	return prose
}

var span = regexp.MustCompile("`[^`]+`")

// Spans returns the code spans in a line of text.
func (l Line) Spans() []string {
	spans := span.FindAllString(l.Text, -1)
	for i, found := range spans {
		spans[i] = strings.Trim(found, "`")
	}
	return spans
}

var (
	link    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	inLinks = regexp.MustCompile(`!?\[([^\[\]]*)\]\([^()]*\)`)
)

// Links returns the targets of the links and pictures in a line of text.
func (l Line) Links() []string {
	var links []string
	for _, found := range link.FindAllStringSubmatch(span.ReplaceAllString(l.Text, ""), -1) {
		links = append(links, found[1])
	}
	return links
}

// Anchors returns the anchors of a page's headings, as GitHub makes them.
func (p Page) Anchors() []string {
	var anchors []string
	for _, line := range p.Prose() {
		title := strings.TrimLeft(line.Text, "#")
		if len(title) == len(line.Text) || !strings.HasPrefix(title, " ") {
			continue
		}
		anchor := Anchor(inLinks.ReplaceAllString(strings.TrimSpace(title), "$1"))
		name := anchor
		for n := 1; slices.Contains(anchors, name); n++ {
			name = fmt.Sprintf("%s-%d", anchor, n)
		}
		anchors = append(anchors, name)
	}
	return anchors
}

var dropped = regexp.MustCompile(`[^\p{L}\p{N} _-]`)

// Anchor returns the anchor of one heading.
func Anchor(title string) string {
	return strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(title), ""), " ", "-")
}
