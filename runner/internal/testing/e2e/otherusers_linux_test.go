package e2e

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/sys/unix"

	"mara/projects/loopback/loopbacktest"
)

// TestOtherUsers of this machine get no answer from any port of a run that works, and its own user does.
func TestOtherUsers(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can be another user")
	}
	e := newEnvironment(t, embedded)
	cmd := e.command("up", "-p", "kind", "--only", few, "--simulate", "--simulate-speed", "100000", "--yes", "-o", "json",
		"--simulate-slow", "kind:index:Cluster=10m")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	asked := map[string]int{}
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if len(asked) == 0 && met(lines.Text()) {
			for name, ports := range listening(t, cmd.Process.Pid) {
				for _, port := range ports {
					if !answers(t, 0, port) {
						t.Errorf("%s does not answer its own user at port %d", name, port)
					}
					if answers(t, loopbacktest.Nobody, port) {
						t.Errorf("%s answers another user at port %d", name, port)
					}
					asked[name]++
				}
			}
			_ = cmd.Process.Signal(syscall.SIGTERM)
		}
	}
	_ = cmd.Wait()
	for name, least := range map[string]int{"runner": 1, "mara-engine": 2, "pulumi-language-mara": 1} {
		if asked[name] < least {
			t.Errorf("%s listens at %d ports, want %d at least: %v\n%s", name, asked[name], least, asked, &stderr)
		}
	}
}

// waitingProgram waits for a file between two resources.
const waitingProgram = `import * as pulumi from "@pulumi/pulumi";
import * as fs from "fs";

console.log("has begun");
const timer = setInterval(() => {
    if (fs.existsSync("go")) {
        clearInterval(timer);
        new pulumi.Stash("last", {input: "last"});
    }
}, 50);
`

// TestOtherUsersNodejs: nor do they from the port through which programs in Node.js talk to the engine.
func TestOtherUsersNodejs(t *testing.T) {
	t.Parallel()
	host := os.Getenv("E2E_NODEJS")
	if host == "" || os.Geteuid() != 0 {
		t.Skip("E2E_NODEJS names no pulumi-language-nodejs, or this is not root, who alone can be another user")
	}
	e := newTypeScript(t, host)
	e.write("mara.yaml", "projects: [{path: shop}]\n")
	e.program("shop", waitingProgram, `"@pulumi/pulumi": "3.250.0"`, "")
	cmd := e.command("up", "--yes", "-o", "json")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	hosts, relayed := 0, 0
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if hosts > 0 || !strings.Contains(lines.Text(), "has begun") {
			continue
		}
		for name, ports := range listening(t, cmd.Process.Pid) {
			for _, port := range ports {
				isLetIn, err := loopbacktest.IsLetIn(loopbacktest.Nobody, port)
				if err != nil {
					t.Fatal(err)
				}
				if isLetIn && answers(t, loopbacktest.Nobody, port) {
					t.Errorf("%s answers another user at port %d", name, port)
				}
				if name == "pulumi-language-nodejs" {
					hosts++
					if isLetIn {
						t.Errorf("%s lets in another user at port %d", name, port)
					}
					if own, err := loopbacktest.IsLetInWithin(0, port, 5*time.Second); err != nil {
						t.Fatal(err)
					} else if own {
						relayed++
					}
				}
			}
		}
		e.write("shop/go", "")
	}
	if err := cmd.Wait(); err != nil || hosts != 2 || relayed != 1 {
		t.Errorf("%v: the language host listens at %d ports, of which %d let in its own user, want 2 and 1\n%s", err, hosts, relayed, &stderr)
	}
}

// listening returns the ports at which a process and its descendants listen, by program.
func listening(t *testing.T, process int) map[string][]int {
	t.Helper()
	parents := map[int]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		content, _ := os.ReadFile(path)
		_, rest, _ := strings.Cut(string(content), ") ")
		if fields := strings.Fields(rest); len(fields) > 1 {
			id, _ := strconv.Atoi(strings.Split(path, "/")[2])
			parents[id], _ = strconv.Atoi(fields[1])
		}
	}
	table, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		t.Fatal(err)
	}
	ports := map[string]int{} // by the link of a socket
	for line := range strings.Lines(string(table)) {
		if fields := strings.Fields(line); len(fields) > 9 && fields[3] == "0A" {
			_, text, _ := strings.Cut(fields[1], ":")
			port, _ := strconv.ParseUint(text, 16, 16)
			ports["socket:["+fields[9]+"]"] = int(port)
		}
	}
	found := map[string][]int{}
	for id := range parents {
		for above := id; above != process; above = parents[above] {
			if above == 0 {
				id = 0
				break
			}
		}
		if id == 0 {
			continue
		}
		program, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", id))
		files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", id))
		for _, file := range files {
			if link, err := os.Readlink(file); err == nil && ports[link] > 0 {
				found[filepath.Base(program)] = append(found[filepath.Base(program)], ports[link])
			}
		}
	}
	return found
}

// answers reports whether a server talks HTTP/2 to a user.
func answers(t *testing.T, user, port int) bool {
	t.Helper()
	conn, err := loopbacktest.Connect(user, unix.AF_INET, port)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	if _, err := conn.Write([]byte(http2.ClientPreface)); err != nil {
		return false
	}
	_ = http2.NewFramer(conn, conn).WriteSettings()
	n, _ := conn.Read(make([]byte, 1))
	return n == 1
}
