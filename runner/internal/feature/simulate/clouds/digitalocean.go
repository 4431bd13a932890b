package clouds

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"mara/projects/offers"
	"mara/projects/schemas"
	"mara/runner/internal/feature/simulate"
)

// doksFact is a cluster.
const doksFact = "digitalocean/doks/"

// docrHost is the one host of all registries.
const docrHost = "registry.digitalocean.com"

// digitaloceanHost has clusters of DOKS, whose load balancers have addresses
// alone.
func digitaloceanHost() host {
	return host{plugin: digitalocean, domain: "doks", loadBalancer: func(o simulate.Object) map[string]any {
		return map[string]any{"ip": o.IPv4("balancer")}
	}}
}

// digitalocean returns the simulation of DOKS, registries and DNS.
func digitalocean() simulate.Package {
	return simulate.Package{
		Name: "digitalocean", Schemas: [][]byte{schemas.Of("digitalocean")}, Partial: true, Words: faultsOf("digitalocean"),
		Resources: digitaloceanResources(),
		Invokes:   digitaloceanFunctions(),
		Defaults: func(simulate.Object) map[string]any {
			return map[string]any{"createdAt": simulate.Epoch, "updatedAt": simulate.Epoch}
		},
	}
}

func digitaloceanResources() []simulate.Resource {
	return []simulate.Resource{
		{
			Token:   "digitalocean:index/kubernetesCluster:KubernetesCluster",
			Latency: seconds(300, 60, 30), ID: func(o simulate.Object) string { return uuid(o, "id") },
			ReplaceOn: []string{"region", "vpcUuid", "workerSubnetUuid", "clusterSubnet", "serviceSubnet", "nodePool.size"},
			Check:     every(wellFormed("version", doksVersion.MatchString, "is not a version such as 1.36.2-do.0"), checkPool),
			Renews:    doksRenews,
			Refuses:   doksRefuses(),
			Links: links(func(o simulate.Object) []simulate.Fact {
				return facts(doksFact+o.ID, reachable(doksServer(o)))
			}),
			Defaults: map[string]any{"clusterSubnet": "10.108.0.0/16", "serviceSubnet": "10.109.0.0/19", "status": "running"},
			Outputs:  doksOutputs,
		},
		{
			Token:   "digitalocean:index/kubernetesNodePool:KubernetesNodePool",
			Latency: seconds(120, 60, 30), ID: func(o simulate.Object) string { return uuid(o, "id") }, AutoName: "name",
			// https://docs.digitalocean.com/reference/terraform/reference/resources/kubernetes_node_pool
			ReplaceOn: []string{"clusterId", "size"},
			Check:     func(o simulate.Object) []simulate.Problem { return checkNodes(o, "") },
			Links:     links(nil, once(needs("clusterId", doksFact, "404 could not find cluster"))),
			Outputs: func(o simulate.Object) map[string]any {
				count := o.Number("nodeCount", o.Number("minNodes", 1))
				return map[string]any{"nodeCount": count, "actualNodeCount": count, "nodes": []any{}}
			},
		},
		{
			Token:   "digitalocean:index/containerRegistry:ContainerRegistry",
			Latency: seconds(3, 2, 3), ID: field("name"), AutoName: "name", ReplaceOn: []string{"name", "region"},
			Check: every(wellFormed("name", docrName.MatchString, "is not a name for a registry"), docrRegion()),
			Outputs: func(o simulate.Object) map[string]any {
				return docrOutputs(o.ID, o.TextOr("region", "nyc3"), o.Text("subscriptionTierSlug"))
			},
		},
		// DigitalOcean's logins have a token for both user and password.
		{
			Token:   "digitalocean:index/containerRegistryDockerCredentials:ContainerRegistryDockerCredentials",
			Latency: seconds(1, 1, 1), ReplaceOn: []string{"registryName"},
			// In reality it is the registry's name alone, although there can be several logins.
			ID:       func(o simulate.Object) string { return o.Text("registryName") + "-" + o.Hex("id", 8) },
			Defaults: map[string]any{"credentialExpirationTime": "2076-01-01T00:00:00Z", "expirySeconds": 1576800000},
			Outputs: func(o simulate.Object) map[string]any {
				token := "SIMULATED-" + o.Hex("token", 40)
				login := base64.StdEncoding.EncodeToString([]byte(token + ":" + token))
				return map[string]any{"dockerCredentials": fmt.Sprintf(`{"auths":{%q:{"auth":%q}}}`, docrHost, login)}
			},
		},
		{
			Token:   "digitalocean:index/dnsRecord:DnsRecord",
			Latency: seconds(1, 1, 1), ID: numeric, ReplaceOn: []string{"domain", "type"}, Defaults: map[string]any{"ttl": 1800},
			Outputs: func(o simulate.Object) map[string]any {
				return map[string]any{"fqdn": strings.TrimPrefix(o.Text("name")+"."+o.Text("domain"), "@.")}
			},
		},
	}
}

// docrRegion refuses regions without container registries, which are fewer than those of clusters.
func docrRegion() check {
	regions := offers.Of("digitalocean").RegistryRegions.Names
	isRegion := func(region string) bool { return slices.Contains(regions, region) }
	return wellFormed("region", isRegion, "is not a region of registries: "+strings.Join(regions, ", "))
}

// doksRenews returns the version if it goes down: the provider then makes a new cluster.
// See resource_kubernetes_cluster.go of https://github.com/digitalocean/terraform-provider-digitalocean
func doksRenews(before, after simulate.Object) []string {
	if step, known := minorStep(before, after, "version"); known && step < 0 {
		return []string{"version"}
	}
	return nil
}

// doksRefuses returns the rules for the life of a cluster.
// https://github.com/digitalocean/terraform-provider-digitalocean/issues/708 has the words for the version;
// those for high availability are the documentation's, not the API's:
// https://github.com/digitalocean/terraform-provider-digitalocean/blob/main/docs/resources/kubernetes_cluster.md
func doksRefuses() refusal {
	const clusters = "https://api.digitalocean.com/v2/kubernetes/clusters"
	return firstOf(
		upByOne("version", func(id, from, to string) string {
			return fmt.Sprintf("Unable to upgrade cluster version: POST %s/%s/upgrade: 422 "+
				"invalid upgrade path (from %s to %s)", clusters, id, from, to)
		}),
		staysOn("ha", "Unable to update cluster: PUT "+clusters+": 422 Once enabled for a cluster, high availability "+
			"cannot be disabled"))
}

func doksServer(o simulate.Object) string { return apiServer(o.ID + ".doks") }

func doksOutputs(o simulate.Object) map[string]any {
	server, token := doksServer(o), "SIMULATED-"+o.Hex("token", 40)
	count := o.Number("nodePool.nodeCount", o.Number("nodePool.minNodes", 1))
	var nodes []any
	for i := range count {
		label := fmt.Sprint("node", i)
		nodes = append(nodes, map[string]any{
			"id": uuid(o, label), "dropletId": fmt.Sprint(number(o, label)), "status": "running",
			"name": o.Text("nodePool.name") + "-" + o.Hex(label, 5), "createdAt": simulate.Epoch, "updatedAt": simulate.Epoch,
		})
	}
	return map[string]any{
		"clusterUrn":  "do:kubernetes:" + o.ID,
		"vpcUuid":     o.TextOr("vpcUuid", uuid(o, "vpc")),
		"endpoint":    server,
		"ipv4Address": o.IPv4("api"),
		"nodePool":    map[string]any{"id": uuid(o, "pool"), "actualNodeCount": count, "nodeCount": count, "nodes": nodes},
		"kubeConfigs": []any{map[string]any{
			"rawConfig": kubeconfigText("do-"+o.Text("region")+"-"+o.Text("name"), server, map[string]string{"token": token}),
			"host":      server, "token": token, "clusterCaCertificate": certificate, "expiresAt": "2036-01-01T00:00:00Z",
		}},
	}
}

// doksVersion is a version as DigitalOcean names it.
var doksVersion = regexp.MustCompile(`^1\.[0-9]+\.[0-9]+-do\.[0-9]+$`)

func checkPool(o simulate.Object) []simulate.Problem {
	if o.Value("nodePool") == nil {
		return nil
	}
	return checkNodes(o, "nodePool.")
}

// checkNodes refuses a number of nodes that a pool cannot have; its inputs begin with prefix.
func checkNodes(o simulate.Object, prefix string) []simulate.Problem {
	least, most := o.Number(prefix+"minNodes", 0), o.Number(prefix+"maxNodes", 0)
	switch scales := o.Value(prefix+"autoScale") == true; {
	case scales && (least < 1 || most < least):
		return refuse(prefix+"maxNodes", "minNodes %d and maxNodes %d do not fit together", least, most)
	case !scales && o.Number(prefix+"nodeCount", 0) < 1:
		return refuse(prefix+"nodeCount", "a pool without autoscaling needs at least one node")
	}
	return nil
}

var docrName = regexp.MustCompile(`^[a-z0-9-]{1,63}$`)

func docrOutputs(name, region, tier string) map[string]any {
	return map[string]any{
		"name": name, "endpoint": docrHost + "/" + name, "serverUrl": docrHost, "region": region,
		"subscriptionTierSlug": tier, "storageUsageBytes": 0, "createdAt": simulate.Epoch,
	}
}

func digitaloceanFunctions() []simulate.Invoke {
	return []simulate.Invoke{
		{
			Token: "digitalocean:index/getKubernetesVersions:getKubernetesVersions",
			Answer: func(o simulate.Object) (map[string]any, error) {
				newest, valid := "", []any{}
				for _, version := range []string{"1.36.2-do.0", "1.35.6-do.1", "1.34.9-do.2"} {
					if strings.HasPrefix(version, o.Text("versionPrefix")) {
						valid = append(valid, version)
						newest = max(newest, version)
					}
				}
				return map[string]any{"latestVersion": newest, "validVersions": valid}, nil
			}},
		{
			Token: "digitalocean:index/getContainerRegistry:getContainerRegistry",
			Answer: func(o simulate.Object) (map[string]any, error) {
				return docrOutputs(o.Text("name"), "nyc3", "basic"), nil
			}},
		{
			Token: "digitalocean:index/getDomain:getDomain", Answer: func(o simulate.Object) (map[string]any, error) {
				return map[string]any{
					"name": o.Text("name"), "domainUrn": "do:domain:" + o.Text("name"), "ttl": 1800, "zoneFile": "",
				}, nil
			}},
	}
}
