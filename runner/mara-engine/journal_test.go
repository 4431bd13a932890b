package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/pulumi/pulumi/pkg/v3/secrets/passphrase"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"

	"mara/runner/internal/core/encryption"
	"mara/runner/internal/core/pulumicli/wire"
	"mara/runner/internal/testing/postgrestest"
)

// thingType is the type of the resources of a sky.
const thingType = "test:index:Thing"

// sky is a cloud whose things are files. It outlives the engine.
type sky struct {
	pulumirpc.UnimplementedResourceProviderServer
	t       *testing.T
	dir     string
	address string

	mu    sync.Mutex // guards what follows
	calls int
	at    func(call int, done bool) // is told of each call that changes something, before and after it is done
}

// tell has the sky tell of the calls from now on.
func (s *sky) tell(at func(call int, done bool)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls, s.at = 0, at
}

func serveSky(t *testing.T) *sky {
	t.Helper()
	s := &sky{t: t, dir: t.TempDir(), at: func(int, bool) {}}
	s.address = listen(t, func(server *grpc.Server) { pulumirpc.RegisterResourceProviderServer(server, s) })
	return s
}

// listen serves until the test ends, and returns the address.
func listen(t *testing.T, register func(*grpc.Server)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	register(server)
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) })
	t.Cleanup(func() {
		server.Stop()
		serving.Wait()
	})
	return listener.Addr().String()
}

// things returns the URNs of what exists, by id.
func (s *sky) things() map[string]string {
	s.t.Helper()
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		s.t.Fatal(err)
	}
	found := map[string]string{}
	for _, entry := range entries {
		urn, err := os.ReadFile(filepath.Join(s.dir, entry.Name()))
		if err != nil {
			s.t.Fatal(err)
		}
		found[entry.Name()] = string(urn)
	}
	return found
}

// change changes something, and says so before and after.
func (s *sky) change(do func() error) error {
	s.mu.Lock()
	s.calls++
	n, at := s.calls, s.at
	s.mu.Unlock()
	at(n, false)
	err := do()
	at(n, true)
	return err
}

func (s *sky) CheckConfig(_ context.Context, r *pulumirpc.CheckRequest) (*pulumirpc.CheckResponse, error) {
	return &pulumirpc.CheckResponse{Inputs: r.GetNews()}, nil
}

func (s *sky) DiffConfig(context.Context, *pulumirpc.DiffRequest) (*pulumirpc.DiffResponse, error) {
	return &pulumirpc.DiffResponse{}, nil
}

func (s *sky) Configure(context.Context, *pulumirpc.ConfigureRequest) (*pulumirpc.ConfigureResponse, error) {
	return &pulumirpc.ConfigureResponse{SupportsPreview: true}, nil
}

func (s *sky) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return &pulumirpc.PluginInfo{Version: "1.0.0"}, nil
}

func (s *sky) Attach(context.Context, *pulumirpc.PluginAttach) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, nil
}

func (s *sky) Cancel(context.Context, *emptypb.Empty) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, nil
}

func (s *sky) Check(_ context.Context, r *pulumirpc.CheckRequest) (*pulumirpc.CheckResponse, error) {
	return &pulumirpc.CheckResponse{Inputs: r.GetNews()}, nil
}

func (s *sky) Diff(_ context.Context, r *pulumirpc.DiffRequest) (*pulumirpc.DiffResponse, error) {
	d := &pulumirpc.DiffResponse{Changes: pulumirpc.DiffResponse_DIFF_NONE}
	for _, key := range []string{"size", "zone"} {
		if r.GetOldInputs().GetFields()[key].GetStringValue() != r.GetNews().GetFields()[key].GetStringValue() {
			d.Changes, d.Diffs = pulumirpc.DiffResponse_DIFF_SOME, append(d.Diffs, key)
			if key == "zone" {
				d.Replaces = []string{key}
			}
		}
	}
	return d, nil
}

func (s *sky) Create(_ context.Context, r *pulumirpc.CreateRequest) (*pulumirpc.CreateResponse, error) {
	if r.GetPreview() {
		return &pulumirpc.CreateResponse{Properties: r.GetProperties()}, nil
	}
	id := fmt.Sprintf("%016x", rand.Uint64())
	err := s.change(func() error { return os.WriteFile(filepath.Join(s.dir, id), []byte(r.GetUrn()), 0o600) })
	return &pulumirpc.CreateResponse{Id: id, Properties: r.GetProperties()}, err
}

func (s *sky) Update(_ context.Context, r *pulumirpc.UpdateRequest) (*pulumirpc.UpdateResponse, error) {
	if r.GetPreview() {
		return &pulumirpc.UpdateResponse{Properties: r.GetNews()}, nil
	}
	return &pulumirpc.UpdateResponse{Properties: r.GetNews()}, s.change(func() error { return nil })
}

func (s *sky) Read(_ context.Context, r *pulumirpc.ReadRequest) (*pulumirpc.ReadResponse, error) {
	if _, err := os.Stat(filepath.Join(s.dir, r.GetId())); err != nil {
		return &pulumirpc.ReadResponse{}, nil
	}
	return &pulumirpc.ReadResponse{Id: r.GetId(), Properties: r.GetProperties(), Inputs: r.GetInputs()},
		s.change(func() error { return nil })
}

func (s *sky) Delete(_ context.Context, r *pulumirpc.DeleteRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, s.change(func() error { return os.Remove(filepath.Join(s.dir, r.GetId())) })
}

// things is a program with things in a sky. Each of them is so large that states take their time.
type things struct {
	*program
	count      int
	size, zone string
}

func startThings(t *testing.T, count int) *things {
	t.Helper()
	p := &things{program: &program{started: make(chan struct{})}, count: count, size: "small", zone: "a"}
	p.address = listen(t, func(server *grpc.Server) { pulumirpc.RegisterLanguageRuntimeServer(server, p) })
	return p
}

// Run implements pulumirpc.LanguageRuntimeServer.
func (p *things) Run(ctx context.Context, r *pulumirpc.RunRequest) (*pulumirpc.RunResponse, error) {
	connection, err := grpc.NewClient(r.GetMonitorAddress(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, err
	}
	defer connection.Close()
	monitor := pulumirpc.NewResourceMonitorClient(connection)
	stack, err := monitor.RegisterResource(ctx, &pulumirpc.RegisterResourceRequest{Type: "pulumi:pulumi:Stack", Name: "p-dev"})
	if err != nil {
		return nil, err
	}
	group, together := errgroup.WithContext(ctx)
	for i := range p.count {
		group.Go(func() error {
			inputs, err := structpb.NewStruct(map[string]any{
				"size": p.size, "zone": p.zone, "text": strings.Repeat("x", 2_000),
				"secret": map[string]any{"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "value": "hidden-value"},
			})
			if err != nil {
				return err
			}
			_, err = monitor.RegisterResource(together, &pulumirpc.RegisterResourceRequest{
				Type: thingType, Name: fmt.Sprint("t", i), Parent: stack.GetUrn(), Custom: true, Object: inputs, AcceptSecrets: true,
			})
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	_, err = monitor.RegisterResourceOutputs(ctx, &pulumirpc.RegisterResourceOutputsRequest{
		Urn: stack.GetUrn(), Outputs: &structpb.Struct{Fields: map[string]*structpb.Value{"size": structpb.NewStringValue(p.size)}},
	})
	return &pulumirpc.RunResponse{}, err
}

// arena is a project with a cloud, on a backend.
type arena struct {
	t       *testing.T
	backend string
	dir     string
	home    string
	more    []string // of the environment
	sky     *sky
	program *things
	worker  *worker // of commands that nothing disturbs
}

// newArena makes a project without resources. More is added to the environment.
func newArena(t *testing.T, backend string, count int, more ...string) *arena {
	t.Helper()
	a := &arena{t: t, backend: backend, more: more, dir: t.TempDir(), home: t.TempDir(), sky: serveSky(t), program: startThings(t, count)}
	for name, content := range map[string]string{"Pulumi.yaml": "name: p\nruntime: go\n", "Pulumi.dev.yaml": "encryptionsalt: " + arenaKey().Salt + "\n"} {
		if err := os.WriteFile(filepath.Join(a.dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a.must("stack", "init", "organization/p/dev")
	return a
}

func (a *arena) env(more ...string) []string {
	_, port, _ := net.SplitHostPort(a.sky.address)
	return append([]string{
		"HOME=" + a.home, "PATH=" + os.Getenv("PATH"), "PULUMI_BACKEND_URL=" + a.backend, "PULUMI_CONFIG_PASSPHRASE=x",
		"PULUMI_DEBUG_PROVIDERS=test:" + port, "AWS_ACCESS_KEY_ID=x", "AWS_SECRET_ACCESS_KEY=x",
	}, append(slices.Clone(a.more), more...)...)
}

// arenaKey is the key of all arenas, so that their engines derive none.
var arenaKey = sync.OnceValue(func() wire.Key {
	salt, _, err := passphrase.NewPassphraseSecretsManager("x")
	if err != nil {
		panic(err)
	}
	key, err := encryption.OpenKey("x", salt)
	if err != nil {
		panic(err)
	}
	return wire.Key{Salt: salt, Raw: key.Raw()}
})

// request returns a command for a worker. More is added to the environment.
func (a *arena) request(args []string, more ...string) wire.Request {
	return wire.Request{Dir: a.dir, Args: args, Env: a.env(more...), Keys: []wire.Key{arenaKey()}}
}

// operation returns the arguments of an operation on the program.
func (a *arena) operation(name string) []string {
	args := []string{name, "--yes", "--skip-preview", "--stack", "organization/p/dev", "--parallel", "4"}
	if name == "up" {
		args = append(args, "--client="+a.program.address, "--exec-kind=auto.inline")
	}
	return args
}

// do runs a command in a worker that nothing disturbs.
func (a *arena) do(args ...string) result {
	if a.worker == nil {
		a.worker = startWorker(a.t)
	}
	return a.worker.do(a.request(args))
}

func (a *arena) must(args ...string) result {
	a.t.Helper()
	r := a.do(args...)
	if r.code != 0 {
		a.t.Fatalf("%s: %+v", args[0], r)
	}
	return r
}

// exported is the part of a state that the tests look at.
type exported struct {
	Deployment struct {
		Manifest  struct{ Magic string }
		Resources []struct {
			URN, Type, ID              string
			Delete, PendingReplacement bool
			Inputs, Outputs            map[string]any
		}
		Pending []struct {
			Resource struct{ URN, ID string }
			Type     string
		} `json:"pending_operations"`
	}
}

func (a *arena) export() exported {
	a.t.Helper()
	var e exported
	if err := json.Unmarshal([]byte(a.must("stack", "export", "--stack", "organization/p/dev").stdout), &e); err != nil {
		a.t.Fatal(err)
	}
	return e
}

// die kills a worker in the middle of an operation: at a call of the cloud, before or after it is done, and a moment
// later.
func (a *arena) die(operation string, call int, done bool, later time.Duration) {
	a.t.Helper()
	w := startWorker(a.t)
	var once sync.Once
	a.sky.tell(func(n int, is bool) {
		if n == call && is == done {
			once.Do(func() { time.AfterFunc(later, func() { _ = w.process.Process.Kill() }) })
			if later == 0 {
				_ = w.wait()
			}
		}
	})
	w.send(a.request(a.operation(operation)))
	var reply wire.Reply
	for w.replies.Decode(&reply) == nil && reply.Exit == nil {
		reply = wire.Reply{}
	}
	_ = w.wait()
	a.sky.tell(func(int, bool) {})
}

// check compares the state, as the engine reads it, with the cloud.
func (a *arena) check(when string) {
	a.t.Helper()
	a.compare(when, a.export())
}

// compare compares a state with the cloud: each thing is in the state, or is being made, and what the state has is
// there, or is being deleted.
func (a *arena) compare(when string, e exported) {
	a.t.Helper()
	if strings.HasPrefix(e.Deployment.Manifest.Magic, "mara") {
		a.t.Errorf("%s: the exported state is fenced", when)
	}
	known, creating, deleting := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, p := range e.Deployment.Pending {
		switch p.Type {
		case "creating":
			creating[p.Resource.URN] = true
		case "deleting":
			deleting[p.Resource.ID] = true
		}
	}
	real := a.sky.things()
	for _, r := range e.Deployment.Resources {
		if r.Type != thingType {
			continue
		}
		if known[r.ID] {
			a.t.Errorf("%s: %s is in the state twice", when, r.URN)
		}
		known[r.ID] = true
		if _, exists := real[r.ID]; !exists && !deleting[r.ID] && !r.PendingReplacement {
			a.t.Errorf("%s: %s is in the state, and does not exist", when, r.URN)
		}
	}
	for id, urn := range real {
		if !known[id] && !creating[urn] {
			a.t.Errorf("%s: %s exists, and is forgotten", when, urn)
		}
	}
}

// plain returns a command of the Pulumi CLI that `make tools` builds.
func (a *arena) plain(args ...string) *exec.Cmd {
	a.t.Helper()
	command := exec.Command(stockCLI(a.t), append(args, "--non-interactive")...)
	command.Dir, command.Env = a.dir, a.env("PULUMI_SKIP_UPDATE_CHECK=true")
	return command
}

// stock runs a command of plain Pulumi to its end.
func (a *arena) stock(args ...string) (string, error) {
	a.t.Helper()
	command := a.plain(args...)
	var output, diagnostics bytes.Buffer
	command.Stdout, command.Stderr = &output, &diagnostics
	if err := command.Run(); err != nil {
		return output.String() + diagnostics.String(), err
	}
	return output.String(), nil
}

func (a *arena) mustStock(args ...string) string {
	a.t.Helper()
	output, err := a.stock(args...)
	if err != nil {
		a.t.Fatalf("plain %s: %v\n%s", args[0], err, output)
	}
	return output
}

// tryStock has plain Pulumi carry on after a kill. It may do so with a state that is whole, and refuses one that lags
// behind a journal.
func (a *arena) tryStock(when string) {
	a.t.Helper()
	a.mustStock("cancel", "--yes", "--stack", "organization/p/dev")
	var e exported
	if err := json.Unmarshal([]byte(a.mustStock("stack", "export", "--stack", "organization/p/dev")), &e); err != nil {
		a.t.Fatal(err)
	}
	if !strings.HasPrefix(e.Deployment.Manifest.Magic, "mara") {
		a.compare(when+", as plain Pulumi sees it", e)
		return
	}
	if output, err := a.stock(a.operation("up")...); err == nil || !strings.Contains(output, "runner repair") {
		a.t.Errorf("%s: plain up on a state that lags: %v\n%s", when, err, output)
	}
}

// adopt does what repair does with creations whose end is not known: what exists of them is removed, and they are
// forgotten.
func (a *arena) adopt(do func(args ...string)) {
	a.t.Helper()
	known := map[string]bool{}
	for _, r := range a.export().Deployment.Resources {
		known[r.ID] = true
	}
	for id := range a.sky.things() {
		if !known[id] {
			_ = os.Remove(filepath.Join(a.sky.dir, id))
		}
	}
	do("refresh", "--yes", "--skip-preview", "--clear-pending-creates", "--stack", "organization/p/dev")
}

// The ways in which an operation that was cut off is finished: by the engine, by the engine without journals, and by
// plain Pulumi, as far as that does it.
var recoveries = []string{"the engine", "whole states", "plain pulumi"}

// finish takes the program to its end, and checks that all of it is there once.
func (a *arena) finish(when, by string) {
	a.t.Helper()
	do := func(args ...string) { a.must(args...) }
	switch by {
	case "whole states":
		a.more = append(a.more, wire.NoJournalVariable+"=true")
	case "plain pulumi":
		a.tryStock(when)
		do = func(args ...string) { a.mustStock(args...) }
	}
	a.must("cancel", "--yes", "--stack", "organization/p/dev")
	a.check(when + ", unlocked")
	a.adopt(do)
	do(a.operation("up")...)
	a.check(when + ", finished")
	if n := len(a.sky.things()); n != a.program.count {
		a.t.Errorf("%s: %d things of %d", when, n, a.program.count)
	}
	if e := a.export(); len(e.Deployment.Pending) > 0 || len(e.Deployment.Resources) != a.program.count+2 {
		a.t.Errorf("%s: %d resources, %d pending", when, len(e.Deployment.Resources), len(e.Deployment.Pending))
	}
}

// journals lists what is in the journals of a backend of files.
func (a *arena) journals() []string {
	a.t.Helper()
	var found []string
	root := filepath.Join(strings.TrimPrefix(a.backend, "file://"), ".pulumi", "mara-journal")
	_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			found = append(found, path)
		}
		return nil
	})
	return found
}

// files returns the contents of a backend of files.
func (a *arena) files() map[string]string {
	a.t.Helper()
	found := map[string]string{}
	root := strings.TrimPrefix(a.backend, "file://")
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			content, readErr := os.ReadFile(path)
			found[strings.TrimPrefix(path, root)], err = string(content), readErr
		}
		return err
	})
	if err != nil {
		a.t.Fatal(err)
	}
	return found
}

func serveS3(t *testing.T) (address string) {
	t.Helper()
	return serveObjects(t, func(*http.Request) {})
}

// serveObjects serves a bucket for states, and tells of each request.
func serveObjects(t *testing.T, tell func(*http.Request)) (address string) {
	t.Helper()
	return serveAnswers(t, func(_ http.ResponseWriter, r *http.Request) bool {
		tell(r)
		return false
	})
}

// serveAnswers serves a bucket for states, but for the requests that something else has answered.
func serveAnswers(t *testing.T, answered func(http.ResponseWriter, *http.Request) bool) (address string) {
	t.Helper()
	objects := s3mem.New()
	if err := objects.CreateBucket("states"); err != nil {
		t.Fatal(err)
	}
	answers := gofakes3.New(objects).Server()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !answered(w, r) {
			answers.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return "s3://states/dir?endpoint=" + server.URL + "&s3ForcePathStyle=true&region=us-east-1"
}

// TestKilled: whenever an engine is killed, nothing is forgotten, and nothing is made twice.
func TestKilled(t *testing.T) {
	t.Parallel()
	cases := 1
	if n, err := strconv.Atoi(os.Getenv("CHAOS_CASES")); err == nil {
		cases = (n + 14) / 15 // of each of fifteen kinds
	}
	database := sync.OnceValue(func() string { return postgrestest.Start(t, 0, 100).Backend })
	var tables, turns atomic.Int32
	for name, backend := range map[string]func() string{
		"files":      func() string { return "file://" + t.TempDir() },
		"S3":         func() string { return serveS3(t) },
		"PostgreSQL": func() string { return fmt.Sprintf("%s&table=case%d", database(), tables.Add(1)) },
	} {
		count := 40
		if name == "PostgreSQL" && cases == 1 { // it writes whole states slowly
			count = 12
		}
		for _, operation := range []string{"up", "update", "replace", "refresh", "destroy"} {
			for i := range cases {
				by := recoveries[int(turns.Add(1))%len(recoveries)]
				t.Run(fmt.Sprint(name, ", ", operation, ", ", i, ", then ", by), func(t *testing.T) {
					t.Parallel()
					a := newArena(t, backend(), count)
					command := operation
					if operation != "up" {
						a.must(a.operation("up")...)
					}
					switch operation {
					case "update":
						a.program.size, command = "large", "up"
					case "replace":
						a.program.zone, command = "b", "up"
					}
					call, done, later := 1+rand.IntN(count), rand.IntN(2) > 0, time.Duration(rand.IntN(3))*3*time.Millisecond
					when := fmt.Sprintf("killed at call %d, done %t, after %s", call, done, later)
					a.die(command, call, done, later)
					a.check(when)
					a.finish(when, by)
				})
			}
		}
	}
}

// TestOncePerSecond: in S3, Google's storage and Azure's, no object is written twice within a second, however fast an operation
// is, and also where it takes over a journal first. Nothing is forgotten there after a kill.
func TestOncePerSecond(t *testing.T) {
	t.Parallel()
	for name, serve := range map[string]func(t *testing.T, told func(key string)) (backend string, env []string){
		"S3": func(t *testing.T, told func(key string)) (string, []string) {
			return serveObjects(t, func(r *http.Request) {
				if r.Method == http.MethodPut {
					told(r.URL.Path)
				}
			}), nil
		},
		"Google": serveGoogle,
		"Azure":  serveAzure,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex // guards what follows
			written, again, early := map[string]time.Time{}, 0, []string(nil)
			backend, env := serve(t, func(key string) {
				mu.Lock()
				defer mu.Unlock()
				if last, ok := written[key]; ok {
					again++
					if apart := time.Since(last); apart < time.Second {
						early = append(early, fmt.Sprint(key, " after ", apart))
					}
				}
				written[key] = time.Now()
			})
			a := newArena(t, backend, 40, env...)
			forget := func() {
				mu.Lock()
				defer mu.Unlock()
				clear(written)
				again, early = 0, nil
			}
			check := func(when string) {
				t.Helper()
				defer forget() // the next command is another one
				mu.Lock()
				defer mu.Unlock()
				if again == 0 || len(early) > 0 {
					t.Errorf("%s: %d objects are written again, too early %q", when, again, early)
				}
			}
			forget()
			a.must(a.operation("up")...)
			check("up")
			a.program.size = "large"
			a.die("up", 20, true, 0)
			a.check("killed")
			a.mustStock("cancel", "--yes", "--stack", "organization/p/dev")
			forget()
			a.must(a.operation("up")...)
			check("up after a kill")
			a.check("finished")
			a.must(a.operation("destroy")...)
			check("destroy")
			if left := len(a.sky.things()); left > 0 {
				t.Errorf("%d things are left", left)
			}
		})
	}
}

// TestLooking: what only looks at a state that was cut off writes nothing, and sees what is in the journal. What plain
// Pulumi does with it is refused, and changes nothing, also once its lock is removed.
func TestLooking(t *testing.T) {
	t.Parallel()
	a := newArena(t, "file://"+t.TempDir(), 40)
	a.die("up", 35, true, 0)
	before := a.files()
	if len(a.journals()) == 0 {
		t.Fatal("there is no journal")
	}
	for name, content := range before {
		if strings.Contains(content, "hidden-value") {
			t.Errorf("%s has a secret", name)
		}
	}
	a.check("looking")
	if n := len(a.export().Deployment.Resources); n < 34 {
		t.Errorf("%d resources are seen", n)
	}
	if r := a.must("stack", "ls", "--all", "--json"); !strings.Contains(r.stdout, `"resourceCount": `) {
		t.Errorf("the list: %+v", r)
	}
	preview := append([]string{"preview"}, a.operation("up")[3:]...)
	if r := a.do(preview...); r.code != 0 || !strings.Contains(r.stdout, "to create") {
		t.Errorf("a preview: %+v", r)
	}
	a.must("stack", "output", "--stack", "organization/p/dev")
	if diff := cmp.Diff(before, a.files()); diff != "" {
		t.Errorf("looking has changed files:\n%s", diff[:min(len(diff), 2000)])
	}

	run := a.stock
	if output, err := run(a.operation("up")...); err == nil || !strings.Contains(output, "locked") {
		t.Errorf("plain up beside the lock: %v\n%s", err, output)
	}
	if output, err := run("cancel", "--yes", "--stack", "organization/p/dev"); err != nil {
		t.Fatalf("plain cancel: %v\n%s", err, output)
	}
	unlocked := a.files()
	for _, args := range [][]string{
		preview, a.operation("up"), a.operation("refresh"), a.operation("destroy"),
		{"state", "delete", "--yes", "--stack", "organization/p/dev", "urn:pulumi:dev::p::test:index:Thing::t1"},
		{"state", "repair", "--yes", "--stack", "organization/p/dev"},
		{"stack", "rm", "--yes", "--stack", "organization/p/dev"},
	} {
		output, err := run(args...)
		if err == nil || args[0] != "stack" && args[1] != "repair" && !strings.Contains(output, "runner repair") {
			t.Errorf("plain %s %s: %v\n%s", args[0], args[1], err, output)
		}
	}
	for _, args := range [][]string{
		{"stack", "ls"}, {"stack", "export", "--stack", "organization/p/dev"}, {"stack", "output", "--stack", "organization/p/dev"},
	} {
		if output, err := run(args...); err != nil {
			t.Errorf("plain %s: %v\n%s", args, err, output)
		}
	}
	if diff := cmp.Diff(unlocked, a.files()); diff != "" {
		t.Errorf("plain pulumi has changed files:\n%s", diff[:min(len(diff), 2000)])
	}
	a.finish("after plain pulumi", "the engine")
	if left := a.journals(); len(left) > 0 {
		t.Errorf("journals are left: %q", left)
	}
	if output, err := run(preview...); err != nil {
		t.Errorf("plain preview in the end: %v\n%s", err, output)
	}
}

// TestPlainRemoval: plain Pulumi removes no stack whose first resources are in its journal alone.
func TestPlainRemoval(t *testing.T) {
	t.Parallel()
	a := newArena(t, serveS3(t), 10)
	a.die("up", 3, true, 0)
	a.mustStock("cancel", "--yes", "--stack", "organization/p/dev")
	if output, err := a.stock("stack", "rm", "--yes", "--stack", "organization/p/dev"); err == nil || !strings.Contains(output, "still has resources") {
		t.Errorf("plain stack rm: %v\n%s", err, output)
	}
	a.finish("after plain stack rm", "the engine")
}

// stockCLI returns the Pulumi CLI that `make tools` builds.
func stockCLI(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("../../bin/pulumi")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Skip("no bin/pulumi: `make tools` builds it")
	}
	return path
}

// TestSameStates: states are those that Pulumi itself writes, but for times and random ids.
func TestSameStates(t *testing.T) {
	t.Parallel()
	states := map[bool][]any{}
	for _, off := range []bool{false, true} {
		a := newArena(t, "file://"+t.TempDir(), 30)
		note := func() {
			var state any
			if err := json.Unmarshal([]byte(a.must("stack", "export", "--stack", "organization/p/dev").stdout), &state); err != nil {
				t.Fatal(err)
			}
			states[off] = append(states[off], normal(state, ""))
		}
		do := func(name string) {
			w := startWorker(t)
			defer w.requests.Close()
			var env []string
			if off {
				env = append(env, wire.NoJournalVariable+"=true")
			}
			if r := w.do(a.request(a.operation(name), env...)); r.code != 0 {
				t.Fatalf("%s: %+v", name, r)
			}
			if left := a.journals(); len(left) > 0 {
				t.Errorf("%s leaves journals: %q", name, left)
			}
			note()
		}
		do("up")
		a.program.size = "large"
		do("up")
		a.program.zone = "b"
		do("up")
		for id := range a.sky.things() {
			_ = os.Remove(filepath.Join(a.sky.dir, id))
			break
		}
		do("refresh")
		do("up")
		a.program.count = 10
		do("up")
		do("destroy")
	}
	for i := range states[true] {
		if i != 3 && i != 4 { // another thing is gone in each of them
			if diff := cmp.Diff(states[true][i], states[false][i]); diff != "" {
				t.Errorf("operation %d:\n%s", i, diff[:min(len(diff), 3000)])
			}
		}
	}
}

// normal replaces what differs between two states of the same, and sorts resources by their names.
func normal(value any, key string) any {
	switch value := value.(type) {
	case map[string]any:
		for k := range value {
			value[k] = normal(value[k], k)
		}
	case []any:
		for i := range value {
			value[i] = normal(value[i], "")
		}
		slices.SortFunc(value, func(a, b any) int {
			x, _ := json.Marshal(a)
			y, _ := json.Marshal(b)
			return strings.Compare(string(x), string(y))
		})
	case string:
		switch key {
		case "id", "created", "modified", "time", "ciphertext", "salt":
			return key
		case "provider":
			return value[:strings.LastIndex(value, "::")]
		}
	}
	return value
}

// TestWithoutJournals: two engines, one of which knows no journals, as that of an older runner or an installed Pulumi. While one
// works the other is refused, also by an engine whose lock was removed, and what one leaves behind when it is killed the other
// refuses or goes on with.
func TestWithoutJournals(t *testing.T) {
	t.Parallel()
	for name, backend := range map[string]string{"files": "file://" + t.TempDir(), "S3": serveS3(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newArena(t, backend, 40)
			whole := func(args ...string) (string, error) {
				w := startWorker(t)
				defer w.requests.Close()
				r := w.do(a.request(args, wire.NoJournalVariable+"=true"))
				if r.code != 0 {
					return r.stdout + r.stderr, fmt.Errorf("exit code %d", r.code)
				}
				return r.stdout, nil
			}
			if testing.Short() && name != "files" {
				t.Skip("as in files")
			}
			refused := func(when string, do func(args ...string) (string, error), want string, args ...string) {
				t.Helper()
				if output, err := do(args...); err == nil || !strings.Contains(output, want) {
					t.Errorf("%s: %s: %v, not %q\n%s", when, args[0], err, want, output)
				}
			}
			var once sync.Once
			a.sky.tell(func(n int, done bool) {
				if n != 35 || !done {
					return
				}
				once.Do(func() {
					for _, operation := range []string{"up", "refresh", "destroy"} {
						refused("beside it, plain", a.stock, "", a.operation(operation)...) // refresh and destroy read the state first
						refused("beside it, whole states", whole, "locked", a.operation(operation)...)
					}
					a.mustStock("cancel", "--yes", "--stack", "organization/p/dev")
					for _, operation := range []string{"up", "refresh", "destroy"} {
						refused("without its lock, plain", a.stock, "runner repair", a.operation(operation)...)
						refused("without its lock, whole states", whole, "still going on", a.operation(operation)...)
					}
				})
			})
			a.must(a.operation("up")...)
			a.sky.tell(func(int, bool) {})
			a.check("both")
			if left := a.export(); len(left.Deployment.Resources) != 42 {
				t.Errorf("%d resources", len(left.Deployment.Resources))
			}
			a.mustStock(a.operation("up")...)

			a.program.size = "large" // and now the one without journals is killed
			killed := a.plain(a.operation("up")...)
			a.sky.tell(func(n int, done bool) {
				if n == 10 && done {
					_ = killed.Process.Kill()
				}
			})
			_ = killed.Run()
			a.sky.tell(func(int, bool) {})
			a.check("the one without journals is killed")
			if r := a.do(a.operation("up")...); r.code == 0 || !strings.Contains(r.stderr, "locked") {
				t.Errorf("beside its lock: %+v", r)
			}
			a.finish("after one without journals", "the engine")
		})
	}
}

// TestForgottenJournal: where something else has written the state since, no operation replays the journal, until it is said that
// the state is right as it is. Copies of both stay.
func TestForgottenJournal(t *testing.T) {
	t.Parallel()
	a := newArena(t, "file://"+t.TempDir(), 40)
	a.program.count = 5
	a.must(a.operation("up")...)
	before := a.must("stack", "export", "--stack", "organization/p/dev").stdout
	a.program.count = 40
	a.die("up", 30, true, 0)
	if len(a.journals()) == 0 {
		t.Fatal("there is no journal")
	}
	a.mustStock("cancel", "--yes", "--stack", "organization/p/dev")
	whole := filepath.Join(t.TempDir(), "state.json")
	if err := os.WriteFile(whole, []byte(strings.ReplaceAll(before, `"small"`, `"other"`)), 0o600); err != nil {
		t.Fatal(err)
	}
	a.mustStock("stack", "import", "--force", "--file", whole, "--stack", "organization/p/dev")
	unchanged := a.files()
	for _, operation := range []string{"up", "refresh", "destroy"} {
		if r := a.do(a.operation(operation)...); r.code == 0 || !strings.Contains(r.stderr, "runner repair --forget-journal") {
			t.Errorf("%s: %+v", operation, r)
		}
	}
	if after := a.files(); after[statePath] != unchanged[statePath] {
		t.Error("a refused operation has changed the state")
	}
	a.more = append(a.more, wire.ForgetJournalVariable+"=true")
	a.must("cancel", "--yes", "--stack", "organization/p/dev")
	if e := a.export(); len(e.Deployment.Resources) != 5+2 || len(e.Deployment.Pending) > 0 {
		t.Errorf("%d resources, %d pending", len(e.Deployment.Resources), len(e.Deployment.Pending))
	}
	copies := a.journals()
	if len(copies) != 3 || slices.ContainsFunc(copies, func(path string) bool { return !strings.Contains(path, "dropped-") }) {
		t.Errorf("of the state, the journal and its base there are %q", copies)
	}
	a.more = nil
	a.must("preview", "--stack", "organization/p/dev", "--client="+a.program.address, "--exec-kind=auto.inline")
}

// statePath is where the state of an arena is in a backend of files.
const statePath = "/.pulumi/stacks/p/dev.json"
