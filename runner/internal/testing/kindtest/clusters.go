package kindtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"

	"mara/runner/internal/feature/kind/containers"
)

// Creation is how the next creations of clusters go.
type Creation struct {
	Nodes   int           // how many nodes are created before it happens; 0 for all
	Error   string        // the error of the creation
	Blocked chan struct{} // closed when it happens; the creation then waits for its cancellation
}

// Next says how the next creations go; nil for well.
func (m *Machine) Next(c *Creation) { m.change(func() { m.creation = c }) }

// clusters implements kindprovider.Clusters.
type clusters struct{ m *Machine }

// Create puts the containers that kind would make on the machine.
func (c clusters) Create(ctx context.Context, config *v1alpha4.Cluster, _ time.Duration) error {
	c.m.mu.Lock()
	c.m.calls = append(c.m.calls, "kind create "+config.Name)
	c.m.networks["kind"] = true
	count := map[v1alpha4.NodeRole]int{}
	creation := c.m.creation
	for i, node := range config.Nodes {
		if creation != nil && creation.Nodes > 0 && i >= creation.Nodes {
			break
		}
		count[node.Role]++
		name := config.Name + "-" + string(node.Role)
		if count[node.Role] > 1 {
			name += fmt.Sprint(count[node.Role])
		}
		c.m.containers[name] = newNode(name, config, node)
	}
	c.m.mu.Unlock()
	if creation == nil {
		return nil
	}
	if creation.Blocked != nil {
		close(creation.Blocked)
		<-ctx.Done()
		return context.Cause(ctx)
	}
	return &containers.ExitError{Command: "kind: docker run", Code: 1, Stderr: creation.Error}
}

func newNode(name string, config *v1alpha4.Cluster, node v1alpha4.Node) *Container {
	made := &Container{
		ID: id(name), Name: name, Image: node.Image, Running: true, Networks: []string{"kind"}, Files: map[string]string{},
		Labels: map[string]string{"io.x-k8s.kind.cluster": config.Name, "io.x-k8s.kind.role": string(node.Role)},
		Ports:  map[string]containers.Port{}, ConfigMaps: map[string]string{},
	}
	for _, mount := range node.ExtraMounts {
		made.Mounts = append(made.Mounts, mount.ContainerPath)
	}
	for _, p := range node.ExtraPortMappings {
		made.Ports[fmt.Sprintf("%d/tcp", p.ContainerPort)] = containers.Port{Address: p.ListenAddress, Host: int(p.HostPort)}
	}
	return made
}

// Kubeconfig returns a kubeconfig with a secret.
func (c clusters) Kubeconfig(_ context.Context, name string) (string, error) {
	c.m.mu.Lock()
	defer c.m.mu.Unlock()
	if message, ok := c.m.faults["kind kubeconfig"]; ok {
		return "", errors.New(message)
	}
	if c.m.containers[name+"-control-plane"] == nil {
		return "", fmt.Errorf("could not locate any control plane nodes for cluster named %q", name)
	}
	return fmt.Sprintf("clusters:\n- name: kind-%s\n  cluster: {server: \"https://127.0.0.1:6443\"}\n"+
		"users:\n- name: u\n  user: {token: %s}\n",
		name, Token), nil
}

// Token is the secret of every kubeconfig.
const Token = "TheAdministratorsToken"

// Load notes what the archive is said to be.
func (c clusters) Load(_ context.Context, name, archive string) error {
	content, err := os.ReadFile(archive)
	if err != nil {
		return err
	}
	c.m.mu.Lock()
	defer c.m.mu.Unlock()
	if message, ok := c.m.faults["kind load"]; ok {
		return errors.New(message)
	}
	for _, node := range c.m.containers {
		if node.Labels["io.x-k8s.kind.cluster"] == name {
			node.Images = append(node.Images, string(content))
		}
	}
	return nil
}
