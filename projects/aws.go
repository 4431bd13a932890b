package projects

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"

	"mara/config"
	"mara/config/lists"
	"mara/projects/model"
)

// AWS hosts the cluster in EKS and the registry in ECR.
//
// The keys of its projects are in the namespaces vpc, eks and ecr: Pulumi hands the AWS
// provider every key of the namespace "aws" as the provider's own
// configuration, and it refuses unknown keys. aws:region and
// aws:profile are the provider's.
func AWS() model.Infrastructure {
	return model.Infrastructure{
		Name:           "aws",
		Title:          "Amazon Web Services",
		Projects:       func() []model.Project { return []model.Project{AWSVPC(), AWSEKS(), AWSECR()} },
		ClusterProject: "aws-eks",
		Registry:       model.Registry{Project: "aws-ecr", Login: model.LoginECR},
		Account: model.Account{
			Region: "aws:region", Profile: "aws:profile", ProfileVariable: "AWS_PROFILE",
			Credentials: []model.Credential{
				{Key: "aws:accessKey", Variable: "AWS_ACCESS_KEY_ID"},
				{Key: "aws:secretKey", Variable: "AWS_SECRET_ACCESS_KEY"},
				{Key: "aws:token", Variable: "AWS_SESSION_TOKEN"},
				{Key: "aws:assumeRole"}, {Key: "aws:assumeRoles"}, {Key: "aws:assumeRoleWithWebIdentity"},
			},
			FetchVariables: []string{
				"AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI",
			},
		},
		// https://github.com/kubernetes/cloud-provider-aws/blob/master/docs/service_controller.md
		LoadBalancerAnnotations: map[string]string{
			"service.beta.kubernetes.io/aws-load-balancer-type":                              "nlb",
			"service.beta.kubernetes.io/aws-load-balancer-cross-zone-load-balancing-enabled": "true",
		},
		BankPlatform: "aws",
	}
}

// AWSClusterLimit is the longest name of a cluster of EKS. Whoever looks for a name that a program has given has to
// shorten it in the same way.
const AWSClusterLimit = 100

// AWSVPC declares the network.
func AWSVPC() model.Project {
	return model.Project{
		Name: "aws-vpc", Path: "infrastructure/aws/vpc", Title: "VPC", Estimate: 3 * time.Minute,
		Summary: "a network with a public and a private subnet in each availability zone",
		Keys: append(awsProviderKeys(),
			config.Key{Name: "vpc:cidr", Kind: config.String, Form: config.Range, Default: "10.0.0.0/16",
				Example: "10.64.0.0/18",
				Doc:     "IPv4 range of the network, /16 to /22; must not overlap eks:service_cidr"},
			config.Key{Name: "vpc:azs", Kind: config.List, Form: awsZone, Example: `["us-east-1a", "us-east-1b", "us-east-1c"]`,
				Doc: "availability zones, 1 to 6, of which EKS needs 2; the region's first three when not set; " +
					"add new ones at the end, for a subnet's range follows from its zone's place"},
			config.Key{Name: "vpc:nat", Kind: config.String, Default: "single",
				Allowed: []string{"single", "per-az", "none"}, Example: "per-az",
				Doc: "NAT gateways that private subnets reach the internet through: one, one in each zone, " +
					"or none, which needs VPC endpoints and a mirror of all images"},
			eksServiceKey(),
		),
		Rules: []config.Rule{
			networkRange, serviceRange, disjoint("vpc:cidr", "eks:service_cidr"), zonesOf("vpc:azs", "aws:region"), roomForNodes,
			withoutGateway,
		},
		Outputs: []model.Output{
			{Name: "vpc_id", Doc: "id of the network"},
			{Name: "vpc_cidr", Doc: "IPv4 range of the network"},
			{Name: "azs", Doc: "availability zones in use"},
			{Name: "public_subnet_ids", Doc: "ids of the public subnets, in the order of the zones"},
			{Name: "private_subnet_ids", Doc: "ids of the private subnets, in the order of the zones"},
			{Name: "nat_public_ips", Doc: "addresses that the private subnets' traffic comes from"},
		},
	}
}

// AWSEKS declares the cluster.
func AWSEKS() model.Project {
	return model.Project{
		Name: "aws-eks", Path: "infrastructure/aws/eks", Title: "EKS", Estimate: 13 * time.Minute,
		Summary: "a managed Kubernetes cluster with its nodes, add-ons, roles and access",
		Keys:    append(awsProviderKeys(), eksKeys()...),
		Rules: append(offersOf("aws", "aws:region", "eks:instance_type", "eks:k8s_version"),
			serviceRange, twoZones, endpointAccess, keyInRegion("eks:kms_key_arn"), addOnVersions, processor,
			ordered("eks:min_size", "eks:max_size"), ordered("eks:min_size", "eks:desired_capacity", "eks:max_size"),
			poolRule("eks", awsInstanceType, "architecture", "spot", "empty"), poolSizes("eks", "aws", awsInstanceType),
			poolProcessors,
			groupPrincipals, nodesNotNewer, tinyInstances,
		),
		Outputs: []model.Output{
			{Name: "kubeconfig", Secret: true, Doc: "kubeconfig of the cluster; it calls `aws eks get-token`"},
			{Name: "cluster_name", Doc: "name of the cluster"},
			{Name: "cluster_endpoint", Highlight: true, Doc: "URL of the API server"},
			{Name: "cluster_version", Doc: "Kubernetes version of the cluster"},
			{Name: "region", Doc: "region of the cluster"},
		},
		Hooks:                []model.Hook{model.KubeconfigHook()},
		LeavesCloudResources: true,
		Versions: []model.Version{
			{What: "control plane", Key: "eks:k8s_version", Type: "aws:eks/cluster:Cluster", Property: "version",
				Note: "the control plane can go back one version for seven days, outside of Pulumi"},
			{What: "nodes", Key: "eks:node_version", Follows: "eks:k8s_version", Type: "aws:eks/nodeGroup:NodeGroup",
				Property: "version", Note: "EKS drains each node for 15 minutes at most; a Pod that may not be evicted " +
					"fails the upgrade of the nodes"},
		},
		// Region and credentials decide the first two, and the version of Kubernetes the third.
		Settled: []string{
			"aws:index/getPartition:getPartition", "aws:index/getRegion:getRegion", "aws:eks/getAddonVersion:getAddonVersion",
		},
	}
}

// exampleKey is the ARN of a KMS key for examples.
const exampleKey = "arn:aws:kms:us-east-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab"

// eksKeys declares what the cluster and its nodes are like.
func eksKeys() []config.Key {
	return []config.Key{
		{Name: "eks:k8s_version", Kind: config.String, Form: config.KubernetesMinor, Default: "1.36", Example: "1.35",
			Doc: "Kubernetes version"},
		{Name: "eks:node_version", Kind: config.String, Form: config.KubernetesMinor, Example: "1.35",
			Doc: "Kubernetes version of the nodes, so that they follow the control plane in an up of their own; " +
				"eks:k8s_version when not set"},
		{Name: "eks:support_type", Kind: config.String, Default: "STANDARD", Allowed: []string{"STANDARD", "EXTENDED"},
			Example: "EXTENDED",
			Doc:     "what happens when the version's standard support ends: an upgrade, or extended support for a fee"},
		{Name: "eks:instance_type", Kind: config.String, Form: awsInstanceType, Default: "t3.large", Example: "m6i.large",
			Doc: "type of the nodes"},
		{Name: "eks:ami_type", Kind: config.String, Default: "AL2023_x86_64_STANDARD",
			Allowed: []string{"AL2023_x86_64_STANDARD", "AL2023_ARM_64_STANDARD"}, Example: "AL2023_ARM_64_STANDARD",
			Doc: "image of the nodes; has to fit the processor of eks:instance_type, and kic:platform"},
		{Name: "eks:capacity_type", Kind: config.String, Default: "ON_DEMAND", Allowed: []string{"ON_DEMAND", "SPOT"},
			Example: "SPOT", Doc: "how the nodes are bought"},
		{Name: "eks:disk_size", Kind: config.Int, Default: 50, Min: new(20), Max: new(16384), Example: "100",
			Doc: "disk of each node, GiB"},
		{Name: "eks:min_size", Kind: config.Int, Default: 3, Min: new(1), Max: new(450), Example: "2",
			Doc: "smallest number of nodes"},
		{Name: "eks:max_size", Kind: config.Int, Default: 6, Min: new(1), Max: new(450), Example: "12",
			Doc: "largest number of nodes"},
		{Name: "eks:desired_capacity", Kind: config.Int, Default: 3, Min: new(1), Max: new(450), Example: "3",
			Doc: "number of nodes, from eks:min_size to eks:max_size"},
		eksServiceKey(),
		{Name: "eks:endpoint_public_access", Kind: config.Bool, Default: true, Example: "false",
			Doc: "the API server can be reached from outside the network"},
		{Name: "eks:endpoint_private_access", Kind: config.Bool, Default: true, Example: "false",
			Doc: "nodes reach the API server without leaving the network"},
		{Name: "eks:public_access_cidrs", Kind: config.List, Form: config.AnyRange, Example: `["203.0.113.0/24"]`,
			Doc: "address ranges that may reach the API server from outside; everywhere when not set"},
		{Name: "eks:log_types", Kind: config.List, Default: []string{"api", "audit", "authenticator"},
			Allowed: []string{"api", "audit", "authenticator", "controllerManager", "scheduler"}, Example: `["audit"]`,
			Doc: "control-plane logs to keep; [] for none"},
		// docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutRetentionPolicy.html
		{Name: "eks:log_retention_days", Kind: config.Int, Default: 30, Example: "90",
			Allowed: []string{"0", "1", "3", "5", "7", "14", "30", "60", "90", "120", "150", "180", "365", "400", "545",
				"731", "1096", "1827", "2192", "2557", "2922", "3288", "3653"},
			Doc: "days to keep the control-plane logs, one of the numbers that CloudWatch takes; 0 keeps them for ever"},
		{Name: "eks:encrypt_secrets", Kind: config.Bool, Default: false, Example: "true",
			Doc: "encrypt Kubernetes Secrets with a KMS key made for the cluster; cannot be turned off again"},
		{Name: "eks:kms_key_arn", Kind: config.String, Form: kmsKey, Example: exampleKey,
			Doc: "encrypt Kubernetes Secrets with this KMS key instead of one made for the cluster"},
		{Name: "eks:admin_principals", Kind: config.List, Form: principal, Example: `["arn:aws:iam::123456789012:role/platform"]`,
			Doc: "IAM users and roles that administer the cluster, in addition to the one that creates it"},
		{Name: "eks:addon_versions", Kind: config.Map, Example: `{vpc-cni: "v1.20.4-eksbuild.2"}`,
			Doc: "add-on to its version; what AWS has as default for the control plane's version when not set, asked in each up"},
		poolsKey("eks", "m6i.large", ", spot (true or false), architecture (amd64 or arm64)"),
		{Name: "eks:group_principals", Kind: config.Map,
			Example: `{team-a: ["arn:aws:iam::123456789012:role/team-a"]}`,
			Doc: "group of access:groups to the IAM users and roles that belong to it; of single sign-on, the ARN of the " +
				"role AWSReservedSSO_..."},
		eksAutoscalerKey(),
		eksZonesKey(),
		acmeDNSKey(),
	}
}

// eksAutoscalerKey declares that the cluster autoscaler decides on the number of nodes.
func eksAutoscalerKey() config.Key {
	return config.Key{Name: "eks:cluster_autoscaler", Kind: config.Bool, Default: false, Example: "true",
		Doc: "the project cluster-autoscaler decides on the number of nodes: it gets the right to, and " +
			"eks:desired_capacity counts only at the start"}
}

// eksZonesKey declares the zones that external-dns may change.
func eksZonesKey() config.Key {
	return config.Key{Name: "eks:dns_zones", Kind: config.List, Form: route53Zone, Example: `["Z0123456789ABCDEFGHIJ"]`,
		Doc: "zones of Route 53, by id, whose records the project external-dns may change, and cert-manager if " +
			"certmgr:acme_dns is route53"}
}

// EKSPools reads the value of eks:pools.
func EKSPools(value map[string]any) []Pool {
	pools, _ := Pools(value, awsInstanceType, "architecture", "spot", "empty")
	return pools
}

// Principals returns the groups of each IAM user and role in the value of eks:group_principals. It returns what
// is wrong.
func Principals(value map[string]any) (groups map[string][]string, problems []string) {
	groups = map[string][]string{}
	for _, group := range lists.Keys(value) {
		var arns []string
		e := entry{name: group, problems: &problems}
		if !e.texts(&arns, principal).read(value[group]) {
			e.problem("is no list of ARNs of IAM users and roles")
		}
		for _, arn := range arns {
			groups[arn] = append(groups[arn], group)
		}
	}
	return groups, problems
}

// nodesNotNewer judges the version of nodes: never newer than the control plane, and three minors older at most.
// https://kubernetes.io/releases/version-skew-policy/
func nodesNotNewer(v config.Values) []config.Finding {
	const key, cluster = "eks:node_version", "eks:k8s_version"
	var nodes, control int
	_, errNodes := fmt.Sscanf(v.Text(key), "1.%d", &nodes)
	_, errControl := fmt.Sscanf(v.Text(cluster), "1.%d", &control)
	const oldest = 3
	switch {
	case errNodes != nil || errControl != nil:
		return nil
	case nodes > control:
		return config.Wrong(key, "is 1.%d; nodes may not be newer than %s (1.%d)", nodes, cluster, control)
	case control-nodes > oldest:
		return config.Wrong(key, "is 1.%d; nodes may be %d versions older than %s (1.%d) at most", nodes, oldest, cluster,
			control)
	}
	return nil
}

// groupPrincipals judges the value of eks:group_principals. EKS knows a user or role once.
func groupPrincipals(v config.Values) []config.Finding {
	const key = "eks:group_principals"
	groups, problems := Principals(v.Map(key))
	if known := v.Map("access:groups"); len(known) > 0 {
		for group := range v.Map(key) {
			if _, ok := known[group]; !ok {
				problems = append(problems, fmt.Sprintf("has %q, which is no group of access:groups%s", group,
					config.DidYouMean(group, lists.Keys(known))))
			}
		}
		slices.Sort(problems)
	}
	for _, arn := range v.List("eks:admin_principals") {
		if len(groups[arn]) > 0 {
			problems = append(problems, "has "+arn+", which eks:admin_principals has, too")
		}
	}
	return allWrong(key, problems)
}

// AWSECR declares the container registry.
func AWSECR() model.Project {
	return model.Project{
		Name: "aws-ecr", Path: "infrastructure/aws/ecr", Title: "ECR", Estimate: 5 * time.Second,
		Summary: "a private repository for the ingress controller's image",
		Keys: append(awsProviderKeys(),
			config.Key{Name: "ecr:scan_on_push", Kind: config.Bool, Default: true, Example: "false",
				Doc: "look for known vulnerabilities in every pushed image"},
			config.Key{Name: "ecr:keep_images", Kind: config.Int, Default: 10, Min: new(1), Max: new(1000),
				Example: "30", Doc: "number of images to keep; older ones are removed"},
			config.Key{Name: "ecr:untagged_days", Kind: config.Int, Default: 14, Min: new(1), Max: new(365),
				Example: "1", Doc: "days to keep an image that has lost its tag"},
			config.Key{Name: "ecr:kms_key_arn", Kind: config.String, Form: kmsKey, Example: exampleKey,
				Doc: "encrypt images with this KMS key; with a key of Amazon's (AES256) when not set; " +
					"changing it replaces the repository"},
		),
		Rules: []config.Rule{keyInRegion("ecr:kms_key_arn")},
		Outputs: []model.Output{
			{Name: "repository_url", Highlight: true, Doc: "repository as images are named: host and path, without tag"},
			{Name: "repository_name", Doc: "name of the repository"},
			{Name: "registry_id", Doc: "id of the account's registry"},
		},
	}
}

// awsProviderKeys declares the settings of Pulumi's AWS provider that an
// environment needs. Both may come from the process environment instead, and
// credentials from wherever AWS's own tools find them.
func awsProviderKeys() []config.Key {
	return []config.Key{
		{Name: "aws:region", Kind: config.String, Form: awsRegion, OfPlugin: true, Required: true,
			Variables: []string{"AWS_REGION", "AWS_DEFAULT_REGION"}, Example: "us-east-1", Simulated: "us-east-1",
			Doc: "region; AWS_REGION when not set"},
		{Name: "aws:profile", Kind: config.String, OfPlugin: true, Variables: []string{"AWS_PROFILE"},
			Example: "platform",
			Doc:     "named profile of the AWS configuration; when not set, AWS_PROFILE or the credentials in the environment"},
	}
}

// eksServiceKey declares the range of the cluster's service addresses.
func eksServiceKey() config.Key {
	return config.Key{Name: "eks:service_cidr", Kind: config.String, Form: config.Range, Default: "172.20.0.0/16",
		Example: "10.100.0.0/16", Doc: "IPv4 range of service addresses; must not overlap vpc:cidr"}
}

// The forms of values that AWS takes.
var (
	awsRegion = &config.Form{Title: "a region such as us-east-1", Pattern: `^[a-z]{2,4}(-[a-z]+)+-[0-9]$`,
		Meant: config.Group(`^([a-z]{2,4}(?:-[a-z]+)+-[0-9]).$`)} // us-east-1a is a zone
	awsZone         = config.NewForm("an availability zone such as us-east-1a", `^[a-z]{2,4}(-[a-z]+)+-[0-9][a-z]$`)
	awsInstanceType = config.NewForm("an instance type such as m6i.large", `^[a-z][a-z0-9-]*\.[a-z0-9-]+$`)
	// kmsKey is the ARN of a key: EKS and ECR take no alias.
	kmsKey = config.NewForm("the ARN of a KMS key, arn:aws:kms:REGION:ACCOUNT:key/ID",
		`^arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key/[A-Za-z0-9-]+$`)
	route53Zone = config.NewForm("the id of a zone such as Z0123456789ABCDEFGHIJ", `^Z[A-Z0-9]{5,31}$`)

	principal = config.NewForm("the ARN of an IAM user or role", `^arn:aws[a-z-]*:iam::[0-9]{12}:(user|role)/.+$`)
	addOn     = config.NewForm("a version such as v1.20.4-eksbuild.2", `^v[0-9]+\.[0-9]+\.[0-9]+(-[a-z0-9.]+)?$`)
)

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

// mostRanges is how many ranges the public API server of EKS takes:
// docs.aws.amazon.com/eks/latest/userguide/service-quotas.html.
const mostRanges = 40

// withoutGateway doubts nodes that reach neither the registries of the images nor a mirror of them.
func withoutGateway(v config.Values) []config.Finding {
	if v.Text("vpc:nat") == "none" && v.Text(Mirror) == "" {
		return config.Doubtful("vpc:nat", "is none, and %s is not set: nodes in private subnets would find no image", Mirror)
	}
	return nil
}

// tinyInstances doubts nodes that have no room for what every environment runs: AWS names types by their memory.
func tinyInstances(v config.Values) []config.Finding {
	const key = "eks:instance_type"
	_, size, _ := strings.Cut(v.Text(key), ".")
	if slices.Contains([]string{"nano", "micro", "small"}, size) {
		return config.Doubtful(key, "is %s, which has 2 GB of memory or less: OpenSearch and Prometheus need nodes of 4 GB or more", v.Text(key))
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
	if len(allowed) > mostRanges {
		return config.Wrong(ranges, "has %d ranges; EKS takes %d", len(allowed), mostRanges)
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

// byDefault says that a value is the default: whoever reads it has not written it.
func byDefault(v config.Values, key string) string {
	if v.IsSet(key) {
		return ""
	}
	return " by default"
}

// poolProcessors requires the processor of a pool's type to be the one that the pool names.
func poolProcessors(v config.Values) (found []config.Finding) {
	const key = "eks:pools"
	pools, _ := Pools(v.Map(key), awsInstanceType, "architecture", "spot", "empty")
	for _, pool := range pools {
		arm := armType.MatchString(pool.Size)
		switch {
		case pool.Size == "":
		case arm && pool.Architecture != "arm64":
			found = append(found, config.Wrong(key, "%s has the size %s, which has an ARM processor; write architecture: arm64",
				pool.Name, pool.Size)...)
		case !arm && pool.Architecture == "arm64":
			found = append(found, config.Wrong(key, "%s has the architecture arm64, but %s has no ARM processor", pool.Name,
				pool.Size)...)
		}
	}
	return found
}

// processor requires nodes, their image and the image of the ingress controller to have the same processor.
func processor(v config.Values) []config.Finding {
	const instance, image, platform = "eks:instance_type", "eks:ami_type", "kic:platform"
	kind, ami := v.Text(instance), v.Text(image)
	arm := armType.MatchString(kind)
	switch {
	case arm && strings.Contains(ami, "x86_64"):
		return config.Wrong(instance, "is %s, which has an ARM processor, but eks:ami_type is %s%s", kind, ami,
			byDefault(v, image))
	case !arm && strings.Contains(ami, "ARM_64"):
		return []config.Finding{{Key: instance, At: image, Text: fmt.Sprintf(
			"is %s, which has no ARM processor, but eks:ami_type is %s%s", kind, ami, byDefault(v, image))}}
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
