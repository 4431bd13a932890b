package projects

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"mara/config"
	"mara/projects/naming"
	"mara/projects/offers"
)

// disjoint refuses overlapping ranges of addresses.
func disjoint(first, second string) config.Rule {
	return func(v config.Values) []config.Finding {
		a, errA := netip.ParsePrefix(v.Text(first))
		b, errB := netip.ParsePrefix(v.Text(second))
		if errA != nil || errB != nil || !a.Overlaps(b) {
			return nil
		}
		return config.Wrong(second, "is %s, which overlaps %s (%s)", b, first, a)
	}
}

// distinct refuses equal ports; 0 means any free port.
func distinct(keys ...string) config.Rule {
	return func(v config.Values) []config.Finding {
		users := map[int]string{}
		for _, key := range keys {
			port, ok := v.Int(key)
			if !ok || port == 0 {
				continue
			}
			if other, taken := users[port]; taken {
				return config.Wrong(key, "is %d, the port of %s", port, other)
			}
			users[port] = key
		}
		return nil
	}
}

// ordered refuses a number that is more than the number of the next key. It names the key that is set.
func ordered(keys ...string) config.Rule {
	return func(v config.Values) (found []config.Finding) {
		for i, small := range keys[:len(keys)-1] {
			large := keys[i+1]
			least, isNumber := v.Int(small)
			most, isBound := v.Int(large)
			switch {
			case !isNumber || !isBound || least <= most:
			case v.IsSet(large):
				found = append(found, config.Wrong(large, "is %d; it may not be less than %s (%d)", most, small, least)...)
			default:
				found = append(found, config.Wrong(small, "is %d; it may not be more than %s (%d)", least, large, most)...)
			}
		}
		return found
	}
}

// autoscaled judges the limits of autoscaling that poolKeys declares.
func autoscaled(group string) config.Rule {
	smallest, largest := group+":min_nodes", group+":max_nodes"
	return func(v config.Values) []config.Finding {
		least, _ := v.Int(smallest)
		most, _ := v.Int(largest)
		switch {
		case least == 0 && most > 0:
			text := fmt.Sprintf("must be at least 1 when %s is set", largest)
			return []config.Finding{{Key: smallest, At: largest, Text: text}}
		case least > 0 && most == 0:
			return []config.Finding{{Key: largest, At: smallest, Text: fmt.Sprintf("is not set, but %s is", smallest)}}
		}
		return ordered(smallest, largest)(v)
	}
}

// offered doubts a name that the cloud did not offer on the day of its list.
func offered(key string, list func() offers.List) config.Rule {
	return func(v config.Values) []config.Finding {
		if text := list().Doubt(v.Text(key)); text != "" {
			return config.Doubtful(key, "%s", text)
		}
		return nil
	}
}

// offersOf returns the rules for the choices that a cloud offers in lists.
func offersOf(provider, region, nodeType, version string) []config.Rule {
	return []config.Rule{
		offered(region, func() offers.List { return offers.Of(provider).Regions }),
		offered(nodeType, func() offers.List { return offers.Of(provider).NodeTypes }),
		supported(version, provider),
		knownStorageClass(provider),
	}
}

// supported judges a version of Kubernetes by the days on which the cloud's support ends.
func supported(key, provider string) config.Rule {
	return func(v config.Values) []config.Finding {
		wrong, doubt := offers.Of(provider).Kubernetes.Judge(v.Text(key), time.Now())
		switch {
		case wrong != "":
			return config.Wrong(key, "%s", wrong)
		case doubt != "" && v.IsSet(key):
			return config.Doubtful(key, "%s", doubt)
		}
		return nil
	}
}

// knownStorageClass doubts a StorageClass that a new cluster does not have.
func knownStorageClass(provider string) config.Rule {
	return func(v config.Values) []config.Finding {
		class, known := v.Text(StorageClass), offers.Of(provider).StorageClasses
		if class == "" || slices.Contains(known, class) {
			return nil
		}
		return config.Doubtful(StorageClass, "is %q, which a new cluster does not have; it has %s%s", class,
			strings.Join(known, ", "), config.DidYouMean(class, known))
	}
}

// smallestVolume doubts volumes that are smaller than what the cloud makes of them.
func smallestVolume(gib float64, keys ...string) config.Rule {
	return func(v config.Values) (found []config.Finding) {
		for _, key := range keys {
			if size, ok := bytesOf(v.Text(key)); ok && size < gib*(1<<30) {
				text := fmt.Sprintf("is %s; the smallest volume has %.0fGi, and costs as much", v.Text(key), gib)
				found = append(found, config.Finding{Key: key, Text: text, Doubt: true})
			}
		}
		return found
	}
}

// zonesOf requires zones in the region, and at most as many as the network has room for.
func zonesOf(zones, region string) config.Rule {
	return func(v config.Values) []config.Finding {
		list, name := v.List(zones), v.Text(region)
		for _, zone := range list {
			if name != "" && !strings.HasPrefix(zone, name) {
				return config.Wrong(zones, "names %s, which is not in %s (%s)", zone, region, name)
			}
		}
		if len(list) > MaxZones {
			return config.Wrong(zones, "has %d zones; the network is laid out for 1 to %d", len(list), MaxZones)
		}
		return nil
	}
}

// twoZones requires two zones or more, as EKS does.
func twoZones(v config.Values) []config.Finding {
	if len(v.List("vpc:azs")) != 1 {
		return nil
	}
	return config.Wrong("vpc:azs", "names one zone; EKS needs two at least")
}

// MaxZones is how many availability zones a network of AWS has room for.
const MaxZones = 6

// The limits of ranges, as lengths of prefixes. AWS takes networks of /16 and smaller, and subnets of /28 and larger,
// of which a network has 64: docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html. EKS takes service ranges
// between /12 and /24 inside the private ranges of RFC 1918:
// docs.aws.amazon.com/eks/latest/APIReference/API_KubernetesNetworkConfigRequest.html.
const (
	largestNetwork, smallestNetwork = 16, 28 - 6
	largestService, smallestService = 12, 24
)

// networkRange judges the range of a network.
func networkRange(v config.Values) []config.Finding {
	const key = "vpc:cidr"
	network, err := netip.ParsePrefix(v.Text(key))
	switch {
	case err != nil:
		return nil
	case network.Bits() < largestNetwork:
		return config.Wrong(key, "is %s, larger than AWS allows: the prefix must be /%d or longer", network, largestNetwork)
	case network.Bits() > smallestNetwork:
		return config.Wrong(key, "is %s, into which the subnets do not fit: it must be /%d or larger, such as %s/%d",
			network, smallestNetwork, network.Addr(), largestNetwork)
	case !isPrivate(network):
		return config.Doubtful(key, "is %s, addresses of the internet that nothing in the network can then reach; "+
			"use a part of 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16", network)
	}
	return nil
}

// isPrivate reports whether all addresses of a range are private, or shared by providers (100.64.0.0/10).
func isPrivate(network netip.Prefix) bool {
	shared := netip.MustParsePrefix("100.64.0.0/10")
	return network.Addr().IsPrivate() || shared.Contains(network.Addr())
}

// serviceRange judges the range of a cluster's services.
func serviceRange(v config.Values) []config.Finding {
	const key = "eks:service_cidr"
	service, err := netip.ParsePrefix(v.Text(key))
	switch {
	case err != nil:
		return nil
	case service.Bits() < largestService || service.Bits() > smallestService:
		return config.Wrong(key, "is %s, not a range that EKS takes: the prefix must be between /%d and /%d", service,
			largestService, smallestService)
	case !service.Addr().IsPrivate():
		return config.Wrong(key, "is %s, which is not inside 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16", service)
	}
	return nil
}

// roomForNodes compares the addresses of the private subnets, an eighth of the network in each zone, with the
// addresses that nodes reserve: with Pods, a node of usual size reserves about 12. AWS keeps five of each subnet.
func roomForNodes(v config.Values) []config.Finding {
	const key, each = "eks:max_size", 12
	network, err := netip.ParsePrefix(v.Text("vpc:cidr"))
	nodes, ok := v.Int(key)
	zones := len(v.List("vpc:azs"))
	if zones == 0 {
		zones = 3
	}
	if err != nil || !ok || network.Bits() < largestNetwork || network.Bits() > smallestNetwork {
		return nil
	}
	room := zones * (1<<(32-network.Bits()-3) - 5)
	switch {
	case nodes > room:
		return config.Wrong(key, "is %d, but the private subnets of vpc:cidr (%s) have only %d addresses", nodes, network,
			room)
	case nodes*each > room:
		return config.Doubtful(key, "is %d: so many nodes reserve about %d addresses for themselves and their Pods, but the "+
			"private subnets of vpc:cidr (%s) have %d", nodes, nodes*each, network, room)
	}
	return nil
}

// endpointAccess judges who can reach the API server of EKS.
func endpointAccess(v config.Values) []config.Finding {
	const public, private, ranges = "eks:endpoint_public_access", "eks:endpoint_private_access", "eks:public_access_cidrs"
	allowed := v.List(ranges)
	switch {
	case !v.Bool(public) && !v.Bool(private):
		return config.Wrong(private, "must be true when %s is false", public)
	case !v.Bool(public) && len(allowed) > 0:
		return config.Doubtful(ranges, "has no effect, for %s is false", public)
	}
	for _, text := range allowed {
		if network, err := netip.ParsePrefix(text); err == nil && network.Addr().IsPrivate() {
			return config.Wrong(ranges, "has %s, a private range, which EKS refuses: it is about the internet", text)
		}
	}
	return nil
}

// keyInRegion requires a KMS key to be in the region.
func keyInRegion(key string) config.Rule {
	return func(v config.Values) []config.Finding {
		parts, region := strings.Split(v.Text(key), ":"), v.Text("aws:region")
		if len(parts) < 5 || region == "" || parts[3] == region {
			return nil
		}
		return config.Wrong(key, "is a key in %s, but aws:region is %s; a KMS key serves its own region only", parts[3],
			region)
	}
}

// EKSAddOns lists the add-ons that the cluster of EKS gets, in order.
func EKSAddOns() []string {
	return []string{"vpc-cni", "kube-proxy", "eks-pod-identity-agent", "coredns", "aws-ebs-csi-driver"}
}

// addOnVersions judges the versions of add-ons.
func addOnVersions(v config.Values) (found []config.Finding) {
	const key = "eks:addon_versions"
	for name, value := range v.Map(key) {
		version, isText := value.(string)
		switch {
		case !slices.Contains(EKSAddOns(), name):
			found = append(found, config.Wrong(key, "has %q, which is none of the add-ons installed: %s%s", name,
				strings.Join(EKSAddOns(), ", "), config.DidYouMean(name, EKSAddOns()))...)
		case !isText || version == "":
			found = append(found, config.Wrong(key, "has %v as version of %s; write it in quotes", value, name)...)
		case !addOn.Matches(version):
			found = append(found, config.Wrong(key, "has %q as version of %s, which is not %s", version, name, addOn.Title)...)
		}
	}
	slices.SortFunc(found, func(a, b config.Finding) int { return strings.Compare(a.Text, b.Text) })
	return found
}

// armType matches AWS's instance types with an ARM processor, such as t4g.large.
var armType = regexp.MustCompile(`^(a1|[a-z]+[0-9]+g[a-z]*)\.`)

// processor requires nodes, their image and the image of the ingress controller to have the same processor.
func processor(v config.Values) []config.Finding {
	const instance, image, platform = "eks:instance_type", "eks:ami_type", "kic:platform"
	kind, ami := v.Text(instance), v.Text(image)
	arm := armType.MatchString(kind)
	switch {
	case arm && strings.Contains(ami, "x86_64"):
		return config.Wrong(instance, "is %s, which has an ARM processor, but %s is %s", kind, image, ami)
	case !arm && strings.Contains(ami, "ARM_64"):
		return config.Wrong(instance, "is %s, which has no ARM processor, but %s is %s", kind, image, ami)
	case v.Get("kic:image_origin") == nil: // no image is pushed
		return nil
	case arm && v.Text(platform) != "linux/arm64":
		return []config.Finding{{Key: platform, At: instance, Text: fmt.Sprintf(
			"must be linux/arm64: the nodes (%s) have an ARM processor", kind)}}
	case !arm:
		return intelPlatform(v)
	}
	return nil
}

// intelPlatform requires an image for the processors that Linode and DigitalOcean have, and most types of AWS.
func intelPlatform(v config.Values) []config.Finding {
	const key = "kic:platform"
	if platform := v.Text(key); platform != "" && platform != "linux/amd64" {
		return config.Wrong(key, "is %s, but the nodes run linux/amd64", platform)
	}
	return nil
}

// hostInDomain requires the application's host in the domain that gets its record.
func hostInDomain(v config.Values) []config.Finding {
	const domainKey, hostKey = "dns:domain", "bank-of-anthos:host"
	domain, host := v.Text(domainKey), v.Text(hostKey)
	switch {
	case domain == "" || host == domain || strings.HasSuffix(host, "."+domain):
		return nil
	case host == "":
		return []config.Finding{{Key: hostKey, At: domainKey, Text: "is not set, but dns:domain is: the record needs a name"}}
	}
	return config.Wrong(domainKey, "is %q, which %s %q does not belong to", domain, hostKey, host)
}

// kindNodes requires workers beside several control planes: kind lets the control plane take workload only when it is
// the single node. Each node takes a /24 of the range of Pods.
func kindNodes(v config.Values) (found []config.Finding) {
	const workersKey, subnetKey = "kind:workers", "kind:pod_subnet"
	planes, _ := v.Int("kind:control_planes")
	workers, _ := v.Int(workersKey)
	if planes > 1 && workers == 0 {
		found = append(found, config.Finding{Key: workersKey, At: "kind:control_planes",
			Text: "must be at least 1 with several control planes"})
	}
	if planes%2 == 0 {
		text := fmt.Sprintf("is %d: an even number survives no more failures than one less", planes)
		found = append(found, config.Finding{Key: "kind:control_planes", Text: text, Doubt: true})
	}
	subnet, err := netip.ParsePrefix(v.Text(subnetKey))
	if err != nil {
		return found
	}
	if room := math.Exp2(float64(24 - subnet.Bits())); float64(planes+workers) > room {
		found = append(found, config.Wrong(subnetKey, "is %s, which has no room for %d nodes: each takes a /24 of it", subnet,
			planes+workers)...)
	}
	return found
}

// nodeVersion finds the version of Kubernetes in the tag of a node image.
var nodeVersion = regexp.MustCompile(`:v(1\.[0-9]+)\.[0-9]+(@|$)`)

// kindVersion doubts a node image whose Kubernetes has no support any more.
func kindVersion(v config.Values) []config.Finding {
	const key = "kind:node_image"
	match := nodeVersion.FindStringSubmatch(v.Text(key))
	if match == nil || !v.IsSet(key) {
		return nil
	}
	if wrong, doubt := offers.Of("kind").Kubernetes.Judge(match[1], time.Now()); wrong != "" || doubt != "" {
		text := strings.TrimPrefix(cmp.Or(wrong, doubt), "is ")
		return config.Doubtful(key, "is Kubernetes %s", text)
	}
	return nil
}

// Mount is a directory of this machine that the nodes of a kind cluster see.
type Mount struct {
	Host, Node string
	ReadOnly   bool
}

// ParseMount reads a mount, written HOST:NODE or HOST:NODE:ro.
func ParseMount(text string) (mount Mount, ok bool) {
	rest, readOnly := strings.CutSuffix(text, ":ro")
	// The node's path is the part after the last colon: a host path of Windows has one of its own.
	colon := strings.LastIndex(rest, ":")
	if colon < 0 {
		return Mount{}, false
	}
	mount = Mount{Host: rest[:colon], Node: rest[colon+1:], ReadOnly: readOnly}
	return mount, filepath.IsAbs(mount.Host) && strings.HasPrefix(mount.Node, "/")
}

// mirrorURLs requires web addresses in the map of registries.
func mirrorURLs(v config.Values) (found []config.Finding) {
	const key = "kind:registry_mirrors"
	for host, value := range v.Map(key) {
		if target, _ := value.(string); !config.Web.Matches(target) {
			found = append(found, config.Wrong(key, "maps %s to %v, which is not an http or https URL", host, value)...)
		}
	}
	slices.SortFunc(found, func(a, b config.Finding) int { return strings.Compare(a.Text, b.Text) })
	return found
}

// acmeIssuer judges what an authority on the internet needs.
func acmeIssuer(v config.Values) (found []config.Finding) {
	const issuer, email = "certmgr:issuer", "certmgr:acme_email"
	if v.Text(issuer) != "acme" {
		return nil
	}
	if v.Text(email) == "" {
		found = append(found, config.Finding{Key: email, At: issuer, Text: "is not set, but certmgr:issuer is acme"})
	}
	if host, ok := InfrastructureByName(v.Text(InfraType)); ok && host.Local {
		found = append(found, config.Wrong(issuer,
			"is acme, but an authority on the internet cannot reach a %s cluster: use self-signed", host.Name)...)
	}
	return found
}

// retentionFits requires that what Prometheus keeps fits on its volume.
func retentionFits(v config.Values) []config.Finding {
	const kept, volume = "prometheus:retention_size", "prometheus:storage_size"
	// Prometheus counts in powers of 1024, with or without an i.
	size, ok := bytesOf(strings.TrimSuffix(strings.TrimSuffix(v.Text(kept), "B"), "i") + "i")
	room, hasRoom := bytesOf(v.Text(volume))
	if !ok || !hasRoom || size < room {
		return nil
	}
	text := fmt.Sprintf("is %s, but %s is only %s: the volume would be full first", v.Text(kept), volume, v.Text(volume))
	return []config.Finding{{Key: kept, At: volume, Text: text}}
}

// bytesOf returns how many bytes a size of Kubernetes has, such as 10Gi.
func bytesOf(text string) (float64, bool) {
	split := strings.IndexFunc(text, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
	if split < 0 {
		split = len(text)
	}
	number, err := strconv.ParseFloat(text[:split], 64)
	unit, isBinary := strings.CutSuffix(text[split:], "i")
	base := 1000.0
	if isBinary {
		base = 1024
	}
	power := strings.Index(" KMGTP", strings.ToUpper(unit))
	if unit == "" {
		power = 0
	}
	return number * math.Pow(base, float64(power)), err == nil && power >= 0
}

// chartRules returns the rules for the keys that chartKeys declares.
func chartRules(group string, defaults chart) []config.Rule {
	version, repository := ChartKey(group, ChartVersion), ChartKey(group, ChartRepository)
	file := ChartKey(group, ValuesFile)
	return []config.Rule{
		func(v config.Values) []config.Finding {
			text := v.Text(version)
			hasV, wantsV := strings.HasPrefix(text, "v"), strings.HasPrefix(defaults.version, "v")
			if hasV == wantsV || text == "" || v.Text(repository) != defaults.repository {
				return nil
			}
			meant := strings.TrimPrefix(text, "v")
			if wantsV {
				meant = "v" + text
			}
			return config.Wrong(version, "is %s, but the versions of this chart are written as %s: did you mean %s?", text,
				defaults.version, meant)
		},
		func(v config.Values) []config.Finding { return valuesFile(v, file) },
	}
}

// valuesFile requires a file with chart values to be there and to be a map.
func valuesFile(v config.Values, key string) []config.Finding {
	path := v.Text(key)
	if path == "" || v.Dir == "" && !filepath.IsAbs(path) {
		return nil
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(v.Dir, path)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return config.Wrong(key, "names a file that cannot be read: %s; the path begins at %s", reasonOf(err),
			config.Directory)
	}
	if err := yaml.Unmarshal(content, &map[string]any{}); err != nil {
		return config.Wrong(key, "is %s, which is not a YAML map of chart values: %s", v.Text(key),
			strings.TrimPrefix(strings.ReplaceAll(err.Error(), "\n ", ""), "yaml: "))
	}
	return nil
}

// readable requires a file of this machine to be there.
func readable(key string, v config.Values) []config.Finding {
	info, err := os.Stat(v.Text(key))
	switch {
	case !config.AbsolutePath.Matches(v.Text(key)): // its form has said so
		return nil
	case err != nil:
		return config.Wrong(key, "names a file that cannot be read: %s", reasonOf(err))
	case !info.Mode().IsRegular():
		return config.Wrong(key, "is %q, which is not a file", v.Text(key))
	}
	return nil
}

// reasonOf returns an error without the call that failed.
func reasonOf(err error) string {
	if failed, ok := errors.AsType[*os.PathError](err); ok {
		return failed.Path + ": " + failed.Err.Error()
	}
	return err.Error()
}

// PlusRegistry is F5's registry of commercial images. One logs in with the licence token as user and any password:
// docs.nginx.com/nginx-ingress-controller/install/images/registry-download.
const PlusRegistry = "private-registry.nginx.com"

// KICDockerfile is where a source of the ingress controller has its recipe.
const KICDockerfile = "build/Dockerfile"

// controllerImage judges where the image of the ingress controller comes from.
func controllerImage(v config.Values) []config.Finding {
	if v.Text("kic:image_origin") == "source" {
		return controllerSource(v)
	}
	const key = "kic:image_name"
	name := v.Text(key)
	if name == "" && v.Bool("kic:nginx_plus") {
		name = KICPlusImage
	}
	if registry, _ := naming.SplitRegistry(naming.InMirror(v.Text(Mirror), name)); registry == PlusRegistry {
		return needed(v, "kic:jwt_path", key, "the registry of NGINX Plus asks for the licence token")
	}
	if strings.HasSuffix(name, ":latest") {
		return config.Doubtful(key, "is %s, a different image from day to day; name a version", name)
	}
	return nil
}

// controllerSource judges a source that is built.
func controllerSource(v config.Values) []config.Finding {
	const source, target = "kic:source", "kic:source_target"
	plus := v.Bool("kic:nginx_plus")
	if path := v.Text(source); filepath.IsAbs(path) {
		if _, err := os.Stat(filepath.Join(path, KICDockerfile)); err != nil {
			return config.Wrong(source, "is not the source of the ingress controller: %s", reasonOf(err))
		}
	}
	if text := v.Text(target); text != "" && plus != strings.Contains(text, "-plus") {
		return config.Wrong(target, "is %s, which does not agree with kic:nginx_plus, which is %v", text, plus)
	}
	if !plus {
		return nil
	}
	const why = "NGINX Plus is built with the certificate and the key of its repository"
	return slices.Concat(needed(v, "kic:repo_cert_path", source, why), needed(v, "kic:repo_key_path", source, why))
}

// controllerLicence judges the licence token that NGINX Plus does not start without.
func controllerLicence(v config.Values) []config.Finding {
	if !v.Bool("kic:nginx_plus") {
		return nil
	}
	return needed(v, "kic:jwt_path", "kic:nginx_plus", "kic:nginx_plus is true, and NGINX Plus needs its licence token")
}

// needed requires a key to name a file that is there.
func needed(v config.Values, key, at, why string) []config.Finding {
	if v.Text(key) == "" {
		return []config.Finding{{Key: key, At: at, Text: "is not set: " + why}}
	}
	return readable(key, v)
}
