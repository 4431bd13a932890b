package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pulumi/pulumi/pkg/v3/backend"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"mara/runner/internal/testing/servicetest"
)

// replay makes a state of a journal as Pulumi's own packages do.
func replay(base json.RawMessage, entries []apitype.JournalEntry) (json.RawMessage, error) {
	var deployment apitype.DeploymentV3
	if err := json.Unmarshal(base, &deployment); err != nil {
		return nil, err
	}
	replayer := backend.NewJournalReplayer(&deployment)
	for _, entry := range entries {
		if err := replayer.Add(entry); err != nil {
			return nil, err
		}
	}
	replayed, err := replayer.GenerateDeployment()
	if err != nil {
		return nil, err
	}
	return json.Marshal(replayed.Deployment)
}

// atService has the environment store its states at a server that speaks the protocol of Pulumi Cloud. Its secrets have
// no passphrase.
func (e *environment) atService(s *servicetest.Server) {
	e.env = append(slices.DeleteFunc(e.env, func(v string) bool { return strings.HasPrefix(v, "PULUMI_CONFIG_PASSPHRASE") }), s.Env()...)
}

// requests returns how often each kind of request was made, without the names of stacks and updates.
func requests(s *servicetest.Server) map[string]int {
	names := regexp.MustCompile(`/api/stacks/[^/]+/[^/]+/[^/]+`)
	updates := regexp.MustCompile(`update-\d+`)
	counts := map[string]int{}
	for _, asked := range s.Asked() {
		counts[updates.ReplaceAllString(names.ReplaceAllString(asked, "STACK"), "ID")]++
	}
	return counts
}

// askedOnce are the requests whose answers one worker passes to the next.
var askedOnce = []string{"GET /api/capabilities", "GET /api/user", "GET /api/user/organizations/default"}

// TestPulumiCloud takes an example with secrets through its life with its states at Pulumi Cloud, as servers of different
// abilities speak its protocol.
func TestPulumiCloud(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]servicetest.Options{
		"checkpoints": {NoBatches: true, NoCounts: true, NoDefault: true},
		"differences": {Deltas: true, BeginUpdate: true, Page: 1},
		"journals":    {Replay: replay, Outputs: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := servicetest.New(t, options)
			t.Cleanup(func() { s.Dump(t) })
			e := example(t, "own")
			e.atService(s)
			testLifeAtService(t, e, s, options)
		})
	}
}

func testLifeAtService(t *testing.T, e *environment, s *servicetest.Server, options servicetest.Options) {
	organization := servicetest.Organization
	if options.NoDefault {
		organization = servicetest.User
	}
	up := e.succeed("up", "--yes", "--generate-secrets")
	if !strings.Contains(up, "3 succeeded; 3 created") {
		t.Errorf("the first up says %s", up)
	}
	if got := s.Stacks()[organization+"/shop/dev"]; got == 0 {
		t.Fatalf("the stacks are %v", s.Stacks())
	}
	e.write("mara.yaml", "projects:\n- {path: network}\n- {path: database, reads: shop-network, config: {password: {generate: password}}}\n"+
		"- {path: shop, reads: [shop-network, shop-database], config: {size: {allowed: [small, large]}}}\n") // without hooks, which always run
	e.succeed("up", "--yes")

	for command, most := range map[string]int{"up --yes": 5 + 2*3, "status": 5 + 2*3} {
		s.Forget()
		said := e.succeed(strings.Fields(command)...)
		counts := requests(s)
		n := len(s.Asked())
		for _, once := range askedOnce {
			n -= max(counts[once]-1, 0) // workers that start at the same time may all ask
		}
		if n > most && options.Page == 0 {
			t.Errorf("%s makes %d requests, at most %d are needed: %v", command, n, most, counts)
		}
		if command == "status" && !strings.Contains(said, "3 of 3 projects deployed") {
			t.Errorf("status says %s", said)
		}
	}
	s.Forget()
	e.succeed("preview")
	for _, once := range askedOnce {
		if n := requests(s)[once]; n > 3 { // each worker that starts at the same time may ask
			t.Errorf("a preview asks %d times for %s", n, once)
		}
	}

	before := e.succeed("outputs", "shop-database", "login", "--show-secrets")
	e.env = append(e.env, "NEW=a-new-password-of-the-owner")
	e.succeed("secrets", "set", "shop-database:password", "env:NEW", "--yes")
	e.succeed("up", "--yes")
	after := e.succeed("outputs", "shop-database", "login", "--show-secrets")
	if before == after || !strings.Contains(after, "a-new-password-of-the-owner") {
		t.Errorf("after another password the login is %q, before %q", after, before)
	}
	e.succeed("drift")
	e.succeed("refresh", "--yes")
	if options.Deltas {
		testOtherKeys(t, e, after)
	}

	files := "file://" + t.TempDir()
	e.env = append(e.env, "PULUMI_CONFIG_PASSPHRASE="+ownPassphrase)
	e.succeed("state", "move", "--to", files, "--yes")
	e.env = append(e.env, "PULUMI_BACKEND_URL="+files)
	if got := e.succeed("up", "--yes"); !strings.Contains(got, "no changes") {
		t.Errorf("after the move to files up says %s", got)
	}
	if got := e.succeed("outputs", "shop-database", "login", "--show-secrets"); got != after {
		t.Errorf("after the move to files the login is %q", got)
	}
	other := servicetest.New(t, options)
	again := other.URL
	e.succeed("state", "move", "--to", again, "--yes")
	e.env = append(e.env, "PULUMI_BACKEND_URL="+again)
	if got := e.succeed("up", "--yes"); !strings.Contains(got, "no changes") {
		t.Errorf("after the move back up says %s", got)
	}
	e.succeed("destroy", "--yes")
	for name, n := range other.Stacks() {
		if n > 0 {
			t.Errorf("%s still has %d resources", name, n)
		}
	}
	searchFor(t, map[string]string{"the access token": servicetest.Token, "the password": "a-new-password-of-the-owner"},
		everyFileBelow(t, filepath.Join(e.root, ".runner")))
}

// testOtherKeys encrypts with a passphrase in place of the keys of Pulumi Cloud, and with these again.
func testOtherKeys(t *testing.T, e *environment, login string) {
	t.Helper()
	e.env = append(e.env, "OTHER=a-passphrase-of-the-owner")
	for _, change := range [][]string{{"passphrase", "--new-passphrase", "env:OTHER"}, {"default"}} {
		e.succeed(append([]string{"secrets", "change-provider", "--yes"}, change...)...)
		e.env = append(e.env, "PULUMI_CONFIG_PASSPHRASE=a-passphrase-of-the-owner")
		if got := e.succeed("up", "--yes"); !strings.Contains(got, "no changes") {
			t.Errorf("after the change to %s up says %s", change[0], got)
		}
		if got := e.succeed("outputs", "shop-database", "login", "--show-secrets"); got != login {
			t.Errorf("after the change to %s the login is %q", change[0], got)
		}
		state := e.succeed("pulumi", "database", "-s", "dev", "--", "stack", "export")
		if kind := map[string]string{"passphrase": `"passphrase"`, "default": `"service"`}[change[0]]; !strings.Contains(state, kind) {
			t.Errorf("after the change to %s the state is encrypted otherwise: %s", change[0], state)
		}
	}
	e.env = slices.DeleteFunc(e.env, func(v string) bool { return strings.HasPrefix(v, "PULUMI_CONFIG_PASSPHRASE=") })
}

// TestTwoMachinesAtPulumiCloud: two machines that work on an environment meet at the first stack that both update. The
// second is refused, and names the user of the first; then it finds what that has deployed.
func TestTwoMachinesAtPulumiCloud(t *testing.T) {
	t.Parallel()
	s := servicetest.New(t, servicetest.Options{BeginUpdate: true})
	s.AddUser("pul-of-bob", "bob", servicetest.Organization)
	first := elsewhere(t, place{backend: s.URL, env: s.Env()}, 1)
	first.write("b/Pulumi.yaml", "name: b\nruntime: yaml\noutputs: {text: b}\n")
	second := elsewhere(t, place{backend: s.URL, env: append(s.Env(), "PULUMI_ACCESS_TOKEN=pul-of-bob")}, 1)
	second.write("b/Pulumi.yaml", "name: b\nruntime: yaml\noutputs: {text: b}\n")
	first.succeed("up", "-s", "e00", "--yes")
	const saves = "/a/e00/update"
	s.Set(servicetest.Fault{Method: "PATCH", Path: saves, Delay: 10 * time.Minute}) // until it is mended
	slow := first.command("up", "-s", "e00", "--yes", "--force")
	if err := slow.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, filepath.Join(first.root, ".runner/updates/own-e00/a.json"))
	if r := second.run("up", "-s", "e00", "--yes", "--new-backend", "--force"); r.code != 4 || !strings.Contains(r.stderr, "by the update of alice") {
		t.Errorf("beside the run of another machine: exit code %d\n%s%s", r.code, lastLines(r.stdout), r.stderr)
	}
	if r := second.run("unlock", "-s", "e00", "--yes"); r.code != 4 {
		t.Errorf("unlock ends an update of another machine: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	s.Mend()
	if err := slow.Wait(); err != nil {
		t.Errorf("the first run: %v", err)
	}
	second.succeed("up", "-s", "e00", "--yes", "--new-backend")
	if got := second.succeed("unlock", "-s", "e00", "--yes"); !strings.Contains(got, "nothing is locked") {
		t.Errorf("locks are left: %s", got)
	}
}

// TestKilledAtPulumiCloud kills a run and its engines in the middle of an update, which then holds its stack.
func TestKilledAtPulumiCloud(t *testing.T) {
	t.Parallel()
	s := servicetest.New(t, servicetest.Options{})
	e := elsewhere(t, place{backend: s.URL, env: s.Env()}, 2)
	e.write("b/Pulumi.yaml", "name: b\nruntime: yaml\nresources:\n  a: {type: pulumi:pulumi:StackReference, properties: {name: \"${pulumi.organization}/a/${pulumi.stack}\"}}\n"+
		"outputs: {size: \"${a.outputs[\\\"size\\\"]}\"}\n")
	e.succeed("up", "-s", "e01", "--yes")
	kill := func() {
		t.Helper()
		s.Set(servicetest.Fault{Method: "PATCH", Path: "/a/e01/update", Delay: time.Minute})
		killed := e.command("up", "-s", "e01", "--yes", "--force")
		if err := killed.Start(); err != nil {
			t.Fatal(err)
		}
		marker := filepath.Join(e.root, ".runner/updates/own-e01/a.json")
		waitFor(t, marker)
		var begun struct{ PID int }
		content, err := os.ReadFile(marker)
		if err != nil || json.Unmarshal(content, &begun) != nil || begun.PID == 0 {
			t.Fatalf("%s: %s, %v", marker, content, err)
		}
		for _, pid := range []int{killed.Process.Pid, begun.PID} {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
		_ = killed.Wait()
		s.Mend()
	}
	kill()
	if text := e.succeed("status", "-s", "e01"); !strings.Contains(text, "locked") || !strings.Contains(text, "by the update of alice") {
		t.Errorf("status says %s", text)
	}
	if r := e.run("up", "-s", "e01", "--yes"); r.code != 4 || !strings.Contains(r.stderr, "a is locked by the update of alice") {
		t.Errorf("up beside the lock: exit code %d\n%s", r.code, r.stderr)
	}
	e.succeed("up", "-s", "e01", "--yes", "--resume")
	kill()
	if r := e.run("unlock", "-s", "e01", "--yes"); r.code != 0 || !strings.Contains(r.stdout, "unlocked a") {
		t.Errorf("unlock: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	e.succeed("up", "-s", "e01", "--yes", "--resume")

	// What another machine updates is not known to be dead.
	kill()
	if err := os.RemoveAll(filepath.Join(e.root, ".runner/updates")); err != nil {
		t.Fatal(err)
	}
	if r := e.run("up", "-s", "e01", "--yes", "--resume"); r.code != 4 {
		t.Errorf("--resume takes over a lock that may be someone else's: exit code %d\n%s", r.code, r.stderr)
	}
	if r := e.run("unlock", "-s", "e01", "--yes"); r.code != 4 || !strings.Contains(r.stderr, "--force") {
		t.Errorf("unlock: exit code %d\n%s", r.code, r.stderr)
	}
	e.succeed("pulumi", "a", "-s", "e01", "--", "cancel", "--yes")
	e.succeed("up", "-s", "e01", "--yes", "--resume")
}

// TestAdoptAtPulumiCloud adopts stacks that Pulumi itself has deployed to an organization, and looks at them.
func TestAdoptAtPulumiCloud(t *testing.T) {
	t.Parallel()
	s := servicetest.New(t, servicetest.Options{NoCounts: true})
	first := elsewhere(t, place{backend: s.URL, env: s.Env()}, 1)
	first.write("b/Pulumi.yaml", "name: b\nruntime: yaml\noutputs: {text: b}\n")
	first.succeed("up", "-s", "acme/e00", "--yes")
	second := emptyEnvironment(t)
	second.env = s.Env()
	if err := os.CopyFS(second.root, os.DirFS(first.root)); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(second.root, ".runner")); err != nil {
		t.Fatal(err)
	}
	text := second.succeed("status", "-s", "acme/e00")
	if !strings.Contains(text, "3 of 3 projects deployed") || strings.Contains(text, "never") || regexp.MustCompile(`-\d`).MatchString(text) {
		t.Errorf("status says %s", text)
	}
}

// TestHostilePulumiCloud: what Pulumi Cloud answers in trouble ends a command with one message, loses nothing, and the next
// run succeeds.
func TestHostilePulumiCloud(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fault servicetest.Fault
		want  string // of the message
		code  int
	}{
		"the token is not valid":       {servicetest.Fault{Status: 401}, "PULUMI_ACCESS_TOKEN", 1},
		"one stack is forbidden":       {servicetest.Fault{Path: "/acme/b/e00", Status: 403, Message: "you may not see it"}, "b", 1},
		"an organization is not there": {servicetest.Fault{Path: "/api/user/stacks", Status: 404, Message: "Organization 'acme' not found"}, "Organization 'acme' not found", 1},
		"a page of a login":            {servicetest.Fault{Path: "/api/user/stacks", Status: 200, Body: "<html>Sign in</html>"}, "is it the address of the API", 1},
		"no default organization":      {servicetest.Fault{Path: "/organizations/default", Status: 503}, "asking the backend for the default organization", 1},
		"too many requests":            {servicetest.Fault{Method: "PATCH", Path: "/checkpoint", Status: 429, RetryAfter: "1"}, "failed to save snapshot", 1},
		"another update":               {servicetest.Fault{Method: "POST", Path: "/a/e00/update/", Status: 409, Message: "Another update is currently in progress."}, "locked", 4},
		"an error of the server":       {servicetest.Fault{Method: "POST", Path: "/a/e00/update", Status: 500, Message: "internal"}, "internal", 1},
		"a page of a proxy":            {servicetest.Fault{Method: "POST", Path: "/a/e00/update", Status: 502, Body: "<html>Bad Gateway</html>"}, "502", 1},
		"the lease is lost":            {servicetest.Fault{Method: "PATCH", Path: "/a/e00/update", Status: 403, Message: "the lease has expired"}, "has ended this update", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := servicetest.New(t, servicetest.Options{})
			e := elsewhere(t, place{backend: s.URL, env: s.Env()}, 1)
			e.write("b/Pulumi.yaml", "name: b\nruntime: yaml\noutputs: {text: b}\n")
			e.succeed("up", "-s", "e00", "--yes")
			states := fmt.Sprint(s.Stacks())
			s.Set(test.fault)
			e.write("config/pulumi/Pulumi.e00.yaml", "config:\n  a:size: \"5\"\n")
			began := time.Now()
			r := e.run("up", "-s", "e00", "--yes", "--force")
			if took := time.Since(began); took > 90*time.Second {
				t.Errorf("it takes %s", took)
			}
			if said := r.stdout + r.stderr; r.code != test.code || !strings.Contains(said, test.want) {
				t.Errorf("exit code %d, want %d with %q:\n%s", r.code, test.code, test.want, said)
			}
			s.Mend()
			if got := fmt.Sprint(s.Stacks()); got != states {
				t.Errorf("before there were %s, then %s", states, got)
			}
			if r := e.run("up", "-s", "e00", "--yes", "--resume", "--resume-changed"); r.code != 0 {
				e.succeed("unlock", "-s", "e00", "--yes", "--force")
				e.succeed("up", "-s", "e00", "--yes", "--resume", "--resume-changed")
			}
			if got := e.succeed("outputs", "a", "size", "-s", "e00"); strings.TrimSpace(got) != "5" {
				t.Errorf("in the end the output is %q", got)
			}
		})
	}
}

// TestInterruptAtASlowPulumiCloud: Ctrl-C ends a command that waits for an answer.
func TestInterruptAtASlowPulumiCloud(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"status", "up --yes", "preview", "outputs a"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			s := servicetest.New(t, servicetest.Options{})
			e := elsewhere(t, place{backend: s.URL, env: s.Env()}, 1)
			e.write("b/Pulumi.yaml", "name: b\nruntime: yaml\noutputs: {text: b}\n")
			e.succeed("up", "-s", "e00", "--yes")
			s.Set(servicetest.Fault{Path: "/api/user/stacks", Delay: time.Minute})
			s.Forget()
			cmd := e.command(append(strings.Fields(command), "-s", "e00")...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			for range 100 {
				if slices.Contains(s.Asked(), "GET /api/user/stacks") {
					break
				}
				time.Sleep(50 * time.Millisecond)
			}
			began := time.Now()
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			err := cmd.Wait()
			if took := time.Since(began); took > 2*time.Second {
				t.Errorf("it ends after %s", took)
			}
			if cmd.ProcessState.ExitCode() != 130 {
				t.Errorf("it ends with %v", err)
			}
		})
	}
}

// TestLifeAtPulumiCloud takes a fleet with its states at Pulumi Cloud through the life that it has elsewhere.
func TestLifeAtPulumiCloud(t *testing.T) {
	t.Parallel()
	long(t)
	s := servicetest.New(t, servicetest.Options{Replay: replay, BeginUpdate: true})
	s.AddUser("needle-of-pulumi-cloud", "carol", "organization")
	at := place{backend: s.URL, env: []string{"PULUMI_ACCESS_TOKEN=needle-of-pulumi-cloud"}, service: true,
		trouble: func() { s.Set(servicetest.Fault{Method: "GET", Status: 503, Times: 3}) }}
	life{place: at, again: s.URL, needle: "needle-of-pulumi-cloud", size: 20}.test(t)
}

// TestStatesAtPulumiBackend does the same with pulumi-backend, a public server that speaks the protocol of Pulumi Cloud.
func TestStatesAtPulumiBackend(t *testing.T) {
	t.Parallel()
	address := fmt.Sprintf("127.0.0.1:%d", freePort(t))
	version := emulator(t, "E2E_PULUMI_BACKEND", "pulumi-backend", "http://"+address+"/api/capabilities", "-addr", address,
		"-single-tenant-token", "needle-of-pulumi-backend", "-org", "organization", "-user", "alice")
	at := place{backend: "http://" + address, env: []string{"PULUMI_ACCESS_TOKEN=needle-of-pulumi-backend"}, service: true}
	life{place: at, again: at.backend, needle: "needle-of-pulumi-backend", size: 20}.test(t)
	recordBackend(t, "E2E_PULUMI_BACKEND=PROGRAM go test -run TestStatesAtPulumiBackend",
		map[string]string{"pulumi-backend, a server that speaks the protocol of Pulumi Cloud,": version}, lifeParts(20)...)
}

// TestWhatPulumiCloudGives: messages in the history, links to updates, tags of the environment, and values of Pulumi ESC.
func TestWhatPulumiCloudGives(t *testing.T) {
	t.Parallel()
	s := servicetest.New(t, servicetest.Options{})
	s.AddEnvironment("acme", "shop/base", "values:\n  pulumiConfig:\n    a:size: 42\n    a:token: {fn::secret: needle-of-esc}\n")
	e := elsewhere(t, place{backend: s.URL, env: append(s.Env(), "PULUMI_CONSOLE_DOMAIN=console.example.com")}, 1)
	e.write("b/Pulumi.yaml", "name: b\nruntime: yaml\noutputs: {text: b}\n")
	e.write("a/Pulumi.yaml", "name: a\nruntime: yaml\nconfig: {size: {type: integer, default: 1}, token: {type: string, secret: true, default: none}}\n"+
		"outputs: {size: \"${size}\", token: \"${token}\"}\n")
	e.write("config/pulumi/Pulumi.e00.yaml", "environment: [shop/base]\nconfig: {}\n")
	e.write("config/environments/e00.yaml", "values: {runner: {labels: {tier: test}}}\n")
	up := e.succeed("up", "-s", "e00", "--yes", "-m", "the first \"one\"")
	if want := "http://console.example.com/acme/a/e00/updates/1"; !strings.Contains(up, want) {
		t.Errorf("up does not link %s:\n%s", want, up)
	}
	if history := s.Updates("acme/a/e00"); len(history) != 1 || history[0].Message != "the first \"one\"" {
		t.Errorf("the history is %+v", history)
	}
	if tags := s.Tags("acme/a/e00"); tags["mara:environment"] != "e00" || tags["tier"] != "test" {
		t.Errorf("the tags are %v", tags)
	}
	if got := e.succeed("outputs", "a", "size", "-s", "e00"); strings.TrimSpace(got) != "42" {
		t.Errorf("the value of Pulumi ESC is %q", got)
	}
	texts := everyFileBelow(t, filepath.Join(e.root, ".runner"))
	texts["what up prints"] = []byte(up)
	site := filepath.Join(t.TempDir(), "site")
	e.succeed("web", "--export", site)
	checkLinks(t, texts, everyFileBelow(t, site))

	// What a stack imports is in no file: commands that look say where it comes from, and no up takes it for unchanged.
	for command, want := range map[string]string{
		"preview":                "a:size = 42 (shop/base:3), a:token = [secret] (shop/base:4)",
		"config list":            "Pulumi ESC, shop/base:3",
		"config explain a:size":  "42 (Pulumi ESC, shop/base:3)",
		"config explain a:token": "[secret] (Pulumi ESC, shop/base:4)",
	} {
		said := e.succeed(append(strings.Fields(command), "-s", "e00")...)
		if !strings.Contains(strings.Join(strings.Fields(said), " "), want) {
			t.Errorf("%s does not say %q:\n%s", command, want, said)
		}
		texts["what "+command+" prints"] = []byte(said)
	}
	s.AddEnvironment("acme", "shop/base", "values:\n  pulumiConfig:\n    a:size: 43\n    a:token: {fn::secret: needle-of-esc}\n")
	e.succeed("up", "-s", "e00", "--yes")
	// The operator gets the organization, and the name of the token.
	exported := t.TempDir()
	e.succeed("export", "operator", "-s", "e00", "--out", filepath.Join(exported, "out"), "--repo", "https://git.example.com/shop", "--branch", "main", "--image", "registry.example.com/mara:1.2.3")
	var manifests strings.Builder
	for name, content := range everyFileBelow(t, exported) {
		texts["exported "+name] = content
		manifests.Write(content)
	}
	for _, want := range []string{"acme/a/e00", s.URL, "PULUMI_ACCESS_TOKEN"} {
		if !strings.Contains(manifests.String(), want) {
			t.Errorf("the export for the operator has no %s", want)
		}
	}

	// Screens that know no other machines say so.
	for _, command := range []string{"status -s e00", "unlock -s e00 --yes", "fleet status", "fleet plan --affected"} {
		if r := e.run(strings.Fields(command)...); strings.Count(r.stderr, "note: the states are at Pulumi Cloud") != 1 {
			t.Errorf("%s does not say once that machines do not see one another:\n%s", command, r.stderr)
		}
	}
	if got := e.succeed("outputs", "a", "size", "-s", "e00"); strings.TrimSpace(got) != "43" {
		t.Errorf("after a change at Pulumi ESC the value is %q", got)
	}
	searchFor(t, map[string]string{"the secret of Pulumi ESC": "needle-of-esc", "the access token": servicetest.Token}, texts)
}

// checkLinks: the report of a run and its page in a site link what Pulumi Cloud has about an update.
func checkLinks(t *testing.T, below ...map[string][]byte) {
	t.Helper()
	const link = `href="http://console.example.com/acme/a/e00/updates/1"`
	for i, files := range below {
		found := false
		for name, content := range files {
			found = found || strings.HasSuffix(name, ".html") && strings.Contains(string(content), link)
		}
		if !found {
			t.Errorf("%s links no update", []string{"the report", "the page"}[i])
		}
	}
}

// TestLoginAtPulumiCloud: the token comes from the environment alone; what a login keeps is enough for later commands.
func TestLoginAtPulumiCloud(t *testing.T) {
	t.Parallel()
	s := servicetest.New(t, servicetest.Options{})
	e := elsewhere(t, place{}, 1)
	e.write("mara.yaml", "projects: [{path: a}]\n")
	const wrong = "pul-needle-that-is-not-valid"
	for name, test := range map[string]struct {
		env  []string
		want string
	}{
		"no token":              {nil, "PULUMI_ACCESS_TOKEN must be set"},
		"a token that is wrong": {[]string{"PULUMI_ACCESS_TOKEN=" + wrong}, "Unauthorized"},
	} {
		e.env = test.env
		if r := e.run("login", s.URL); r.code == 0 || strings.Count(r.stdout+r.stderr, test.want) != 1 || strings.Contains(r.stdout+r.stderr, wrong) {
			t.Errorf("%s: exit code %d, want once %q\n%s%s", name, r.code, test.want, r.stdout, r.stderr)
		}
	}
	e.env = []string{"PULUMI_ACCESS_TOKEN=" + servicetest.Token}
	if said := e.succeed("login", s.URL); !strings.Contains(said, "as alice") {
		t.Errorf("login says %s", said)
	}
	e.env = nil
	e.succeed("up", "-s", "e00", "--yes")
	if _, ok := s.Stacks()["acme/a/e00"]; !ok {
		t.Errorf("after the login up deploys %v", s.Stacks())
	}
	e.env = []string{"PULUMI_ACCESS_TOKEN=" + wrong}
	if r := e.run("status", "-s", "e00"); r.code != 1 || strings.Count(r.stderr, "error:") != 1 || !strings.Contains(r.stderr, "PULUMI_ACCESS_TOKEN") ||
		strings.Contains(r.stderr, wrong) {
		t.Errorf("a wrong token beside the login: exit code %d\n%s", r.code, r.stderr)
	}
	searchFor(t, map[string]string{"the access token": servicetest.Token}, everyFileBelow(t, e.root))
}

// TestBackendOfProjectsAtPulumiCloud: the server that each Pulumi.yaml names has the states, and is as much Pulumi Cloud as
// one that a variable names.
func TestBackendOfProjectsAtPulumiCloud(t *testing.T) {
	t.Parallel()
	s := servicetest.New(t, servicetest.Options{})
	e := elsewhere(t, place{}, 1)
	e.env = []string{"PULUMI_ACCESS_TOKEN=" + servicetest.Token}
	e.write("mara.yaml", "projects: [{path: a}, {path: c}]\n")
	for _, name := range []string{"a", "c"} {
		program, err := os.ReadFile(filepath.Join(e.root, name, "Pulumi.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		e.write(name+"/Pulumi.yaml", string(program)+"backend: {url: \""+s.URL+"\"}\n")
	}
	e.succeed("up", "-s", "acme/e00", "--yes")
	if stacks := s.Stacks(); stacks["acme/a/e00"] == 0 || stacks["acme/c/e00"] == 0 {
		t.Errorf("up deploys %v", stacks)
	}
	if r := e.run("status", "-s", "acme/e00"); r.code != 0 || !strings.Contains(r.stdout, "2 of 2 projects deployed") ||
		strings.Count(r.stderr, "note: the states are at Pulumi Cloud") != 1 {
		t.Errorf("status: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
}

// TestFleetAtPulumiCloud: plans, gates and looks for drift of a fleet know what this machine has rolled out.
func TestFleetAtPulumiCloud(t *testing.T) {
	t.Parallel()
	s := servicetest.New(t, servicetest.Options{BeginUpdate: true})
	e := emptyEnvironment(t)
	e.useStatesAt(place{backend: s.URL, env: s.Env()})
	e.write("config/pulumi/environment", "")
	e.write("mara.yaml", "projects: [{path: app}]\n")
	e.write("app/Pulumi.yaml", "name: app\nruntime: yaml\nconfig: {size: {type: string, default: small}}\n"+
		"resources:\n  kept: {type: \"pulumi:index:Stash\", properties: {input: \"${size}\"}}\n")
	for _, name := range []string{"test", "prod"} {
		e.write("config/environments/"+name+"-1.yaml", "values: {runner: {labels: {stage: "+name+"}}}\n")
	}
	e.write("config/rollout.yaml", "waves:\n- {name: test, match: {stage: test}, gates: [{run: sh gate.sh}, drift]}\n- {name: prod, match: {stage: prod}}\n")
	e.write("gate.sh", "exit 1\n")
	const held = "test-1 has not passed the gates of its wave with what runs there now: sh gate.sh"
	e.expect(1, "fleet up --all --yes", "wave:test")
	if stacks := s.Stacks(); stacks["acme/app/test-1"] == 0 || stacks["acme/app/prod-1"] > 0 {
		t.Errorf("behind a gate that fails are deployed %v", stacks)
	}
	e.expect(3, "fleet up prod-1 --yes", held)
	e.write("gate.sh", "exit 0\n")
	e.expect(0, "fleet up test-1 prod-1 --yes", "prod-1")
	e.expect(0, "fleet drift --all", "test-1", "prod-1")
	e.expect(0, "fleet plan", "test-1", "prod-1")
	e.write("config/environments/test-1.yaml", "values: {runner: {labels: {stage: test}}, pulumiConfig: {'app:size': large}}\n")
	e.expect(0, "fleet status", "test-1")
	e.succeed("up", "-s", "test-1", "--yes")
	e.expect(3, "fleet up prod-1 --yes", held)
	if tags := s.Tags("acme/app/prod-1"); tags["mara:environment"] != "prod-1" || tags["stage"] != "prod" {
		t.Errorf("the tags are %v", tags)
	}
}
