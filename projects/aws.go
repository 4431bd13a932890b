package projects

import (
	"time"

	"mara/config"
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
			Region: "aws:region", Profile: "aws:profile",
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
		// Region and credentials decide both.
		Settled: []string{"aws:index/getPartition:getPartition", "aws:index/getRegion:getRegion"},
	}
}

// exampleKey is the ARN of a KMS key for examples.
const exampleKey = "arn:aws:kms:us-east-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab"

// eksKeys declares what the cluster and its nodes are like.
func eksKeys() []config.Key {
	return []config.Key{
		{Name: "eks:k8s_version", Kind: config.String, Form: config.KubernetesMinor, Default: "1.36", Example: "1.35",
			Doc: "Kubernetes version"},
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
			Doc: "add-on to its version; what AWS has as default for the Kubernetes version when not set"},
	}
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
