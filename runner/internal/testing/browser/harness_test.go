package browser

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// start starts a browser for a short test, or skips it.
func start(t *testing.T) context.Context {
	t.Helper()
	return startFor(t, 2*time.Minute)
}

// startFor starts a browser, or skips the test.
func startFor(t *testing.T, most time.Duration) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a browser")
	}
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("no Chromium is installed; apt-get install chromium, or your system's way, brings one")
	}
	profile := t.TempDir()
	ctx, cancel := context.WithTimeout(context.Background(), most)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.UserDataDir(profile), chromedp.NoSandbox,
		chromedp.Env("TMPDIR="+profile), chromedp.DisableGPU, chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true))
	allocator, stop := chromedp.NewExecAllocator(ctx, options...)
	page, leave := chromedp.NewContext(allocator)
	t.Cleanup(func() {
		if err := chromedp.Cancel(page); err != nil { // closed, not killed, it writes no more
			t.Error(err)
		}
		leave()
		stop()
		cancel()
	})
	if err := chromedp.Do(page); err != nil { // or each tab would start a browser
		t.Fatal(err)
	}
	return page
}

// view is a page in a tab, with what it asked for and complained about.
type view struct {
	t   *testing.T
	ctx context.Context
	url string

	mu         sync.Mutex
	requests   []string // guarded by mu
	complaints []string // guarded by mu
}

// open serves a page and visits it with a colour scheme, on a screen of a width.
func open(browser context.Context, t *testing.T, page, scheme string, width int64) *view {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if _, err := w.Write([]byte(page)); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	return visit(browser, t, server.URL+"/page.html", scheme, width)
}

// visit opens a page that is already served.
func visit(browser context.Context, t *testing.T, url, scheme string, width int64) *view {
	t.Helper()
	tab, leave := chromedp.NewContext(browser)
	t.Cleanup(leave)
	v := &view{t: t, ctx: tab, url: url}
	if err := chromedp.Listen(tab, v.listen); err != nil {
		t.Fatal(err)
	}
	call(v, network.Enable, network.EnableParams{})
	call(v, runtime.Enable, cdp.Empty{})
	call(v, log.Enable, cdp.Empty{})
	call(v, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
	v.do(chromedp.EmulateViewport(width, 900), chromedp.Navigate(v.url))
	return v
}

func (v *view) listen(e any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch e := e.(type) {
	case *network.EventRequestWillBeSent:
		if e.Request.URL[:min(5, len(e.Request.URL))] != "data:" {
			v.requests = append(v.requests, e.Request.URL)
		}
	case *runtime.EventConsoleAPICalled:
		v.complaints = append(v.complaints, "console."+string(e.Type))
	case *runtime.EventExceptionThrown:
		v.complaints = append(v.complaints, e.ExceptionDetails.Text)
	case *log.EventEntryAdded:
		v.complaints = append(v.complaints, fmt.Sprint(e.Entry.Text, " ", e.Entry.URL))
	}
}

func (v *view) do(actions ...chromedp.Action[chromedp.Void]) {
	v.t.Helper()
	if err := chromedp.Do(v.ctx, actions...); err != nil {
		v.t.Fatal(err)
	}
}

// call gives the browser a command.
func call[P, R any](v *view, command cdp.Command[P, R], parameters P) {
	v.t.Helper()
	if _, err := chromedp.Call(v.ctx, command, parameters); err != nil {
		v.t.Fatal(err)
	}
}

// ask evaluates an expression on the page.
func ask[T any](v *view, expression string) T {
	v.t.Helper()
	answer, err := chromedp.Run(v.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		v.t.Fatalf("%.60s: %v", expression, err)
	}
	return answer
}

// picture keeps a screenshot where BROWSER_PICTURES says, for people to look at.
func (v *view) picture(name string) {
	v.t.Helper()
	dir := os.Getenv("BROWSER_PICTURES")
	if dir == "" {
		return
	}
	image, err := chromedp.Run(v.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		v.t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/"+name+".png", image, 0o644); err != nil {
		v.t.Error(err)
	}
}
