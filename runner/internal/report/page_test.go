package report_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"mara/runner/internal/event"
	"mara/runner/internal/event/eventtest"
	"mara/runner/internal/report"
	"mara/runner/internal/ui/uitest"
)

// detailed is the page of a failed run with all there can be on it.
func detailed(t *testing.T) string {
	t.Helper()
	script := uitest.AWSFailure()
	script.Simulated = true
	s, d, err := report.Collect(eventtest.Stream(uitest.Play(script)))
	if err != nil {
		t.Fatal(err)
	}
	d.Outputs["aws-eks"] = []report.Output{{Name: "kubeconfig", Value: "hunter2", Secret: true}, {Name: "cluster_name", Value: "main-4f2a"}}
	s.Steps[1].Attempt = 3
	s.Excluded = []event.Exclusion{{Name: "extra", Title: "Extra", Reason: "--skip <extra>"}}
	s.Apply(event.Event{Type: event.RunWarning, Project: "secrets", Message: "reads the stack of aws-ecr"})
	var b bytes.Buffer
	if err := report.WriteDetailed(&b, report.HTML, s, d); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPageShowsEverything(t *testing.T) {
	t.Parallel()
	page := detailed(t)
	for _, want := range []string{
		"SIMULATED: stand-ins", "timed out waiting for the condition", "reads the stack of aws-ecr",
		"Critical path", "<svg", "aws:eks/nodeGroup:NodeGroup", "main-4f2a", "[secret]", "skipped: logstore failed", "<dt>Attempts</dt><dd>3</dd>", "--skip &lt;extra&gt;",
		`aria-label="Logstore (logstore): failed, 2m23s"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if strings.Contains(page, "hunter2") {
		t.Error("a secret output is shown")
	}
}

func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	page := detailed(t)
	ids := map[string]int{}
	for _, m := range regexp.MustCompile(` id="([^"]+)"`).FindAllStringSubmatch(page, -1) {
		if ids[m[1]]++; ids[m[1]] > 1 {
			t.Errorf("id %s is given twice", m[1])
		}
	}
	links := regexp.MustCompile(` href="#([^"]+)"`).FindAllStringSubmatch(page, -1)
	if len(links) < 40 {
		t.Errorf("only %d links", len(links))
	}
	for _, m := range links {
		if ids[m[1]] == 0 {
			t.Errorf("the link to %s leads nowhere", m[1])
		}
	}
	for _, m := range regexp.MustCompile(`aria-labelledby="([^"]+)"`).FindAllStringSubmatch(page, -1) {
		if ids[m[1]] == 0 {
			t.Errorf("the label %s does not exist", m[1])
		}
	}
}

// browser returns a headless browser, or skips the test.
func browser(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no Chromium is installed")
	return ""
}

func TestPageInABrowser(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts a browser")
	}
	path := browser(t)
	page := detailed(t)
	var mu sync.Mutex
	var requests []string // guarded by mu
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		requests = append(requests, r.URL.Path)
		mu.Unlock()
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if _, err := w.Write([]byte(page)); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	dom, log := load(t, path, server.URL+"/report")
	mu.Lock()
	defer mu.Unlock()
	if len(requests) != 1 {
		t.Errorf("requests: %v, want the page alone", requests)
	}
	for line := range strings.Lines(log) {
		if strings.Contains(line, "CONSOLE") {
			t.Errorf("the console says: %s", line)
		}
	}
	if got, want := strings.Count(dom, "<details"), strings.Count(page, "<details"); got != want {
		t.Errorf("%d disclosures in the document, %d on the page", got, want)
	}
	if !strings.Contains(dom, "</svg>") || !strings.Contains(dom, "</footer>") {
		t.Errorf("the document is not complete:\n%s", dom)
	}
}

// load shows a page and returns its document and what the browser logged.
func load(t *testing.T, browser, url string) (dom, log string) {
	t.Helper()
	profile, err := os.MkdirTemp("", "report-browser-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(profile) }) // the browser may still be writing; what it leaves harms nobody
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--enable-logging=stderr",
		"--user-data-dir="+profile, "--dump-dom", url)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v:\n%s", err, stderr.String())
	}
	return stdout.String(), stderr.String()
}
