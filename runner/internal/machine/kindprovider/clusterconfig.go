package kindprovider

import (
	"fmt"
	"path"
	"strings"

	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"

	"mara/runner/internal/machine/kindnodes"
)

// mark says who has made a cluster. It is a mount of /dev/null in every node,
// whose path tells the owner and the uid of the cluster. kind sets no labels on
// its containers; a mount exists from the container's first moment, can be seen
// from outside, also when the container is stopped, and goes with it.
type mark struct{ owner, uid string }

func (m mark) path() string { return path.Join(kindnodes.MarkDir, m.owner, m.uid) }

// readMark finds a mark among the mounts of a container.
func readMark(mounts []string) (mark, bool) {
	for _, mount := range mounts {
		rest, ok := strings.CutPrefix(mount, kindnodes.MarkDir+"/")
		if !ok {
			continue
		}
		if owner, uid, ok := strings.Cut(rest, "/"); ok {
			return mark{owner, uid}, true
		}
	}
	return mark{}, false
}

// config returns the configuration of the cluster for kind.
func (c ClusterArgs) config(m mark) *v1alpha4.Cluster {
	config := &v1alpha4.Cluster{
		TypeMeta: v1alpha4.TypeMeta{Kind: "Cluster", APIVersion: "kind.x-k8s.io/v1alpha4"},
		Name:     c.Name,
		Networking: v1alpha4.Networking{
			APIServerAddress: *c.APIServerAddress, APIServerPort: int32(valueOf(c.APIServerPort)),
			PodSubnet: valueOf(c.PodSubnet), ServiceSubnet: valueOf(c.ServiceSubnet),
		},
	}
	for range *c.ControlPlanes {
		config.Nodes = append(config.Nodes, c.node(v1alpha4.ControlPlaneRole, m))
	}
	for range *c.Workers {
		config.Nodes = append(config.Nodes, c.node(v1alpha4.WorkerRole, m))
	}
	// Control planes take workload only where there is nothing else.
	entry := 0
	if *c.Workers > 0 {
		entry = *c.ControlPlanes
	}
	config.Nodes[entry].ExtraPortMappings = c.portMappings()
	return config
}

func (c ClusterArgs) node(role v1alpha4.NodeRole, m mark) v1alpha4.Node {
	node := v1alpha4.Node{
		Role: role, Image: c.NodeImage, Labels: c.Labels,
		ExtraMounts: []v1alpha4.Mount{{HostPath: "/dev/null", ContainerPath: m.path(), Readonly: true}},
	}
	for _, mount := range c.Mounts {
		node.ExtraMounts = append(node.ExtraMounts, v1alpha4.Mount{
			HostPath: mount.HostPath, ContainerPath: mount.ContainerPath, Readonly: valueOf(mount.ReadOnly),
		})
	}
	return node
}

func (c ClusterArgs) portMappings() []v1alpha4.PortMapping {
	var mappings []v1alpha4.PortMapping
	for _, p := range []struct {
		inside int32
		host   *int
	}{{80, c.HTTPPort}, {443, c.HTTPSPort}} {
		if p.host != nil {
			mappings = append(mappings, v1alpha4.PortMapping{
				ContainerPort: p.inside, HostPort: int32(*p.host), ListenAddress: *c.ListenAddress,
				Protocol: v1alpha4.PortMappingProtocolTCP,
			})
		}
	}
	return mappings
}

// nodeNames lists the names that kind gives to the nodes, control planes first.
func (c ClusterArgs) nodeNames() []string {
	var names []string
	for _, role := range []struct {
		name  string
		count int
	}{{"control-plane", *c.ControlPlanes}, {"worker", *c.Workers}} {
		for i := range role.count {
			name := c.Name + "-" + role.name
			if i > 0 {
				name += fmt.Sprint(i + 1)
			}
			names = append(names, name)
		}
	}
	return names
}

// valueOf returns the value of an optional input, or the zero value.
func valueOf[T any](input *T) (value T) {
	if input != nil {
		value = *input
	}
	return value
}
