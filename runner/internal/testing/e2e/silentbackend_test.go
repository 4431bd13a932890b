package e2e

import (
	"bytes"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// silence starts a server that takes connections and never answers, and returns addresses of backends there.
func silence(t *testing.T) (backends []string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = connection.Close() })
		}
	}()
	at := listener.Addr().String()
	return []string{
		"postgres://runner:needle-of-the-database@" + at + "/states?sslmode=disable",
		"s3://states?endpoint=http://" + at + "&s3ForcePathStyle=true&region=us-east-1",
	}
}

// shared is a buffer that is written and read at once.
type shared struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

// Write implements io.Writer.
func (s *shared) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(text)
}

// String returns what was written so far.
func (s *shared) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// TestSilentBackend: a wait for a backend says what it waits for, ends soon after one Ctrl-C to the runner alone, and
// leaves no process, also where the runner is killed.
func TestSilentBackend(t *testing.T) {
	t.Parallel()
	long(t)
	for _, backend := range silence(t) {
		name, _, _ := strings.Cut(backend, ":")
		for _, test := range []struct {
			name   string
			args   []string
			signal syscall.Signal
		}{
			{"status", []string{"status", "-s", "e00"}, syscall.SIGINT},
			{"up", []string{"up", "-s", "e00", "--yes"}, syscall.SIGINT},
			{"pulumi", []string{"pulumi", "a", "-s", "e00", "--", "stack", "ls"}, syscall.SIGINT},
			{"status, killed", []string{"status", "-s", "e00"}, syscall.SIGKILL},
			{"pulumi, killed", []string{"pulumi", "a", "-s", "e00", "--", "stack", "ls"}, syscall.SIGKILL},
		} {
			t.Run(name+" "+test.name, func(t *testing.T) {
				t.Parallel()
				e := elsewhere(t, place{backend: backend, env: keysOfTheBucket()}, 1)
				command, said := e.command(test.args...), &shared{}
				command.Stderr = said
				if err := command.Start(); err != nil {
					t.Fatal(err)
				}
				isPulumi := test.args[0] == "pulumi"
				for deadline := time.Now().Add(time.Minute); !strings.Contains(said.String(), "waiting for the backend") && !isPulumi; {
					if time.Now().After(deadline) {
						t.Fatalf("it does not say that it waits: %s", said)
					}
					time.Sleep(100 * time.Millisecond)
				}
				if isPulumi {
					waitForProcess(t, e)
				}
				if err := command.Process.Signal(test.signal); err != nil {
					t.Fatal(err)
				}
				interrupted := time.Now()
				_ = command.Wait()
				if code := command.ProcessState.ExitCode(); test.signal == syscall.SIGINT && code != 130 {
					t.Errorf("exit code %d, want 130: %s", code, said)
				}
				if took := time.Since(interrupted); took > 10*time.Second {
					t.Errorf("it ended after %s", took)
				}
				if strings.Contains(said.String(), "needle") {
					t.Errorf("it says the password: %s", said)
				}
				for len(e.processes()) > 0 {
					if time.Since(interrupted) > 20*time.Second {
						t.Fatalf("processes are left: %v", e.processes())
					}
					time.Sleep(100 * time.Millisecond)
				}
			})
		}
	}
}

// waitForProcess waits until the runner of an environment has started another process.
func waitForProcess(t *testing.T, e *environment) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); len(e.processes()) < 2; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("no process is started")
		}
	}
	time.Sleep(time.Second) // it connects
}
