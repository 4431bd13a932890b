package browser

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// site serves the documentation that MARA_SITE names, below a path: nothing in it may
// take it for the root. `make docs-test` makes it.
func site(t *testing.T) (home string) {
	t.Helper()
	dir := os.Getenv("MARA_SITE")
	if dir == "" {
		t.Skip("MARA_SITE names no directory with the documentation; make docs-test makes one, which takes Hugo, and sets it")
	}
	server := httptest.NewServer(http.StripPrefix("/some/where", http.FileServer(http.Dir(dir))))
	t.Cleanup(server.Close)
	return server.URL + "/some/where/"
}

// sitePage is what a page of the site has.
type sitePage struct {
	Links []string `json:"links"`
	IDs   []string `json:"ids"`
	Shown bool     `json:"shown"` // all pictures
	Over  int      `json:"over"`  // pixels beyond the screen

	Title       string `json:"title"`
	Description string `json:"description"`
	Preview     string `json:"preview"` // the title that previews of links show
	File        string `json:"file"`    // in the repository
	Next        string `json:"next"`
}

const siteQuestion = `(async () => {
  const pictures = [...document.images];
  pictures.forEach(p => p.loading = "eager");
  await Promise.allSettled(pictures.map(p => p.decode()));
  return {
    links: [...document.links].map(a => a.href),
    ids: [...document.querySelectorAll("[id]")].map(e => e.id),
    shown: pictures.every(p => p.naturalWidth > 0),
    over: document.scrollingElement.scrollWidth - innerWidth,
    title: document.title,
    description: document.querySelector("meta[name=description]")?.content ?? "",
    preview: document.querySelector("meta[property='og:title']")?.content ?? "",
    file: document.querySelector(".origin code")?.innerText ?? "",
    next: document.querySelector("a[rel=next]")?.href ?? "",
  };
})()`

// TestSite follows every link from the first page, on a phone.
func TestSite(t *testing.T) {
	t.Parallel()
	home := site(t)
	all := crawl(start(t), t, home)
	if len(all) < 110 {
		t.Errorf("only %d pages were found", len(all))
	}
	checkHeads(t, all)
	checkSequence(t, all, home)
	for address, page := range all {
		if page.Over > 0 {
			t.Errorf("%s is %d pixels wider than a phone", address, page.Over)
		}
		if !page.Shown {
			t.Errorf("%s has a picture that does not show", address)
		}
		for _, problem := range brokenAnchors(all, page) {
			t.Errorf("%s: %s", address, problem)
		}
	}
}

// crawl looks at every page of the site.
func crawl(browser context.Context, t *testing.T, home string) map[string]sitePage {
	t.Helper()
	all := map[string]sitePage{}
	v := visit(browser, t, home, "light", 390)
	for next := []string{home}; len(next) > 0; next = next[1:] {
		address := next[0]
		if _, known := all[address]; known {
			continue
		}
		if !strings.HasSuffix(address, "/") { // a file, which a browser shows as it is
			all[address] = sitePage{Shown: true}
			checkServed(t, address)
			continue
		}
		v.do(chromedp.Navigate(address))
		page, err := chromedp.Run(v.ctx, chromedp.Evaluate[sitePage](siteQuestion, chromedp.EvalAwaitPromise))
		if err != nil {
			t.Fatalf("%s: %v", address, err)
		}
		all[address] = page
		for _, link := range page.Links {
			if to, _, _ := strings.Cut(link, "#"); strings.HasPrefix(to, home) {
				next = append(next, to)
			}
		}
		v.mu.Lock()
		for _, complaint := range v.complaints { // such as a link that leads nowhere
			t.Errorf("%s: the browser says %s", address, complaint)
		}
		for _, request := range v.requests {
			if !strings.HasPrefix(request, home) {
				t.Errorf("%s asks for %s", address, request)
			}
		}
		v.complaints, v.requests = nil, nil
		v.mu.Unlock()
	}
	return all
}

// checkHeads checks what search engines and previews of links show of the pages, and that each names its file.
func checkHeads(t *testing.T, all map[string]sitePage) {
	t.Helper()
	titles := map[string]string{}
	for address, page := range all {
		if !strings.HasSuffix(address, "/") {
			continue
		}
		if n := len([]rune(page.Description)); n < 10 || n > 161 || page.Preview == "" || strings.ContainsAny(page.Description, "<>`") {
			t.Errorf("%s: the description %q, the preview %q", address, page.Description, page.Preview)
		}
		if other, taken := titles[page.Title]; taken {
			t.Errorf("%s and %s have the title %q", address, other, page.Title)
		}
		titles[page.Title] = address
		if _, err := os.Stat("../../../../" + page.File); page.File == "" || err != nil {
			if !strings.HasSuffix(address, "/examples/") && !strings.HasSuffix(address, "/tutorials/") {
				t.Errorf("%s is made from %q: %v", address, page.File, err)
			}
		}
	}
}

// checkSequence goes from page to page by the link to the next one.
func checkSequence(t *testing.T, all map[string]sitePage, home string) {
	t.Helper()
	seen := map[string]bool{}
	for at := home; at != "" && !seen[at]; at = all[at].Next {
		seen[at] = true
	}
	for _, page := range []string{"start/", "interruption/", "commands/", "commands/up/", "commands/fleet-status/", "code-of-conduct/"} {
		if !seen[home+page] {
			t.Errorf("no sequence leads to %s", page)
		}
	}
}

func checkServed(t *testing.T, address string) {
	t.Helper()
	answer, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Errorf("%s: %s", address, answer.Status)
	}
}

// brokenAnchors lists the links of a page to missing headings.
func brokenAnchors(all map[string]sitePage, page sitePage) []string {
	var problems []string
	for _, link := range page.Links {
		to, anchor, has := strings.Cut(link, "#")
		target, known := all[to]
		if name, err := url.PathUnescape(anchor); known && has && (err != nil || !slices.Contains(target.IDs, name)) {
			problems = append(problems, "there is no "+link)
		}
	}
	return problems
}

func TestBrokenAnchors(t *testing.T) {
	t.Parallel()
	all := map[string]sitePage{"http://x/a/": {IDs: []string{"one"}}}
	page := sitePage{Links: []string{"http://x/a/", "http://x/a/#one", "http://x/a/#two", "http://elsewhere/#three"}}
	if got := brokenAnchors(all, page); !slices.Equal(got, []string{"there is no http://x/a/#two"}) {
		t.Errorf("%q", got)
	}
}

// TestSiteForPeople looks at some pages as different people do. MARA_AXE is as for the pages of runner web.
func TestSiteForPeople(t *testing.T) {
	t.Parallel()
	home := site(t)
	browser := startFor(t, 8*time.Minute)
	for _, page := range []string{"", "mara-yaml/", "tutorials/own/", "examples/own/", "commands/", "404.html"} {
		for _, width := range []int64{1440, 390} {
			for _, scheme := range []string{"light", "dark"} {
				v := visit(browser, t, home+page, scheme, width)
				name := fmt.Sprintf("site-%s%d-%s", strings.ReplaceAll(strings.TrimSuffix(page, ".html"), "/", "-"), width, scheme)
				v.picture(name)
				v.judge(name)
				dark := ask[int](v, `Number(getComputedStyle(document.body).backgroundColor.match(/\d+/)[0])`) < 64
				if dark != (scheme == "dark") {
					t.Errorf("%s: with the preference %s, the background is dark: %t", v.url, scheme, dark)
				}
			}
		}
	}
}

// TestSiteIsLight adds up what a page loads at first, without pictures, in at most 100 kB, and all of it from the site.
func TestSiteIsLight(t *testing.T) {
	t.Parallel()
	home := site(t)
	browser := start(t)
	for _, page := range []string{"", "start/", "configuration/", "commands/up/", "404.html"} {
		v := visit(browser, t, home+page, "light", 1440)
		bytes := ask[int](v, `[...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
			.filter(e => e.initiatorType != "img").reduce((sum, e) => sum + e.encodedBodySize, 0)`)
		if bytes < 500 || bytes > 100_000 {
			t.Errorf("%s loads %d bytes", v.url, bytes)
		}
		t.Logf("%s loads %d bytes", v.url, bytes)
		v.mu.Lock()
		for _, request := range v.requests {
			if !strings.HasPrefix(request, home) {
				t.Errorf("%s asks for %s", v.url, request)
			}
		}
		v.mu.Unlock()
	}
}

// TestSiteCopies copies the commands of a console without prompts and output, and the whole of other blocks.
func TestSiteCopies(t *testing.T) {
	t.Parallel()
	v := visit(start(t), t, site(t)+"previews/", "light", 1440)
	ask[bool](v, `(navigator.clipboard.writeText = async (text) => { window.copied = text; }, true)`)
	copies := ask[[][2]string](v, `[...document.querySelectorAll("main .code")].map(box => {
		box.querySelector("button").click();
		return [box.querySelector("pre").textContent, window.copied];
	})`)
	consoles := 0
	for _, block := range copies {
		shown, copied := block[0], block[1]
		if !strings.HasPrefix(shown, "$ ") {
			if copied != strings.TrimRight(shown, "\n ") {
				t.Errorf("copied %q of %q", copied, shown)
			}
			continue
		}
		consoles++
		if strings.HasPrefix(copied, "$") || copied == "" || len(copied) >= len(shown) || !strings.Contains(shown, "$ "+strings.Split(copied, "\n")[0]+"\n") {
			t.Errorf("copied %q of %q", copied, shown)
		}
	}
	if len(copies) < 1 || consoles < 1 {
		t.Errorf("%d blocks, %d of them consoles", len(copies), consoles)
	}
}

// TestSiteSearch looks for something, from a page that is not the first.
func TestSiteSearch(t *testing.T) {
	t.Parallel()
	v := visit(start(t), t, site(t)+"tutorials/own/", "light", 390)
	look := func(words string) []string {
		v.do(chromedp.Focus(chromedp.CSS("#search input")))
		ask[bool](v, `(document.querySelector("#search input").value = "", document.getElementById("found").hidden = true)`)
		v.do(chromedp.KeyEvent(words), chromedp.WaitVisible(chromedp.CSS("#found li")))
		return ask[[]string](v, `[...document.querySelectorAll("#found li")].map(e => e.innerText)`)
	}
	if found := look("zzzz"); len(found) != 1 || !strings.Contains(found[0], "Nothing") {
		t.Errorf("zzzz: %q", found)
	}
	for words, want := range map[string]string{
		"runner unlock": "runner unlock", "ctrl-c third": "Interrupting and resuming", "kind:http_port": "kind", "soak gates": "Waves", "exit codes": "exit codes",
	} {
		found := look(words)
		if !slices.ContainsFunc(found, func(text string) bool { return strings.Contains(strings.ToLower(text), strings.ToLower(want)) }) {
			t.Errorf("%s: %q, without %s", words, found, want)
		}
	}
	// What people ask for, in their words: the right page is among the first three results.
	for words, want := range map[string][]string{
		"import existing stacks": {"mara-yaml/", "examples/existing/"}, "rollback": {"interruption/"}, "parallelism": {"concepts/", "fleets/"},
		"drift detection": {"output/", "commands/drift/"}, "monorepo": {"mara-yaml/", "configuration/"}, "resume after failure": {"interruption/"},
		"resume": {"interruption/"}, "upgrade": {"upgrades/"}, "newer release": {"install/"}, "environment variables": {"configuration/", "commands/env/"}, "typescript": {"mara-yaml/", "previews/"},
		"targets": {"recipes/"}, "dependencies": {"concepts/", "mara-yaml/"}, "parallel": {"recipes/"}, "s3 backend": {"recipes/"}, "proxy": {"recipes/"},
		"encrypting secrets": {"configuration/"}, "cancelled run": {"interruption/"}, "previewing costs": {"policies/", "commands/preview/"},
	} {
		look(words)
		found := ask[[]string](v, `[...document.querySelectorAll("#found a")].map(a => a.pathname).slice(0, 3)`)
		if !slices.ContainsFunc(found, func(path string) bool {
			return slices.ContainsFunc(want, func(page string) bool { return strings.Contains(path, page) })
		}) {
			t.Errorf("%s: %q, without any of %q", words, found, want)
		}
	}
	v.picture("site-search")
	// Guides come before the reference.
	look("resume")
	if first := ask[string](v, `document.querySelector("#found a").pathname`); strings.Contains(first, "/commands/") {
		t.Errorf("the first result for resume is %s", first)
	}
	focused := func() int {
		return ask[int](v, `[...document.querySelectorAll("#search input, #found a")].indexOf(document.activeElement)`)
	}
	for _, step := range []struct {
		key  string
		want int
	}{{kb.ArrowDown, 1}, {kb.ArrowDown, 2}, {kb.ArrowUp, 1}, {kb.ArrowUp, 0}, {kb.ArrowUp, 0}, {kb.ArrowDown, 1}} {
		v.do(chromedp.KeyEvent(step.key))
		if at := focused(); at != step.want {
			t.Errorf("after an arrow key, result %d has the focus, not %d", at, step.want)
		}
	}
	look("soak gates")
	v.do(chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(chromedp.CSS("#waves")))
	if at := ask[string](v, `location.pathname + location.hash`); at != "/some/where/fleets/#waves" {
		t.Errorf("Enter leads to %s", at)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.complaints) > 0 {
		t.Errorf("the browser says %v", v.complaints)
	}
}
