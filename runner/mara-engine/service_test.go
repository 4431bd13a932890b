package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/core/pulumicli/wire"
	"mara/runner/internal/testing/servicetest"
)

// atService is a worker whose states are at a server that speaks the protocol of Pulumi Cloud.
type atService struct {
	*testing.T
	worker *worker
	server *servicetest.Server
	home   string
}

func newAtService(t *testing.T, options servicetest.Options) atService {
	t.Helper()
	return atService{t, startWorker(t), servicetest.New(t, options), t.TempDir()}
}

// ask has the worker answer a question.
func (a atService) ask(verb string, question, answer any) string {
	a.Helper()
	input, err := json.Marshal(question)
	if err != nil {
		a.Fatal(err)
	}
	r := a.worker.do(wire.Request{Dir: a.home, Env: append(a.server.Env(), "HOME="+a.home, "PATH="+os.Getenv("PATH")), Stdin: input,
		Args: []string{"service", verb}})
	if r.code == 0 && answer != nil {
		if err := json.Unmarshal([]byte(r.stdout), answer); err != nil {
			a.Fatalf("%s: %v in %s", verb, err, r.stdout)
		}
	}
	if r.code != 0 {
		return r.stderr
	}
	return ""
}

func TestServiceSeals(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]servicetest.Options{"in batches": {}, "one by one": {NoBatches: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAtService(t, options)
			values := wire.SealedValues{[]byte("secret"), []byte("another")}
			if said := a.ask("seal", wire.SealValues{Stack: "acme/app/dev", Values: values}, nil); !strings.Contains(said, "not found") {
				t.Errorf("a stack that does not exist: %q", said)
			}
			var sealed, unsealed wire.SealedValues
			if said := a.ask("seal", wire.SealValues{Stack: "acme/app/dev", Values: values, Create: true}, &sealed); said != "" {
				t.Fatal(said)
			}
			if said := a.ask("unseal", wire.SealValues{Stack: "acme/app/dev", Values: sealed}, &unsealed); said != "" {
				t.Fatal(said)
			}
			if len(unsealed) != 2 || string(unsealed[0]) != "secret" || string(unsealed[1]) != "another" {
				t.Errorf("unsealed %q", [][]byte(unsealed))
			}
		})
	}
}

func TestServiceReads(t *testing.T) {
	t.Parallel()
	a := newAtService(t, servicetest.Options{})
	if said := a.ask("seal", wire.SealValues{Stack: "acme/app/dev", Values: wire.SealedValues{[]byte("x")}, Create: true}, nil); said != "" {
		t.Fatal(said)
	}
	var found map[string]wire.ServiceStack
	question := wire.ReadStacks{Names: []string{"acme/app/dev", "acme/missing/dev"}, States: true, Updates: true, History: true}
	if said := a.ask("read", question, &found); said != "" {
		t.Fatal(said)
	}
	if stack, ok := found["acme/app/dev"]; !ok || len(found) != 1 || stack.Update != nil || stack.Last != nil || len(stack.State) == 0 {
		t.Errorf("read %+v", found)
	}
	for _, once := range []string{"GET /api/capabilities", "GET /api/user", "GET /api/user/organizations/default"} {
		if n := strings.Count(strings.Join(a.server.Asked(), "\n")+"\n", once+"\n"); n > 1 {
			t.Errorf("two commands ask %d times for %s", n, once)
		}
	}
	a.server.Set(servicetest.Fault{Path: "/app/", Status: 403, Message: "you may not see it"})
	if said := a.ask("read", question, nil); !strings.Contains(said, "acme/app/dev") || !strings.Contains(said, "you may not see it") {
		t.Errorf("a stack that is refused: %q", said)
	}
	a.server.Mend()
	a.server.Set(servicetest.Fault{Status: 401})
	if said := a.ask("read", question, nil); said == "" {
		t.Error("a token that is not valid is accepted")
	}
}

// TestServiceReadsTagged: only stacks that have the tag are read, also at a server that lists all, and others are not
// asked about.
func TestServiceReadsTagged(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]servicetest.Options{"in pages": {Page: 1}, "lists all": {NoTags: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testServiceReadsTagged(newAtService(t, options), options.NoTags)
		})
	}
}

func testServiceReadsTagged(t atService, listsAll bool) {
	question := wire.ReadStacks{States: true, Tagged: &wire.Tag{Name: "mara:repository", Value: "ours"}}
	for _, project := range []string{"ours", "theirs", "untagged"} {
		name := "acme/" + project + "/dev"
		question.Names = append(question.Names, name)
		if said := t.ask("seal", wire.SealValues{Stack: name, Values: wire.SealedValues{[]byte("x")}, Create: true}, nil); said != "" {
			t.Fatal(said)
		}
		if project != "untagged" {
			t.server.Tag(name, "mara:repository", project)
		}
	}
	t.server.Forget()
	var found map[string]wire.ServiceStack
	if said := t.ask("read", question, &found); said != "" || len(found) != 1 || len(found["acme/ours/dev"].State) == 0 {
		t.Errorf("read %+v: %s", found, said)
	}
	if asked := strings.Join(t.server.Asked(), "\n"); !listsAll && (strings.Contains(asked, "theirs") || strings.Contains(asked, "untagged")) {
		t.Errorf("asked were\n%s", asked)
	}
}

func TestKindOf(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/api/stacks/acme/app/dev/update": "acme/app/dev update ", "/api/stacks/acme/app/dev/destroy": "acme/app/dev destroy ",
		"/api/stacks/acme/app/dev/update/u1": "acme/app/dev  u1", "/api/stacks/acme/app/dev/encrypt": "  ",
		"/api/stacks/acme/app/dev/update/u1/complete": "  ", "/api/user": "  ",
	} {
		stack, kind, update := kindOf(path)
		if got := strings.Join(stack, "/") + " " + kind + " " + update; got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// TestUpdateIsWrittenDown: before an update begins, a file says which.
func TestUpdateIsWrittenDown(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]servicetest.Options{"two requests": {}, "one request": {BeginUpdate: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAtService(t, options)
			write := func(file, content string) {
				if err := os.WriteFile(filepath.Join(a.home, file), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write("Pulumi.yaml", "name: app\nruntime: yaml\n")
			env := append(a.server.Env(), "HOME="+a.home, "PATH="+os.Getenv("PATH"), wire.UpdateVariable+"="+filepath.Join(a.home, "update.json"),
				"PULUMI_CONSOLE_DOMAIN=console.example.com")
			for _, args := range [][]string{{"stack", "init", "acme/app/dev"}, {"refresh", "--yes", "--stack", "acme/app/dev"}} {
				if r := a.worker.do(wire.Request{Dir: a.home, Env: env, Args: args}); r.code != 0 {
					t.Fatalf("%v: %s%s", args, r.stdout, r.stderr)
				}
			}
			content, err := os.ReadFile(filepath.Join(a.home, "update.json"))
			var begun wire.Begun
			if err != nil || json.Unmarshal(content, &begun) != nil {
				t.Fatalf("%s, %v", content, err)
			}
			link := "http://console.example.com/acme/app/dev/updates/1"
			if begun.Stack != "acme/app/dev" || begun.Kind != "refresh" || begun.Update == "" || begun.PID == 0 || begun.Link != link {
				t.Errorf("written down is %s", content)
			}
		})
	}
}

// TestServiceSaysLess: a server that does not say which update runs is asked about the one that was begun here.
func TestServiceSaysLess(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		begun   string
		running bool
	}{
		"begun here": {"u1", true}, "another one": {"u0", false}, "none": {"", false}, "ended": {"u2", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAtService(t, servicetest.Options{})
			active := "u1"
			if test.begun == "u2" {
				active = "u2"
			}
			a.server.Set(servicetest.Fault{Path: "/app/dev/update/u1", Status: 200, Body: `{"status": "in-progress", "events": []}`})
			a.server.Set(servicetest.Fault{Path: "/app/dev/update/u2", Status: 200, Body: `{"status": "failed", "events": []}`})
			a.server.Set(servicetest.Fault{Path: "/app/dev", Status: 200, Body: `{"orgName": "acme", "projectName": "app", "stackName": "dev", "activeUpdate": "` + active + `"}`})
			var found map[string]wire.ServiceStack
			question := wire.ReadStacks{Names: []string{"acme/app/dev"}, Updates: true, Begun: map[string]string{"acme/app/dev": test.begun}}
			if said := a.ask("read", question, &found); said != "" {
				t.Fatal(said)
			}
			if got := found["acme/app/dev"].Update; (got != nil) != test.running || got != nil && got.ID != test.begun {
				t.Errorf("running is %+v", got)
			}
		})
	}
}

// TestServiceImports: what environments of Pulumi ESC give, without the values of secrets.
func TestServiceImports(t *testing.T) {
	t.Parallel()
	a := newAtService(t, servicetest.Options{})
	a.server.AddEnvironment("acme", "shop/base", "values:\n  pulumiConfig:\n    a:size: 42\n    a:list: [1, {fn::secret: needle}]\n    zone: {b: 1}\n")
	for _, environments := range []string{"[shop/base]\n", "imports: [shop/base]\n"} {
		var found map[string]wire.Imported
		if said := a.ask("imports", wire.Imports{Organization: "acme", Environments: []byte(environments)}, &found); said != "" {
			t.Fatal(said)
		}
		want := map[string]wire.Imported{
			"a:size": {Text: "42", Environment: "shop/base", Line: 3}, "a:list": {Secret: true, Environment: "shop/base", Line: 4},
			"zone": {Text: `{"b":1}`, Environment: "shop/base", Line: 5},
		}
		if diff := cmp.Diff(want, found); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", environments, diff)
		}
	}
	said := a.ask("imports", wire.Imports{Organization: "acme", Environments: []byte("[shop/missing]")}, nil)
	if !strings.Contains(said, "missing") {
		t.Errorf("one that does not exist: %q", said)
	}
}
