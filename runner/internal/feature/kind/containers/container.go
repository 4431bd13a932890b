package containers

import (
	"context"
	"io"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"

	"mara/config/lists"
)

// Container describes a container.
type Container struct {
	ID       string
	Name     string
	Image    string // as it was requested
	State    State
	NeverRan bool // it was created, and never started
	Labels   map[string]string
	Mounts   []string // mount points in the container
	Networks []string
	Ports    []Port
}

// State is the state of a container.
type State string

// The states of a container. A paused one still holds its ports.
const (
	Running State = "running"
	Paused  State = "paused"
	Stopped State = "stopped"
)

// Port is a port of this machine that leads into a container.
type Port struct {
	Address   string // of this machine; "" or 0.0.0.0 for all
	Host      int
	Container string // with the protocol: 5000/tcp
}

// described is a container in the output of `container inspect`.
type described struct {
	ID    string `json:"Id"`
	Name  string
	State struct {
		Running, Paused bool
		StartedAt       string // the zero time if it was never started
	}
	Config struct {
		Image  string
		Labels map[string]string
	}
	Mounts     []struct{ Destination string }
	HostConfig struct {
		PortBindings map[string][]struct{ HostIP, HostPort string }
	}
	NetworkSettings struct{ Networks map[string]any }
}

func (d described) container() Container {
	c := Container{
		ID: d.ID, Name: strings.TrimPrefix(d.Name, "/"), Image: d.Config.Image, State: d.state(),
		NeverRan: !d.State.Running && strings.HasPrefix(d.State.StartedAt, "0001-01-01"),
		Labels:   d.Config.Labels, Networks: slices.Sorted(maps.Keys(d.NetworkSettings.Networks)),
	}
	for _, mount := range d.Mounts {
		c.Mounts = append(c.Mounts, mount.Destination)
	}
	for _, inside := range slices.Sorted(maps.Keys(d.HostConfig.PortBindings)) {
		for _, binding := range d.HostConfig.PortBindings[inside] {
			port, _ := strconv.Atoi(binding.HostPort)
			c.Ports = append(c.Ports, Port{Address: binding.HostIP, Host: port, Container: inside})
		}
	}
	return c
}

func (d described) state() State {
	switch {
	case d.State.Paused: // docker reports it as running, too, and podman does not
		return Paused
	case d.State.Running:
		return Running
	}
	return Stopped
}

// List lists the containers with a label, NAME or NAME=VALUE, including stopped ones;
// all containers if label is "". They are sorted by name.
func (r *Runtime) List(ctx context.Context, label string) ([]Container, error) {
	args := []string{"ps", "--all", "--format", "{{.Names}}"}
	if label != "" {
		args = append(args, "--filter", "label="+label)
	}
	listed, err := r.output(ctx, nil, args...)
	if err != nil {
		return nil, err
	}
	names := strings.Fields(listed)
	if len(names) == 0 {
		return nil, nil
	}
	slices.Sort(names)
	found, err := r.inspect(ctx, names...)
	if missing(err) { // one was removed meanwhile
		return r.findEach(ctx, names)
	}
	return found, err
}

// findEach finds containers one by one, and skips missing ones.
func (r *Runtime) findEach(ctx context.Context, names []string) ([]Container, error) {
	var found []Container
	for _, name := range names {
		c, ok, err := r.Find(ctx, name)
		if err != nil {
			return nil, err
		}
		if ok {
			found = append(found, c)
		}
	}
	return found, nil
}

// Find finds a container by its name.
func (r *Runtime) Find(ctx context.Context, name string) (Container, bool, error) {
	return first(r.inspect(ctx, name))
}

// first returns the first of what was found, if there is one. That it is missing is no error.
func first[T any](found []T, err error) (one T, ok bool, _ error) {
	if err != nil || len(found) == 0 {
		return one, false, unlessMissing(err)
	}
	return found[0], true, nil
}

func (r *Runtime) inspect(ctx context.Context, names ...string) ([]Container, error) {
	all, err := ask[[]described](ctx, r, append([]string{"container", "inspect"}, names...)...)
	return lists.Map(all, described.container), err
}

// Spec describes a container to create.
type Spec struct {
	Name    string
	Image   string
	Network string
	Labels  map[string]string
	Volumes map[string]string // volume to mount point in the container
	Publish []Port
	Restart string // policy
}

// Create starts a new container in the background and returns its id.
func (r *Runtime) Create(ctx context.Context, s Spec) (string, error) {
	args := []string{"run", "--detach", "--name", s.Name, "--restart", s.Restart}
	if s.Network != "" {
		args = append(args, "--network", s.Network)
	}
	for _, key := range slices.Sorted(maps.Keys(s.Labels)) {
		args = append(args, "--label", key+"="+s.Labels[key])
	}
	for _, volume := range slices.Sorted(maps.Keys(s.Volumes)) {
		args = append(args, "--volume", volume+":"+s.Volumes[volume])
	}
	for _, p := range s.Publish {
		args = append(args, "--publish", p.publish())
	}
	return r.output(ctx, nil, append(args, s.Image)...)
}

func (p Port) publish() string {
	host := strconv.Itoa(p.Host)
	if p.Address != "" {
		host = net.JoinHostPort(p.Address, host)
	}
	return host + ":" + p.Container
}

// Stop stops containers. They keep their disks.
func (r *Runtime) Stop(ctx context.Context, all ...Container) error {
	for _, c := range all {
		if c.State == Paused { // which not every runtime can stop
			if err := r.silent(ctx, "unpause", c.Name); err != nil {
				return err
			}
		}
		if err := r.silent(ctx, "stop", c.Name); err != nil {
			return err
		}
	}
	return nil
}

// Resume starts stopped containers, and unpauses paused ones.
func (r *Runtime) Resume(ctx context.Context, all ...Container) error {
	verbs := map[State]string{Stopped: "start", Paused: "unpause"}
	for _, c := range all {
		if c.State == Running {
			continue
		}
		if err := r.silent(ctx, verbs[c.State], c.Name); err != nil {
			return err
		}
	}
	return nil
}

// removals bounds the attempts to remove a container that is slow to end.
const removals = 12

// Remove stops and removes containers, with their anonymous volumes. Missing
// containers are no error. docker waits only ten seconds for the end of a container
// that it has killed, which is too short on a busy machine.
func (r *Runtime) Remove(ctx context.Context, names ...string) error {
	for _, name := range names {
		err := r.silent(ctx, "rm", "--force", "--volumes", name)
		slow := func() bool { return err != nil && strings.Contains(err.Error(), "did not receive an exit event") }
		for more := removals - 1; more > 0 && slow(); more-- {
			err = r.silent(ctx, "rm", "--force", "--volumes", name)
		}
		if err := unlessMissing(err); err != nil {
			return err
		}
	}
	return nil
}

// Exec runs a command in a container and returns its output.
func (r *Runtime) Exec(ctx context.Context, container string, stdin io.Reader, command ...string) (string, error) {
	args := []string{"exec"}
	if stdin != nil {
		args = append(args, "--interactive")
	}
	return r.output(ctx, stdin, append(append(args, container), command...)...)
}

// Clashes reports whether two ports of this machine cannot be held at once.
func (p Port) Clashes(other Port) bool {
	if p.Host == 0 || p.Host != other.Host {
		return false
	}
	return p.Address == other.Address || everywhere(p.Address) || everywhere(other.Address)
}

func everywhere(address string) bool { return address == "" || address == "0.0.0.0" || address == "::" }

// HasImage reports whether an image is on this machine.
func (r *Runtime) HasImage(ctx context.Context, image string) (bool, error) {
	err := r.silent(ctx, "image", "inspect", "--format", "{{.Id}}", image)
	return err == nil, unlessMissing(err)
}

// Pull downloads an image from its registry.
func (r *Runtime) Pull(ctx context.Context, image string) error {
	return r.silent(ctx, "pull", image)
}

// Save writes an archive of an image.
func (r *Runtime) Save(ctx context.Context, image string, to io.Writer) error {
	return r.run(ctx, Command{Name: r.Name, Args: []string{"save", image}, Stdout: to})
}

// Network describes a network.
type Network struct {
	Labels  map[string]string
	Options map[string]string
}

// FindNetwork finds a network by its name.
func (r *Runtime) FindNetwork(ctx context.Context, name string) (Network, bool, error) {
	return first(ask[[]Network](ctx, r, "network", "inspect", name))
}

// RemoveNetwork removes a network; a missing one is no error.
func (r *Runtime) RemoveNetwork(ctx context.Context, name string) error {
	return unlessMissing(r.silent(ctx, "network", "rm", name))
}

// Connect joins a container to a network.
func (r *Runtime) Connect(ctx context.Context, network, container string) error {
	return r.silent(ctx, "network", "connect", network, container)
}

// RemoveVolume removes a volume; a missing one is no error.
func (r *Runtime) RemoveVolume(ctx context.Context, name string) error {
	return unlessMissing(r.silent(ctx, "volume", "rm", name))
}
