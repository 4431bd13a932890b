// Package kindtest is a machine for tests of the provider "kind": a container
// runtime and kind, both in memory. They do what the provider is known to ask
// of them; anything else fails the test.
package kindtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"mara/runner/internal/feature/kind/containers"
	"mara/runner/internal/feature/kind/kindprovider"
)

// Machine is a machine with a container runtime.
type Machine struct {
	t testing.TB

	mu         sync.Mutex // guards what follows
	containers map[string]*Container
	networks   map[string]bool
	volumes    map[string]bool
	images     map[string]bool
	calls      []string
	made       int // clusters so far
	down       bool
	silent     bool // registries start and do not answer
	booting    int  // questions that API servers will not answer
	faults     map[string]string
	creation   *Creation
}

// Container is a container on the machine.
type Container struct {
	ID, Name, Image string
	Running, Paused bool
	StartedAt       string
	Labels          map[string]string
	Mounts          []string
	Networks        []string
	Ports           map[string]containers.Port // by the container's
	Files           map[string]string
	ConfigMaps      map[string]string
	Images          []string // loaded into a node
}

// New returns a machine that has only some images.
func New(t testing.TB, images ...string) *Machine {
	m := &Machine{
		t: t, containers: map[string]*Container{}, networks: map[string]bool{}, volumes: map[string]bool{},
		images: map[string]bool{}, faults: map[string]string{},
	}
	for _, image := range images {
		m.images[image] = true
	}
	return m
}

// Open implements kindprovider.Open.
func (m *Machine) Open(string) (kindprovider.Backend, error) {
	return kindprovider.Backend{
		Containers: containers.New("docker", m.run),
		Clusters:   clusters{m},
		Answers:    m.answers,
		Patience:   time.Millisecond,
		NewUID:     m.newUID,
	}, nil
}

func (m *Machine) newUID() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.made++
	return "uid-" + strconv.Itoa(m.made)
}

func (m *Machine) answers(context.Context, string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !m.silent
}

// Stop stops the runtime's daemon.
func (m *Machine) Stop() { m.change(func() { m.down = true }) }

// Start starts it again.
func (m *Machine) Start() { m.change(func() { m.down = false }) }

// Silence keeps registries from answering, or no longer.
func (m *Machine) Silence(on bool) { m.change(func() { m.silent = on }) }

// Boot keeps API servers from answering the next questions whether they are
// ready, and from doing anything until then.
func (m *Machine) Boot(questions int) { m.change(func() { m.booting = questions }) }

// Booting tells that API servers are not ready yet.
func (m *Machine) Booting() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.booting > 0
}

// Fail makes commands that begin with some words fail with a message; with ""
// no longer.
func (m *Machine) Fail(command, message string) {
	m.change(func() {
		m.faults[command] = message
		if message == "" {
			delete(m.faults, command)
		}
	})
}

// Put puts a container on the machine that the provider knows nothing about.
func (m *Machine) Put(c Container) {
	m.change(func() {
		c.ID = id(c.Name)
		m.containers[c.Name] = &c
	})
}

// Change changes a container behind the provider's back.
func (m *Machine) Change(name string, change func(*Container)) {
	m.t.Helper()
	m.change(func() {
		if m.containers[name] == nil {
			m.t.Errorf("there is no container %s", name)
			return
		}
		change(m.containers[name])
	})
}

// RemoveImage removes an image of the machine, but not of nodes.
func (m *Machine) RemoveImage(name string) { m.change(func() { delete(m.images, name) }) }

// Remove removes containers behind the provider's back.
func (m *Machine) Remove(names ...string) {
	m.change(func() {
		for _, name := range names {
			delete(m.containers, name)
		}
	})
}

func (m *Machine) change(change func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change()
}

// Get returns a container, or nil if it does not exist.
func (m *Machine) Get(name string) *Container {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.containers[name]
}

// Traces lists the names of everything on the machine, except images.
func (m *Machine) Traces() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []string
	for _, kind := range []struct {
		name  string
		names []string
	}{
		{"container ", slices.Collect(maps.Keys(m.containers))},
		{"network ", slices.Collect(maps.Keys(m.networks))},
		{"volume ", slices.Collect(maps.Keys(m.volumes))},
	} {
		for _, name := range kind.names {
			all = append(all, kind.name+name)
		}
	}
	slices.Sort(all)
	return all
}

// Calls returns the changing commands since its last call.
func (m *Machine) Calls() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	calls := m.calls
	m.calls = nil
	return calls
}

func id(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:])
}

// run implements containers.Runner.
func (m *Machine) run(ctx context.Context, c containers.Command) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.down {
		return failure(c, "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?")
	}
	line := strings.Join(c.Args, " ")
	for command, message := range m.faults {
		if strings.HasPrefix(line, command) {
			return failure(c, "%s", message)
		}
	}
	output, err := m.do(c, line)
	if err == nil && c.Stdout != nil {
		_, err = io.WriteString(c.Stdout, output)
	}
	return err
}

func failure(c containers.Command, format string, a ...any) error {
	return &containers.ExitError{Command: c.Name + " " + c.Args[0], Code: 1, Stderr: fmt.Sprintf(format, a...)}
}

// do runs a command; the first words of the command select the function.
func (m *Machine) do(c containers.Command, line string) (string, error) {
	for _, known := range []struct {
		words  string
		change bool
		do     func(containers.Command, []string) (string, error)
	}{
		{"ps --all --format {{.Names}}", false, m.ps},
		{"container inspect", false, m.inspect},
		{"run --detach", true, m.create},
		{"start", true, m.start},
		{"unpause", true, m.unpause},
		{"rm --force --volumes", true, m.remove},
		{"exec", false, m.exec},
		{"image inspect --format {{.Id}}", false, m.inspectImage},
		{"pull", true, m.pull},
		{"save", false, m.save},
		{"network inspect", false, m.inspectNetwork},
		{"network rm", true, m.removeNetwork},
		{"network connect", true, m.connect},
		{"volume rm", true, m.removeVolume},
	} {
		if line != known.words && !strings.HasPrefix(line, known.words+" ") {
			continue
		}
		if known.change {
			m.calls = append(m.calls, line)
		}
		return known.do(c, c.Args[len(strings.Fields(known.words)):])
	}
	m.t.Errorf("unexpected command: %s %s", c.Name, line)
	return "", failure(c, "unexpected command")
}

func (m *Machine) ps(_ containers.Command, args []string) (string, error) {
	label, value := "", ""
	if len(args) == 2 {
		label, value, _ = strings.Cut(strings.TrimPrefix(args[1], "label="), "=")
	}
	var names []string
	for name, c := range m.containers {
		if label == "" || c.Labels[label] == value {
			names = append(names, name)
		}
	}
	return strings.Join(names, "\n"), nil
}

func (m *Machine) inspect(c containers.Command, args []string) (string, error) {
	var all []any
	for _, name := range args {
		found := m.containers[name]
		if found == nil {
			return "", failure(c, "Error: No such container: %s", name)
		}
		all = append(all, found.describe())
	}
	content, err := json.Marshal(all)
	return string(content), err
}

// describe returns the description of a container by docker.
func (c *Container) describe() any {
	var mounts []any
	for _, mount := range c.Mounts {
		mounts = append(mounts, map[string]any{"Destination": mount})
	}
	bindings, networks := map[string]any{}, map[string]any{}
	for inside, p := range c.Ports {
		bindings[inside] = []any{map[string]any{"HostIp": p.Address, "HostPort": strconv.Itoa(p.Host)}}
	}
	for _, name := range c.Networks {
		networks[name] = map[string]any{}
	}
	return map[string]any{
		"Id": c.ID, "Name": "/" + c.Name,
		"State":  map[string]any{"Running": c.Running, "Paused": c.Paused, "StartedAt": c.StartedAt},
		"Config": map[string]any{"Image": c.Image, "Labels": c.Labels}, "Mounts": mounts,
		"HostConfig": map[string]any{"PortBindings": bindings}, "NetworkSettings": map[string]any{"Networks": networks},
	}
}

func (m *Machine) create(c containers.Command, args []string) (string, error) {
	made := &Container{
		Running: true, Labels: map[string]string{}, Ports: map[string]containers.Port{}, Files: map[string]string{},
	}
	for len(args) > 1 {
		flag, value := args[0], args[1]
		args = args[2:]
		switch flag {
		case "--name":
			made.Name = value
		case "--network":
			made.Networks = append(made.Networks, value)
		case "--label":
			key, text, _ := strings.Cut(value, "=")
			made.Labels[key] = text
		case "--volume":
			volume, mount, _ := strings.Cut(value, ":")
			m.volumes[volume] = true
			made.Mounts = append(made.Mounts, mount)
		case "--publish":
			parts := strings.Split(value, ":")
			port, _ := strconv.Atoi(parts[1])
			made.Ports[parts[2]] = containers.Port{Address: parts[0], Host: port}
		case "--restart":
		default:
			m.t.Errorf("unexpected flag %s", flag)
		}
	}
	made.Image, made.ID = args[0], id(made.Name)
	if m.containers[made.Name] != nil {
		return "", failure(c, "Conflict. The container name %q is already in use", "/"+made.Name)
	}
	for _, network := range made.Networks {
		if !m.networks[network] {
			return "", failure(c, "network %s not found", network)
		}
	}
	m.containers[made.Name] = made
	return made.ID, nil
}

func (m *Machine) start(c containers.Command, args []string) (string, error) {
	for _, name := range args {
		if m.containers[name] == nil {
			return "", failure(c, "No such container: %s", name)
		}
		m.containers[name].Running = true
	}
	return "", nil
}

func (m *Machine) unpause(c containers.Command, args []string) (string, error) {
	if found := m.containers[args[0]]; found == nil || !found.Paused {
		return "", failure(c, "Container %s is not paused", args[0])
	}
	m.containers[args[0]].Paused = false
	return args[0], nil
}

func (m *Machine) remove(c containers.Command, args []string) (string, error) {
	if m.containers[args[0]] == nil {
		return "", failure(c, "No such container: %s", args[0])
	}
	delete(m.containers, args[0])
	return args[0], nil
}

func (m *Machine) inspectImage(c containers.Command, args []string) (string, error) {
	if !m.images[args[0]] {
		return "", failure(c, "No such image: %s", args[0])
	}
	return "sha256:" + id(args[0]), nil
}

func (m *Machine) pull(_ containers.Command, args []string) (string, error) {
	m.images[args[0]] = true
	return "", nil
}

func (m *Machine) save(_ containers.Command, args []string) (string, error) { return args[0], nil }

func (m *Machine) inspectNetwork(c containers.Command, args []string) (string, error) {
	if !m.networks[args[0]] {
		return "", failure(c, "network %s not found", args[0])
	}
	options := `{"com.docker.network.bridge.enable_ip_masquerade": "true"}`
	return fmt.Sprintf(`[{"Name": %q, "Options": %s}]`, args[0], options), nil
}

func (m *Machine) removeNetwork(_ containers.Command, args []string) (string, error) {
	delete(m.networks, args[0])
	return "", nil
}

func (m *Machine) connect(_ containers.Command, args []string) (string, error) {
	m.containers[args[1]].Networks = append(m.containers[args[1]].Networks, args[0])
	return "", nil
}

func (m *Machine) removeVolume(c containers.Command, args []string) (string, error) {
	if !m.volumes[args[0]] {
		return "", failure(c, "no such volume: %s", args[0])
	}
	delete(m.volumes, args[0])
	return "", nil
}

// exec runs what the provider runs in nodes.
func (m *Machine) exec(c containers.Command, args []string) (string, error) {
	if args[0] == "--interactive" {
		args = args[1:]
	}
	found := m.containers[args[0]]
	switch {
	case found == nil:
		return "", failure(c, "No such container: %s", args[0])
	case !found.Running:
		return "", failure(c, "container %s is not running", args[0])
	case found.Paused:
		return "", failure(c, "Error response from daemon: Container %s is paused, unpause the container before exec",
			args[0])
	}
	command := args[1:]
	switch command[0] {
	case "mkdir":
		return "", nil
	case "cp":
		content, err := io.ReadAll(c.Stdin)
		found.Files[command[2]] = string(content)
		return "", err
	case "cat":
		content, ok := found.Files[command[1]]
		if !ok {
			return "", failure(c, "cat: %s: No such file or directory", command[1])
		}
		return content, nil
	case "rm":
		maps.DeleteFunc(found.Files, func(name, _ string) bool { return path.Dir(name) == command[2] })
		return "", nil
	case "kubectl":
		return m.kubectl(c, found, command[2:])
	case "crictl":
		if image := command[2]; !slices.Contains(found.Images, image) {
			return "", failure(c, "no such image %q present", image)
		}
		return "{}", nil
	}
	m.t.Errorf("unexpected command in %s: %s", found.Name, strings.Join(command, " "))
	return "", failure(c, "unexpected command")
}

func (m *Machine) kubectl(c containers.Command, node *Container, args []string) (string, error) {
	const name = "local-registry-hosting"
	if m.booting > 0 {
		if args[len(args)-1] == "--raw=/readyz" {
			m.booting--
		}
		return "", failure(c, "The connection to the server node:6443 was refused - did you specify the right host or port?")
	}
	switch args[0] {
	case "apply":
		content, err := io.ReadAll(c.Stdin)
		node.ConfigMaps[name] = string(content)
		return "", err
	case "delete":
		delete(node.ConfigMaps, name)
		return "", nil
	case "get":
		if args[1] == "--raw=/readyz" {
			return "ok", nil
		}
		if _, ok := node.ConfigMaps[name]; ok {
			return "configmap/" + name, nil
		}
		return "", nil
	}
	m.t.Errorf("unexpected kubectl %s", strings.Join(args, " "))
	return "", failure(c, "unexpected command")
}
