package kindprovider

import (
	"context"
	"fmt"
	"path"
	"regexp"

	p "github.com/pulumi/pulumi-go-provider"
	"github.com/pulumi/pulumi-go-provider/infer"
	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"

	"mara/runner/internal/feature/kind/kindnodes"
)

// ClusterMount is a directory of this machine that every node sees.
type ClusterMount struct {
	HostPath      string `pulumi:"hostPath" doc:"The directory on this machine."`
	ContainerPath string `pulumi:"containerPath" doc:"Where the nodes see it."`
	ReadOnly      *bool  `pulumi:"readOnly,optional" doc:"Keeps the nodes from writing to it; false when nil."`
}

// Annotate implements infer.Annotated.
func (m *ClusterMount) Annotate(a infer.Annotator) {
	a.Describe(&m, "A directory of this machine that every node sees.")
	describe(a, m)
}

// ClusterArgs are the inputs of a cluster. A test holds the SDK's to them.
type ClusterArgs struct {
	Name             string            `pulumi:"name" provider:"replaceOnChanges" doc:"The name of the cluster; its context in a kubeconfig is \"kind-\" and this name."`
	NodeImage        string            `pulumi:"nodeImage" provider:"replaceOnChanges" doc:"The node image, with its digest."`
	ControlPlanes    *int              `pulumi:"controlPlanes,optional" provider:"replaceOnChanges" doc:"How many control-plane nodes; 1 when nil."`
	Workers          *int              `pulumi:"workers,optional" provider:"replaceOnChanges" doc:"How many worker nodes; 0 when nil: the only control-plane node then takes the workload."`
	ListenAddress    *string           `pulumi:"listenAddress,optional" provider:"replaceOnChanges" doc:"The address of this machine that HTTPPort and HTTPSPort listen on; 127.0.0.1 when nil."`
	HTTPPort         *int              `pulumi:"httpPort,optional" provider:"replaceOnChanges" doc:"The port of this machine that leads to port 80 of the first node that takes workload; none when nil."`
	HTTPSPort        *int              `pulumi:"httpsPort,optional" provider:"replaceOnChanges" doc:"The port of this machine that leads to port 443 of the first node that takes workload; none when nil."`
	APIServerAddress *string           `pulumi:"apiServerAddress,optional" provider:"replaceOnChanges" doc:"The address of this machine that the API server listens on; 127.0.0.1 when nil."`
	APIServerPort    *int              `pulumi:"apiServerPort,optional" provider:"replaceOnChanges" doc:"The port of this machine that the API server listens on; a free one when nil."`
	PodSubnet        *string           `pulumi:"podSubnet,optional" provider:"replaceOnChanges" doc:"The range of pod addresses; kind's own default when nil."`
	ServiceSubnet    *string           `pulumi:"serviceSubnet,optional" provider:"replaceOnChanges" doc:"The range of service addresses; kind's own default when nil."`
	Mounts           []ClusterMount    `pulumi:"mounts,optional" provider:"replaceOnChanges" doc:"Directories of this machine to mount into every node."`
	RegistryMirrors  map[string]string `pulumi:"registryMirrors,optional" doc:"Registry host to the URL that the nodes pull its images from instead."`
	Preload          []string          `pulumi:"preload,optional" doc:"Images of this machine to load into every node."`
	Labels           map[string]string `pulumi:"labels,optional" provider:"replaceOnChanges" doc:"Labels of every node."`
	WaitSeconds      *int              `pulumi:"waitSeconds,optional" doc:"How many seconds to wait for the nodes to be ready; 300 when nil."`
}

// Annotate implements infer.Annotated.
func (c *ClusterArgs) Annotate(a infer.Annotator) {
	describe(a, c)
	a.SetDefault(&c.ControlPlanes, 1)
	a.SetDefault(&c.Workers, 0)
	a.SetDefault(&c.ListenAddress, loopback)
	a.SetDefault(&c.APIServerAddress, loopback)
	a.SetDefault(&c.WaitSeconds, 300)
}

const loopback = "127.0.0.1"

// ClusterState is what Pulumi keeps of a cluster.
type ClusterState struct {
	ClusterArgs

	Kubeconfig string   `pulumi:"kubeconfig" provider:"secret" doc:"Kubeconfig reaches the API server from this machine, with an administrator's client certificate: secret."`
	Endpoint   string   `pulumi:"endpoint" doc:"Endpoint is the URL of the API server."`
	NodeNames  []string `pulumi:"nodeNames" doc:"NodeNames are the names of the node containers, control planes first."`
	Network    string   `pulumi:"network" doc:"Network is the container network that the nodes are joined to."`
	UID        string   `pulumi:"uid" doc:"UID tells this cluster from one that is created later under the same name."`
	Problems   []string `pulumi:"problems,optional" doc:"Problems are what a refresh has found wrong; the next update mends it."`
}

// Annotate implements infer.Annotated.
func (s *ClusterState) Annotate(a infer.Annotator) { describe(a, s) }

// partial returns the state of a cluster of which little more than the mark is known.
func (c ClusterArgs) partial(m mark) ClusterState {
	return ClusterState{ClusterArgs: c, UID: m.uid, NodeNames: []string{}}
}

// clusterName is the pattern of the names that kind accepts.
var clusterName = regexp.MustCompile(`^[a-z0-9.-]+$`)

// Check implements infer.CustomCheck. It refuses what kind would refuse only
// after the work has begun.
func (*Cluster) Check(ctx context.Context, req infer.CheckRequest) (infer.CheckResponse[ClusterArgs], error) {
	args, failures, err := infer.DefaultCheck[ClusterArgs](ctx, req.NewInputs)
	if err != nil || len(failures) > 0 {
		return infer.CheckResponse[ClusterArgs]{Inputs: args, Failures: failures}, err
	}
	refuse := func(property, format string, a ...any) {
		failures = append(failures, p.CheckFailure{Property: property, Reason: fmt.Sprintf(format, a...)})
	}
	if known(req, "name") && !clusterName.MatchString(args.Name) {
		refuse("name", "%q is not a name for a cluster: it must match %s", args.Name, clusterName)
	}
	if *args.ControlPlanes < 1 {
		refuse("controlPlanes", "a cluster needs at least one control-plane node")
	}
	if *args.Workers < 0 {
		refuse("workers", "must not be negative")
	}
	ports := map[string]*int{"httpPort": args.HTTPPort, "httpsPort": args.HTTPSPort, "apiServerPort": args.APIServerPort}
	for property, port := range ports {
		if port != nil && known(req, property) && (*port < 1 || *port > 65535) {
			refuse(property, "%d is no port", *port)
		}
	}
	return infer.CheckResponse[ClusterArgs]{Inputs: args, Failures: failures}, nil
}

// known tells that an input is given, and does not come from a resource that
// does not exist yet.
func known(req infer.CheckRequest, property string) bool {
	value, ok := req.NewInputs.GetOk(property)
	return ok && !value.HasComputed()
}

// mark says who has made a cluster. It is a mount of /dev/null in every node,
// whose path tells the owner and the uid of the cluster. kind sets no labels on
// its containers; a mount exists from the container's first moment, can be seen
// from outside, also when the container is stopped, and goes with it.
type mark struct{ owner, uid string }

func (m mark) path() string { return path.Join(kindnodes.MarkDir, m.owner, m.uid) }

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
