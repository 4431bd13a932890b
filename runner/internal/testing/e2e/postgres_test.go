package e2e

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

	gocmp "github.com/google/go-cmp/cmp"
)

// postgresConnections is how many connections the server of a test takes: hardly more than a runner may hold.
const postgresConnections = 24

// withoutRights is the number of the user and group that own nothing on Linux.
const withoutRights = 65534

// database is a PostgreSQL server of a test's own.
type database struct {
	t       *testing.T
	backend string // the address of an empty database as a backend
	version string
	psql    string // the program that speaks with it
}

// cut ends all connections. The server takes new ones.
func (d database) cut() {
	d.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'")
}

// execute executes SQL, and returns what that prints.
func (d database) execute(sql string) string {
	output, err := exec.Command(d.psql, d.backend, "-c", sql).CombinedOutput()
	if err != nil {
		d.t.Errorf("%.200s: %v\n%s", sql, err, output)
	}
	return strings.TrimSpace(string(output))
}

// multiply copies the state of a stack to other names.
func (d database) multiply(table, project, stack string, names []string) {
	of := "postgres/.pulumi/stacks/" + project + "/" // keys begin with the name of the database
	printed := d.execute(fmt.Sprintf("INSERT INTO %[1]s (key, data) SELECT '%[2]s' || name || '.json', data FROM %[1]s, unnest(ARRAY['%[3]s']) name WHERE key = '%[2]s%[4]s.json'",
		table, of, strings.Join(names, "','"), stack))
	if want := fmt.Sprintf("INSERT 0 %d", len(names)); printed != want {
		d.t.Errorf("%q, want %q", printed, want)
	}
}

// versions returns the version of the server.
func (d database) versions() map[string]string { return map[string]string{"PostgreSQL": d.version} }

// postgres starts a PostgreSQL server that takes a number of connections.
func postgres(t *testing.T, connections int) database {
	t.Helper()
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
	port := freePort(t)
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
			t.Errorf("more connections than allowed:\n%s", lastLines(log.String()))
		}
	})
	for range 200 {
		if connection, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			_ = connection.Close()
			version, _ := exec.Command(filepath.Join(programs, "postgres"), "--version").Output()
			_, number, _ := strings.Cut(strings.TrimSpace(string(version)), ") ")
			return database{t: t, version: number, psql: cmp.Or(psql, filepath.Join(programs, "psql")),
				backend: fmt.Sprintf("postgres://runner:%s@127.0.0.1:%d/postgres?sslmode=disable", secret, port)}
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("the server does not start: %s", log.String())
	return database{}
}

// TestStatesInPostgres takes a fleet with its states in PostgreSQL through its life. The server takes hardly more
// connections than a runner may hold.
func TestStatesInPostgres(t *testing.T) {
	t.Parallel()
	long(t)
	server := postgres(t, postgresConnections)
	life{place: place{backend: server.backend}, again: server.backend + "&table=again", needle: "needle-of-the-database"}.test(t)
	recordBackend(t, "make test", server.versions(), lifeParts()...)
}

// TestListInPostgres: the list of stacks that the engine makes with one query is the one that Pulumi makes.
func TestListInPostgres(t *testing.T) {
	t.Parallel()
	server := postgres(t, postgresConnections)
	e := reliable(t, place{backend: server.backend})
	e.succeed("up", "--yes")
	server.multiply("pulumi_state", "a", "dev", []string{"one", "two.json", "three"})
	server.execute("UPDATE pulumi_state SET key = replace(key, 'three.json', 'three.json.bak') WHERE key LIKE '%/a/three.json'")
	list := func(name string) string {
		command := exec.Command(program(t, name), "stack", "ls", "--all", "--json", "--non-interactive")
		command.Dir = t.TempDir()
		command.Env = append(os.Environ(), "PULUMI_BACKEND_URL="+server.backend, "PULUMI_HOME="+t.TempDir(), "PULUMI_SKIP_UPDATE_CHECK=1",
			"PULUMI_DIY_BACKEND_PARALLEL=1") // with more, Pulumi waits for itself
		output, err := command.Output()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		return string(output)
	}
	want, got := list("pulumi"), list("mara-engine")
	if !strings.Contains(want, "/one\"") || strings.Contains(want, "three") {
		t.Errorf("Pulumi lists\n%s", want)
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("lists (-Pulumi's +ours):\n%s", diff)
	}
}
