package cloudtest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// clusters is the list of Linode's clusters.
const clusters = "/v4/lke/clusters"

// now is the time of everything that Linode has made.
const now = "2026-11-25T12:00:00"

type object = map[string]any

// cluster is a cluster of Linode.
type cluster struct {
	id     int
	fields object // as a client reads them
	acl    object // who may reach the API server
	pools  []object
	ready  time.Time // when it has a kubeconfig
	lists  map[string][]object
}

// ReadyAfter sets how long a cluster of Linode takes until it has a kubeconfig.
func (c *Cloud) ReadyAfter(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.readyAfter = d
}

// Ready makes all clusters of Linode ready.
func (c *Cloud) Ready() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, of := range c.made {
		of.ready = time.Time{}
	}
}

// Clusters returns the IDs of the clusters of Linode.
func (c *Cloud) Clusters() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var ids []string
	for _, cluster := range c.resources[clusters] {
		ids = append(ids, fmt.Sprint(cluster["id"]))
	}
	return ids
}

// Cluster returns what a client reads of a cluster of Linode, and of its pools.
func (c *Cloud) Cluster(id string) (fields map[string]any, pools []map[string]any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if of := c.made[id]; of != nil {
		for _, pool := range of.pools {
			pools = append(pools, maps.Clone(pool))
		}
		return maps.Clone(of.fields), pools
	}
	return nil, nil
}

// ServerOf returns the address of the API server of a cluster of Linode.
func (c *Cloud) ServerOf(id string) string { return c.api.URL + "/" + id }

// page returns a list that is one page.
func page(data []object) object {
	if data == nil {
		data = []object{}
	}
	return object{"data": data, "page": 1, "pages": 1, "results": len(data)}
}

// cluster answers a request that makes, changes or reads one cluster of Linode; ok is false for any other request.
func (c *Cloud) cluster(r *http.Request) (status int, answer any, ok bool) {
	rest, isCluster := strings.CutPrefix(r.URL.Path, clusters)
	if !isCluster || rest == "" && r.Method == http.MethodGet {
		return 0, nil, false
	}
	body := object{}
	if content, err := io.ReadAll(r.Body); err == nil && len(content) > 0 && json.Unmarshal(content, &body) != nil {
		return http.StatusBadRequest, nil, true
	}
	if rest == "" {
		return http.StatusOK, c.newCluster(body), true
	}
	id, part, _ := strings.Cut(strings.TrimPrefix(rest, "/"), "/")
	of := c.made[id]
	switch {
	case of == nil && part == "": // a test has put it there
		return 0, nil, false
	case of == nil:
		return http.StatusNotFound, nil, true
	case r.Method == http.MethodDelete && part == "":
		for _, pool := range of.pools {
			c.empty(pool)
		}
		delete(c.made, id)
		return 0, nil, false // the list knows how
	}
	status, answer = c.partOf(of, r.Method, part, body)
	return status, answer, true
}

// newCluster makes a cluster as a request describes it.
func (c *Cloud) newCluster(body object) object {
	c.nextID++
	of := &cluster{id: c.nextID, fields: body, ready: time.Now().Add(c.readyAfter), lists: map[string][]object{}}
	nodePools, _ := body["node_pools"].([]any)
	for _, pool := range nodePools {
		c.addPool(of, pool.(object))
	}
	delete(body, "node_pools")
	of.setControlPlane(body["control_plane"])
	// There is no tier: version 4 of the API does not say it, and Pulumi's provider refuses a cluster that has one there.
	body["id"], body["status"], body["created"], body["updated"] = of.id, "ready", now, now
	c.resources[clusters] = append(c.resources[clusters], body)
	c.made[fmt.Sprint(of.id)] = of
	return body
}

// setControlPlane keeps what a request says of the control plane.
func (of *cluster) setControlPlane(wanted any) {
	controlPlane, _ := wanted.(object)
	highAvailability, _ := controlPlane["high_availability"].(bool)
	of.fields["control_plane"] = object{"high_availability": highAvailability}
	of.acl = object{"enabled": false, "addresses": object{"ipv4": []string{}, "ipv6": []string{}}}
	if acl, ok := controlPlane["acl"].(object); ok {
		of.acl = acl
	}
}

// addPool adds a pool of nodes, which are there at once.
func (c *Cloud) addPool(of *cluster, pool object) object {
	c.nextID++
	pool["id"], pool["disk_encryption"] = c.nextID, "enabled"
	c.fill(pool)
	of.pools = append(of.pools, pool)
	return pool
}

// fill gives a pool new nodes, and what Linode answers where a request says nothing.
func (c *Cloud) fill(pool object) {
	if pool["autoscaler"] == nil {
		pool["autoscaler"] = object{"enabled": false, "min": pool["count"], "max": pool["count"]}
	}
	for name, none := range map[string]any{"tags": []string{}, "taints": []object{}, "labels": object{}} {
		if pool[name] == nil {
			pool[name] = none
		}
	}
	c.empty(pool)
	count, _ := pool["count"].(float64)
	var nodes []object
	for range int(count) {
		c.nextID++
		id := fmt.Sprintf("%v-%d", pool["id"], c.nextID)
		nodes = append(nodes, object{"id": id, "instance_id": c.nextID, "status": "ready"})
	}
	pool["nodes"] = nodes
}

// empty deletes the nodes of a pool. The events of it are what Pulumi's provider waits for.
func (c *Cloud) empty(pool object) {
	old, _ := pool["nodes"].([]object)
	for _, node := range old {
		c.nextID++
		c.events = append(c.events, object{"id": c.nextID, "action": "linode_delete", "status": "finished", "created": now,
			"entity": object{"id": node["instance_id"], "type": "linode"}})
	}
}

// partOf answers a request to a cluster, or to what is below it.
func (c *Cloud) partOf(of *cluster, method, part string, body object) (status int, answer any) {
	host := c.ServerOf(fmt.Sprint(of.id))
	switch {
	case part == "" && method == http.MethodPut:
		for name, value := range body {
			of.fields[name] = value
		}
		if wanted, ok := body["control_plane"]; ok {
			of.setControlPlane(wanted)
		}
		return http.StatusOK, of.fields
	case part == "":
		return http.StatusOK, of.fields
	case part == "recycle":
		for _, pool := range of.pools {
			c.fill(pool)
		}
		return http.StatusOK, object{}
	case part == "control_plane_acl":
		return http.StatusOK, object{"acl": of.acl}
	case part == "dashboard":
		return http.StatusOK, object{"url": host + "/dashboard"}
	case part == "api-endpoints":
		return http.StatusOK, page([]object{{"endpoint": host}})
	case part == "kubeconfig":
		if time.Now().Before(of.ready) { // Linode answers so until the control plane is up
			return http.StatusServiceUnavailable, nil
		}
		return http.StatusOK, object{"kubeconfig": base64.StdEncoding.EncodeToString([]byte(c.kubeconfig(host)))}
	case part == "pools" && method == http.MethodPost:
		return http.StatusOK, c.addPool(of, body)
	case part == "pools":
		return http.StatusOK, page(of.pools)
	case strings.HasPrefix(part, "pools/"):
		return c.pool(of, method, strings.TrimPrefix(part, "pools/"), body)
	}
	return http.StatusNotFound, nil
}

// pool answers a request to one pool of a cluster.
func (c *Cloud) pool(of *cluster, method, id string, body object) (status int, answer any) {
	i := slices.IndexFunc(of.pools, func(pool object) bool { return fmt.Sprint(pool["id"]) == id })
	switch {
	case i < 0:
		return http.StatusNotFound, nil
	case method == http.MethodDelete:
		of.pools = slices.Delete(of.pools, i, i+1)
		return http.StatusOK, object{}
	case method == http.MethodPut:
		for name, value := range body {
			of.pools[i][name] = value
		}
		c.fill(of.pools[i])
	}
	return http.StatusOK, of.pools[i]
}
