//go:build unix

package browser

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// fleetRoot is a root with a fleet, and how to run the runner there.
type fleetRoot struct {
	t    *testing.T
	root string
	env  []string
}

// all is how many environments the fleet has, and late how many of them are rolled out while its pages are walked.
const all, late = 80, 16

// newFleetRoot describes a fleet in three waves. Its environments consist of one project.
func newFleetRoot(t *testing.T) *fleetRoot {
	t.Helper()
	f := newRoot(t)
	n := 0
	for _, wave := range []struct {
		name  string
		count int
	}{{"test", 4}, {"canary", 10}, {"prod", all - 14}} {
		f.layer(wave.name, 1)
		for i := range wave.count {
			region := []string{"eu", "us", "ap"}[i%3]
			turn := "soon"
			if wave.name == "prod" && i >= wave.count-late {
				turn = "late"
			}
			f.write(fmt.Sprintf("config/environments/%s-%02d.yaml", wave.name, i), fmt.Sprintf("imports: [base, %s]\nvalues: {runner: {labels: {region: %s, turn: %s}}}\n", wave.name, region, turn))
			n++
		}
	}
	f.write("config/rollout.yaml", "waves:\n  - {name: test, match: {stage: test}}\n  - {name: canary, match: {stage: canary}}\n  - {name: prod, match: {stage: prod}, parallel: 4}\n")
	if n != all {
		t.Fatalf("%d environments", n)
	}
	return f
}

// newRoot describes the layer of all environments, which consist of one project.
func newRoot(t *testing.T) *fleetRoot {
	t.Helper()
	home := t.TempDir()
	f := &fleetRoot{t: t, root: t.TempDir(), env: []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir(), "PULUMI_CONFIG_PASSPHRASE=x"}}
	f.write("config/layers/base.yaml", `values:
  runner:
    provider: kind
    projects: {skip: [kind-registry, kubeconfig, secrets, kic-image-build, kic-image-push, ingress-controller-namespace, ingress-controller,
      logstore, logagent, certmgr, prometheus, observability, bank-of-anthos]}
`)
	return f
}

// layer writes the layer of a wave.
func (f *fleetRoot) layer(wave string, workers int) {
	f.write("config/layers/"+wave+".yaml", fmt.Sprintf("values: {runner: {labels: {stage: %s}}, pulumiConfig: {\"kind:workers\": %d}}\n", wave, workers))
}

func (f *fleetRoot) write(name, content string) {
	f.t.Helper()
	path := filepath.Join(f.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

// command returns a call of the built runner.
func (f *fleetRoot) command(args ...string) *exec.Cmd {
	f.t.Helper()
	path, err := filepath.Abs("../../../../bin/runner")
	if err != nil {
		f.t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		f.t.Fatalf("bin/runner is not built: run `make build` first (%v)", err)
	}
	cmd := exec.CommandContext(f.t.Context(), path, append(args, "--simulate")...)
	cmd.Dir, cmd.Env = f.root, f.env
	return cmd
}

// run runs an operation to its end.
func (f *fleetRoot) run(want int, args ...string) {
	f.t.Helper()
	cmd := f.command(append(args, "--yes", "--simulate-speed", "100000")...)
	output, _ := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != want {
		f.t.Fatalf("%s: exit code %d, want %d\n%s", strings.Join(args, " "), code, want, output)
	}
}

// start starts an operation that takes a while, in its own group of processes.
func (f *fleetRoot) start(args ...string) (kill func()) {
	f.t.Helper()
	cmd := f.command(append(args, "--yes")...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	return func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // it may have ended
		_ = cmd.Wait()
	}
}

// trouble breaks some environments: a file, a failure, a run that was cut off, drift, and a lock of a dead process.
func (f *fleetRoot) trouble() {
	f.t.Helper()
	f.run(0, "destroy", "-s", "prod-01")
	f.run(1, "up", "-s", "prod-01", "--simulate-fail", "kind:index:Cluster=quota of addresses is used up")
	for _, record := range glob(f.t, f.root, ".runner/simulated/clouds/canary-01/*/*/*.json") {
		if err := os.Remove(record); err != nil {
			f.t.Fatal(err)
		}
	}
	f.run(0, "drift", "-s", "canary-01")
	f.run(0, "destroy", "-s", "prod-02")
	kill := f.start("up", "-s", "prod-02", "--simulate-slow", "kind:index:Cluster=300s")
	f.await("events of the run", func() bool {
		for _, events := range glob(f.t, f.root, ".runner/simulated/runs/*/events.ndjson") {
			if text, _ := os.ReadFile(events); bytes.Contains(text, []byte(`"stack":"prod-02"`)) && bytes.Contains(text, []byte("step.progress")) &&
				bytes.Contains(text, []byte(`"operation":"up"`)) && !bytes.Contains(text, []byte("run.finished")) {
				return true
			}
		}
		return false
	})
	kill()
	kill = f.start("drift", "-s", "prod-03")
	f.await("a lock", func() bool { return len(glob(f.t, f.root, ".runner/simulated/locks/kind-prod-03.lock")) > 0 })
	kill()
	f.write("config/environments/prod-04.yaml", "imports: [nowhere]\n")
}

func glob(t *testing.T, root, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(root, pattern))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func (f *fleetRoot) await(what string, is func() bool) {
	f.t.Helper()
	for deadline := time.Now().Add(60 * time.Second); !is(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			f.t.Fatalf("%s: not within a minute", what)
		}
	}
}

// web starts the pages and returns their first address.
func (f *fleetRoot) web() (first string) {
	f.t.Helper()
	first, _ = f.serve()
	return first
}

// serve starts the pages; further arguments are those of `runner web`.
func (f *fleetRoot) serve(args ...string) (first string, kill func()) {
	f.t.Helper()
	cmd := f.command(append([]string{"web", "--no-open", "-o", "json"}, args...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		f.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait() // its exit code says that it was interrupted
	})
	var hello struct{ Address string }
	if err := json.NewDecoder(out).Decode(&hello); err != nil {
		f.t.Fatal(err)
	}
	return hello.Address, func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}

// says waits until the text of the page has all of some texts.
func (v *view) says(texts ...string) {
	v.t.Helper()
	deadline := time.Now().Add(40 * time.Second)
	has := func(text string) bool { // an error is that of a page which is being left
		shown, err := chromedp.Run(v.ctx, chromedp.Evaluate[string](`document.body ? document.body.innerText : ""`))
		return err == nil && strings.Contains(strings.ToLower(shown), strings.ToLower(text))
	}
	for _, text := range texts {
		for !has(text) {
			if time.Now().After(deadline) {
				v.picture("missing")
				v.t.Fatalf("%s never says %q, but\n%.1500s", ask[string](v, `location.href`), text, ask[string](v, `document.body.innerText`))
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
}

// judge checks a page as the report is checked, and with axe-core where MARA_AXE names its file.
func (v *view) judge(name string) {
	v.t.Helper()
	if over := ask[int](v, `document.scrollingElement.scrollWidth - innerWidth`); over > 0 {
		v.t.Errorf("%s: the page is %d pixels wider than the screen", name, over)
	}
	for _, problem := range ask[[]string](v, problems) {
		if !strings.HasPrefix(problem, "a link to ") { // the walk follows them
			v.t.Errorf("%s: %s", name, problem)
		}
	}
	if axe := os.Getenv("MARA_AXE"); axe != "" {
		library, err := os.ReadFile(axe)
		if err != nil {
			v.t.Fatal(err)
		}
		ask[bool](v, string(library)+"; true")
		// One rule reads the two lines of a box in a picture as one word.
		const question = `axe.run(document, {preload: false, resultTypes: ["violations"], rules: {"label-content-name-mismatch": {enabled: false}}}).then(r => r.violations.map(x => x.id + " (" + x.impact + "): " + x.nodes.slice(0, 3).map(n => n.html.slice(0, 120)).join(" | ")))`
		found, err := chromedp.Run(v.ctx, chromedp.Evaluate[[]string](question, chromedp.EvalAwaitPromise))
		if err != nil {
			v.t.Fatal(err)
		}
		for _, problem := range found {
			v.t.Errorf("%s: axe: %s", name, problem)
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, complaint := range v.complaints {
		v.t.Errorf("%s: the browser says %s", name, complaint)
	}
	v.complaints = nil
}

// TestWebWalk goes through all pages of a fleet of eighty environments, some of which are in trouble: broken, failed,
// cut off, drifted, or locked by a dead process. Meanwhile a rollout goes on in another process; then it is killed, and
// resumed.
func TestWebWalk(t *testing.T) {
	onlyWhereAsked(t)
	t.Parallel()
	browser := startFor(t, 20*time.Minute)
	f := newFleetRoot(t)
	f.run(0, "fleet", "up", "--all")
	f.run(0, "fleet", "destroy", "-l", "turn=late")
	kill := f.start("fleet", "up", "-l", "turn=late", "--simulate-slow", "kind:index:Cluster=4m")
	defer kill()
	address, _ := f.log("prod-")
	f.trouble() // one of the files is broken, which no rollout may begin with
	first := f.web()
	base, _, _ := strings.Cut(first, "?")
	v := visit(browser, t, first, "light", 1440)
	v.says(fmt.Sprint(all, " environments"), "quota of addresses is used up", "config/layers/nowhere.yaml", "live, ")
	if address := ask[string](v, `location.href`); address != base {
		t.Errorf("the first page is %s", address)
	}
	for _, word := range []string{"failed", "unfinished", "unknown", "drifted", "locked"} {
		v.says(word)
	}
	v.says("up of the fleet", "running")
	rollout := ask[string](v, `document.querySelector(".panel a[href^='/rollout/']").getAttribute("href").slice(1)`)
	walk(browser, t, base, map[string]string{rollout: "of 16 ended", filepath.Dir(filepath.Dir(address)): "Timeline", address: "kind-cluster"})
	tabs(browser, t, base)
	v.do(chromedp.Navigate(base + rollout))
	v.says("of 16 ended", "Now") // it went on all the while
	kill()
	v.says("cut off", "runner fleet up --resume --simulate")
	f.write("config/environments/prod-04.yaml", "imports: [base, prod]\nvalues: {runner: {labels: {region: eu, turn: soon}}}\n")
	f.run(0, "fleet", "up", "--resume", "--lock-timeout", "1m") // the engine of the killed run ends by itself
	v.do(chromedp.Navigate(base + "?l=turn%3Dlate"))
	v.says("up of the fleet succeeded")
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(100 * time.Millisecond) { // the page follows
		n := ask[int](v, `[...document.querySelectorAll('tr[id^="env-"] .state')].filter(s => s.innerText.includes("up to date")).length`)
		if n == late {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d environments are up to date after the rollout has resumed", n, late)
		}
	}
}

// TestWebFollowsARollout watches a rollout of another process that is killed, and resumed.
func TestWebFollowsARollout(t *testing.T) {
	onlyWhereAsked(t)
	t.Parallel()
	browser := startFor(t, 10*time.Minute)
	f := newFleetRoot(t)
	f.run(0, "fleet", "up", "--all")
	f.write("config/environments/prod-04.yaml", "imports: [nowhere]\n")
	first := f.web()
	base, _, _ := strings.Cut(first, "?")
	v := visit(browser, t, first, "light", 1440)
	v.says("config/layers/nowhere.yaml", "live, ")
	follow(t, f, v, base)
}

// walk looks at every page as different people do, and at some more with a text that each has.
func walk(browser context.Context, t *testing.T, base string, more map[string]string) {
	t.Helper()
	pages := map[string]string{
		"": "environments", "?by=region&l=stage%3Dprod&state=failed": "region", "?l=stag%3Dprod": "did you mean", "e/prod-01": "quota of addresses is used up",
		"e/canary-01": "drifted", "e/prod-04": "nowhere", "e/test-00/resources": "kind:index:Cluster", "e/test-00/config?all=1": "kind:workers", "e/test-00/outputs": "output",
		"e/test-00/history": "up", "e/test-00/p/kind-cluster": "Outputs", "runs": "runs", "runs?e=prod-01&result=failed": "failed", "ask?q=.items%5B%5D%20%7C%20%7Bname%2C%20type%7D": "as CSV",
		"ask?q=.items%5B": "line 1, column 8", "compare?a=test-00&b=prod-05": "Values", "checks": "Never compared", "keys": "Keyboard", "nowhere": "Not found",
		"e/prod-02": "whose process is gone", "e/prod-03": "whose process is gone", "?state=locked": "prod-03", "runs?since=24h": "runs",
	}
	maps.Copy(pages, more)
	for page, says := range pages {
		for _, person := range []struct {
			scheme string
			width  int64
		}{{"light", 1440}, {"dark", 1440}, {"light", 390}} {
			v := visit(browser, t, base+page, person.scheme, person.width)
			v.says(says)
			name := fmt.Sprintf("%s %s %d", page, person.scheme, person.width)
			v.picture("web-" + strings.NewReplacer("/", "-", "?", "-", "&", "-", "%", "-").Replace(fmt.Sprintf("%.20s-%s-%d", page, person.scheme, person.width)))
			if strings.HasPrefix(page, "?l=stag") || strings.Contains(page, "5B") && !strings.Contains(page, "5D") || page == "nowhere" {
				v.mu.Lock()
				v.complaints = nil // the answer has the code of an error
				v.mu.Unlock()
			}
			v.judge(name)
			if err := chromedp.Cancel(v.ctx); err != nil {
				t.Error(err)
			}
		}
	}
}

// tabs opens more tabs than a browser has connections for: each is up to date.
func tabs(browser context.Context, t *testing.T, base string) {
	t.Helper()
	var open []*view
	for range 8 {
		open = append(open, visit(browser, t, base+"e/test-00", "light", 1440))
	}
	for _, v := range open {
		v.says("live, ")
		if err := chromedp.Cancel(v.ctx); err != nil {
			t.Error(err)
		}
	}
}

// follow watches a rollout of another process that is killed, and resumed.
func follow(t *testing.T, f *fleetRoot, v *view, base string) {
	t.Helper()
	mark := func() { ask[bool](v, `(window.notReloaded = true)`) }
	v.do(chromedp.Navigate(base + "?by=wave"))
	v.says("Wave canary")
	mark()
	f.write("config/environments/prod-04.yaml", "imports: [base, prod]\nvalues: {runner: {labels: {region: eu}}}\n")
	f.run(0, "fleet", "destroy", "-l", "stage in (test,canary)")
	v.says("4 destroyed", "10 destroyed")
	kill := f.start("fleet", "up", "-l", "stage in (test,canary)", "--simulate-slow", "kind:index:Cluster=2s")
	v.says("up of the fleet", "running", "waiting")
	v.picture("web-rollout")
	ask[bool](v, `(document.querySelector(".panel a[href^='/rollout/']").click(), true)`)
	v.says("of 14 ended", "Timeline")
	mark()
	v.says("of 14 ended", "Now")
	v.judge("a current rollout")
	rollout := ask[string](v, `location.pathname`)
	kill()
	v.says("cut off", "runner fleet up --resume --simulate")
	if !ask[bool](v, `window.notReloaded`) {
		t.Error("the page was loaded again, and not updated")
	}
	v.picture("web-cut-off")
	f.run(0, "fleet", "up", "--resume", "--lock-timeout", "1m") // the engine of the killed run ends by itself
	v.do(chromedp.Navigate(base))
	v.says("succeeded")
	if now := ask[string](v, `document.querySelector(".panel a[href^='/rollout/']").getAttribute("href")`); now == rollout {
		t.Error("the rollout that resumed is not the newest")
	}
	keyboard(t, f, v, base)
}

// keyboard uses the keys, while the page changes.
func keyboard(t *testing.T, f *fleetRoot, v *view, base string) {
	t.Helper()
	v.do(chromedp.Navigate(base))
	v.says("live, ")
	v.do(chromedp.KeyEvent("/"))
	if at := ask[string](v, `document.activeElement.id`); at != "q" {
		t.Errorf("/ goes to %q", at)
	}
	ask[bool](v, `(document.activeElement.value = "", true)`) // a key of a test is typed although the page has taken it
	v.do(chromedp.KeyEvent("prod-0"))
	if shown := ask[int](v, `[...document.querySelectorAll("[data-rows] tr")].filter(r => !r.hidden).length`); shown != 10 {
		t.Errorf("typing leaves %d rows", shown)
	}
	v.do(chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Tab))
	f.write("config/environments/prod-04.yaml", "imports: [base, prod]\nvalues: {runner: {labels: {region: north}}}\n")
	v.says("region=north") // the page has changed, and what was typed stays
	v.do(chromedp.KeyEvent("j"))
	if at := ask[string](v, `document.activeElement.getAttribute("href") || ""`); !strings.HasPrefix(at, "/e/prod-0") {
		t.Errorf("j goes to %q", at)
	}
	v.do(chromedp.KeyEvent(kb.Enter))
	v.says("Plan", "live, ") // the script runs
	v.do(chromedp.KeyEvent("g"), chromedp.KeyEvent("r"))
	v.says("Since yesterday")
}

// onlyWhereAsked skips a test that takes minutes, in which a browser and a rollout share the processors.
func onlyWhereAsked(t *testing.T) {
	t.Helper()
	if os.Getenv("MARA_WEB") == "" {
		t.Skip("`make web-test` runs it")
	}
}

// slowRun starts an up of an environment that takes a while and writes into the log of its project meanwhile.
func (f *fleetRoot) slowRun(stack string) (kill func()) {
	f.t.Helper()
	f.run(0, "destroy", "-s", stack)
	return f.start("up", "-s", stack, "--simulate-slow", "kind:index:Cluster=25s")
}

// log waits for the log of the newest run of an environment, and returns its address and its file.
func (f *fleetRoot) log(stack string) (address, file string) {
	f.t.Helper()
	f.await("a log of "+stack, func() bool {
		for _, found := range glob(f.t, f.root, ".runner/simulated/runs/*/logs/kind-cluster.log") {
			run := filepath.Dir(filepath.Dir(found))
			text, _ := os.ReadFile(filepath.Join(run, "events.ndjson"))
			if bytes.Contains(text, []byte(`"stack":"`+stack)) && bytes.Contains(text, []byte(`"operation":"up"`)) && !bytes.Contains(text, []byte("run.finished")) {
				address, file = "r/"+filepath.Base(run)+"/log/kind-cluster", found
			}
		}
		return file != ""
	})
	return address, file
}

// appendTo appends to a file, as another process does.
func appendTo(t *testing.T, file, text string) {
	t.Helper()
	out, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := out.WriteString(text); err != nil {
		t.Error(err)
	}
	if err := out.Close(); err != nil {
		t.Error(err)
	}
}

// forget drops complaints of a page whose server was not there.
func (v *view) forget() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.complaints = nil
}

// TestWebFollowsALog follows a log that grows: lines are appended and nothing is loaded again, a connection that was
// lost begins where it ended, and the page says how the run ended.
func TestWebFollowsALog(t *testing.T) {
	onlyWhereAsked(t)
	t.Parallel()
	browser := startFor(t, 5*time.Minute)
	f := newSmallRoot(t)
	first := f.web()
	base, _, _ := strings.Cut(first, "?")
	v := visit(browser, t, first, "light", 1440)
	v.says("environment", "live")
	kill := f.slowRun("dev")
	defer kill()
	address, file := f.log("dev")
	appendTo(t, file, "12:00:00 hand-made one\n12:00:00 <b>hand-made</b> two\n")
	v.do(chromedp.Navigate(base + "runs"))
	v.says(strings.Split(address, "/")[1]) // the run is noticed
	v.do(chromedp.Navigate(base + address))
	v.says("hand-made one", "<b>hand-made</b> two", "live")
	ask[bool](v, `(window.notReloaded = true)`)
	appendTo(t, file, "\x1b[31merror: red\n")
	v.says(`\u001b[31merror: red`)
	v.hide(true)
	appendTo(t, file, "12:00:01 while it slept\n")
	time.Sleep(time.Second)
	if strings.Contains(ask[string](v, `document.body.innerText`), "while it slept") {
		t.Error("a page that is hidden is kept up to date")
	}
	v.hide(false)
	v.says("while it slept")
	if n := ask[int](v, `[...document.querySelectorAll(".lines li")].filter(li => li.innerText.includes("hand-made one")).length`); n != 1 {
		t.Errorf("a line is there %d times", n)
	}
	if !ask[bool](v, `(() => { const n = [...document.querySelectorAll(".lines li a")].map(a => Number(a.textContent)); return n.every((x, i) => i === 0 || x === n[i-1] + 1); })()`) {
		t.Error("the numbers of the lines are not in order")
	}
	v.says("succeeded", "ended")
	if !ask[bool](v, `window.notReloaded`) {
		t.Error("the page was loaded again")
	}
	v.judge("a log that has grown")
}

// hide hides a page and shows it again, as a browser does with a tab and a computer that sleeps with all of them.
func (v *view) hide(is bool) {
	v.t.Helper()
	ask[bool](v, fmt.Sprintf(`(Object.defineProperty(document, "hidden", {configurable: true, value: %v}), document.dispatchEvent(new Event("visibilitychange")), true)`, is))
}

// newSmallRoot describes two environments that are deployed.
func newSmallRoot(t *testing.T) *fleetRoot {
	t.Helper()
	f := newRoot(t)
	for _, name := range []string{"dev", "other"} {
		f.write("config/environments/"+name+".yaml", "imports: [base]\nvalues: {pulumiConfig: {\"kind:workers\": 1}}\n")
	}
	f.run(0, "fleet", "up", "--all")
	return f
}

// TestWebServerRestarts: a page that is open while its server ends says so, and is up to date again when another one
// with the same token serves at its address. One with another token does not know it.
func TestWebServerRestarts(t *testing.T) {
	onlyWhereAsked(t)
	t.Parallel()
	browser := startFor(t, 5*time.Minute)
	f := newSmallRoot(t)
	token := filepath.Join(t.TempDir(), "token")
	const secret = "0123456789abcdef0123456789abcdef"
	if err := os.WriteFile(token, []byte(secret), 0o600); err != nil {
		t.Fatal(err)
	}
	port := freePort(t)
	listen := fmt.Sprintf("127.0.0.1:%d", port)
	_, kill := f.serve("--listen", listen, "--token-file", token)
	v := visit(browser, t, "http://"+listen+"/?token="+secret, "light", 1440)
	v.says("2 environments", "live, ")
	ask[bool](v, `(window.notReloaded = true)`)
	kill()
	v.says("not live: the connection is gone", "2 environments")
	f.write("config/environments/third.yaml", "imports: [base]\n")
	_, kill = f.serve("--listen", listen, "--token-file", token)
	v.says("3 environments", "live, ") // the other server has the same token, and so knows the browser
	kill()
	v.says("not live: the connection is gone")
	if err := os.WriteFile(token, []byte(strings.ToUpper(secret)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, kill = f.serve("--listen", listen, "--token-file", token)
	time.Sleep(5 * time.Second) // it tries again meanwhile
	v.says("not live")
	v.do(chromedp.Navigate("http://" + listen + "/?token=" + strings.ToUpper(secret)))
	v.says("3 environments", "live, ")
	v.forget()
	v.judge("after another server has begun")
	kill()
}

// TestWebMoves: a light that says that the page is live moves, and nothing does for people who do not want that.
func TestWebMoves(t *testing.T) {
	onlyWhereAsked(t)
	t.Parallel()
	browser := startFor(t, 5*time.Minute)
	f := newSmallRoot(t)
	v := visit(browser, t, f.web(), "light", 1440)
	v.says("2 environments", "live, ")
	const moving = `document.getAnimations().length + [...document.querySelectorAll("*")].filter(e => getComputedStyle(e).transitionDuration.split(", ").some(d => d !== "0s")).length`
	if n := ask[int](v, moving); n == 0 {
		t.Error("nothing moves: what is looked for is not there")
	}
	call(v, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: "reduce"}}})
	if n := ask[int](v, moving); n != 0 {
		t.Errorf("%d things move", n)
	}
}

// TestWebWithoutScript: everything is there without script: links sort and filter, and a page of something that runs
// loads itself again.
func TestWebWithoutScript(t *testing.T) {
	onlyWhereAsked(t)
	t.Parallel()
	browser := startFor(t, 5*time.Minute)
	f := newSmallRoot(t)
	first := f.web()
	base, _, _ := strings.Cut(first, "?")
	v := visit(browser, t, "about:blank", "light", 1440)
	call(v, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	v.do(chromedp.Navigate(first))
	v.says("2 environments", "up to date")
	v.do(chromedp.Navigate(base + "?q=dev"))
	v.says("dev")
	v.do(chromedp.Navigate(base + "?sort=-name"))
	v.says("dev", "other")
	if refresh := ask[int](v, `document.querySelectorAll("noscript").length`); refresh != 1 {
		t.Errorf("%d noscript", refresh)
	}
	f.write("config/environments/third.yaml", "imports: [base]\n")
	v.do(chromedp.Navigate(base))
	v.says("3 environments") // by loading itself again
	kill := f.slowRun("dev")
	defer kill()
	address, file := f.log("dev")
	v.do(chromedp.Navigate(base + "runs"))
	v.says(strings.Split(address, "/")[1]) // the run is noticed
	v.do(chromedp.Navigate(base + address))
	appendTo(t, file, "12:00:00 written later\n")
	v.says("written later")
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.complaints) > 0 {
		t.Errorf("the browser says %q", v.complaints)
	}
}

// freePort returns a port that nothing listens on.
func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

// TestWebExport looks at the pages as files from a disk: their style sheet and their script are allowed, typing
// filters rows, and links lead on.
func TestWebExport(t *testing.T) {
	onlyWhereAsked(t)
	t.Parallel()
	browser := startFor(t, 5*time.Minute)
	f := newSmallRoot(t)
	dir := filepath.Join(t.TempDir(), "public")
	if output, err := f.command("web", "--export", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	v := visit(browser, t, "file://"+dir+"/index.html", "light", 1440)
	v.says("2 environments", "as of ")
	v.do(chromedp.KeyEvent("/"))
	ask[bool](v, `(document.activeElement.value = "", true)`)
	v.do(chromedp.KeyEvent("dev"))
	if shown := ask[int](v, `[...document.querySelectorAll("[data-rows] tr")].filter(r => !r.hidden).length`); shown != 1 {
		t.Errorf("typing leaves %d rows", shown)
	}
	v.judge("the fleet as a file")
	ask[bool](v, `(document.querySelector("[data-rows] tr:not([hidden]) th a").click(), true)`)
	v.says("Plan", "kind-cluster")
	v.judge("an environment as a file")
	v.picture("web-export")
}
