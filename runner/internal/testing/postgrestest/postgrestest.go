// Package postgrestest starts PostgreSQL servers for tests, of programs that are installed.
package postgrestest

import (
	"bytes"
	"cmp"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// withoutRights is the number of the user and group that own nothing on Linux.
const withoutRights = 65534

// Server is a PostgreSQL server of a test's own.
type Server struct {
	Backend string // the address of an empty database as a backend
	t       *testing.T
	version string
	psql    string // the program that speaks with it
}

// Cut ends all connections. The server takes new ones.
func (s Server) Cut() {
	s.Execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'")
}

// Execute executes SQL, and returns what that prints.
func (s Server) Execute(sql string) string {
	output, err := exec.Command(s.psql, s.Backend, "-c", sql).CombinedOutput()
	if err != nil {
		s.t.Errorf("%.200s: %v\n%s", sql, err, output)
	}
	return strings.TrimSpace(string(output))
}

// Multiply copies the state of a stack to other names.
func (s Server) Multiply(table, project, stack string, names []string) {
	of := "postgres/.pulumi/stacks/" + project + "/" // keys begin with the name of the database
	printed := s.Execute(fmt.Sprintf("INSERT INTO %[1]s (key, data) SELECT '%[2]s' || name || '.json', data FROM %[1]s, unnest(ARRAY['%[3]s']) name WHERE key = '%[2]s%[4]s.json'",
		table, of, strings.Join(names, "','"), stack))
	if want := fmt.Sprintf("INSERT 0 %d", len(names)); printed != want {
		s.t.Errorf("%q, want %q", printed, want)
	}
}

// Versions returns the version of the server.
func (s Server) Versions() map[string]string { return map[string]string{"PostgreSQL": s.version} }

// Start starts a PostgreSQL server, which takes a number of connections, on a port: with 0 on one that is free.
func Start(t *testing.T, port, connections int) Server {
	t.Helper()
	if port == 0 {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		port = listener.Addr().(*net.TCPAddr).Port
		_ = listener.Close()
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if path, err := exec.LookPath("initdb"); err == nil {
		found = append(found, path)
	}
	if len(found) == 0 {
		t.Skip("PostgreSQL is not installed: scripts/packages.sh installs it on Debian")
	}
	psql, _ := exec.LookPath("psql")
	programs := filepath.Dir(found[len(found)-1])
	dir, err := os.MkdirTemp("", "pg") // short: a socket is in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	as := &syscall.SysProcAttr{}
	if os.Getuid() == 0 { // which the server refuses
		as.Credential = &syscall.Credential{Uid: withoutRights, Gid: withoutRights}
		if err := os.Chown(dir, withoutRights, withoutRights); err != nil {
			t.Fatal(err)
		}
	}
	const secret = "needle-of-the-database"
	password := filepath.Join(dir, "password")
	if err := os.WriteFile(password, []byte(secret+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(dir, "data")
	initdb := exec.Command(filepath.Join(programs, "initdb"), "-D", data, "-U", "runner", "-A", "password", "--pwfile", password, "--no-sync")
	initdb.Dir, initdb.SysProcAttr = dir, as
	if output, err := initdb.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, output)
	}
	server := exec.Command(filepath.Join(programs, "postgres"), "-D", data, "-k", dir, "-h", "127.0.0.1", "-p", strconv.Itoa(port), "-F",
		"-c", fmt.Sprintf("max_connections=%d", connections))
	var log bytes.Buffer
	server.Dir, server.SysProcAttr, server.Stderr = dir, as, &log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Signal(syscall.SIGINT) // without waiting for clients
		_ = server.Wait()
		if strings.Contains(log.String(), "too many clients") {
			t.Errorf("more connections than allowed:\n%s", log.String())
		}
	})
	for range 200 {
		if connection, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			_ = connection.Close()
			version, _ := exec.Command(filepath.Join(programs, "postgres"), "--version").Output()
			_, number, _ := strings.Cut(strings.TrimSpace(string(version)), ") ")
			return Server{t: t, version: number, psql: cmp.Or(psql, filepath.Join(programs, "psql")),
				Backend: fmt.Sprintf("postgres://runner:%s@127.0.0.1:%d/postgres?sslmode=disable", secret, port)}
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("the server does not start: %s", log.String())
	return Server{}
}
