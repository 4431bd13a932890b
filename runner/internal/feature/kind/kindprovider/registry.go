package kindprovider

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	p "github.com/pulumi/pulumi-go-provider"
	"github.com/pulumi/pulumi-go-provider/infer"

	"mara/runner/internal/feature/kind/containers"
	"mara/runner/internal/feature/kind/kindnodes"
	"mara/runner/internal/machine/reach"
)

// Registry is the resource kind:index:Registry.
type Registry struct{ machine *machine }

// Annotate implements infer.Annotated.
func (r *Registry) Annotate(a infer.Annotator) {
	a.SetToken("index", "Registry")
	a.Describe(&r, "Registry is a container registry on this machine that a Cluster's nodes pull "+
		"from. Beside the container it writes the nodes' hosts.toml for the endpoint "+
		"and the ConfigMap kube-public/local-registry-hosting.")
}

// Diff implements infer.CustomDiff.
func (*Registry) Diff(_ context.Context,
	req infer.DiffRequest[RegistryArgs, RegistryState]) (infer.DiffResponse, error) {
	return diff(req.State.RegistryArgs, req.Inputs), nil
}

// Create starts the registry and connects the cluster to it. It adopts a registry that
// this stack has left; one that this stack has not created is an error.
func (r *Registry) Create(ctx context.Context,
	req infer.CreateRequest[RegistryArgs]) (infer.CreateResponse[RegistryState], error) {
	response := infer.CreateResponse[RegistryState]{ID: req.Inputs.Name, Output: req.Inputs.state("")}
	if req.DryRun {
		return response, nil
	}
	work, err := r.open(ctx, req.Inputs)
	if err == nil {
		response.Output, err = work.make(ctx)
	}
	return response, err
}

// Read reads the state of the container and of its connections.
func (r *Registry) Read(ctx context.Context,
	req infer.ReadRequest[RegistryArgs, RegistryState]) (infer.ReadResponse[RegistryArgs, RegistryState], error) {
	gone := infer.ReadResponse[RegistryArgs, RegistryState]{}
	if req.State.Name == "" {
		return gone, errors.New("a registry cannot be imported: remove its container, and have it made anew")
	}
	work, err := r.open(ctx, req.State.RegistryArgs)
	if err != nil {
		return gone, err
	}
	container, ok, err := work.Containers.Find(ctx, work.args.Name)
	if err != nil || !ok || container.Labels[kindnodes.OwnerLabel] != work.owner {
		return gone, explain(err)
	}
	problems := work.check(ctx, container)
	state := req.State
	state.ContainerID, state.Problems = container.ID, texts(problems)
	response := infer.ReadResponse[RegistryArgs, RegistryState]{ID: req.ID, Inputs: req.Inputs, State: state}
	return response, incomplete(problems...)
}

// Update repairs the registry and its connections.
func (r *Registry) Update(ctx context.Context,
	req infer.UpdateRequest[RegistryArgs, RegistryState]) (infer.UpdateResponse[RegistryState], error) {
	if req.DryRun {
		return infer.UpdateResponse[RegistryState]{Output: req.Inputs.state(req.State.ContainerID)}, nil
	}
	state := req.State
	work, err := r.open(ctx, req.Inputs)
	if err == nil {
		state, err = work.make(ctx)
	}
	return infer.UpdateResponse[RegistryState]{Output: state}, err
}

// Delete removes the registry with all images in it, and disconnects the cluster.
func (r *Registry) Delete(ctx context.Context, req infer.DeleteRequest[RegistryState]) (infer.DeleteResponse, error) {
	work, err := r.open(ctx, req.State.RegistryArgs)
	if err == nil {
		err = work.delete(ctx)
	}
	return infer.DeleteResponse{}, err
}

// registryWork is work on one registry.
type registryWork struct {
	Backend
	args RegistryArgs
}

func (r *Registry) open(ctx context.Context, args RegistryArgs) (registryWork, error) {
	backend, err := r.machine.backend(ctx)
	return registryWork{backend, args}, err
}

// make starts the registry, or repairs the one that is there.
func (w registryWork) make(ctx context.Context) (RegistryState, error) {
	found, ok, err := w.Containers.Find(ctx, w.args.Name)
	if err != nil {
		return RegistryState{}, explain(err)
	}
	if ok && found.Labels[kindnodes.OwnerLabel] != w.owner {
		return RegistryState{}, fmt.Errorf("there is a container %s already, and this stack has not made it: "+
			"remove it (%s rm -f %s), "+
			"or give this stack another name", w.args.Name, w.Containers.Name, w.args.Name)
	}
	id := found.ID
	if ok && w.fits(found) {
		err = w.heal(ctx, found)
	} else {
		id, err = w.create(ctx, ok)
	}
	if err != nil {
		return RegistryState{}, err
	}
	if err = w.await(ctx); err == nil {
		err = w.wire(ctx)
	}
	return w.args.state(id), incomplete(err)
}

// create starts the container, after it has removed one that does not fit. It
// pulls the image before. The images are in a volume of their own, which
// outlives the container.
func (w registryWork) create(ctx context.Context, replace bool) (string, error) {
	if err := w.ensureImage(ctx, w.args.Image, "registry's image", "kind:registry_image"); err != nil {
		return "", err
	}
	if replace {
		if err := w.Containers.Remove(ctx, w.args.Name); err != nil {
			return "", err
		}
	}
	spec := w.spec()
	if err := w.portsFree(ctx, spec.Publish, "kind:registry_port"); err != nil {
		return "", err
	}
	id, err := w.Containers.Create(ctx, spec)
	if err == nil {
		return id, nil
	}
	// A container that could not start is there all the same.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	return "", explain(errors.Join(err, w.remove(ctx, !replace)))
}

func (w registryWork) spec() containers.Spec {
	labels := map[string]string{}
	maps.Copy(labels, w.args.Labels)
	labels[kindnodes.OwnerLabel] = w.owner
	return containers.Spec{
		Name: w.args.Name, Image: w.args.Image, Network: w.args.Network, Labels: labels, Restart: "always",
		Volumes: map[string]string{w.args.Name: "/var/lib/registry"},
		Publish: []containers.Port{{
			Address: *w.args.HostAddress, Host: w.args.HostPort, Container: strconv.Itoa(registryPort) + "/tcp",
		}},
	}
}

// fits tells that a container is the one that is wanted, in what cannot be
// changed.
func (w registryWork) fits(c containers.Container) bool {
	// podman completes the names of images.
	image := c.Image == w.args.Image || strings.HasSuffix(c.Image, "/"+w.args.Image)
	return image && slices.Equal(c.Ports, w.spec().Publish)
}

// heal connects and starts a container that is there.
func (w registryWork) heal(ctx context.Context, c containers.Container) error {
	if !slices.Contains(c.Networks, w.args.Network) {
		if err := w.Containers.Connect(ctx, w.args.Network, c.Name); err != nil {
			return fmt.Errorf("joining %s to the network %s: %w", c.Name, w.args.Network, explain(err))
		}
	}
	return explain(w.Containers.Resume(ctx, c))
}

// await waits until the registry answers.
func (w registryWork) await(ctx context.Context) error {
	ask := func(ctx context.Context, url string) error {
		if w.Answers(ctx, url) {
			return nil
		}
		return errors.New("no answer")
	}
	err := reach.Until(ctx, w.args.url(), reach.Options{Ask: ask, Every: 200 * time.Millisecond, Limit: w.Patience})
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("the registry has not answered at %s within %s: look at `%s logs %s`",
			w.args.url(), w.Patience, w.Containers.Name, w.args.Name)
	}
	return err
}

// check finds what keeps the registry from being of use.
func (w registryWork) check(ctx context.Context, c containers.Container) []error {
	var problems []error
	switch c.State {
	case containers.Stopped:
		problems = append(problems, fmt.Errorf("the container %s has stopped", c.Name))
	case containers.Paused:
		problems = append(problems, fmt.Errorf("the container %s is paused", c.Name))
	}
	if !slices.Contains(c.Networks, w.args.Network) {
		problems = append(problems, fmt.Errorf("the container %s is not on the network %s", c.Name, w.args.Network))
	}
	return append(problems, w.checkWires(ctx)...)
}

// delete removes everything. The cluster is disconnected first; that this fails
// is only a warning, for the cluster may be about to be deleted as well.
func (w registryWork) delete(ctx context.Context) error {
	c, ok, err := w.Containers.Find(ctx, w.args.Name)
	if err != nil {
		return explain(err)
	}
	if err := w.unwire(ctx); err != nil {
		p.GetLogger(ctx).Warningf("the cluster %s still refers to the registry: %v", w.args.ClusterName, err)
	}
	if ok && c.Labels[kindnodes.OwnerLabel] != w.owner {
		p.GetLogger(ctx).Warningf("leaving the container %s alone: it is another one than this stack has made", w.args.Name)
		return nil
	}
	return explain(w.remove(ctx, true))
}

func (w registryWork) remove(ctx context.Context, volume bool) error {
	if err := w.Containers.Remove(ctx, w.args.Name); err != nil || !volume {
		return err
	}
	return w.Containers.RemoveVolume(ctx, w.args.Name)
}
