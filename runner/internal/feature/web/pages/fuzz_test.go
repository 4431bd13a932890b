package pages

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mara/runner/internal/core/journal"
	"mara/runner/internal/testing/webtest"
)

// hostileTexts returns seeds for whatever comes from elsewhere.
func hostileTexts() []string {
	return []string{"", "{", "null", "[]", "\xff\xfe\x00", webtest.Hostile, strings.Repeat("[", 10_000), `{"version":3,"checkpoint":{"latest":{"resources":null}}}`,
		`{"version":3,"checkpoint":{"latest":{"resources":[null,{"urn":5},{"urn":"x","type":"<b>","id":{"a":1},"created":"yesterday"}]}}}`,
		`{"version":3,"checkpoint":{"latest":{"resources":[{"urn":"<script>alert(1)</script>","type":"pulumi:pulumi:Stack","outputs":{"<img src=x>":[{"<img src=x>":1e999}]}}]}}}`,
		`{"type":"run.started","stack":"eu","provider":"kind","operation":"<img src=x>","projects":[{"name":"<img src=x>","needs":["<img src=x>"]}]}` + "\n" + `{"type":"step.started","project":"<img src=x>"}` + "\n{\"type\":",
		`{"type":"run.started","time":"9999-12-31T23:59:59Z","stack":"eu","provider":"kind","operation":"up","projects":[{"name":"a","reads":["a"]},{"name":"a"}]}` + "\n" +
			`{"type":"run.finished","time":"0001-01-01T00:00:00Z","result":"x"}` + "\n",
		`{"type":"run.started","stack":"` + strings.Repeat("x", 2<<20) + `"}` + "\n",
	}
}

// unescaped returns markup that no page makes itself, or "".
func unescaped(body string) string {
	for _, markup := range []string{"<script>", "<img", "onerror=alert(1)>", "\x1b", "\u202e"} {
		if strings.Contains(body, markup) {
			return markup
		}
	}
	return ""
}

// FuzzPages: whatever states, events and logs have, each page has an answer that is no failure of the page, nothing in
// it is markup from elsewhere, and the other environments are shown as before.
func FuzzPages(f *testing.F) {
	for _, text := range hostileTexts() {
		f.Add(text, text, text)
	}
	f.Fuzz(func(t *testing.T, state, events, log string) {
		root, at := webtest.Root(t)
		if err := os.WriteFile(webtest.StateFile(root), []byte(state), 0o600); err != nil {
			t.Fatal(err)
		}
		id := journal.NewID(at.Add(time.Minute))
		run := filepath.Join(root, ".runner", "runs", id)
		for name, content := range map[string]string{"events.ndjson": events, "meta.json": state, "summary.json": log, "logs/a.log": log, "logs/<img src=x>.log": log} {
			path := filepath.Join(run, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		p, err := New(Options{Site: webtest.Site(t, root, at)})
		if err != nil {
			t.Fatal(err)
		}
		for _, address := range []string{"/", "/e/eu", "/e/eu/resources", "/e/eu/outputs", "/e/eu/history", "/e/eu/p/certmgr", "/e/us", "/runs", "/r/" + id, "/r/" + id + "/log/a", "/r/" + id + "/log/a?q=x",
			"/r/" + id + "/log/%3Cimg%20src=x%3E", "/compare?a=eu&b=us", "/checks", "/metrics", "/badge/e/eu.svg"} {
			body, code := get(t, p, address)
			isUnknown := code == 404 && strings.HasPrefix(address, "/r/") // a run that cannot be read is no run
			if code != 200 && !isUnknown && code != 400 {
				t.Errorf("%s: %d\n%.300s", address, code, body)
			}
			if found := unescaped(body); found != "" {
				t.Errorf("%s has %q", address, found)
			}
			if address == "/e/us" && !strings.Contains(body, "protected") || address == "/" && !strings.Contains(body, `href="/e/us"`) {
				t.Errorf("%s shows another environment no longer", address)
			}
		}
	})
}
