package e2e

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"mara/runner/internal/testing/postgrestest"
	"mara/runner/internal/testing/servicetest"
)

// place is where an environment has its states.
type place struct {
	backend string
	env     []string
	trouble func() // makes the backend refuse requests, or end connections; nil for files
	mend    func() // ends the trouble; nil where it ends by itself
	kind    string // of that trouble
	// multiply copies the state of a stack of a project to other names.
	multiply func(project, stack string, names []string)
	versions func() map[string]string // of the server; nil for files
	passage  *passage                 // between the environment and the backend; nil where none was asked for
	service  bool                     // Pulumi Cloud, which has no place for the runner's locks

	// At a service: whether the stack dev of a project exists, and the requests since they were forgotten.
	hasStack func(project string) bool
	forget   func()
	asked    func() []string
}

// The kinds of backends.
const (
	inFiles    = "files"
	inS3       = "S3"
	inPostgres = "PostgreSQL"
	inService  = "Pulumi Cloud" // a server of our own that speaks its protocol
)

// roomyPostgres is how many connections a server takes that several tests use at once.
const roomyPostgres = 100

// keyOfTheBucket is the secret of the buckets of the tests.
const keyOfTheBucket = "needle-of-the-bucket"

func keysOfTheBucket() []string {
	return []string{"AWS_ACCESS_KEY_ID=id", "AWS_SECRET_ACCESS_KEY=" + keyOfTheBucket}
}

// inDirectory returns a place of its own on the disk.
func inDirectory(t *testing.T) place {
	dir := t.TempDir()
	multiply := func(project, stack string, names []string) {
		states := filepath.Join(dir, ".pulumi/stacks", project)
		content, err := os.ReadFile(filepath.Join(states, stack+".json"))
		for _, name := range names {
			err = errors.Join(err, os.WriteFile(filepath.Join(states, name+".json"), content, 0o600))
		}
		if err != nil {
			t.Error(err)
		}
	}
	return place{backend: "file://" + dir, multiply: multiply}
}

// inBucket returns a directory of a bucket.
func inBucket(b *bucket, dir string) place {
	return place{
		backend: b.backend(dir), env: keysOfTheBucket(), trouble: func() { b.trouble.Store(60) }, kind: refusals, versions: func() map[string]string { return s3Versions(b.t) },
		multiply: func(project, stack string, names []string) {
			b.multiply(dir+"/.pulumi/stacks/"+project+"/", stack, names)
		},
	}
}

// places starts a server of a kind for all cases of a test, and returns what makes a place of its own for each of them.
func places(t *testing.T, kind string) func(t *testing.T) place {
	t.Helper()
	var made atomic.Int32
	switch kind {
	case inS3:
		b := newBucket(t)
		return func(*testing.T) place { return inBucket(b, fmt.Sprintf("case/%d", made.Add(1))) }
	case inPostgres:
		server := postgrestest.Start(t, freePort(t), roomyPostgres)
		return func(*testing.T) place {
			table := fmt.Sprintf("case%d", made.Add(1))
			return place{
				backend: server.Backend + "&table=" + table, trouble: server.Cut, kind: cutConnections, versions: server.Versions,
				multiply: func(project, stack string, names []string) { server.Multiply(table, project, stack, names) },
			}
		}
	case inService:
		return func(t *testing.T) place {
			forms := []servicetest.Options{{}, {Deltas: true, BeginUpdate: true}, {Replay: replay, Outputs: true}}
			s := servicetest.New(t, forms[int(t.Name()[len(t.Name())-1])%len(forms)]) // the last digit of a seed
			return place{backend: s.URL, env: s.Env(), service: true, kind: refusals,
				trouble:  func() { s.Set(servicetest.Fault{Status: http.StatusServiceUnavailable, Times: 12}) },
				mend:     s.Mend,
				versions: func() map[string]string { return serviceVersions(t) }}
		}
	}
	return inDirectory
}

// useStatesAt has the environment store its states at a place.
func (e *environment) useStatesAt(at place) {
	e.env = append(append(e.env, "PULUMI_CONFIG_PASSPHRASE="+ownPassphrase, "PULUMI_BACKEND_URL="+at.backend), at.env...)
}

// objects lists, writes or deletes objects at a backend, as the runner does it, and returns what that prints.
func (e *environment) objects(stdin string, args ...string) string {
	e.t.Helper()
	cmd := e.command()
	cmd.Path, cmd.Args = program(e.t, "mara-engine"), append([]string{"mara-engine", "objects"}, args...)
	r := e.finish(cmd, stdin)
	if r.code != 0 {
		e.t.Fatalf("objects %v: exit code %d\n%s", args, r.code, r.stderr)
	}
	return strings.TrimSpace(r.stdout)
}

// passage leads to a server, and can be closed.
type passage struct {
	mu     sync.Mutex // guards what follows
	closed bool
	open   map[net.Conn]bool
}

// through returns the same place behind a passage.
func (p place) through(t *testing.T) place {
	t.Helper()
	address, err := url.Parse(p.backend)
	if err != nil {
		t.Fatal(err)
	}
	target := address.Host
	if endpoint := address.Query().Get("endpoint"); endpoint != "" {
		target = strings.TrimPrefix(endpoint, "http://")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	p.passage = &passage{open: map[net.Conn]bool{}}
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go p.passage.lead(connection, target)
		}
	}()
	p.backend = strings.Replace(p.backend, target, listener.Addr().String(), 1)
	return p
}

// lead connects a client with the server.
func (p *passage) lead(client net.Conn, target string) {
	defer func() { _ = client.Close() }()
	server, err := net.Dial("tcp", target)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return
	}
	p.open[client], p.open[server] = true, true
	p.mu.Unlock()
	go func() {
		_, _ = io.Copy(server, client)
		_ = server.Close()
	}()
	_, _ = io.Copy(client, server)
}

// set closes the passage, with all that is on its way, or opens it.
func (p *passage) set(closed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = closed
	for connection := range p.open {
		_ = connection.Close()
	}
	clear(p.open)
}
