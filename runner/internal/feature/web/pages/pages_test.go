package pages

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"mara/runner/internal/feature/web/page"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/testing/webtest"
)

const (
	canary  = webtest.Canary
	hostile = webtest.Hostile
)

// newPages returns the pages of a root with a fleet.
func newPages(t *testing.T) *Pages {
	t.Helper()
	root, at := webtest.Root(t)
	p, err := New(Options{Site: webtest.Site(t, root, at)})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func get(t *testing.T, p *Pages, address string) (string, int) {
	t.Helper()
	w := httptest.NewRecorder()
	p.mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, address, nil))
	return w.Body.String(), w.Code
}

func TestPages(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	runs := p.o.Reader.Runs.Runs()
	us, eu := runs[0], runs[1]
	for address, test := range map[string]struct {
		code int
		want []string
	}{
		"/":                              {200, []string{"3 environments", "Compared with the last runs: ", "config/layers/nowhere.yaml", "unknown", "never rolled out", "protected", "region=eu"}},
		"/?state=unknown":                {200, []string{`href="/e/broken"`}},
		"/?l=region%3Deu":                {200, []string{`id="env-eu"`}},
		"/?l=regio%3Deu":                 {400, []string{"did you mean", "aria-invalid"}},
		"/?l=%3D%3D":                     {400, []string{"does not select labels"}},
		"/?q=zzz":                        {200, []string{"No environment is chosen"}},
		"/?by=region&sort=-name&page=77": {200, []string{"Without region", "aria-sort=\"descending\""}},
		"/e/eu":                          {200, []string{"Cert Manager", "eu", "runner preview -s eu", "Resources <b>2</b>"}},
		"/e/broken":                      {200, []string{"config/layers/nowhere.yaml", "runner check broken"}},
		"/e/eu/resources":                {200, []string{"kubernetes:core/v1:Secret", "protected", "ns/x"}},
		"/e/eu/resources?q=zzz":          {200, []string{"Nothing is deployed that has"}},
		"/e/eu/outputs":                  {200, []string{"[secret]", `<a href="https://shop.example/"`, "javascript:alert(1)"}},
		"/e/us/config":                   {200, []string{"logstore:storage_size", "20Gi", "config/environments/us.yaml:2"}},
		"/e/us/config?all=1":             {200, []string{"default"}},
		"/e/eu/history":                  {200, []string{eu.ID}},
		"/e/eu/p/certmgr":                {200, []string{"certmgr", "[secret]"}},
		"/e/eu/p/nothing":                {404, nil}, "/e/nothing": {404, nil}, "/e/eu/nothing": {404, nil}, "/nothing": {404, nil},
		"/runs":                        {200, []string{us.ID, eu.ID, "2 runs"}},
		"/runs?result=failed":          {200, []string{eu.ID, "1 run"}},
		"/runs?since=1h30m&by=box":     {200, []string{us.ID}},
		"/runs?since=yesterday":        {400, []string{"24h"}},
		"/r/" + eu.ID:                  {200, []string{"failed", "Timeline", "critical path", "Dependencies"}},
		"/r/nothing":                   {404, nil},
		"/r/..%2f..%2fetc%2fpasswd":    {404, nil},
		"/rollout/" + eu.ID:            {404, nil},
		"/ask":                         {200, []string{"Queries", "images", "what changed last", "<code>outputs</code>"}},
		"/ask?q=.items":                {200, []string{"&lt;b&gt;x&lt;/b&gt;", "1 result", "as CSV", "runner query .items"}},
		"/ask?q=lines":                 {200, []string{"2 results"}},
		"/ask?q=part":                  {200, []string{"seen", "the result is incomplete"}},
		"/ask?q=orphans":               {400, []string{"reads clusters", "runner query orphans"}},
		"/ask.csv?q=orphans":           {400, []string{"reads clusters"}},
		"/ask?q=wrong":                 {400, []string{"line 1, column 3"}},
		"/compare":                     {200, []string{"Compare", `href="/compare?a=eu&amp;b=us"`}},
		"/compare?a=eu&b=us":           {200, []string{"logstore:storage_size", "10Gi", "20Gi"}},
		"/compare?a=eu&b=nothing":      {400, []string{"no environment"}},
		"/checks":                      {200, []string{"Never compared", "runner fleet drift", "Apply the rules", "Estimate the costs"}},
		"/checks?rules=1":              {200, []string{"deny", "Estimate the costs"}},
		"/checks?costs=1":              {200, []string{"At least 12.50 USD a month", "not known", "nowhere.yaml is missing", "no price for a:b:C", "Apply the rules"}},
		"/e/us/checks":                 {200, []string{"deny", "12.50 USD a month", "&lt;b&gt;n&lt;/b&gt;", "1 node"}},
		"/keys":                        {200, []string{"Keyboard"}},
		"/badge/fleet.svg":             {200, []string{"0 of 3 up to date", "as of 2026-11-20"}},
		"/badge/e/eu.svg":              {200, []string{"eu: never rolled out"}},
		"/badge/e/nothing.svg":         {404, nil},
		"/badge/e/eu":                  {404, nil},
		"/metrics":                     {200, []string{`mara_environment_state{environment="eu",state="never rolled out"} 1`, `mara_collect_errors{environment="broken"} 1`}},
		"/a/x/style.css":               {404, nil},
		p.assets.address("style.css"):  {200, []string{"--succeeded", ".top {"}},
		p.assets.address("page.js"):    {200, []string{"EventSource"}},
		"/r/" + us.ID + "/log/nothing": {404, nil},
	} {
		body, code := get(t, p, address)
		if code != test.code {
			t.Errorf("%s: %d, want %d", address, code, test.code)
		}
		for _, want := range test.want {
			if !strings.Contains(body, want) {
				t.Errorf("%s does not say %q:\n%.3000s", address, want, body)
			}
		}
	}
}

// TestCompareOutputs: an output that one of two environments does not have is not there; one that reads so is.
func TestCompareOutputs(t *testing.T) {
	t.Parallel()
	root, at := webtest.Root(t)
	for stack, outputs := range map[string]string{"eu": `{"only":"x","odd":"<nil>","list":["a"]}`, "us": `{"odd":"b"}`} {
		cmdtest.WriteFile(t, filepath.Join(filepath.Dir(webtest.StateFile(root)), stack+".json"), `{"version":3,"checkpoint":{"stack":"organization/certmgr/`+stack+
			`","latest":{"manifest":{},"resources":[{"urn":"urn:pulumi:`+stack+`::certmgr::pulumi:pulumi:Stack::certmgr-`+stack+`","type":"pulumi:pulumi:Stack","outputs":`+outputs+`}]}}}`)
	}
	p, err := New(Options{Site: webtest.Site(t, root, at)})
	if err != nil {
		t.Fatal(err)
	}
	body, code := get(t, p, "/compare?a=eu&b=us")
	if code != 200 || strings.Contains(body, "null") || strings.Count(body, "not there") != 2 || !strings.Contains(body, "<code>&lt;nil&gt;</code>") {
		t.Errorf("%d\n%s", code, body[max(0, strings.Index(body, "Outputs")):])
	}
}

// TestTimesSayWhen: a page is in UTC, and what says how long ago something was says when, for the script to show the local time.
func TestTimesSayWhen(t *testing.T) {
	t.Parallel()
	ago := regexp.MustCompile(`.{0,100}\d+[smhd] ago`)
	moment := regexp.MustCompile(`<time datetime="\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ" title="\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC">[^<]*$`)
	n := 0
	for at, body := range crawl(t, newPages(t)) {
		for _, found := range ago.FindAllString(body, -1) {
			if n++; !moment.MatchString(found) {
				t.Errorf("%s does not say when: %s", at, found)
			}
		}
	}
	if n < 20 {
		t.Errorf("only %d times were found", n)
	}
}

// address matches links of a page.
var address = regexp.MustCompile(`(?:href|src|action)="(/[^"]*)"`)

// crawl returns all pages that can be reached from the first, by address.
func crawl(t *testing.T, p *Pages) map[string]string {
	t.Helper()
	all := map[string]string{}
	for next := []string{"/", "/metrics", "/badge/fleet.svg", "/ask?q=.items", "/checks?rules=1", "/compare?a=eu&b=us"}; len(next) > 0; next = next[1:] {
		at, _, _ := strings.Cut(next[0], "#")
		if _, known := all[at]; known || len(all) > 400 {
			continue
		}
		body, code := get(t, p, at)
		if code != http.StatusOK {
			t.Errorf("%s is linked, and answers %d", at, code)
		}
		all[at] = body
		for _, m := range address.FindAllStringSubmatch(body, -1) {
			next = append(next, strings.ReplaceAll(m[1], "&amp;", "&"))
		}
	}
	return all
}

// TestNothingLeaksAndNothingIsMarkup follows all links. No answer has a secret, and what comes from elsewhere is text,
// whatever it looks like. Pages have what the policy allows, and nothing else.
func TestNothingLeaksAndNothingIsMarkup(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	all := crawl(t, p)
	if len(all) < 60 {
		t.Errorf("only %d pages were found", len(all))
	}
	forbidden := regexp.MustCompile(`(?i)<script>|<img|\son\w+=|\sstyle=|<style|javascript:[^a]|href="javascript|<iframe|<object|method="post"`)
	for at, body := range all {
		for _, secret := range []string{canary, base64.StdEncoding.EncodeToString([]byte(canary))} {
			if strings.Contains(body, secret) {
				t.Errorf("%s has the secret", at)
			}
		}
		if strings.HasPrefix(at, "/a/") || strings.HasPrefix(at, "/badge/") {
			continue
		}
		if !strings.Contains(at, "/text/") {
			if found := forbidden.FindString(body); found != "" && !strings.Contains(body, "&lt;img") {
				t.Errorf("%s has %q", at, found)
			}
			if strings.ContainsAny(body, "\u202e\u200b\x1b") {
				t.Errorf("%s has characters that are not seen", at)
			}
		}
		if strings.Contains(body, "<script>alert") && !strings.Contains(at, "/text/") {
			t.Errorf("%s has markup from elsewhere", at)
		}
		if strings.Contains(body, "<img src=x") && !strings.Contains(at, "/text/") {
			t.Errorf("%s has a picture from elsewhere", at)
		}
	}
}

// TestLogInParts reads a long log in parts, searches it, and finds what is wrong in it.
func TestLogInParts(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	run := p.o.Reader.Runs.Runs()[0]
	names, err := p.o.Reader.Runs.Run(run.ID).Logs()
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	var text strings.Builder
	for i := 1; i <= 4500; i++ {
		fmt.Fprintf(&text, "12:00:00 line %d of it%s\n", i, map[bool]string{true: " failed: Quota", false: ""}[i == 3000])
	}
	text.WriteString(strings.Repeat("x", 1<<20) + "\n\x1b[31mred\u202e\n")
	cmdtest.WriteFile(t, p.o.Reader.Runs.Run(run.ID).LogFile(names[0]), text.String())
	base := "/r/" + run.ID + "/log/" + url.PathEscape(names[0])
	for query, want := range map[string][]string{
		"":            {`id="L1"`, `id="L2000"`, "lines 1–2000 of 4502", "from=2001"},
		"?from=2001":  {`id="L2001"`, `id="L4000"`, "from=1", "from=4001"},
		"?from=4001":  {`id="L4502"`, `\u001b[31mred\u202e`, "from=2001"},
		"?from=-3":    {`id="L1"`},
		"?q=quota":    {`id="L3000"`, "<mark>Quota</mark>", "1 line of 4502", `href="` + base + `?from=3000#L3000"`},
		"?errors=1":   {`id="L3000"`},
		"?q=zzzz":     {"0 lines of 4502"},
		"?from=99999": {"empty"},
	} {
		body, code := get(t, p, base+query)
		if code != 200 || len(body) > 600<<10 {
			t.Errorf("%s: %d, %d bytes", query, code, len(body))
		}
		for _, w := range want {
			if !strings.Contains(body, w) {
				t.Errorf("%s does not have %s", query, w)
			}
		}
	}
	plain, code := get(t, p, "/r/"+run.ID+"/text/"+url.PathEscape(names[0])+"?from=9")
	if code != 200 || !strings.HasPrefix(plain, "line 1 of it\n") || len(plain) > 8<<20 {
		t.Errorf("the text: %d, %.40s", code, plain)
	}
}

func TestCSVIsNoProgram(t *testing.T) {
	t.Parallel()
	body, code := get(t, newPages(t), "/ask.csv?q=x")
	if want := "name,formula\nx,'=HYPERLINK(1)\ny,'-1\n"; code != 200 || body != want {
		t.Errorf("%d %q", code, body)
	}
}

// TestCommandsAreQuoted: a name that is copied into a terminal is one word.
func TestCommandsAreQuoted(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	if got := p.o.Command("up", "-s", "x; rm -rf ~", "$(id)"); got != `runner up -s 'x; rm -rf ~' '$(id)'` {
		t.Error(got)
	}
	for value, want := range map[any]string{"https://x.example/a": "https://x.example/a", "http://x": "http://x", "javascript:alert(1)": "", "data:text/html,x": "", "//x": "",
		"https://u:p@x.example/": "", "https://\u202ex/": "", 7: "", "file:///etc/passwd": ""} {
		if got := page.Link(value); got != want {
			t.Errorf("link of %v: %q", value, got)
		}
	}
}

// TestStoredFilesAreNotServed: a file in the directory of a run is no page: whoever can write there could otherwise
// run script with this page's rights.
func TestStoredFilesAreNotServed(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	run := p.o.Reader.Runs.Runs()[0].ID
	dir := filepath.Dir(filepath.Dir(p.o.Reader.Runs.Run(run).LogFile("x")))
	for _, name := range []string{"report.html", "logs/report.html"} {
		cmdtest.WriteFile(t, filepath.Join(dir, name), "stored by another process")
	}
	for _, address := range []string{"report.html", "logs/report.html", "log/report.html", "log/report", "text/report", "log/..%2freport.html", "text/..%2freport.html", "log/report.html.log"} {
		if body, code := get(t, p, "/r/"+run+"/"+address); code != http.StatusNotFound || strings.Contains(body, "stored by") {
			t.Errorf("%s: %d\n%.300s", address, code, body)
		}
	}
	for at, body := range crawl(t, p) {
		if strings.Contains(body, "stored by") {
			t.Errorf("%s shows a stored file", at)
		}
	}
}

// TestLibrary: the library in the repository is the one that its authors published.
func TestLibrary(t *testing.T) {
	t.Parallel()
	sum := sha256.Sum256(loadAssets()["idiomorph.min.js"].content)
	const published = "4cbd535caf7663a51eda9bce6595371c384fc430d54b8d414e29a61167f19f96" // npm: idiomorph 0.8.0, dist/idiomorph.min.js
	if got := hex.EncodeToString(sum[:]); got != published {
		t.Errorf("idiomorph is %s", got)
	}
	if licence, err := files.ReadFile("assets/idiomorph.LICENSE"); err != nil || !strings.Contains(string(licence), "Zero-Clause BSD") {
		t.Errorf("its licence: %.60s, %v", licence, err)
	}
}

// TestStreamedPage: a stream gets the part between head and foot, of pages and of nothing else.
func TestStreamedPage(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	shown, err := p.render(t.Context(), "/?q=eu")
	if err != nil || shown.Title != "3 environments" || !strings.Contains(shown.Main, "<h1>3 environments</h1>") || strings.Contains(shown.Main, "<html") {
		t.Errorf("%+v, %v", shown, err)
	}
	for _, address := range []string{"", "x", "http://evil.example/", "//evil.example/", "/live?page=/", "/%zz"} {
		if shown, err := p.render(t.Context(), address); err == nil {
			t.Errorf("%q: %+v", address, shown)
		}
	}
}

// TestAnyAddress: every address has an answer, and none is a failure of the page.
func TestAnyAddress(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	run := p.o.Reader.Runs.Runs()[0].ID
	random := rand.New(rand.NewPCG(1, 2))
	words := []string{"e", "r", "eu", "broken", run, "log", "text", "p", "certmgr", "config", "..", ".", "%00", "%2e%2e", "\u202e", "%ff", "a", "rollout", "runs",
		"ask", "compare", "checks", "badge", "fleet.svg", hostile, strings.Repeat("x", 5000), ""}
	names := []string{"q", "l", "state", "sort", "by", "page", "from", "errors", "since", "a", "b", "e", "op", "all", "o"}
	pick := func(all []string) string { return all[random.IntN(len(all))] }
	for range 1500 {
		u := url.URL{Path: "/"}
		for range random.IntN(5) {
			u.Path += pick(words) + "/"
		}
		u.Path = strings.TrimSuffix(u.Path, "/")
		query := url.Values{}
		for range random.IntN(3) {
			query.Set(pick(names), pick(append(words, "-1", "=,!=", "99999999999999999999", "wrong", "-name", "24h")))
		}
		u.RawQuery = query.Encode()
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.URL = &u
		w := httptest.NewRecorder()
		p.mux.ServeHTTP(w, r)
		if w.Code >= http.StatusInternalServerError {
			t.Errorf("%s: %d\n%.500s", u.String(), w.Code, w.Body)
		}
	}
}
