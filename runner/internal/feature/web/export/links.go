package export

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"mara/runner/internal/feature/web/pages/compare"
)

// safe returns a name as a part of a path that every file system takes, and that needs no escapes in a link.
func safe(name string) string {
	var b strings.Builder
	for i, c := range []byte(name) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '.' && i > 0:
			b.WriteByte(c)
		case c == '_' && i > 0:
			b.WriteString("__")
		default:
			fmt.Fprintf(&b, "_%02x", c)
		}
	}
	return b.String()
}

// file returns the path of the file of an address, or "" if it has none.
func (e *exporter) file(address string) string {
	u, err := url.ParseRequestURI(address)
	if err != nil || u.IsAbs() || u.Host != "" {
		return ""
	}
	var parts []string
	for part := range strings.SplitSeq(strings.TrimPrefix(u.EscapedPath(), "/"), "/") {
		name, err := url.PathUnescape(part)
		if err != nil {
			return ""
		}
		parts = append(parts, name)
	}
	query := u.Query()
	isRun := len(parts) > 1 && (parts[0] == "r" || parts[0] == "rollout") && e.runs[parts[1]]
	switch {
	case parts[0] == "ask" && len(parts) == 1 && len(query) == 1 && e.queries[query.Get("q")]:
		return "ask/" + safe(query.Get("q")) + ".html"
	case parts[0] == "compare" && len(parts) == 1 && len(query) == 2 &&
		e.pairs[compare.Pair{A: query.Get("a"), B: query.Get("b")}]:
		return "compare/" + safe(query.Get("a")) + "/" + safe(query.Get("b")) + ".html"
	case parts[0] == "e" && len(parts) == 3 && parts[2] == "config" && u.RawQuery == "all=1":
		return "e/" + safe(parts[1]) + "/config-all.html"
	case isRun && len(parts) == 4 && parts[2] == "log" && len(query) == 1 && query.Get("from") != "":
		return fmt.Sprintf("%s/%s/log/%s-from-%s.html", parts[0], safe(parts[1]), safe(parts[3]), safe(query.Get("from")))
	case u.RawQuery != "":
		return ""
	}
	return e.plain(parts)
}

// plain returns the file of an address without a query.
func (e *exporter) plain(parts []string) string {
	isRun := (parts[0] == "r" || parts[0] == "rollout") && len(parts) > 1
	switch {
	case len(parts) == 1 && parts[0] == "":
		return "index.html"
	case len(parts) == 1 && slices.Contains([]string{"runs", "ask", "compare", "checks", "keys"}, parts[0]):
		return parts[0] + ".html"
	case parts[0] == "a" && len(parts) == 3:
		return "a/" + safe(parts[2])
	case parts[0] == "e" && len(parts) > 1, isRun && e.runs[parts[1]]:
		return joined(parts)
	}
	return ""
}

// joined returns the file of a page below an environment or a run.
func joined(parts []string) string {
	ending := ".html"
	if len(parts) == 4 && parts[2] == "text" {
		ending = ".txt"
	}
	for i, part := range parts {
		parts[i] = safe(part)
	}
	return strings.Join(parts, "/") + ending
}

// relink makes the links of a page relative, and notes the pages that they lead to. What has no file is no link.
func (e *exporter) relink(name string, body []byte) ([]byte, error) {
	up := strings.Repeat("../", strings.Count(name, "/"))
	var out bytes.Buffer
	for reader := html.NewTokenizer(bytes.NewReader(body)); ; {
		kind := reader.Next()
		if kind == html.ErrorToken {
			if err := reader.Err(); !errors.Is(err, io.EOF) {
				return nil, err
			}
			return out.Bytes(), nil
		}
		raw := bytes.Clone(reader.Raw())
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
			out.Write(raw)
			continue
		}
		token := reader.Token()
		if e.rewrite(&token, up) {
			out.WriteString(token.String())
		} else {
			out.Write(raw)
		}
	}
}

// rewrite rewrites the addresses in a tag, and reports whether there were any.
func (e *exporter) rewrite(tag *html.Token, up string) (changed bool) {
	var kept []html.Attribute
	for _, a := range tag.Attr {
		isLink := a.Key == "href" || a.Key == "src" || a.Key == "action"
		if !isLink || !strings.HasPrefix(a.Val, "/") {
			kept = append(kept, a)
			continue
		}
		changed = true
		address, fragment, _ := strings.Cut(a.Val, "#")
		file := e.file(address)
		if file == "" {
			continue
		}
		e.follow(address)
		if a.Val = up + file; fragment != "" {
			a.Val += "#" + fragment
		}
		kept = append(kept, a)
	}
	tag.Attr = kept
	return changed
}
