package kindprovider

import (
	"context"
	"fmt"
	"regexp"

	p "github.com/pulumi/pulumi-go-provider"
	"github.com/pulumi/pulumi-go-provider/infer"
)

// ClusterMount is a folder of this machine that every node sees.
type ClusterMount struct {
	HostPath      string `pulumi:"hostPath"`
	ContainerPath string `pulumi:"containerPath"`
	ReadOnly      *bool  `pulumi:"readOnly,optional"`
}

// Annotate implements infer.Annotated.
func (m *ClusterMount) Annotate(a infer.Annotator) {
	a.Describe(&m, "A folder of this machine that every node sees.")
	a.Describe(&m.HostPath, "The folder on this machine.")
	a.Describe(&m.ContainerPath, "Where the nodes see it.")
	a.Describe(&m.ReadOnly, "Keeps the nodes from writing to it; false when nil.")
}

// ClusterArgs are the inputs of a cluster. Names, types, what is optional, what
// replaces and the descriptions are those of the SDK; a test holds them equal.
type ClusterArgs struct {
	Name             string            `pulumi:"name" provider:"replaceOnChanges"`
	NodeImage        string            `pulumi:"nodeImage" provider:"replaceOnChanges"`
	ControlPlanes    *int              `pulumi:"controlPlanes,optional" provider:"replaceOnChanges"`
	Workers          *int              `pulumi:"workers,optional" provider:"replaceOnChanges"`
	ListenAddress    *string           `pulumi:"listenAddress,optional" provider:"replaceOnChanges"`
	HTTPPort         *int              `pulumi:"httpPort,optional" provider:"replaceOnChanges"`
	HTTPSPort        *int              `pulumi:"httpsPort,optional" provider:"replaceOnChanges"`
	APIServerAddress *string           `pulumi:"apiServerAddress,optional" provider:"replaceOnChanges"`
	APIServerPort    *int              `pulumi:"apiServerPort,optional" provider:"replaceOnChanges"`
	PodSubnet        *string           `pulumi:"podSubnet,optional" provider:"replaceOnChanges"`
	ServiceSubnet    *string           `pulumi:"serviceSubnet,optional" provider:"replaceOnChanges"`
	Mounts           []ClusterMount    `pulumi:"mounts,optional" provider:"replaceOnChanges"`
	RegistryMirrors  map[string]string `pulumi:"registryMirrors,optional"`
	Preload          []string          `pulumi:"preload,optional"`
	Labels           map[string]string `pulumi:"labels,optional" provider:"replaceOnChanges"`
	WaitSeconds      *int              `pulumi:"waitSeconds,optional"`
}

// Annotate implements infer.Annotated.
func (c *ClusterArgs) Annotate(a infer.Annotator) {
	a.Describe(&c.Name, `The name of the cluster; its context in a kubeconfig is "kind-" and this name.`)
	a.Describe(&c.NodeImage, "The node image, with its digest.")
	a.Describe(&c.ControlPlanes, "How many control-plane nodes; 1 when nil.")
	a.Describe(&c.Workers, "How many worker nodes; 0 when nil: the only control-plane node then takes the workload.")
	a.Describe(&c.ListenAddress, "The address of this machine that HTTPPort and HTTPSPort listen on; 127.0.0.1 when nil.")
	a.Describe(&c.HTTPPort, "The port of this machine that leads to port 80 of the first node that takes workload; none when nil.")
	a.Describe(&c.HTTPSPort, "The port of this machine that leads to port 443 of the first node that takes workload; none when nil.")
	a.Describe(&c.APIServerAddress, "The address of this machine that the API server listens on; 127.0.0.1 when nil.")
	a.Describe(&c.APIServerPort, "The port of this machine that the API server listens on; a free one when nil.")
	a.Describe(&c.PodSubnet, "The range of pod addresses; kind's own default when nil.")
	a.Describe(&c.ServiceSubnet, "The range of service addresses; kind's own default when nil.")
	a.Describe(&c.Mounts, "Folders of this machine to mount into every node.")
	a.Describe(&c.RegistryMirrors, "Registry host to the URL that the nodes pull its images from instead.")
	a.Describe(&c.Preload, "Images of this machine to load into every node.")
	a.Describe(&c.Labels, "Labels of every node.")
	a.Describe(&c.WaitSeconds, "How many seconds to wait for the nodes to be ready; 300 when nil.")
	a.SetDefault(&c.ControlPlanes, 1)
	a.SetDefault(&c.Workers, 0)
	a.SetDefault(&c.ListenAddress, loopback)
	a.SetDefault(&c.APIServerAddress, loopback)
	a.SetDefault(&c.WaitSeconds, 300)
}

const loopback = "127.0.0.1"

// ClusterState is all that is known of a cluster.
type ClusterState struct {
	ClusterArgs

	Kubeconfig string   `pulumi:"kubeconfig" provider:"secret"`
	Endpoint   string   `pulumi:"endpoint"`
	NodeNames  []string `pulumi:"nodeNames"`
	Network    string   `pulumi:"network"`
	UID        string   `pulumi:"uid"`
}

// Annotate implements infer.Annotated.
func (s *ClusterState) Annotate(a infer.Annotator) {
	a.Describe(&s.Kubeconfig, "Kubeconfig reaches the API server from this machine, with an administrator's client certificate: secret.")
	a.Describe(&s.Endpoint, "Endpoint is the URL of the API server.")
	a.Describe(&s.NodeNames, "NodeNames are the names of the node containers, control planes first.")
	a.Describe(&s.Network, "Network is the container network that the nodes are joined to.")
	a.Describe(&s.UID, "UID tells this cluster from one that is created later under the same name.")
}

// partial is the state of a cluster of which there is not much more than a mark.
func (c ClusterArgs) partial(m mark) ClusterState {
	return ClusterState{ClusterArgs: c, UID: m.uid, NodeNames: []string{}}
}

// clusterName is what kind takes for a name.
var clusterName = regexp.MustCompile(`^[a-z0-9.-]+$`)

// Check implements infer.CustomCheck: what kind would refuse only after work
// has begun is refused before.
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
	for property, port := range map[string]*int{"httpPort": args.HTTPPort, "httpsPort": args.HTTPSPort, "apiServerPort": args.APIServerPort} {
		if port != nil && known(req, property) && (*port < 1 || *port > 65535) {
			refuse(property, "%d is no port", *port)
		}
	}
	return infer.CheckResponse[ClusterArgs]{Inputs: args, Failures: failures}, nil
}

// known tells that an input is given and is not to come from a resource that
// does not exist yet.
func known(req infer.CheckRequest, property string) bool {
	value, ok := req.NewInputs.GetOk(property)
	return ok && !value.HasComputed()
}
