// Command pulumi-resource-linode stands in for Linode's provider in tests of what is not simulated: it makes one kind
// of resource, a cluster, with Linode's own SDK, wherever LINODE_URL is.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/linode/linodego"
	p "github.com/pulumi/pulumi-go-provider"
	"github.com/pulumi/pulumi-go-provider/middleware/cancel"
	"github.com/pulumi/pulumi/sdk/v3/go/property"
)

// poll is how often the SDK asks again for what is not there yet.
const poll = 100 * time.Millisecond

func main() {
	err := p.RunProvider(context.Background(), "linode", "5.9.0", cancel.Wrap(p.Provider{
		Check:  check,
		Diff:   diff,
		Create: create,
		Read:   read,
		Update: update,
		Delete: remove,
	}))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// connect returns a client of the cloud at LINODE_URL.
func connect() linodego.Client {
	client := linodego.NewClient(nil)
	client.SetToken(os.Getenv("LINODE_TOKEN"))
	client.SetBaseURL(os.Getenv("LINODE_URL"))
	client.SetPollDelay(poll)
	return client
}

func check(_ context.Context, r p.CheckRequest) (p.CheckResponse, error) {
	return p.CheckResponse{Inputs: r.Inputs}, nil
}

// diff replaces a cluster whose region changes, and updates it for anything else.
func diff(_ context.Context, r p.DiffRequest) (p.DiffResponse, error) {
	changes := map[string]p.PropertyDiff{}
	for name, value := range r.Inputs.All {
		if before, ok := r.State.GetOk(name); ok && before.Equals(value) {
			continue
		}
		change := p.PropertyDiff{Kind: p.Update, InputDiff: true}
		if name == "region" {
			change.Kind = p.UpdateReplace
		}
		changes[name] = change
	}
	return p.DiffResponse{HasChanges: len(changes) > 0, DetailedDiff: changes}, nil
}

func create(ctx context.Context, r p.CreateRequest) (p.CreateResponse, error) {
	if r.DryRun {
		return p.CreateResponse{Properties: r.Properties.Set("kubeconfig", property.New(property.Computed)).
			Set("apiEndpoints", property.New(property.Computed))}, nil
	}
	client := connect()
	options := linodego.LKEClusterCreateOptions{
		Label: text(r.Properties, "label"), Region: text(r.Properties, "region"),
		K8sVersion: text(r.Properties, "k8sVersion"), Tags: texts(r.Properties, "tags"),
	}
	for _, pool := range r.Properties.Get("pools").AsArray().All {
		made := linodego.LKENodePoolCreateOptions{
			Type: text(pool.AsMap(), "type"), Count: int(pool.AsMap().Get("count").AsNumber()),
		}
		options.NodePools = append(options.NodePools, made)
	}
	cluster, err := client.CreateLKECluster(ctx, options)
	if err != nil {
		return p.CreateResponse{}, fmt.Errorf("creating the cluster: %w", err)
	}
	state, err := stateOf(ctx, client, cluster.ID, r.Properties)
	made := p.CreateResponse{ID: strconv.Itoa(cluster.ID), Properties: state}
	if err != nil { // the cluster is there, as Linode's provider reports it, too
		made.PartialState = &p.InitializationFailed{Reasons: []string{err.Error()}}
	}
	return made, err
}

// stateOf waits for the kubeconfig of a cluster, and returns the inputs with its outputs.
func stateOf(ctx context.Context, client linodego.Client, id int, inputs property.Map) (property.Map, error) {
	kubeconfig, err := client.GetLKEClusterKubeconfig(ctx, id)
	if err != nil {
		return inputs, fmt.Errorf("waiting for the kubeconfig: %w", err)
	}
	endpoints, err := client.ListLKEClusterAPIEndpoints(ctx, id, nil)
	if err != nil {
		return inputs, err
	}
	var addresses []property.Value
	for _, endpoint := range endpoints {
		addresses = append(addresses, property.New(endpoint.Endpoint))
	}
	return inputs.Set("kubeconfig", property.New(kubeconfig.KubeConfig).WithSecret(true)).
		Set("apiEndpoints", property.New(property.NewArray(addresses))).Set("status", property.New("ready")), nil
}

// read returns an empty response for a cluster that is gone.
func read(ctx context.Context, r p.ReadRequest) (p.ReadResponse, error) {
	id, err := strconv.Atoi(r.ID)
	if err != nil {
		return p.ReadResponse{}, err
	}
	client := connect()
	cluster, err := client.GetLKECluster(ctx, id)
	if isMissing(err) {
		return p.ReadResponse{}, nil
	}
	if err != nil {
		return p.ReadResponse{}, err
	}
	var tags []property.Value
	for _, tag := range cluster.Tags {
		tags = append(tags, property.New(tag))
	}
	inputs := r.Inputs.Set("label", property.New(cluster.Label)).Set("region", property.New(cluster.Region)).
		Set("k8sVersion", property.New(cluster.K8sVersion)).Set("tags", property.New(property.NewArray(tags)))
	state, err := stateOf(ctx, client, id, inputs)
	return p.ReadResponse{ID: r.ID, Properties: state, Inputs: inputs}, err
}

func update(ctx context.Context, r p.UpdateRequest) (p.UpdateResponse, error) {
	id, err := strconv.Atoi(r.ID)
	if err != nil || r.DryRun {
		return p.UpdateResponse{Properties: r.State}, err
	}
	client := connect()
	options := linodego.LKEClusterUpdateOptions{Label: text(r.Inputs, "label"), K8sVersion: text(r.Inputs, "k8sVersion")}
	if _, err := client.UpdateLKECluster(ctx, id, options); err != nil {
		return p.UpdateResponse{}, fmt.Errorf("changing the cluster: %w", err)
	}
	pools, err := client.ListLKENodePools(ctx, id, nil)
	if err != nil {
		return p.UpdateResponse{}, err
	}
	for i, wanted := range r.Inputs.Get("pools").AsArray().All {
		count := linodego.LKENodePoolUpdateOptions{Count: int(wanted.AsMap().Get("count").AsNumber())}
		if i < len(pools) && pools[i].Count != count.Count {
			if _, err := client.UpdateLKENodePool(ctx, id, pools[i].ID, count); err != nil {
				return p.UpdateResponse{}, fmt.Errorf("changing a pool: %w", err)
			}
		}
	}
	state, err := stateOf(ctx, client, id, r.Inputs)
	return p.UpdateResponse{Properties: state}, err
}

func remove(ctx context.Context, r p.DeleteRequest) error {
	id, err := strconv.Atoi(r.ID)
	if err != nil {
		return err
	}
	client := connect()
	if err := client.DeleteLKECluster(ctx, id); err != nil && !isMissing(err) {
		return fmt.Errorf("deleting the cluster: %w", err)
	}
	return nil
}

func isMissing(err error) bool {
	var answer *linodego.Error
	return errors.As(err, &answer) && answer.Code == http.StatusNotFound
}

// text returns a string, or "".
func text(properties property.Map, name string) string {
	if value := properties.Get(name); value.IsString() {
		return value.AsString()
	}
	return ""
}

// texts returns the strings in a list.
func texts(properties property.Map, name string) (all []string) {
	if value := properties.Get(name); value.IsArray() {
		for _, item := range value.AsArray().All {
			all = append(all, item.AsString())
		}
	}
	return all
}
