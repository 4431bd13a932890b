package kindprovider

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	p "github.com/pulumi/pulumi-go-provider"
	"github.com/pulumi/pulumi-go-provider/infer"
	"gopkg.in/yaml.v3"

	"mara/runner/internal/feature/kind/containers"
	"mara/runner/internal/feature/kind/kindnodes"
)

// Cluster is the resource kind:index:Cluster.
type Cluster struct{ machine *machine }

// Annotate implements infer.Annotated.
func (c *Cluster) Annotate(a infer.Annotator) {
	a.SetToken("index", "Cluster")
	a.Describe(&c, "Cluster is a Kubernetes cluster whose nodes are containers on this machine.")
}

// Diff implements infer.CustomDiff.
func (*Cluster) Diff(_ context.Context, req infer.DiffRequest[ClusterArgs, ClusterState]) (infer.DiffResponse, error) {
	return diff(req.State.ClusterArgs, req.Inputs), nil
}

// Create creates the cluster. It adopts a complete cluster that an interrupted run of
// this stack has left, and removes an incomplete one. A cluster that this stack has
// not created is an error.
func (c *Cluster) Create(ctx context.Context,
	req infer.CreateRequest[ClusterArgs]) (infer.CreateResponse[ClusterState], error) {
	response := infer.CreateResponse[ClusterState]{ID: req.Inputs.Name, Output: ClusterState{ClusterArgs: req.Inputs}}
	if req.DryRun {
		return response, nil
	}
	w, err := c.open(ctx, req.Inputs)
	if err == nil {
		response.Output, err = w.make(ctx, nil)
	}
	return response, err
}

// Read reads the state of the cluster. A missing cluster, or another one that was
// created under the same name, is no longer this resource.
func (c *Cluster) Read(ctx context.Context,
	req infer.ReadRequest[ClusterArgs, ClusterState]) (infer.ReadResponse[ClusterArgs, ClusterState], error) {
	gone := infer.ReadResponse[ClusterArgs, ClusterState]{}
	if req.State.Name == "" { // an import
		req.Inputs.Name, req.State.Name = req.ID, req.ID
	}
	w, err := c.open(ctx, req.State.ClusterArgs)
	if err != nil {
		return gone, err
	}
	nodes, err := w.nodes(ctx)
	if err != nil {
		return gone, err
	}
	if !nodes.hasControlPlane() || req.State.UID != "" && nodes.mark.uid != req.State.UID {
		return gone, nil
	}
	if req.State.UID == "" && nodes.mark.owner != w.owner {
		return gone, w.foreign(nodes)
	}
	return w.read(ctx, req, nodes)
}

// Update updates what can be changed in a cluster, starts stopped nodes, and recreates
// a cluster that a failed run has not finished.
func (c *Cluster) Update(ctx context.Context,
	req infer.UpdateRequest[ClusterArgs, ClusterState]) (infer.UpdateResponse[ClusterState], error) {
	state := req.State
	if req.DryRun {
		state.ClusterArgs, state.Problems = req.Inputs, nil
		return infer.UpdateResponse[ClusterState]{Output: state}, nil
	}
	w, err := c.open(ctx, req.Inputs)
	if err == nil {
		state, err = w.make(ctx, &req.State)
	}
	return infer.UpdateResponse[ClusterState]{Output: state}, err
}

// Delete removes the cluster, also an incomplete one.
func (c *Cluster) Delete(ctx context.Context, req infer.DeleteRequest[ClusterState]) (infer.DeleteResponse, error) {
	w, err := c.open(ctx, req.State.ClusterArgs)
	if err == nil {
		err = w.delete(ctx, req.State)
	}
	return infer.DeleteResponse{}, err
}

// clusterWork is work on one cluster.
type clusterWork struct {
	Backend
	args ClusterArgs
}

func (c *Cluster) open(ctx context.Context, args ClusterArgs) (clusterWork, error) {
	backend, err := c.machine.backend(ctx)
	return clusterWork{backend, args}, err
}

// make makes the cluster, takes over what this stack has left of it, or does what can be done to a cluster that is
// there. before is nil when the state does not know the cluster.
func (w clusterWork) make(ctx context.Context, before *ClusterState) (ClusterState, error) {
	nodes, err := w.nodes(ctx)
	isForeign := len(nodes.Nodes) > 0 && nodes.mark.owner != w.owner
	if before != nil {
		isForeign = nodes.belongToOtherCluster(before.UID)
	}
	if err == nil && isForeign {
		err = w.foreign(nodes)
	}
	if err != nil {
		return valueOf(before), err
	}
	return w.resume(ctx, nodes, before)
}

func (w clusterWork) foreign(nodes nodes) error {
	made := "it was made without mara"
	if nodes.mark.owner != "" {
		made = "another stack has made it"
	}
	return fmt.Errorf("there is a cluster %s already, and this stack has not made it (%s): "+
		"choose another stack (-s), or, if nothing in it is needed, delete it (%s)",
		w.args.Name, made, kindnodes.Deletion(w.Containers, w.args.Name))
}

// resume starts from the nodes that are there, if any. It removes them only when
// they say themselves that their cluster was never complete, or when no control
// plane was ever started: starting one then may fail for good. That they cannot be
// asked is an error, and so is a cluster that is not the one that is wanted: it
// may hold data. before is nil when the state does not know the cluster.
func (w clusterWork) resume(ctx context.Context, nodes nodes, before *ClusterState) (ClusterState, error) {
	if !nodes.hadControlPlane() {
		return w.recreate(ctx, nodes)
	}
	kept := valueOf(before)
	if halted := nodes.Halted(); len(halted) > 0 {
		p.GetLogger(ctx).Infof("starting the stopped nodes %s", strings.Join(halted.Names(), ", "))
	}
	if err := w.Containers.Resume(ctx, nodes.Nodes...); err != nil {
		return kept, fmt.Errorf("starting stopped nodes: %w", explain(err))
	}
	signature, found, err := w.signed(ctx, nodes)
	if err != nil {
		return kept, fmt.Errorf("asking whether the cluster %s is complete: %w", w.args.Name, explain(err))
	}
	if !found {
		return w.recreate(ctx, nodes)
	}
	if err := w.checkFits(nodes, signature, before == nil); err != nil {
		return kept, err
	}
	if err := nodes.AwaitReady(ctx, w.Containers, w.patience()); err != nil {
		return kept, fmt.Errorf("the cluster %s is not ready: %w", w.args.Name, explain(err))
	}
	return w.finish(ctx, nodes, before)
}

// checkFits holds that a complete cluster is the one that is wanted. The engine
// has compared the settings of a cluster that it knows.
func (w clusterWork) checkFits(nodes nodes, signature string, unknown bool) error {
	next := fmt.Sprintf("to have it made anew, with nothing in it, delete it (%s)",
		kindnodes.Deletion(w.Containers, w.args.Name))
	missing := slices.DeleteFunc(w.args.nodeNames(), func(name string) bool {
		return slices.Contains(nodes.kubernetes(), name)
	})
	if len(missing) > 0 {
		return fmt.Errorf("the cluster %s lacks the nodes %s: %s, or refresh its project",
			w.args.Name, strings.Join(missing, ", "), next)
	}
	if different := w.args.differences(signature); unknown && len(different) > 0 {
		return fmt.Errorf(
			"an earlier run of this stack has made the cluster %s with other settings (%s): use those again; %s",
			w.args.Name, strings.Join(different, ", "), next)
	}
	return nil
}

// recreate removes the rest of a cluster that was never complete, and creates it
// again.
func (w clusterWork) recreate(ctx context.Context, nodes nodes) (ClusterState, error) {
	if len(nodes.Nodes) > 0 {
		p.GetLogger(ctx).Warningf("removing what an interrupted run has left of the cluster %s", w.args.Name)
	}
	if err := w.Containers.Remove(ctx, nodes.Names()...); err != nil {
		return w.args.partial(nodes.mark), incomplete(err)
	}
	return w.create(ctx)
}

// create makes the cluster where there is none. It removes what a failure
// leaves; if not even that works, the state keeps it for the next run.
func (w clusterWork) create(ctx context.Context) (ClusterState, error) {
	if err := w.checkPorts(ctx); err != nil {
		return ClusterState{}, err
	}
	if err := w.ensureImage(ctx, w.args.NodeImage, "node image", "kind:node_image"); err != nil {
		return ClusterState{}, err
	}
	m := mark{w.owner, w.NewUID()}
	p.GetLogger(ctx).InfoStatusf("creating the nodes %s", strings.Join(w.args.nodeNames(), ", "))
	err := w.Clusters.Create(ctx, w.args.config(m), w.patience())
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return w.abandon(ctx, m, err)
	}
	nodes, err := w.nodes(ctx)
	if err == nil {
		err = w.sign(ctx, nodes)
	}
	if err != nil {
		return w.args.partial(m), incomplete(err)
	}
	return w.finish(ctx, nodes, nil)
}

// patience returns how long nodes may take to be ready.
func (w clusterWork) patience() time.Duration {
	return time.Duration(*w.args.WaitSeconds) * time.Second
}

// abandon removes the rest of a failed creation. A cancelled operation does not stop
// it: that is when it is needed most.
func (w clusterWork) abandon(ctx context.Context, m mark, cause error) (ClusterState, error) {
	if ctx.Err() != nil {
		cause = errors.New("cancelled while the cluster was being created; what there was of it is removed")
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	nodes, err := w.nodes(ctx)
	if err == nil && !nodes.belongToOtherCluster(m.uid) {
		err = w.Containers.Remove(ctx, nodes.Names()...)
	}
	if err == nil {
		err = w.removeNetwork(ctx)
	}
	if err != nil {
		return w.args.partial(m), incomplete(cause, fmt.Errorf("removing what there was of it: %w", err))
	}
	return ClusterState{}, explain(cause)
}

// delete removes the cluster, and the network when nothing is left in it.
func (w clusterWork) delete(ctx context.Context, state ClusterState) error {
	nodes, err := w.nodes(ctx)
	if err != nil {
		return err
	}
	if nodes.belongToOtherCluster(state.UID) {
		p.GetLogger(ctx).Warningf("leaving the cluster %s alone: it is another one than this stack has made", state.Name)
		return nil
	}
	if err := w.Containers.Remove(ctx, nodes.Names()...); err != nil {
		return err
	}
	return w.removeNetwork(ctx)
}

// read describes a cluster that is there.
func (w clusterWork) read(ctx context.Context, req infer.ReadRequest[ClusterArgs, ClusterState],
	nodes nodes) (infer.ReadResponse[ClusterArgs, ClusterState], error) {
	state := req.State
	controlPlanes := nodes.Of(kindnodes.ControlPlane)
	state.ControlPlanes, state.Workers = new(len(controlPlanes)), new(len(nodes.Of(kindnodes.Worker)))
	state.NodeNames, state.Network, state.UID = nodes.kubernetes(), nodes.network(), nodes.mark.uid
	state.NodeImage = cmp.Or(state.NodeImage, controlPlanes[0].Image)
	problems := nodes.halted()
	if len(problems) == 0 {
		if kubeconfig, endpoint, err := w.kubeconfig(ctx); err == nil {
			state.Kubeconfig, state.Endpoint = kubeconfig, endpoint
		} else {
			problems = append(problems, err)
		}
	}
	state.Problems = texts(problems)
	inputs := req.Inputs
	inputs.ControlPlanes, inputs.Workers, inputs.NodeImage = state.ControlPlanes, state.Workers, state.NodeImage
	return infer.ReadResponse[ClusterArgs, ClusterState]{ID: req.ID, Inputs: inputs, State: state}, incomplete(problems...)
}

// kubeconfig asks kind for the kubeconfig and finds the API server in it.
func (w clusterWork) kubeconfig(ctx context.Context) (kubeconfig, endpoint string, err error) {
	if kubeconfig, err = w.Clusters.Kubeconfig(ctx, w.args.Name); err != nil {
		return "", "", fmt.Errorf("asking for the kubeconfig: %w", err)
	}
	var content struct {
		Clusters []struct{ Cluster struct{ Server string } }
	}
	if err := yaml.Unmarshal([]byte(kubeconfig), &content); err != nil || len(content.Clusters) == 0 {
		return "", "", errors.New("kind has answered with something else than a kubeconfig")
	}
	return kubeconfig, content.Clusters[0].Cluster.Server, nil
}

// ensureImage pulls an image that is not on this machine, and that a key names. kind would do that,
// too, but could not be interrupted.
func (b Backend) ensureImage(ctx context.Context, image, what, key string) error {
	found, err := b.Containers.HasImage(ctx, image)
	if err != nil || found {
		return explain(err)
	}
	p.GetLogger(ctx).InfoStatusf("pulling the %s %s", what, image)
	if err := b.Containers.Pull(ctx, image); err != nil {
		return fmt.Errorf("the %s %s is not on this machine and could not be pulled: %w; without a network, `%s load -i FILE` "+
			"loads it from an archive, and %s names another one, such as that of a mirror (`runner mirror`)",
			what, image, explain(err), b.Containers.Name, key)
	}
	return nil
}

// checkPorts returns an error for each container that holds a port of the cluster.
// Ports of other programs are noticed only when the node is started.
func (w clusterWork) checkPorts(ctx context.Context) error {
	var wanted []containers.Port
	for _, p := range w.args.portMappings() {
		wanted = append(wanted, containers.Port{Address: p.ListenAddress, Host: int(p.HostPort)})
	}
	if w.args.APIServerPort != nil {
		wanted = append(wanted, containers.Port{Address: *w.args.APIServerAddress, Host: *w.args.APIServerPort})
	}
	return w.portsFree(ctx, wanted, "kind:http_port, kind:https_port, kind:api_server_port")
}

func (b Backend) portsFree(ctx context.Context, wanted []containers.Port, keys string) error {
	all, err := b.Containers.List(ctx, "")
	if err != nil {
		return explain(err)
	}
	var problems []error
	for _, c := range all {
		for _, held := range c.Ports {
			if c.State != containers.Stopped && slices.ContainsFunc(wanted, held.Clashes) {
				problems = append(problems, fmt.Errorf(
					"port %d of this machine is held by the container %s: stop that, or choose another port (%s)",
					held.Host, c.Name, keys))
			}
		}
	}
	return errors.Join(problems...)
}
