package preflight

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mara/runner/internal/feature/kind/containers"
)

// KindPort names the keys of a port of this machine, and of the address that it is listened on at.
type KindPort struct{ Key, Address string }

// KindPorts lists the ports that an environment on this machine wants.
func KindPorts() []KindPort {
	return []KindPort{
		{"kind:http_port", "kind:listen_address"},
		{"kind:https_port", "kind:listen_address"},
		{"kind:api_server_port", "kind:api_server_address"},
		{"kind:registry_port", "kind:registry_address"},
	}
}

// kindPorts checks whether the ports of this machine that the environment wants are
// free, or held by the environment itself.
func (m machine) kindPorts(ctx context.Context) []Finding {
	taken := m.containersByPort(ctx)
	var findings []Finding
	var free []string
	for _, want := range KindPorts() {
		port, err := strconv.Atoi(m.setting(want.Key))
		if err != nil || port == 0 {
			continue // any free port will do, or the value is wrong, which other checks report
		}
		if wrong := m.port(want.Key, m.setting(want.Address), port, taken); wrong != nil {
			findings = append(findings, wrong...)
			continue
		}
		free = append(free, strconv.Itoa(port))
	}
	if len(findings) > 0 {
		return findings
	}
	return Good(fmt.Sprintf("%s are free, or this environment's own", strings.Join(free, ", ")))
}

// port returns why the environment cannot use a port; nil if it can.
func (m machine) port(key, address string, port int, taken []containers.Container) []Finding {
	remedy := fmt.Sprintf("stop that, or choose another port (%s)", key)
	for _, c := range taken {
		for _, held := range c.Ports {
			if !held.Clashes(containers.Port{Address: address, Host: port}) {
				continue
			}
			if m.own(c) {
				return nil
			}
			return Bad(fmt.Sprintf("port %d is held by the container %s", port, c.Name), remedy)
		}
	}
	err := m.listen(address, port)
	switch {
	case err == nil, errors.Is(err, errNotAllowed): // the runtime may have the permission
		return nil
	case errors.Is(err, errNotOurs):
		return Doubtful(address+" is no address of this machine",
			"if the containers run elsewhere, it has to be one of that machine")
	case !errors.Is(err, errInUse):
		return Doubtful(fmt.Sprintf("whether port %d is free is not known: %v", port, err), "")
	}
	if program := m.holder(port); strings.HasPrefix(program, proxyOfDocker+" ") {
		return Bad(fmt.Sprintf("port %d is held by %s, although no container runs that publishes it", port, program),
			"restart docker: that is a rest of a daemon that was killed; or choose another port ("+key+")")
	} else if program != "" {
		return Bad(fmt.Sprintf("port %d is held by %s", port, program), remedy)
	}
	find := "find it with `sudo ss -ltnp 'sport = :" + strconv.Itoa(port) + "'`, and "
	return Bad(fmt.Sprintf("port %d is held by another program", port), find+remedy)
}

// proxyOfDocker is docker's program that holds the ports of containers.
const proxyOfDocker = "docker-proxy"

// containersByPort lists the running containers that hold ports; none if the runtime
// does not answer, which kindRuntime reports.
func (m machine) containersByPort(ctx context.Context) []containers.Container {
	runtime, err := m.runtime()
	if err != nil {
		return nil
	}
	all, err := runtime.List(ctx, "")
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(all, func(c containers.Container) bool {
		return c.State == containers.Stopped || len(c.Ports) == 0
	})
}

// listen tries to listen on a port, and closes it again.
func listen(address string, port int) error {
	listener, err := net.Listen("tcp", net.JoinHostPort(address, strconv.Itoa(port)))
	if err != nil {
		return err
	}
	return listener.Close()
}

// holderIn returns a function that finds the program listening on a port in Linux's
// /proc: a table lists the sockets, and the open files of a process show its
// sockets. It does not find programs of other users, nor any on other systems.
func holderIn(proc string) func(port int) string {
	return func(port int) string {
		for inode := range listening(proc, port) {
			if program := owner(proc, "socket:["+inode+"]"); program != "" {
				return program
			}
		}
		return ""
	}
}

// listening returns the inodes of the sockets that listen on a port.
func listening(proc string, port int) map[string]bool {
	const state, listens = 3, "0A"
	inodes := map[string]bool{}
	for _, table := range []string{"net/tcp", "net/tcp6"} {
		content, _ := os.ReadFile(filepath.Join(proc, table)) // other systems have none
		for line := range strings.Lines(string(content)) {
			fields := strings.Fields(line)
			if len(fields) > 9 && fields[state] == listens && strings.HasSuffix(fields[1], fmt.Sprintf(":%04X", port)) {
				inodes[fields[9]] = true
			}
		}
	}
	return inodes
}

// owner returns the name and id of the process that has a file open.
func owner(proc, file string) string {
	handles, _ := filepath.Glob(filepath.Join(proc, "[0-9]*", "fd", "*")) // the pattern is right
	for _, handle := range handles {
		if target, err := os.Readlink(handle); err != nil || target != file {
			continue
		}
		process := filepath.Dir(filepath.Dir(handle))
		name, err := os.ReadFile(filepath.Join(process, "comm"))
		if err != nil {
			continue
		}
		return fmt.Sprintf("%s (process %s)", strings.TrimSpace(string(name)), filepath.Base(process))
	}
	return ""
}
