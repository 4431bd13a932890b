package logstore

import (
	"fmt"
	"strconv"
	"strings"

	"mara/projects/internal/cluster"
)

// size is how big each OpenSearch node is; "" means by provider.
type size struct{ heap, storage string }

// busybox is the image of the charts' init containers, which they leave at
// "latest".
const (
	busybox    = "docker.io/library/busybox"
	busyboxTag = "1.37.0"
)

// storeValues returns the values of the chart opensearch.
// https://github.com/opensearch-project/helm-charts/blob/opensearch-3.6.0/charts/opensearch/values.yaml
func storeValues(c *cluster.Cluster, chosen size) cluster.Values {
	replicas := c.Replicas("logstore:replicas", 3)
	heap := chosen.heap
	if heap == "" {
		heap = "1g"
		if c.Small() {
			heap = "512m"
		}
	}
	values := cluster.Values{
		"clusterName":   "opensearch-cluster",
		"nodeGroup":     "master",
		"masterService": host,
		"singleNode":    replicas == 1,
		"replicas":      replicas,
		"image":         cluster.Values{"repository": c.Image("docker.io/opensearchproject/opensearch")},
		// The heap never grows or shrinks: the JVM takes all of it at once.
		"opensearchJavaOpts": fmt.Sprintf("-Xms%[1]s -Xmx%[1]s", heap),
		"resources":          cluster.Values{"requests": requests(c, heap)},
		"persistence":        persistence(c, chosen.storage),
		"extraEnvs":          environment(c),
		"podSecurityContext": cluster.PodSecurityContext(),
		"securityContext":    cluster.SecurityContext(),
		"protocol":           "https",
	}
	if !c.Small() {
		// OpenSearch maps its files into memory, which needs more mappings than
		// a node allows by default.
		values["sysctlInit"] = cluster.Values{"enabled": true, "image": c.Image(busybox), "imageTag": busyboxTag}
	}
	return values
}

// requests asks for twice the heap: the rest holds the page cache and what the
// JVM needs beside it.
func requests(c *cluster.Cluster, heap string) cluster.Values {
	cpu := "500m"
	if c.Small() {
		cpu = "100m"
	}
	return cluster.Values{"cpu": cpu, "memory": fmt.Sprintf("%dMi", 2*megabytes(heap))}
}

func persistence(c *cluster.Cluster, storage string) cluster.Values {
	values := cluster.Values{
		"enabled": true, "size": storage, "image": c.Image(busybox), "imageTag": busyboxTag,
		// Everybody may write to kind's volumes: no init container has to be root there.
		"enableInitChown": !c.Local(),
	}
	if class := c.StorageClass(); class != "" {
		values["storageClass"] = class
	}
	return values
}

// environment passes the administrator's first password and, on kind, keeps
// OpenSearch from mapping files into memory: there the limit of mappings is the
// user's own machine's, and not for us to raise.
func environment(c *cluster.Cluster) []cluster.Values {
	environment := []cluster.Values{{
		"name":      "OPENSEARCH_INITIAL_ADMIN_PASSWORD",
		"valueFrom": cluster.Values{"secretKeyRef": cluster.Values{"name": credentials, "key": "password"}},
	}}
	if c.Small() {
		environment = append(environment, cluster.Values{"name": "node.store.allow_mmap", "value": "false"})
	}
	return environment
}

// dashboardsValues returns the values of the chart opensearch-dashboards, whose defaults are
// in charts/opensearch-dashboards/values.yaml of
// https://github.com/opensearch-project/helm-charts/tree/opensearch-dashboards-3.6.0
func dashboardsValues(c *cluster.Cluster) cluster.Values {
	cpu := "100m"
	if c.Small() {
		cpu = "50m"
	}
	return cluster.Values{
		"opensearchHosts":    fmt.Sprintf("https://%s:%d", host, port),
		"replicaCount":       1,
		"image":              cluster.Values{"repository": c.Image("docker.io/opensearchproject/opensearch-dashboards")},
		"opensearchAccount":  cluster.Values{"secret": credentials},
		"podSecurityContext": cluster.PodSecurityContext(),
		"securityContext":    cluster.SecurityContext(),
		"service":            cluster.Values{"type": "ClusterIP", "port": 5601},
		"resources": cluster.Values{
			"requests": cluster.Values{"cpu": cpu, "memory": "512Mi"},
			"limits":   cluster.Values{"cpu": "1", "memory": "1Gi"},
		},
	}
}

// megabytes returns a Java heap size, a number with m or g, in MiB.
func megabytes(heap string) int {
	number, _ := strconv.Atoi(strings.TrimRight(heap, "mMgG")) // the key's form has checked it
	if strings.HasSuffix(strings.ToLower(heap), "g") {
		return number * 1024
	}
	return number
}
