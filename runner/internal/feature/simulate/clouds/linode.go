package clouds

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mara/projects/schemas"
	"mara/runner/internal/feature/simulate"
)

const (
	lkeFact    = "linode/lke/"
	domainFact = "linode/domain/"
)

// linodeHost has clusters of LKE, whose load balancers have addresses and host
// names.
func linodeHost() host {
	return host{plugin: linode, domain: "lke", loadBalancer: func(o simulate.Object) map[string]any {
		return map[string]any{"ip": o.IPv4("balancer"), "hostname": "nb-" + o.Hex("balancer", 8) + ".simulated" + nowhere}
	}}
}

// linode returns the simulation of LKE, machines and their networks.
func linode() simulate.Package {
	return simulate.Package{
		Name: "linode", Schemas: [][]byte{schemas.Of("linode")}, Partial: true, Words: faultsOf("linode"),
		Resources: linodeResources(),
		Invokes:   linodeFunctions(),
		Defaults: func(o simulate.Object) map[string]any {
			return map[string]any{
				"created": simulate.Epoch, "updated": simulate.Epoch, "label": o.Name(), "region": "us-ord",
				"username": "SIMULATED", "diskEncryption": "disabled",
			}
		},
	}
}

// numeric makes ids that are decimal numbers.
func numeric(o simulate.Object) string { return strconv.Itoa(number(o, "id")) }

func number(o simulate.Object, label string) int { return o.Pick(label, 100000, 999999) }

// needsNumber makes requirements from references that are numbers.
func needsNumber(path, fact, missing string) func(simulate.Object) []simulate.Requirement {
	return func(o simulate.Object) []simulate.Requirement {
		n := strconv.Itoa(o.Number(path, 0))
		return []simulate.Requirement{{Fact: fact + n, Missing: missing + " " + n}}
	}
}

// linodeResources returns the types of LKE, machines with their parts, firewalls, DNS and
// load balancers.
func linodeResources() []simulate.Resource {
	return []simulate.Resource{
		{
			Token:   "linode:index/lkeCluster:LkeCluster",
			Latency: seconds(240, 60, 20), ID: numeric, ReplaceOn: []string{"region", "tier", "aplEnabled"},
			Check: every(versionAt("k8sVersion"), checkPools), Outputs: lkeCluster, Refuses: lkeRefuses(),
			Links: links(func(o simulate.Object) []simulate.Fact { return facts(lkeFact+o.ID, reachable(lkeServer(o))) }),
		},
		{
			Token:   "linode:index/lkeNodePool:LkeNodePool",
			Latency: seconds(120, 60, 20), ID: numeric, ReplaceOn: []string{"clusterId", "type"},
			Links: links(nil, needsNumber("clusterId", lkeFact, "[404] Not found: there is no cluster")),
			Outputs: func(o simulate.Object) map[string]any {
				count := o.Number("nodeCount", o.Number("autoscaler.min", 1))
				return map[string]any{"nodeCount": count, "nodes": lkeNodes(o, "pool", count)}
			},
		},
		{
			Token:   "linode:index/instance:Instance",
			Latency: seconds(60, 60, 10), ID: numeric, Outputs: linodeInstance, Check: labelOf(3, 64),
			Defaults: map[string]any{"lkeClusterId": 0, "privateIpAddress": "", "status": "running", "swapSize": 512},
			// Another region is none of these: it moves the machine, which gets another address.
			ReplaceOn: slices.Concat([]string{
				"image", "rootPass", "authorizedKeys", "authorizedUsers", "stackscriptId", "stackscriptData",
				"backupId", "diskEncryption", "firewallId", "interfaceGeneration", "ipv4s", "metadatas.userData", "networkHelper",
			}, below("disks", "authorizedKeys", "authorizedUsers", "filesystem", "image", "readOnly", "rootPass",
				"stackscriptData", "stackscriptId")),
		},
		{Token: "linode:index/stackScript:StackScript", Latency: seconds(1, 1, 1), ID: numeric},
		{Token: "linode:index/sshKey:SshKey", Latency: seconds(1, 1, 1), ID: numeric, ReplaceOn: []string{"sshKey"}},
		{
			Token:   "linode:index/token:Token",
			Latency: seconds(1, 1, 1), ID: numeric, ReplaceOn: []string{"scopes", "expiry"},
		},
		{
			Token:   "linode:index/firewall:Firewall",
			Latency: seconds(2, 2, 1), ID: numeric, Check: labelOf(3, 32),
			Defaults: map[string]any{"status": "enabled"},
		},
		{
			Token:   "linode:index/domain:Domain",
			Latency: seconds(1, 1, 1), ID: numeric, ReplaceOn: []string{"type"}, Links: links(byID(domainFact, "")),
			Defaults: map[string]any{"status": "active"},
		},
		{
			Token:   "linode:index/domainRecord:DomainRecord",
			Latency: seconds(1, 1, 1), ID: numeric, ReplaceOn: []string{"domainId", "recordType"},
			Links:    links(nil, needsNumber("domainId", domainFact, "[404] Not found: there is no domain")),
			Defaults: map[string]any{"name": ""},
		},
		{
			Token:   "linode:index/nodeBalancer:NodeBalancer",
			Latency: seconds(5, 2, 2), ID: numeric, ReplaceOn: []string{"region", "firewallId", "vpcs"},
			Outputs: func(o simulate.Object) map[string]any {
				return map[string]any{
					"hostname": "nb-" + o.Hex("name", 8) + ".simulated" + nowhere, "ipv4": o.IPv4("address"),
					"ipv6": "2001:db8::" + o.Hex("ipv6", 4),
				}
			},
		},
	}
}

// linodeLabel is Linode's pattern for labels of machines and firewalls, without the part that forbids
// two punctuation marks of a kind in a row. https://github.com/linode/linode-api-docs/blob/v4.189.0/openapi.yaml
var linodeLabel = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9-_.]+$`)

// labelOf refuses what Linode does not take for a label.
func labelOf(shortest, longest int) check {
	return wellFormed("label", func(label string) bool {
		repeats := strings.Contains(label, "--") || strings.Contains(label, "__") || strings.Contains(label, "..")
		return len(label) >= shortest && len(label) <= longest && linodeLabel.MatchString(label) && !repeats
	}, fmt.Sprintf("is not a label: %d to %d letters, digits, '-', '_' and '.', the first a letter, "+
		"and no two marks of a kind in a row", shortest, longest))
}

// lkeRefuses returns the rules for the life of a cluster. Linode documents them, but not the words
// of its API. https://techdocs.akamai.com/cloud-computing/docs/upgrade-a-cluster-to-a-newer-kubernetes-version
// https://registry.terraform.io/providers/linode/linode/latest/docs/resources/lke_cluster#high_availability-1
func lkeRefuses() refusal {
	return firstOf(
		upByOne("k8sVersion", func(id, from, to string) string {
			return fmt.Sprintf("failed to update LKE Cluster %s: [400] [k8s_version] a cluster is upgraded from %s to "+
				"the next minor version, not to %s", id, from, to)
		}),
		staysOn("controlPlane.highAvailability", "failed to update LKE Cluster: [400] [control_plane.high_availability] "+
			"High Availability is an irreversible change, it cannot be disabled"),
		keepsDiskEncryption)
}

// keepsDiskEncryption refuses other disks in an existing pool: their encryption is chosen when the
// pool is made. https://techdocs.akamai.com/cloud-computing/docs/local-disk-encryption
func keepsDiskEncryption(before, after simulate.Object) string {
	old, pools := before.List("pools"), after.List("pools")
	for i := range min(len(old), len(pools)) {
		was, _ := old[i].(map[string]any)
		given, _ := pools[i].(map[string]any)
		if was["diskEncryption"] == "enabled" && given["diskEncryption"] == "disabled" {
			return "failed to update LKE Cluster pool: [400] [disk_encryption] the disk encryption of a pool cannot be changed"
		}
	}
	return ""
}

func lkeServer(o simulate.Object) string { return apiServer("lke" + o.ID + ".lke") }

func lkeCluster(o simulate.Object) map[string]any {
	server := lkeServer(o)
	config := kubeconfigText("lke"+o.ID, server, map[string]string{"token": "SIMULATED-" + o.Hex("token", 40)})
	var pools []any
	for i, pool := range o.List("pools") {
		given, _ := pool.(map[string]any)
		label := fmt.Sprint("pool", i)
		pools = append(pools, map[string]any{
			"id": number(o, label), "nodes": lkeNodes(o, label, poolSize(given)), "diskEncryption": "enabled",
		})
	}
	return map[string]any{
		"apiEndpoints": []any{server},
		"controlPlane": map[string]any{"highAvailability": o.Value("controlPlane.highAvailability") == true},
		"dashboardUrl": "https://dashboard.lke" + o.ID + ".simulated" + nowhere,
		"kubeconfig":   base64.StdEncoding.EncodeToString([]byte(config)),
		"pools":        pools,
		"status":       "ready",
	}
}

func poolSize(pool map[string]any) int {
	if count, ok := pool["count"].(float64); ok {
		return int(count)
	}
	autoscaler, _ := pool["autoscaler"].(map[string]any)
	least, _ := autoscaler["min"].(float64)
	return int(least)
}

func lkeNodes(o simulate.Object, pool string, count int) []any {
	nodes := []any{}
	for i := range count {
		label := fmt.Sprint(pool, "/", i)
		nodes = append(nodes, map[string]any{
			"id": strconv.Itoa(number(o, pool)) + "-" + o.Hex(label, 12), "instanceId": number(o, label), "status": "ready",
		})
	}
	return nodes
}

func checkPools(o simulate.Object) []simulate.Problem {
	pools, known := o.Value("pools").([]any)
	if known && len(pools) == 0 && o.Text("tier") != "enterprise" {
		return refuse("pools", "a cluster needs at least one pool of nodes")
	}
	return nil
}

func linodeInstance(o simulate.Object) map[string]any {
	address := o.IPv4("address")
	return map[string]any{
		"backups":         []any{map[string]any{"available": false, "enabled": o.Value("backupsEnabled") == true}},
		"booted":          o.Value("booted") != false,
		"bootConfigLabel": "My " + o.TextOr("label", o.Name()) + " Disk Profile",
		"hasUserData":     len(o.List("metadatas")) > 0,
		"hostUuid":        o.Hex("host", 40),
		"ipAddress":       address,
		"ipv4s":           []any{address},
		"ipv6":            fmt.Sprintf("2001:db8::%s/128", o.Hex("ipv6", 4)),
		"specs":           []any{map[string]any{"disk": 81920, "memory": 4096, "vcpus": 2, "transfer": 4000, "gpus": 0}},
	}
}

func linodeFunctions() []simulate.Invoke {
	return []simulate.Invoke{
		{
			Token: "linode:index/getLkeVersions:getLkeVersions", Answer: func(o simulate.Object) (map[string]any, error) {
				var versions []any
				for _, version := range []string{"1.36", "1.35", "1.34"} {
					versions = append(versions, map[string]any{"id": version, "tier": o.TextOr("tier", "standard")})
				}
				return map[string]any{"versions": versions}, nil
			}},
		{
			Token: "linode:index/getRegions:getRegions", Answer: constant(map[string]any{"regions": []any{
				linodeRegion("us-ord", "us", "Chicago, IL"), linodeRegion("nl-ams", "nl", "Amsterdam, NL"),
				linodeRegion("jp-osa", "jp", "Osaka, JP"),
			}})},
		{
			Token: "linode:index/getInstanceTypes:getInstanceTypes", Answer: constant(map[string]any{"types": []any{
				linodeType("g6-standard-2", 2, 4096, 24), linodeType("g6-standard-4", 4, 8192, 48),
				linodeType("g6-dedicated-4", 4, 8192, 72),
			}})},
	}
}

func linodeRegion(id, country, label string) map[string]any {
	return map[string]any{
		"id": id, "country": country, "label": label, "siteType": "core", "status": "ok",
		"capabilities": []any{"Linodes", "Kubernetes", "NodeBalancers", "Block Storage"},
		"resolvers":    []any{}, "placementGroupLimits": []any{}, "monitors": map[string]any{},
	}
}

func linodeType(id string, cpus, memory int, monthly float64) map[string]any {
	return map[string]any{
		"id": id, "label": id, "class": "standard", "vcpus": cpus, "memory": memory, "disk": memory * 20, "transfer": 4000,
		"networkOut": 4000, "acceleratedDevices": 0, "addons": []any{}, "regionPrices": []any{},
		"prices": []any{map[string]any{"hourly": monthly / 730, "monthly": monthly}},
	}
}
