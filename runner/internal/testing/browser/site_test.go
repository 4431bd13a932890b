package browser

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

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
  };
})()`

// TestSite follows every link from the first page, on a phone.
func TestSite(t *testing.T) {
	t.Parallel()
	home := site(t)
	all := crawl(start(t), t, home)
	if len(all) < 35 {
		t.Errorf("only %d pages were found", len(all))
	}
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

// TestSiteForPeople looks at some pages as different people do.
func TestSiteForPeople(t *testing.T) {
	t.Parallel()
	home := site(t)
	browser := start(t)
	for _, page := range []string{"", "start/", "mara-yaml/", "tutorials/own/", "examples/own/"} {
		for _, scheme := range []string{"light", "dark"} {
			v := visit(browser, t, home+page, scheme, 1280)
			v.picture("site-" + strings.ReplaceAll(page, "/", "-") + scheme)
			for _, problem := range ask[[]string](v, problems) {
				if !strings.HasPrefix(problem, "a link to ") { // TestSite follows them
					t.Errorf("%s, %s: %s", v.url, scheme, problem)
				}
			}
			dark := ask[int](v, `Number(getComputedStyle(document.body).backgroundColor.match(/\d+/)[0])`) < 64
			if dark != (scheme == "dark") {
				t.Errorf("%s: with the preference %s, the background is dark: %t", v.url, scheme, dark)
			}
		}
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
		"runner unlock": "runner unlock", "ctrl-c third": "Interrupting and resuming", "kind:http_port": "kind", "soak gates": "Waves", "exit codes": "Exit codes",
	} {
		found := look(words)
		if !slices.ContainsFunc(found, func(text string) bool { return strings.Contains(text, want) }) {
			t.Errorf("%s: %q, without %s", words, found, want)
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
