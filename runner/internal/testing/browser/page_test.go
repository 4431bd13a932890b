package browser

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"mara/providers"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/report"
	"mara/runner/internal/testing/eventtest"
	"mara/runner/internal/testing/uitest"
)

// pages returns the pages to test, by name.
func pages(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for name, script := range map[string]uitest.Script{
		"report-success": uitest.AWS(), "report-failure": uitest.AWSFailure(), "report-interrupted": uitest.AWSInterrupted(),
	} {
		script.Simulated = true
		all[name] = reportOf(t, uitest.Play(script))
	}
	for _, provider := range providers.All() {
		p, err := plan.New(provider)
		if err != nil {
			t.Fatal(err)
		}
		p.Estimates = p.Declared()
		if all["plan-"+provider.Name], err = plan.Render(p, plan.HTML, 0); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func reportOf(t *testing.T, events []event.Event) string {
	t.Helper()
	summary, details, err := report.Collect(eventtest.Stream(events))
	if err != nil {
		t.Fatal(err)
	}
	details.Outputs["aws-eks"] = []report.Output{{Name: "kubeconfig", Secret: true}, {Name: "cluster_name", Value: "main-4f2a"}}
	details.Before = map[string]time.Duration{"aws-eks": 20 * time.Minute, "aws-ecr": time.Second}
	var b bytes.Buffer
	if err := report.Write(&b, report.HTML, summary, details); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestPages looks at every page as different people do.
func TestPages(t *testing.T) {
	t.Parallel()
	browser := start(t)
	for name, page := range pages(t) {
		if size := len(page); size > 1<<20 {
			t.Errorf("%s has %d bytes", name, size)
		}
		for _, person := range []struct {
			scheme string
			width  int64
		}{{"light", 1280}, {"dark", 1280}, {"light", 390}} {
			v := open(browser, t, page, person.scheme, person.width)
			kind := person.scheme
			if person.width < 500 {
				kind = "phone"
			}
			v.picture(name + "-" + kind)
			check(t, name+" "+kind, v)
		}
	}
}

func check(t *testing.T, name string, v *view) {
	t.Helper()
	if over := ask[int](v, `document.scrollingElement.scrollWidth - innerWidth`); over > 0 {
		t.Errorf("%s: the page is %d pixels wider than the screen", name, over)
	}
	for _, problem := range ask[[]string](v, problems) {
		t.Errorf("%s: %s", name, problem)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.requests) != 1 || v.requests[0] != v.url {
		t.Errorf("%s: requests %v", name, v.requests)
	}
	if len(v.complaints) > 0 {
		t.Errorf("%s: the browser says %v", name, v.complaints)
	}
}

// problems finds, on a page: texts with too little contrast (WCAG AA), pictures
// without a text, links that lead nowhere or away, places that scroll and cannot
// be reached with the keyboard, cells without headings.
const problems = `(() => {
  document.querySelectorAll("details").forEach(d => d.open = true);
  const found = [];
  const channels = c => c.match(/[\d.]+/g).map(Number);
  const luminance = ([r, g, b]) => [r, g, b].map(x => (x /= 255) <= .03928 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4)
    .reduce((sum, x, i) => sum + x * [.2126, .7152, .0722][i], 0);
  const behind = (e, node) => {
    e.scrollIntoView({block: "center", inline: "center"});
    const range = document.createRange();
    range.selectNodeContents(node);
    const at = range.getClientRects()[0];
    for (const under of at ? document.elementsFromPoint(at.x + at.width / 2, at.y + at.height / 2) : []) {
      const c = channels(getComputedStyle(under).backgroundColor);
      if (c.length < 4 || c[3] > 0) return c;
    }
    return channels(getComputedStyle(document.body).backgroundColor);
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let n; n = walker.nextNode();) {
    const e = n.parentElement;
    if (!n.data.trim() || !e.getClientRects().length || ["STYLE", "TITLE", "style", "title"].includes(e.tagName)) continue;
    const svg = e.closest("svg"), style = getComputedStyle(e);
    const box = svg && e.parentElement.querySelector(e.classList.contains("inside") ? ".bar" : ".box");
    const back = box ? channels(getComputedStyle(box).fill) : behind(e, n);
    const [a, b] = [luminance(channels(svg ? style.fill : style.color)), luminance(back)];
    const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (ratio < 4.5) found.push("contrast " + ratio.toFixed(1) + " of " + n.data.trim().slice(0, 40));
  }
  document.querySelectorAll("svg").forEach(s => {
    if (!s.getAttribute("aria-label") && s.getAttribute("aria-hidden") != "true") found.push("a picture without a text");
  });
  document.querySelectorAll("img:not([alt]), svg a:not([aria-label])").forEach(e => found.push("no text: " + e.outerHTML.slice(0, 80)));
  document.querySelectorAll("a").forEach(a => {
    const href = a.getAttribute("href") || "";
    if (!href.startsWith("#") || !document.getElementById(decodeURIComponent(href.slice(1)))) found.push("a link to " + href);
  });
  document.querySelectorAll("*").forEach(e => {
    const scrolls = e.scrollWidth > e.clientWidth + 1 && ["auto", "scroll"].includes(getComputedStyle(e).overflowX);
    if (scrolls && e.tabIndex < 0) found.push("not to be scrolled by keyboard: " + e.className);
  });
  document.querySelectorAll("table").forEach(t => { if (!t.querySelector("th[scope]")) found.push("a table without headings"); });
  if (!document.documentElement.lang || !document.title) found.push("no language or no title");
  if (document.querySelectorAll("h1").length != 1) found.push("not one h1");
  return found;
})()`

// TestPointingAtAProject: a report has no script, and still dims what a project has nothing to do with while one points at it.
func TestPointingAtAProject(t *testing.T) {
	t.Parallel()
	v := open(start(t), t, reportOf(t, uitest.Play(uitest.AWS())), "light", 1440)
	const dimmed = `[...document.querySelectorAll(".graph .node")].filter(n => getComputedStyle(n).opacity < 0.5).length`
	if n := ask[int](v, dimmed); n != 0 {
		t.Errorf("%d projects are dimmed while nobody points at one", n)
	}
	ask[bool](v, `(document.querySelector('.graph a[href="#project-kic-image-build"]').focus({focusVisible: true}), true)`)
	if n, of := ask[int](v, dimmed), ask[int](v, `document.querySelectorAll(".graph .node").length`); n == 0 || n > of-2 {
		t.Errorf("%d of %d projects are dimmed", n, of)
	}
}

// TestTimesAreLocal: the script of `runner web` says on hover what a time is here.
func TestTimesAreLocal(t *testing.T) {
	t.Parallel()
	browser := start(t)
	script, err := os.ReadFile("../../feature/web/pages/assets/page.js")
	if err != nil {
		t.Fatal(err)
	}
	v := open(browser, t, `<!doctype html><title>x</title><p id="light"></p><p><time datetime="2026-11-20T12:00:00Z" title="2026-11-20 12:00:00 UTC"><b>3h ago</b></time></p><script>`+
		string(script)+`</script>`, "light", 900)
	call(v, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "Asia/Kolkata"})
	title := ask[string](v, `(document.querySelector("time b").dispatchEvent(new MouseEvent("mouseover", {bubbles: true})), document.querySelector("time").title)`)
	if !strings.Contains(title, "5:30:00") || !strings.HasSuffix(title, " here") {
		t.Errorf("12:00 UTC reads %q where it is 17:30", title)
	}
}

// TestReportByKeyboard goes through a report without a mouse.
func TestReportByKeyboard(t *testing.T) {
	t.Parallel()
	script := uitest.AWSFailure()
	v := open(start(t), t, reportOf(t, uitest.Play(script)), "light", 1280)
	reachable := ask[int](v, `[...document.querySelectorAll("a, summary, [tabindex='0']")].filter(e => e.checkVisibility({contentVisibilityAuto: true})).length`)
	seen := map[string]bool{}
	for range reachable {
		v.do(chromedp.KeyEvent(kb.Tab))
		place := ask[string](v, `[...document.querySelectorAll("*")].indexOf(document.activeElement) + " " + getComputedStyle(document.activeElement).outlineStyle + " " + document.activeElement.outerHTML.slice(0, 80)`)
		index, rest, _ := strings.Cut(place, " ")
		if outline, element, _ := strings.Cut(rest, " "); outline == "none" {
			t.Errorf("the focused element is not outlined: %s", element)
		}
		seen[index] = true
	}
	if len(seen) != reachable || reachable < 30 {
		t.Errorf("the keyboard reaches %d of %d places", len(seen), reachable)
	}
	v.do(chromedp.Focus(chromedp.CSS(`svg a[href="#project-logstore"]`)), chromedp.KeyEvent(kb.Enter))
	if hash := ask[string](v, `location.hash`); hash != "#project-logstore" {
		t.Errorf("Enter on a box leads to %q", hash)
	}
	if !ask[bool](v, `document.getElementById("project-logstore").closest("details").open`) {
		t.Error("a link to a project does not open it")
	}
	v.do(chromedp.Focus(chromedp.CSS(`details:has(#project-certmgr) summary`)), chromedp.KeyEvent(kb.Enter))
	if !ask[bool](v, `document.getElementById("project-certmgr").closest("details").open`) {
		t.Error("Enter does not open a project")
	}
}
