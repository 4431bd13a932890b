package export

import (
	"bytes"
	"encoding/base64"
	"net/url"
	"path"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"mara/runner/internal/feature/web/child"
	"mara/runner/internal/feature/web/page"
	"mara/runner/internal/testing/webtest"
)

// made returns the export of a root.
func made(t *testing.T, root string, at time.Time, withPeople bool) *Written {
	t.Helper()
	reader := webtest.NewReader(t, root, at)
	if !withPeople {
		reader.HidePeople()
	}
	webtest.Read(t, reader)
	w, err := Make(t.Context(), Options{Site: page.Site{Reader: reader, Version: "1.2.3", Child: child.New(webtest.Answer)}, Since: at.Add(-24 * time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// attributes returns the values of all attributes of a name in a page, and the tags of the page.
func attributes(t *testing.T, body []byte, names ...string) (values []string, tags map[string]int) {
	t.Helper()
	tags = map[string]int{}
	for reader := html.NewTokenizer(bytes.NewReader(body)); ; {
		switch reader.Next() {
		case html.ErrorToken:
			return values, tags
		case html.StartTagToken, html.SelfClosingTagToken:
			token := reader.Token()
			tags[token.Data]++
			for _, a := range token.Attr {
				for _, name := range names {
					if a.Key == name {
						values = append(values, a.Val)
					}
				}
			}
		}
	}
}

// TestEveryLinkHasAFile: the files work from a disk and below any path: each link leads to a file that is there, and
// nothing needs a server.
func TestEveryLinkHasAFile(t *testing.T) {
	t.Parallel()
	root, at := webtest.Root(t)
	w := made(t, root, at, false)
	if len(w.Failed) != 0 {
		t.Errorf("pages with errors: %q", w.Failed)
	}
	ids := func(file string) []string { found, _ := attributes(t, w.Files[file], "id"); return found }
	links := 0
	for file, body := range w.Files {
		if !strings.HasSuffix(file, ".html") {
			continue
		}
		found, tags := attributes(t, body, "href", "src", "action")
		for _, link := range found {
			u, err := url.Parse(link)
			if err != nil || u.Scheme == "https" || u.Scheme == "data" {
				continue // of an output, or the icon
			}
			links++
			target := path.Join(path.Dir(file), u.Path)
			if u.Path == "" {
				target = file
			}
			if strings.HasPrefix(link, "/") || w.Files[target] == nil {
				t.Errorf("%s links to %s, which is no file", file, link)
			}
			if u.Fragment != "" && !strings.Contains(strings.Join(ids(target), "\n"), u.Fragment) {
				t.Errorf("%s links to %s, and that page has no such part", file, link)
			}
		}
		if tags["noscript"] > 0 || bytes.Contains(body, []byte("data-live")) || bytes.Contains(body, []byte("idiomorph")) {
			t.Errorf("%s has a live part", file)
		}
		if !bytes.Contains(body, []byte(`http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;;`)) || !bytes.Contains(body, []byte("as of 2026-11-20 13:02:00 UTC")) {
			t.Errorf("%s has no policy, or does not say how old it is", file)
		}
	}
	if links < 300 {
		t.Errorf("only %d links", links)
	}
	for _, file := range []string{"index.html", "index.json", "metrics.prom", "badge/fleet.svg", "badge/e/eu.svg", "e/eu.html", "e/broken.html", "e/eu/resources.html", "e/eu/config-all.html",
		"e/eu/p/certmgr.html", "runs.html", "checks.html", "ask.html", "ask/images.html", "compare.html", "compare/eu/us.html", "a/style.css", "a/page.js"} {
		if len(w.Files[file]) == 0 {
			t.Errorf("there is no %s", file)
		}
	}
	for file, want := range map[string]string{"checks.html": "12.50 USD a month", "e/broken.html": "config/layers/nowhere.yaml", "index.html": "3 environments", "index.json": `"page": "e/eu.html"`,
		"compare.html": `href="compare/eu/us.html"`, "compare/eu/us.html": "logstore:storage_size"} {
		if !bytes.Contains(w.Files[file], []byte(want)) {
			t.Errorf("%s does not say %q", file, want)
		}
	}
}

// TestNothingLeaks: no file has a secret, the path of the root, or, unless it is asked for, who ran what.
func TestNothingLeaks(t *testing.T) {
	t.Parallel()
	root, at := webtest.Root(t)
	person := regexp.MustCompile(`@box\b`)
	for _, withPeople := range []bool{false, true} {
		people := 0
		for file, body := range made(t, root, at, withPeople).Files {
			for _, secret := range []string{webtest.Canary, base64.StdEncoding.EncodeToString([]byte(webtest.Canary)), root} {
				if bytes.Contains(body, []byte(secret)) {
					t.Errorf("%s has %s", file, secret)
				}
			}
			if person.Match(body) {
				people++
			}
			if strings.HasSuffix(file, ".html") && (bytes.Contains(body, []byte("<script>")) || bytes.Contains(body, []byte("<img"))) {
				t.Errorf("%s has markup from elsewhere", file)
			}
		}
		if (people > 0) != withPeople {
			t.Errorf("with people %v: %d files name one", withPeople, people)
		}
	}
}

// TestSameBytes: the same root at the same time is the same files, and old runs have none.
func TestSameBytes(t *testing.T) {
	t.Parallel()
	root, at := webtest.Root(t)
	first, second := made(t, root, at, false), made(t, root, at, false)
	for file, body := range first.Files {
		if !bytes.Equal(body, second.Files[file]) {
			t.Errorf("%s differs", file)
		}
	}
	if len(first.Files) != len(second.Files) {
		t.Errorf("%d and %d files", len(first.Files), len(second.Files))
	}
	reader := webtest.NewReader(t, root, at)
	webtest.Read(t, reader)
	old, err := Make(t.Context(), Options{Site: page.Site{Reader: reader, Child: child.New(webtest.Answer)}, Since: at.Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	for file := range old.Files {
		if strings.HasPrefix(file, "r/") {
			t.Errorf("an old run has the file %s", file)
		}
	}
}

// TestSafeNames: a name becomes one part of a path, and two names never the same one.
func TestSafeNames(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, name := range []string{"eu", "a/b", "a_2fb", "..", ".", "", "_", "a_b", "a__b", "ü", "\xff", "a b", `a\b`, "a:b", ".hidden", "a.b", "A"} {
		got := safe(name)
		if strings.ContainsAny(got, `/\: %?#`) || got == "." || got == ".." || strings.HasPrefix(got, ".") {
			t.Errorf("%q becomes %q", name, got)
		}
		if other, ok := seen[got]; ok {
			t.Errorf("%q and %q become %q", name, other, got)
		}
		seen[got] = name
	}
}
