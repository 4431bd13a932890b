package kindprovider

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	p "github.com/pulumi/pulumi-go-provider"
	"github.com/pulumi/pulumi-go-provider/infer"
	"gopkg.in/yaml.v3"

	"mara/runner/internal/containers"
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

// Create makes the cluster. One that an interrupted run of this stack has left
// is taken over when it is complete and cleared away when it is not; one that
// this stack has not made is an error.
func (c *Cluster) Create(ctx context.Context, req infer.CreateRequest[ClusterArgs]) (infer.CreateResponse[ClusterState], error) {
	response := infer.CreateResponse[ClusterState]{ID: req.Inputs.Name, Output: ClusterState{ClusterArgs: req.Inputs}}
	if req.DryRun {
		return response, nil
	}
	work, err := c.open(ctx, req.Inputs)
	if err != nil {
		return response, err
	}
	response.Output, err = work.make(ctx)
	return response, err
}

// Read looks at what there is: a cluster that is gone, or that another has made
// anew under the name, is no longer this resource.
func (c *Cluster) Read(ctx context.Context, req infer.ReadRequest[ClusterArgs, ClusterState]) (infer.ReadResponse[ClusterArgs, ClusterState], error) {
	gone := infer.ReadResponse[ClusterArgs, ClusterState]{}
	if req.State.Name == "" { // an import
		req.Inputs.Name, req.State.Name = req.ID, req.ID
	}
	work, err := c.open(ctx, req.State.ClusterArgs)
	if err != nil {
		return gone, err
	}
	nodes, err := work.nodes(ctx)
	if err != nil {
		return gone, err
	}
	if !nodes.hasControlPlane() || req.State.UID != "" && nodes.mark.uid != req.State.UID {
		return gone, nil
	}
	if req.State.UID == "" && nodes.mark.owner != work.owner {
		return gone, work.foreign(nodes)
	}
	return work.read(ctx, req, nodes)
}

// Update brings a cluster up to what can be changed in it. One that a failed
// run has left half made is made anew.
func (c *Cluster) Update(ctx context.Context, req infer.UpdateRequest[ClusterArgs, ClusterState]) (infer.UpdateResponse[ClusterState], error) {
	state := req.State
	state.ClusterArgs = req.Inputs
	if req.DryRun {
		return infer.UpdateResponse[ClusterState]{Output: state}, nil
	}
	work, err := c.open(ctx, req.Inputs)
	if err != nil {
		return infer.UpdateResponse[ClusterState]{Output: req.State}, err
	}
	state, err = work.update(ctx, req.State)
	return infer.UpdateResponse[ClusterState]{Output: state}, err
}

// Delete removes the cluster, however much of it there is.
func (c *Cluster) Delete(ctx context.Context, req infer.DeleteRequest[ClusterState]) (infer.DeleteResponse, error) {
	work, err := c.open(ctx, req.State.ClusterArgs)
	if err != nil {
		return infer.DeleteResponse{}, err
	}
	return infer.DeleteResponse{}, work.delete(ctx, req.State)
}

// clusterWork is work on one cluster.
type clusterWork struct {
	Backend
	args  ClusterArgs
	owner string
}

func (c *Cluster) open(ctx context.Context, args ClusterArgs) (clusterWork, error) {
	owner, err := c.machine.ownerID()
	if err != nil {
		return clusterWork{}, err
	}
	backend, err := c.machine.backend(ctx)
	return clusterWork{backend, args, owner}, err
}

// make makes the cluster, or takes over what this stack has left of it.
func (w clusterWork) make(ctx context.Context) (ClusterState, error) {
	nodes, err := w.nodes(ctx)
	if err != nil {
		return ClusterState{}, err
	}
	if len(nodes.all) == 0 {
		return w.create(ctx)
	}
	if nodes.mark.owner != w.owner {
		return ClusterState{}, w.foreign(nodes)
	}
	if w.complete(ctx, nodes) {
		return w.finish(ctx, nodes, nil)
	}
	p.GetLogger(ctx).Warningf("clearing away what an interrupted run has left of the cluster %s", w.args.Name)
	if err := w.Containers.Remove(ctx, nodes.names()...); err != nil {
		return ClusterState{}, err
	}
	return w.create(ctx)
}

func (w clusterWork) foreign(nodes nodes) error {
	made := "it was made without mara"
	if nodes.mark.owner != "" {
		made = "another stack has made it"
	}
	return fmt.Errorf("there is a cluster %s already, and this stack has not made it (%s): delete it (kind delete cluster --name %s), "+
		"or give this stack another name", w.args.Name, made, w.args.Name)
}

// create makes the cluster where there is none. What a failure leaves is
// removed; if not even that works, the state keeps it for the next run.
func (w clusterWork) create(ctx context.Context) (ClusterState, error) {
	if err := w.checkPorts(ctx); err != nil {
		return ClusterState{}, err
	}
	if err := w.ensureImage(ctx, w.args.NodeImage, "node image"); err != nil {
		return ClusterState{}, err
	}
	m := mark{w.owner, w.NewUID()}
	p.GetLogger(ctx).InfoStatusf("creating the nodes %s", strings.Join(w.args.nodeNames(), ", "))
	err := w.Clusters.Create(ctx, w.args.config(m), time.Duration(*w.args.WaitSeconds)*time.Second)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return w.abandon(ctx, m, err)
	}
	nodes, err := w.nodes(ctx)
	if err != nil {
		return w.args.partial(m), incomplete(err)
	}
	if err := w.sign(ctx, nodes); err != nil {
		return w.args.partial(m), incomplete(err)
	}
	return w.finish(ctx, nodes, nil)
}

// abandon removes what a failed creation has left. It works on when the
// operation is cancelled: that is when it is needed most.
func (w clusterWork) abandon(ctx context.Context, m mark, cause error) (ClusterState, error) {
	if ctx.Err() != nil {
		cause = errors.New("cancelled while the cluster was being created; what there was of it is removed")
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	nodes, err := w.nodes(ctx)
	if err == nil && !nodes.another(m.uid) {
		err = w.Containers.Remove(ctx, nodes.names()...)
	}
	if err == nil {
		err = w.removeNetwork(ctx)
	}
	if err != nil {
		return w.args.partial(m), incomplete(cause, fmt.Errorf("removing what there was of it: %w", err))
	}
	return ClusterState{}, explain(cause)
}

// update does what can be done to a cluster that is there.
func (w clusterWork) update(ctx context.Context, before ClusterState) (ClusterState, error) {
	nodes, err := w.nodes(ctx)
	if err != nil {
		return before, err
	}
	if nodes.another(before.UID) {
		return before, w.foreign(nodes)
	}
	if stopped := nodes.stopped(); len(stopped) > 0 {
		if err := w.Containers.Start(ctx, stopped...); err != nil {
			return before, fmt.Errorf("starting stopped nodes: %w", explain(err))
		}
		if nodes, err = w.nodes(ctx); err != nil {
			return before, err
		}
	}
	if !w.complete(ctx, nodes) {
		if err := w.Containers.Remove(ctx, nodes.names()...); err != nil {
			return before, err
		}
		return w.create(ctx)
	}
	return w.finish(ctx, nodes, &before)
}

// delete removes the cluster, and the network when nothing is left in it.
func (w clusterWork) delete(ctx context.Context, state ClusterState) error {
	nodes, err := w.nodes(ctx)
	if err != nil {
		return err
	}
	if nodes.another(state.UID) {
		p.GetLogger(ctx).Warningf("leaving the cluster %s alone: it is another one than this stack has made", state.Name)
		return nil
	}
	if err := w.Containers.Remove(ctx, nodes.names()...); err != nil {
		return err
	}
	return w.removeNetwork(ctx)
}

// read tells the state of a cluster that is there.
func (w clusterWork) read(
	ctx context.Context, req infer.ReadRequest[ClusterArgs, ClusterState], nodes nodes,
) (infer.ReadResponse[ClusterArgs, ClusterState], error) {
	state := req.State
	controlPlanes, workers := len(nodes.of(controlPlane)), len(nodes.of(worker))
	state.ControlPlanes, state.Workers = &controlPlanes, &workers
	state.NodeNames, state.Network, state.UID = nodes.workload(), nodes.network(), nodes.mark.uid
	if state.NodeImage == "" {
		state.NodeImage = nodes.of(controlPlane)[0].Image
	}
	var err error
	if stopped := nodes.stopped(); len(stopped) > 0 {
		err = incomplete(fmt.Errorf("stopped nodes: %s", strings.Join(stopped, ", ")))
	} else if kubeconfig, endpoint, failed := w.kubeconfig(ctx); failed == nil {
		state.Kubeconfig, state.Endpoint = kubeconfig, endpoint
	} else {
		err = incomplete(failed)
	}
	inputs := req.Inputs
	inputs.ControlPlanes, inputs.Workers, inputs.NodeImage = state.ControlPlanes, state.Workers, state.NodeImage
	return infer.ReadResponse[ClusterArgs, ClusterState]{ID: req.ID, Inputs: inputs, State: state}, err
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

// ensureImage pulls an image that is not on this machine. kind would, too, but
// could not be stopped.
func (b Backend) ensureImage(ctx context.Context, image, what string) error {
	found, err := b.Containers.HasImage(ctx, image)
	if err != nil || found {
		return explain(err)
	}
	p.GetLogger(ctx).InfoStatusf("pulling the %s %s", what, image)
	if err := b.Containers.Pull(ctx, image); err != nil {
		return fmt.Errorf("the %s %s is not on this machine and could not be pulled: %w", what, image, explain(err))
	}
	return nil
}

// checkPorts finds containers that hold a port the cluster wants. Other
// programs show only when the port is taken.
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
			if c.Running && slices.ContainsFunc(wanted, held.Clashes) {
				problems = append(problems, fmt.Errorf("port %d of this machine is held by the container %s: stop that, or choose another port (%s)",
					held.Host, c.Name, keys))
			}
		}
	}
	return errors.Join(problems...)
}
