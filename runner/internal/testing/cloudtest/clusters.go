package cloudtest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// clusters is the list of Linode's clusters.
const clusters = "/v4/lke/clusters"

// ReadyAfter sets how long a cluster of Linode takes until it has a kubeconfig.
func (c *Cloud) ReadyAfter(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.readyAfter = d
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

// cluster answers a request that makes, changes or reads one cluster of Linode; ok is false for any other request.
func (c *Cloud) cluster(r *http.Request) (status int, answer any, ok bool) {
	rest, isCluster := strings.CutPrefix(r.URL.Path, clusters)
	if !isCluster || r.Method == http.MethodDelete || rest == "" && r.Method == http.MethodGet {
		return 0, nil, false
	}
	body := map[string]any{}
	if content, err := io.ReadAll(r.Body); err == nil && len(content) > 0 && json.Unmarshal(content, &body) != nil {
		return http.StatusBadRequest, nil, true
	}
	if rest == "" {
		return http.StatusOK, c.newCluster(body), true
	}
	id, part, _ := strings.Cut(strings.TrimPrefix(rest, "/"), "/")
	for _, cluster := range c.resources[clusters] {
		if fmt.Sprint(cluster["id"]) != id {
			continue
		}
		if r.Method == http.MethodPut {
			for name, value := range body {
				cluster[name] = value
			}
		}
		status, answer := partOf(cluster, part)
		return status, answer, true
	}
	return http.StatusNotFound, nil, true
}

// newCluster makes a cluster as a request describes it.
func (c *Cloud) newCluster(body map[string]any) map[string]any {
	c.nextID++
	body["id"], body["status"], body["ready"] = c.nextID, "ready", time.Now().Add(c.readyAfter)
	c.resources[clusters] = append(c.resources[clusters], body)
	return body
}

// partOf returns a cluster, or what is below it.
func partOf(cluster map[string]any, part string) (status int, answer any) {
	host := fmt.Sprintf("https://%v.us-ord-1.linodelke.net:443", cluster["id"])
	ready, _ := cluster["ready"].(time.Time)
	switch part {
	case "":
		return http.StatusOK, cluster
	case "api-endpoints":
		endpoints := []any{map[string]any{"endpoint": host}}
		return http.StatusOK, map[string]any{"data": endpoints, "page": 1, "pages": 1, "results": 1}
	case "kubeconfig":
		if time.Now().Before(ready) { // Linode answers so until the control plane is up
			return http.StatusServiceUnavailable, nil
		}
		kubeconfig := "apiVersion: v1\nkind: Config\ncurrent-context: lke\n" +
			"clusters: [{name: lke, cluster: {server: \"" + host + "\"}}]\n" +
			"users: [{name: lke-admin, user: {token: example-of-a-token}}]\n" +
			"contexts: [{name: lke, context: {cluster: lke, user: lke-admin, namespace: default}}]\n"
		return http.StatusOK, map[string]any{"kubeconfig": base64.StdEncoding.EncodeToString([]byte(kubeconfig))}
	}
	return http.StatusNotFound, nil
}

// Ready makes all clusters of Linode ready.
func (c *Cloud) Ready() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, cluster := range c.resources[clusters] {
		cluster["ready"] = time.Time{}
	}
}
