package cloudtest

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// clusterToken is the token of the kubeconfig of each cluster.
const clusterToken = "example-of-a-token"

// kubeconfig returns a kubeconfig for the API server of a cluster.
func (c *Cloud) kubeconfig(host string) string {
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.api.Certificate().Raw})
	return "apiVersion: v1\nkind: Config\ncurrent-context: lke\n" +
		"clusters: [{name: lke, cluster: {server: \"" + host + "\", certificate-authority-data: " +
		base64.StdEncoding.EncodeToString(certificate) + "}}]\n" +
		"users: [{name: lke-admin, user: {token: " + clusterToken + "}}]\n" +
		"contexts: [{name: lke, context: {cluster: lke, user: lke-admin, namespace: default}}]\n"
}

// AddLoadBalancer puts a service of type LoadBalancer into the cluster with an ID.
func (c *Cloud) AddLoadBalancer(id, name string) {
	service := object{"metadata": object{"name": name, "namespace": "default"}, "spec": object{"type": "LoadBalancer"}}
	c.change(id, func(services []object) []object { return append(services, service) })
}

// Removing says in the cluster with an ID that a service is being removed; it is gone once it was listed some times.
func (c *Cloud) Removing(id, name string, lists int) {
	c.change(id, func(services []object) []object {
		for _, service := range services {
			if metadata := service["metadata"].(object); metadata["name"] == name {
				metadata["deletionTimestamp"] = time.Now().UTC().Format(time.RFC3339)
				service[listsLeft] = lists
			}
		}
		return services
	})
}

// listsLeft is the field of a service that is being removed with the number of lists that still have it.
const listsLeft = "listsLeft"

// services returns the services of a cluster, and removes services that have been listed often enough.
func (of *cluster) services() []object {
	const services = "services"
	isGone := func(service object) bool { return service[listsLeft] == 0 }
	of.lists[services] = slices.DeleteFunc(of.lists[services], isGone)
	for _, service := range of.lists[services] {
		if left, ok := service[listsLeft].(int); ok {
			service[listsLeft] = left - 1
		}
	}
	return of.lists[services]
}

// change changes the services of a cluster.
func (c *Cloud) change(id string, with func([]object) []object) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if of := c.made[id]; of != nil {
		of.lists["services"] = with(of.lists["services"])
	}
}

// serveAPI answers for the API servers of all clusters, each below its ID. It is silent where there is no cluster, or
// none that is ready.
func (c *Cloud) serveAPI(w http.ResponseWriter, r *http.Request) {
	id, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	c.mu.Lock()
	defer c.mu.Unlock()
	of := c.made[id]
	if of == nil || time.Now().Before(of.ready) {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Type", "application/json")
	status, answer := http.StatusOK, object{}
	resource, isList := strings.CutPrefix(path, "api/v1/")
	switch {
	case r.Header.Get("Authorization") != "Bearer "+clusterToken:
		status = http.StatusUnauthorized
	case path == "version":
		answer = object{"major": "1", "minor": "36", "gitVersion": "v1.36.0"}
	case isList && r.Method == http.MethodGet:
		var items []object
		switch resource {
		case "nodes":
			items = of.nodes()
		case "services":
			items = of.services()
		}
		answer = object{"kind": "List", "apiVersion": "v1", "metadata": object{}, "items": append([]object{}, items...)}
	default:
		status = http.StatusNotFound
	}
	if status != http.StatusOK {
		answer = object{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": status,
			"reason": strings.ReplaceAll(http.StatusText(status), " ", "")}
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer)
}

// nodes returns the nodes of a cluster, which are ready.
func (of *cluster) nodes() (nodes []object) {
	for _, pool := range of.pools {
		instances, _ := pool["nodes"].([]object)
		for _, instance := range instances {
			nodes = append(nodes, object{
				"metadata": object{"name": fmt.Sprint("lke", of.id, "-", instance["id"])},
				"status":   object{"conditions": []object{{"type": "Ready", "status": "True"}}},
			})
		}
	}
	return nodes
}
