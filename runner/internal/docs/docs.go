// Package docs reads the project's documentation for tests: its pages, their blocks of
// code with the marks that say how to run them, their headings and their links.
// It understands the Markdown that is written here, not all there is.
package docs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/slice"
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
	// Line is that of the fence, from 1.
	Line int
	// Language is what the fence says.
	Language string
	// Mark is the comment right before the block, without its brackets.
	Mark  string
	Lines []string
}

// At names the place of a block.
func (b Block) At() string { return fmt.Sprintf("%s:%d", b.Page, b.Line) }

// Commands says whether a reader is meant to type what is in the block.
func (b Block) Commands() bool { return b.Language == "sh" || b.Language == "console" }

// Typed are the lines that a reader types: of a block that shows output as well,
// those after the prompt.
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

// Generated says that tests make a page from the program, which hold its examples
// against the program as well.
func (p Page) Generated() bool { return p.Path == "docs/commands.md" || p.Path == "docs/schemas.md" }

// Pages reads all pages of the repository whose folder is named.
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

// Parse makes a page of a text.
func Parse(path, text string) Page {
	return Page{Path: path, lines: strings.Split(text, "\n")}
}

var comment = regexp.MustCompile(`^<!-- (.*) -->$`)

// Blocks are the blocks of code, in order.
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

// Prose are the lines outside of blocks of code.
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

// Spans are the pieces of code in a line of text.
func (l Line) Spans() []string {
	return slice.Map(span.FindAllString(l.Text, -1), func(found string) string { return strings.Trim(found, "`") })
}

var (
	link    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	inLinks = regexp.MustCompile(`!?\[([^\[\]]*)\]\([^()]*\)`)
)

// Links are the targets of the links and pictures in a line of text.
func (l Line) Links() []string {
	return slice.Map(link.FindAllStringSubmatch(span.ReplaceAllString(l.Text, ""), -1),
		func(found []string) string { return found[1] })
}

// Anchors are the names that links can give to the headings of a page, as GitHub
// makes them.
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

// Anchor is the name of one heading.
func Anchor(title string) string {
	return strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(title), ""), " ", "-")
}
