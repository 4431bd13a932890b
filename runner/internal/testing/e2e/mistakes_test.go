package e2e

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// mistake is a common one, and the message that names it before it costs money.
type mistake struct {
	name   string
	config string   // lines of the stack file below config; "" for no stack file
	files  []string // name and content, in turn
	first  string   // lines of the stack file with which an up has succeeded before; "" for none
	args   string   // of the runner; "" for `runner check`
	want   string   // what is said, with file, line and key; without "error" and "warning"
	cannot string   // why only a cloud can tell
}

const (
	onKind   = "kubernetes:infra_type: kind"
	onAWS    = "kubernetes:infra_type: aws\n  aws:region: us-west-2"
	onLinode = "kubernetes:infra_type: linode\n  linode:region: us-east"
	onDO     = "kubernetes:infra_type: digitalocean"
	inFile   = "config/pulumi/Pulumi.dev.yaml:"
	simUp    = "up --simulate --simulate-speed 100000 --yes "
	simPlan  = "preview "
)

// program returns the files of an own project in Pulumi YAML.
func yamlProject(name, program string) []string {
	return []string{name + "/Pulumi.yaml", "name: " + name + "\nruntime: yaml\n" + program}
}

// projects returns mara.yaml with other files.
func ownProjects(mara string, files ...[]string) []string {
	all := []string{"mara.yaml", mara}
	for _, f := range files {
		all = append(all, f...)
	}
	return all
}

// mistakes are the mistakes of TestMistakes.
var mistakes = []mistake{
	// networks of AWS
	{name: "a range that is none", config: onAWS + "\n  vpc:cidr: 10.0.0.0/33", want: inFile + `4: vpc:cidr is "10.0.0.0/33", which is not an IPv4 range`},
	{name: "bits below the mask", config: onAWS + "\n  vpc:cidr: 10.0.0.1/16", want: inFile + `4: vpc:cidr is "10.0.0.1/16", which is not an IPv4 range such as 10.0.0.0/16; did you mean 10.0.0.0/16?`},
	{name: "a network that is too small", config: onAWS + "\n  vpc:cidr: 10.0.0.0/28", want: inFile + "4: vpc:cidr is 10.0.0.0/28, into which the subnets do not fit"},
	{name: "a network that is too large", config: onAWS + "\n  vpc:cidr: 10.0.0.0/8", want: inFile + "4: vpc:cidr is 10.0.0.0/8, larger than AWS allows"},
	{name: "a network of the internet", config: onAWS + "\n  vpc:cidr: 8.8.0.0/16", want: inFile + "4: vpc:cidr is 8.8.0.0/16, addresses of the internet"},
	{name: "an IPv6 network", config: onAWS + "\n  vpc:cidr: \"fd00::/16\"", want: inFile + `4: vpc:cidr is "fd00::/16", which is not an IPv4 range`},
	{name: "overlapping ranges on aws", config: onAWS + "\n  eks:service_cidr: 10.0.0.0/16", want: inFile + "4: eks:service_cidr is 10.0.0.0/16, which overlaps vpc:cidr"},
	{name: "services on public addresses", config: onAWS + "\n  eks:service_cidr: 100.64.0.0/16", want: inFile + "4: eks:service_cidr is 100.64.0.0/16, which is not inside"},
	{name: "a range of services that is too small", config: onAWS + "\n  eks:service_cidr: 172.20.0.0/28", want: inFile + "4: eks:service_cidr is 172.20.0.0/28, not a range that EKS takes"},
	{name: "one zone", config: onAWS + "\n  vpc:azs: [us-west-2a]", want: inFile + "4: vpc:azs names one zone"},
	{name: "a zone of another region", config: onAWS + "\n  vpc:azs: [us-west-2a, eu-west-1a]", want: inFile + "4: vpc:azs names eu-west-1a, which is not in aws:region"},
	{name: "a zone twice", config: onAWS + "\n  vpc:azs: [us-west-2a, us-west-2a]", want: inFile + `4: vpc:azs has "us-west-2a" twice`},
	{name: "a zone without its region", config: onAWS + "\n  vpc:azs: [a, b]", want: inFile + `4: vpc:azs has "a", which is not an availability zone such as us-east-1a`},
	{name: "zones as text", config: onAWS + "\n  vpc:azs: us-west-2a", want: inFile + "4: vpc:azs must be a list"},
	{name: "more zones than there is room for", config: onAWS + "\n  vpc:azs: [us-west-2a, us-west-2b, us-west-2c, us-west-2d, us-west-2e, us-west-2f, us-west-2g]", want: inFile + "4: vpc:azs has 7 zones"},
	{name: "a gateway that is none", config: onAWS + "\n  vpc:nat: double", want: inFile + `4: vpc:nat is "double"; allowed: `},
	{name: "a small network for many nodes", config: onAWS + "\n  vpc:cidr: 10.0.0.0/22\n  eks:max_size: 40", want: inFile + "5: eks:max_size is 40: so many nodes reserve about 480 addresses"},
	{name: "more nodes than addresses", config: onAWS + "\n  vpc:cidr: 10.0.0.0/22\n  eks:max_size: 400", want: inFile + "5: eks:max_size is 400, but the private subnets of vpc:cidr (10.0.0.0/22) have only 369 addresses"},
	// clusters of AWS
	{name: "an ARM type with an x86 image", config: onAWS + "\n  eks:instance_type: t4g.large", want: inFile + "4: eks:instance_type is t4g.large, which has an ARM processor"},
	{name: "an x86 type with an ARM image", config: onAWS + "\n  eks:ami_type: AL2023_ARM_64_STANDARD", want: inFile + "4: eks:instance_type is t3.large, which has no ARM processor"},
	{name: "ARM nodes and an x86 controller", config: onAWS + "\n  eks:instance_type: t4g.large\n  eks:ami_type: AL2023_ARM_64_STANDARD", want: inFile + "4: kic:platform must be linux/arm64"},
	{name: "an ARM controller on x86 nodes", config: onAWS + "\n  kic:platform: linux/arm64", want: inFile + "4: kic:platform is linux/arm64, but the nodes run linux/amd64"},
	{name: "an instance type that does not exist", config: onAWS + "\n  eks:instance_type: t9.huge", want: inFile + `4: eks:instance_type is "t9.huge", which is not in the runner's list`},
	{name: "an instance type with a typing error", config: onAWS + "\n  eks:instance_type: m6i.xlrage", want: inFile + `4: eks:instance_type is "m6i.xlrage", which is not in the runner's list`},
	{name: "an instance type of another cloud", config: onAWS + "\n  eks:instance_type: g6-standard-4", want: inFile + `4: eks:instance_type is "g6-standard-4", which is not an instance type`},
	{name: "an image type that does not exist", config: onAWS + "\n  eks:ami_type: AL2", want: inFile + `4: eks:ami_type is "AL2"; allowed: AL2023_x86_64_STANDARD`},
	{name: "fewer nodes than the smallest number", config: onAWS + "\n  eks:min_size: 5\n  eks:max_size: 3", want: inFile + "5: eks:max_size is 3; it may not be less than eks:min_size (5)"},
	{name: "more nodes than the largest number", config: onAWS + "\n  eks:max_size: 3\n  eks:desired_capacity: 9", want: inFile + "4: eks:max_size is 3; it may not be less than eks:desired_capacity (9)"},
	{name: "fewer nodes to begin with than at least", config: onAWS + "\n  eks:desired_capacity: 1", want: inFile + "4: eks:desired_capacity is 1; it may not be less than eks:min_size (3)"},
	{name: "a version with a v", config: onAWS + "\n  eks:k8s_version: v1.36", want: inFile + `4: eks:k8s_version is "v1.36", which is not a version of Kubernetes, major.minor in quotes; did you mean 1.36?`},
	{name: "a version with a patch", config: onAWS + "\n  eks:k8s_version: \"1.36.2\"", want: inFile + `4: eks:k8s_version is "1.36.2", which is not a version of Kubernetes, major.minor in quotes; did you mean 1.36?`},
	{name: "a version without quotes that ends in zero", config: onAWS + "\n  eks:k8s_version: 1.30", want: inFile + "4: eks:k8s_version"},
	{name: "a version whose support has ended", config: onAWS + "\n  eks:k8s_version: \"1.30\"", want: inFile + "4: eks:k8s_version is 1.30, whose support ended on 2026-07-23"},
	{name: "a version that is long gone", config: onAWS + "\n  eks:k8s_version: \"1.21\"", want: inFile + "4: eks:k8s_version is 1.21, which is not offered any more"},
	{name: "a version that does not exist yet", config: onAWS + "\n  eks:k8s_version: \"1.49\"", want: inFile + "4: eks:k8s_version is 1.49, which was not offered on"},
	{name: "a wrong kind of support", config: onAWS + "\n  eks:support_type: LONG", want: inFile + `4: eks:support_type is "LONG"; allowed: STANDARD, EXTENDED`},
	{name: "a log that does not exist", config: onAWS + "\n  eks:log_types: [api, scheduling]", want: inFile + `4: eks:log_types has "scheduling"; allowed: api, audit`},
	{name: "days that CloudWatch does not take", config: onAWS + "\n  eks:log_retention_days: 31", want: inFile + "4: eks:log_retention_days is 31; allowed: 0, 1, 3"},
	{name: "an API server that nothing reaches", config: onAWS + "\n  eks:endpoint_public_access: false\n  eks:endpoint_private_access: false", want: inFile + "5: eks:endpoint_private_access must be true when eks:endpoint_public_access is false"},
	{name: "a range that has no effect", config: onAWS + "\n  eks:endpoint_public_access: false\n  eks:public_access_cidrs: [203.0.113.0/24]", want: inFile + "5: eks:public_access_cidrs has no effect"},
	{name: "a private range as public access", config: onAWS + "\n  eks:public_access_cidrs: [10.0.0.0/8]", want: inFile + "4: eks:public_access_cidrs has 10.0.0.0/8, a private range, which EKS refuses"},
	{name: "an address without a mask", config: onAWS + "\n  eks:public_access_cidrs: [203.0.113.7]", want: inFile + `4: eks:public_access_cidrs has "203.0.113.7", which is not an address range such as 203.0.113.0/24; did you mean 203.0.113.7/32?`},
	{name: "a KMS key by its alias", config: onAWS + "\n  eks:kms_key_arn: alias/mine", want: inFile + `4: eks:kms_key_arn is "alias/mine", which is not the ARN of a KMS key`},
	{name: "a KMS key of another region", config: onAWS + "\n  eks:kms_key_arn: \"arn:aws:kms:eu-west-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab\"", want: inFile + "4: eks:kms_key_arn is a key in eu-west-1, but aws:region is us-west-2"},
	{name: "a KMS key of another region for images", config: onAWS + "\n  ecr:kms_key_arn: \"arn:aws:kms:eu-west-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab\"", want: inFile + "4: ecr:kms_key_arn is a key in eu-west-1, but aws:region is us-west-2"},
	{name: "an administrator by name", config: onAWS + "\n  eks:admin_principals: [alice]", want: inFile + `4: eks:admin_principals has "alice", which is not the ARN of an IAM user or role`},
	{name: "an administrator who is an account", config: onAWS + "\n  eks:admin_principals: [\"arn:aws:iam::123456789012:root\"]", want: inFile + `4: eks:admin_principals has "arn:aws:iam::123456789012:root", which is not`},
	{name: "an add-on that is not installed", config: onAWS + "\n  eks:addon_versions: {vpc-cnii: \"v1.20.4\"}", want: inFile + `4: eks:addon_versions has "vpc-cnii", which is none of the add-ons installed`},
	{name: "a version of an add-on without v", config: onAWS + "\n  eks:addon_versions: {vpc-cni: \"1.20.4-eksbuild.2\"}", want: inFile + `4: eks:addon_versions has "1.20.4-eksbuild.2" as version of vpc-cni, which is not a version such as v1.20.4-eksbuild.2`},
	{name: "a version of an add-on without quotes", config: onAWS + "\n  eks:addon_versions: {vpc-cni: 1.2}", want: inFile + `4: eks:addon_versions has "1.2" as version of vpc-cni, which is not a version such as`},
	{name: "a disk that is too small", config: onAWS + "\n  eks:disk_size: 8", want: inFile + "4: eks:disk_size is 8; the smallest allowed value is 20"},
	{name: "a StorageClass that does not exist", config: onAWS + "\n  kubernetes:storage_class: gp4", want: inFile + `4: kubernetes:storage_class is "gp4", which a new cluster does not have`},
	{name: "a key of another provider", config: onAWS + "\n  lke:node_count: 4", want: inFile + "4: lke:node_count is read by no project of aws; linode-lke reads it"},
	{name: "certificates without an address", config: onAWS + "\n  certmgr:issuer: acme", args: "check --simulate", want: inFile + "4: certmgr:acme_email is not set, but certmgr:issuer is acme"},

	// regions
	{name: "a zone for a region", config: "kubernetes:infra_type: aws\n  aws:region: us-east-1a", want: inFile + `3: aws:region is "us-east-1a", which is not a region such as us-east-1; did you mean us-east-1?`},
	{name: "a region with a typing error", config: "kubernetes:infra_type: aws\n  aws:region: us-est-1", want: inFile + `3: aws:region is "us-est-1", which is not in the runner's list of 2026-08-07; did you mean "us-east-1"?`},
	{name: "no region", config: "kubernetes:infra_type: aws", want: "aws:region is missing"},

	// Linode
	{name: "no nodes", config: onLinode + "\n  lke:node_count: 0", want: inFile + "4: lke:node_count is 0; the smallest allowed value is 1"},
	{name: "a region of another cloud", config: onLinode + "\n  lke:region: nyc3", want: inFile + `4: lke:region is "nyc3", which is not a region such as us-ord`},
	{name: "a region of Linode that does not exist", config: onLinode + "\n  lke:region: us-nowhere", want: inFile + `4: lke:region is "us-nowhere", which is not in the runner's list`},
	{name: "a type of DigitalOcean", config: onLinode + "\n  lke:node_type: s-4vcpu-8gb", want: inFile + `4: lke:node_type is "s-4vcpu-8gb", which is not a type such as g6-standard-4`},
	{name: "a type with a typing error", config: onLinode + "\n  lke:node_type: g6-standrad-4", want: inFile + `4: lke:node_type is "g6-standrad-4", which is not in the runner's list`},
	{name: "a smallest number above the largest", config: onLinode + "\n  lke:min_nodes: 5\n  lke:max_nodes: 3", want: inFile + "5: lke:max_nodes is 3; it may not be less than lke:min_nodes (5)"},
	{name: "only a smallest number", config: onLinode + "\n  lke:min_nodes: 3", want: inFile + "4: lke:max_nodes is not set, but lke:min_nodes is"},
	{name: "only a largest number", config: onLinode + "\n  lke:max_nodes: 3", want: inFile + "4: lke:min_nodes must be at least 1 when lke:max_nodes is set"},
	{name: "an address without a mask for the API server", config: onLinode + "\n  lke:api_allowed_cidrs: [203.0.113.7]", want: inFile + `4: lke:api_allowed_cidrs has "203.0.113.7", which is not an address range`},
	{name: "a version that Linode has no more", config: onLinode + "\n  lke:k8s_version: \"1.28\"", want: inFile + "4: lke:k8s_version is 1.28"},
	{name: "a volume that Linode makes larger", config: onLinode + "\n  logstore:storage_size: 5Gi", want: inFile + "4: logstore:storage_size is 5Gi; the smallest volume has 10Gi"},
	{name: "a path for an SSH key", config: onLinode + "\n  harbor:ssh_authorized_keys: [\"~/.ssh/id_ed25519.pub\"]", want: inFile + `4: harbor:ssh_authorized_keys has "~/.ssh/id_ed25519.pub", which is not a public SSH key`},
	{name: "an old Ubuntu", config: onLinode + "\n  harbor:image: linode/ubuntu20.04", want: inFile + `4: harbor:image is "linode/ubuntu20.04", which is not an image of Ubuntu 22.04 or later`},
	{name: "another Linux", config: onLinode + "\n  harbor:image: linode/debian12", want: inFile + `4: harbor:image is "linode/debian12", which is not an image of Ubuntu`},
	{name: "a version of Harbor with a v", config: onLinode + "\n  harbor:version: v2.15.1", want: inFile + `4: harbor:version is "v2.15.1", which is not a version such as 2.15.1`},
	{name: "a project of Harbor with capitals", config: onLinode + "\n  harbor:project: My Images", want: inFile + `4: harbor:project is "My Images", which is not a name that Harbor takes`},
	{name: "an address of Harbor that is none", config: onLinode + "\n  harbor:email: ops", want: inFile + `4: harbor:email is "ops", which is not an e-mail address`},
	{name: "an ARM image on Linode", config: onLinode + "\n  kic:platform: linux/arm64", want: inFile + "4: kic:platform is linux/arm64, but the nodes run linux/amd64"},
	{name: "a token in plain text", config: onLinode + "\n  linode:token: abcdef", want: inFile + "4: linode:token is a credential in plain text"},

	// DigitalOcean
	{name: "a region of AWS", config: onDO + "\n  doks:region: us-east-1", want: inFile + `3: doks:region is "us-east-1", which is not a region such as nyc3`},
	{name: "a region of DigitalOcean that does not exist", config: onDO + "\n  doks:region: nyc9", want: inFile + `3: doks:region is "nyc9", which is not in the runner's list`},
	{name: "a size with a typing error", config: onDO + "\n  doks:node_size: s-4vcpu-8gbb", want: inFile + `3: doks:node_size is "s-4vcpu-8gbb", which is not in the runner's list`},
	{name: "a size of AWS", config: onDO + "\n  doks:node_size: t3.large", want: inFile + `3: doks:node_size is "t3.large", which is not a size such as s-4vcpu-8gb`},
	{name: "a name for a range", config: onDO + "\n  doks:api_allowed_cidrs: [office]", want: inFile + `3: doks:api_allowed_cidrs has "office", which is not an address or an address range`},
	{name: "a domain of another host", config: onDO + "\n  dns:domain: example.org\n  bank-of-anthos:host: bank.example.com", want: inFile + `3: dns:domain is "example.org", which bank-of-anthos:host "bank.example.com" does not belong to`},
	{name: "a domain without a host", config: onDO + "\n  dns:domain: example.org", want: inFile + "3: bank-of-anthos:host is not set, but dns:domain is"},
	{name: "a version of Kubernetes with v", config: onDO + "\n  doks:k8s_version: v1.36", want: inFile + `3: doks:k8s_version is "v1.36", which is not a version of Kubernetes`},
	{name: "a patch without its suffix", config: onDO + "\n  doks:k8s_version: \"1.36.2\"", want: inFile + `3: doks:k8s_version is "1.36.2", which is not a version of Kubernetes`},
	{name: "a registry with capitals", config: onDO + "\n  docr:registry: Mine", want: inFile + `3: docr:registry is "Mine", which is not the name of a registry`},
	{name: "a tier that does not exist", config: onDO + "\n  docr:tier: gold", want: inFile + `3: docr:tier is "gold"; allowed: `},
	{name: "a time to live that is too short", config: onDO + "\n  dns:ttl: 5", want: inFile + "3: dns:ttl is 5; the smallest allowed value is 30"},
	{name: "a token of DigitalOcean in plain text", config: onDO + "\n  digitalocean:token: abcdef", want: inFile + "3: digitalocean:token is a credential in plain text"},
	{name: "a version that DigitalOcean has no more", config: onDO + "\n  doks:k8s_version: \"1.29\"", want: inFile + "3: doks:k8s_version is 1.29, which is not offered any more"},
	{name: "a kubeconfig for ever", config: onDO + "\n  doks:kubeconfig_days: 0", want: inFile + "3: doks:kubeconfig_days is 0; the smallest allowed value is 1"},

	// kind
	{name: "overlapping ranges on kind", config: onKind + "\n  kind:pod_subnet: 10.0.0.0/8\n  kind:service_subnet: 10.96.0.0/16", want: inFile + "4: kind:service_subnet is 10.96.0.0/16, which overlaps kind:pod_subnet"},
	{name: "a text for a number", config: onKind + "\n  kind:workers: many", want: inFile + `3: kind:workers must be a whole number, not the string "many"`},
	{name: "a port out of range", config: onKind + "\n  kind:http_port: 99999", want: inFile + "3: kind:http_port is 99999; the largest allowed value is 65535"},
	{name: "a port twice", config: onKind + "\n  kind:http_port: 8080\n  kind:https_port: 8080", want: inFile + "4: kind:https_port is 8080, the port of kind:http_port"},
	{name: "the registry's port is that of the web", config: onKind + "\n  kind:registry_port: 80", want: inFile + "3: kind:registry_port is 80, the port of kind:http_port"},
	{name: "the API server's port is that of the web", config: onKind + "\n  kind:api_server_port: 443", want: inFile + "3: kind:api_server_port is 443, the port of kind:https_port"},
	{name: "an image without a version", config: onKind + "\n  kind:node_image: kindest/node", want: inFile + `3: kind:node_image is "kindest/node", which is not an image with a tag`},
	{name: "a mount that is none", config: onKind + "\n  kind:mounts: [\"/srv\"]", want: inFile + `3: kind:mounts has "/srv", which is not two absolute paths`},
	{name: "a relative mount", config: onKind + "\n  kind:mounts: [\"data:/data\"]", want: inFile + `3: kind:mounts has "data:/data", which is not two absolute paths`},
	{name: "control planes without workers", config: onKind + "\n  kind:control_planes: 3", want: inFile + "3: kind:workers must be at least 1 with several control planes"},
	{name: "an even number of control planes", config: onKind + "\n  kind:control_planes: 2\n  kind:workers: 2", want: inFile + "3: kind:control_planes is 2: an even number survives no more failures than one less"},
	{name: "an address that is a name", config: onKind + "\n  kind:listen_address: localhost", want: inFile + `3: kind:listen_address is "localhost", which is not an IP address`},
	{name: "a range without room for the nodes", config: onKind + "\n  kind:pod_subnet: 10.244.0.0/28\n  kind:workers: 3", want: inFile + "3: kind:pod_subnet is 10.244.0.0/28, which has no room for 4 nodes"},
	{name: "a mirror of a registry without a scheme", config: onKind + "\n  kind:registry_mirrors: {docker.io: \"mirror:5000\"}", want: inFile + "3: kind:registry_mirrors maps docker.io to mirror:5000, which is not an http or https URL"},
	{name: "a runtime that does not exist", config: onKind + "\n  kind:runtime: containerd", want: inFile + `3: kind:runtime is "containerd"; allowed: docker, podman, nerdctl`},
	{name: "a node image of an old Kubernetes", config: onKind + "\n  kind:node_image: \"kindest/node:v1.27.3\"", want: inFile + "3: kind:node_image is Kubernetes 1.27"},
	{name: "an image to preload without a version", config: onKind + "\n  kind:preload: [nginx]", want: inFile + `3: kind:preload has "nginx", which is not an image with a tag`},
	{name: "certificates of the internet on kind", config: onKind + "\n  certmgr:issuer: acme\n  certmgr:acme_email: ops@example.com", want: inFile + "3: certmgr:issuer is acme, but an authority on the internet cannot reach a kind cluster"},

	// components
	{name: "a key with a typing error", config: onKind + "\n  kind:worker: 2", want: inFile + `3: kind:worker is read by no project; did you mean "kind:workers"?`},
	{name: "a namespace with a typing error", config: onKind + "\n  kindd:workers: 2", want: inFile + `3: kindd:workers is read by no project; did you mean "kind:workers"?`},
	{name: "values that are no map", config: onKind + "\n  certmgr:values: [a]", want: inFile + "3: certmgr:values must be a map, not a list"},
	{name: "a values file that is missing", config: onKind + "\n  certmgr:values_file: values/none.yaml", want: inFile + "3: certmgr:values_file names a file that cannot be read"},
	{name: "a values file that is no YAML", config: onKind + "\n  certmgr:values_file: values/x.yaml", files: []string{"config/pulumi/values/x.yaml", "a: [\n"}, want: inFile + "3: certmgr:values_file is values/x.yaml, which is not a YAML map of chart values"},
	{name: "a values file that is a list", config: onKind + "\n  certmgr:values_file: values/x.yaml", files: []string{"config/pulumi/values/x.yaml", "- a\n"}, want: inFile + "3: certmgr:values_file is values/x.yaml, which is not a YAML map of chart values"},
	{name: "charts from nowhere", config: onKind + "\n  certmgr:chart_repository: ftp://charts", want: inFile + `3: certmgr:chart_repository is "ftp://charts", which is not a URL`},
	{name: "a chart version with v", config: onKind + "\n  nginx:chart_version: v2.6.4", want: inFile + "3: nginx:chart_version is v2.6.4, but the versions of this chart are written as 2.6.4: did you mean 2.6.4?"},
	{name: "a chart version without v", config: onKind + "\n  certmgr:chart_version: 1.21.1", want: inFile + "3: certmgr:chart_version is 1.21.1, but the versions of this chart are written as v1.21.1: did you mean v1.21.1?"},
	{name: "a chart version that is a range", config: onKind + "\n  nginx:chart_version: \">=2\"", want: inFile + `3: nginx:chart_version is ">=2", which is not a version such as 1.2.3`},
	{name: "a mirror with a scheme", config: onKind + "\n  kubernetes:mirror: https://mirror.example.com", want: inFile + `3: kubernetes:mirror is "https://mirror.example.com", which is not a registry`},
	{name: "a size that is none", config: onKind + "\n  logstore:storage_size: 10 gigs", want: inFile + `3: logstore:storage_size is "10 gigs", which is not a size such as 10Gi`},
	{name: "a size in GB", config: onKind + "\n  logstore:storage_size: 10GB", want: inFile + `3: logstore:storage_size is "10GB", which is not a size such as 10Gi`},
	{name: "a heap in Gi", config: onKind + "\n  logstore:heap: 4Gi", want: inFile + `3: logstore:heap is "4Gi", which is not a size such as 512m or 2g`},
	{name: "a retention in words", config: onKind + "\n  prometheus:retention: 10 days", want: inFile + `3: prometheus:retention is "10 days", which is not a time such as 10d or 12h`},
	{name: "a retention beyond the volume", config: onKind + "\n  prometheus:retention_size: 50GB", want: inFile + "3: prometheus:retention_size is 50GB, but prometheus:storage_size is only"},
	{name: "a retention in Gi", config: onKind + "\n  prometheus:retention_size: 5Gi", want: inFile + `3: prometheus:retention_size is "5Gi", which is not a size such as 8GB`},
	{name: "a host with capitals", config: onKind + "\n  bank-of-anthos:host: Bank.Example.com", want: inFile + `3: bank-of-anthos:host is "Bank.Example.com", which is not a host name`},
	{name: "a host as a URL", config: onKind + "\n  bank-of-anthos:host: https://bank.example.com", want: inFile + `3: bank-of-anthos:host is "https://bank.example.com", which is not a host name`},
	{name: "a host with an underscore", config: onKind + "\n  bank-of-anthos:host: my_bank.example.com", want: inFile + `3: bank-of-anthos:host is "my_bank.example.com", which is not a host name`},
	{name: "an address for a host", config: onKind + "\n  bank-of-anthos:host: 10.0.0.7", want: inFile + `3: bank-of-anthos:host is "10.0.0.7", which is not a host name`},
	{name: "a wrong address", config: onKind + "\n  certmgr:acme_email: ops", want: inFile + `3: certmgr:acme_email is "ops", which is not an e-mail address`},
	{name: "an issuer that does not exist", config: onKind + "\n  certmgr:issuer: letsencrypt", want: inFile + `3: certmgr:issuer is "letsencrypt"; allowed: `},
	{name: "traces to a host without a scheme", config: onKind + "\n  observability:otlp_endpoint: \"otlp.example.com:4318\"", want: inFile + `3: observability:otlp_endpoint is "otlp.example.com:4318", which is not a URL`},
	{name: "a commercial edition without a licence", config: onKind + "\n  kic:nginx_plus: true", want: inFile + "3: kic:jwt_path is not set: "},
	{name: "a licence that is not there", config: onKind + "\n  kic:nginx_plus: true\n  kic:jwt_path: /nowhere/licence.jwt", want: inFile + "4: kic:jwt_path names a file that is not on this machine"},
	{name: "a relative licence", config: onKind + "\n  kic:nginx_plus: true\n  kic:jwt_path: licence.jwt", want: inFile + `4: kic:jwt_path is "licence.jwt", which is not an absolute path`},
	{name: "an image with capitals", config: onKind + "\n  kic:image_name: \"Nginx/ingress:1\"", want: inFile + `3: kic:image_name is "Nginx/ingress:1", which is not an image with a tag, in lower case`},
	{name: "an image without a tag", config: onKind + "\n  kic:image_name: nginx/nginx-ingress", want: inFile + `3: kic:image_name is "nginx/nginx-ingress", which is not an image with a tag`},
	{name: "an image of any day", config: onKind + "\n  kic:image_name: \"nginx/nginx-ingress:latest\"", want: inFile + "3: kic:image_name is nginx/nginx-ingress:latest, a different image from day to day"},
	{name: "a source without a tag", config: onKind + "\n  kic:image_origin: source\n  kic:source: https://github.com/nginx/kubernetes-ingress", want: inFile + `4: kic:source is "https://github.com/nginx/kubernetes-ingress", which is not a git URL ending in .git#TAG`},
	{name: "a source that is another directory", config: onKind + "\n  kic:image_origin: source\n  kic:source: /tmp", want: inFile + "4: kic:source is not the source of the ingress controller"},
	{name: "a commercial target without the edition", config: onKind + "\n  kic:image_origin: source\n  kic:source_target: debian-image-plus", want: inFile + "4: kic:source_target is debian-image-plus, which does not agree with kic:nginx_plus"},
	{name: "a tag with a space", config: onKind + "\n  kic:image_origin: source\n  kic:source_tag: my tag", want: inFile + `4: kic:source_tag is "my tag", which is not the tag of an image`},
	{name: "ranges of a load balancer that are names", config: onKind + "\n  nginx:source_ranges: [office]", want: inFile + `3: nginx:source_ranges has "office", which is not an address range`},
	{name: "a time to live without a unit", config: onKind + "\n  runner:ttl: \"8\"", want: inFile + `3: runner:ttl is "8", which is not a duration such as 8h or 30m`},

	// files
	{name: "a key twice", config: onKind + "\n  kind:workers: 1\n  kind:workers: 2", want: inFile + "4: kind:workers is set a second time; the first time is line 3"},
	{name: "YAML that is none", config: onKind + "\n   kind: [", want: inFile + "3: is not valid YAML"},
	{name: "a tab", config: onKind + "\n  	kind:workers: 1", want: inFile + "2: is not valid YAML: found a tab character"},
	{name: "a boolean as a word", config: onKind + "\n  nginx:tracing: \"yes\"", want: inFile + "3: nginx:tracing must be true or false"},
	{name: "a secret in plain text", config: onKind + "\n  prometheus:admin_password: hunter22hunter22", want: inFile + "3: prometheus:admin_password"},
	{name: "a wrong line in the environment file", config: onKind, files: []string{"config/pulumi/environment", "PULUMI_STACK=dev\nnonsense\n"}, want: "config/pulumi/environment:2: has no ="},
	{name: "a variable twice in the environment file", config: onKind, files: []string{"config/pulumi/environment", "A=1\nA=2\n"}, want: "config/pulumi/environment:2: A is set a second time"},
	{name: "a mistyped variable", config: onKind, files: []string{"config/pulumi/environment", "RUNNER_PARALEL=4\n"}, want: `config/pulumi/environment:1: RUNNER_PARALEL is no variable of the runner; did you mean "RUNNER_PARALLEL"?`},
	{name: "two kind environments on the same ports", config: onKind, files: []string{"config/pulumi/Pulumi.prod.yaml", "config:\n  kubernetes:infra_type: kind\n"}, want: "prod and dev want the same ports of this machine (80, 443, 5001)"},
	{name: "a rule with a typing error", config: onKind, files: []string{"policies/a.jq", "def deny: stepz;"}, want: "policies/a.jq:1: there is no function stepz"},
	{name: "a rule that is not there", config: onKind, files: []string{"policies/policies.yaml", "use: [open-range]\n"}, want: `policies/policies.yaml:1: there is no rule "open-range"; did you mean "open-ranges"?`},
	{name: "an exception without a reason", config: onKind, files: []string{"policies/policies.yaml", "use: [open-ranges]\nexceptions:\n- {rule: open-ranges}\n"}, want: "policies/policies.yaml:3: an exception needs"},
	{name: "a query that ends too early", config: onKind, files: []string{"queries/a.jq", ".items["}, want: "queries/a.jq:1: the query ends too early"},
	{name: "a price below zero", config: onKind, files: []string{"prices.yaml", "types:\n  aws:x/y:Z: {per: hour, price: -1, day: 2026-11-01, source: me}\n"}, want: "prices.yaml:2: aws:x/y:Z: the price is -1; a price is an amount of 0 or more"},
	{name: "a price with a typing error", config: onKind, files: []string{"prices.yaml", "types:\n  aws:x/y:Z: {prise: 1}\n"}, want: `prices.yaml:2: unknown key "prise"; did you mean "price"?`},
	{name: "a wave with an unknown label", config: onKind, files: []string{"config/rollout.yaml", "waves:\n- {name: prod, match: {stag: prod}}\n"}, want: "config/rollout.yaml:2"},
	{name: "a layer that is not there", config: onKind, files: []string{"config/environments/dev.yaml", "imports: [base]\nvalues: {}\n"}, want: `config/environments/dev.yaml:1: imports "base"`},
	{name: "a project to skip that is not there", config: onKind, files: []string{"config/environments/dev.yaml", "values:\n  runner: {projects: {skip: [logstre]}}\n"}, want: `config/environments/dev.yaml:2: runner.projects.skip names "logstre", which is no project of kind; did you mean "logstore"?`},
	{name: "an unknown provider", config: "kubernetes:infra_type: azure", want: inFile + `2: kubernetes:infra_type: unknown provider "azure"`},
	{name: "no provider", config: "kind:workers: 1", want: "no provider is named"},

	// own projects
	{name: "a project that is not there", files: ownProjects("projects:\n- path: nt\n", yamlProject("net", "")), want: "mara.yaml:2: "},
	{name: "a field with a typing error", files: ownProjects("projects:\n- pth: net\n", yamlProject("net", "")), want: "mara.yaml:2: "},
	{name: "reads of a project that is not there", files: ownProjects("projects:\n- path: net\n  reads: [nat]\n", yamlProject("net", "")), want: `mara.yaml:3: reads names "nat"`},
	{name: "a cycle", files: ownProjects("projects:\n- path: net\n  reads: [app]\n- path: app\n  reads: [net]\n", yamlProject("net", ""), yamlProject("app", "")), want: "mara.yaml"},
	{name: "a project twice", files: ownProjects("projects:\n- path: net\n- path: net\n", yamlProject("net", "")), want: "mara.yaml:3: "},
	{name: "a hook that is not there", files: ownProjects("projects:\n- path: net\n  hooks:\n  - run: ./smoke.sh\n", yamlProject("net", "")), want: "mara.yaml:4: the hook smoke.sh cannot be run"},
	{name: "a hook that is not executable", files: ownProjects("projects:\n- path: net\n  hooks:\n  - run: ./smoke.sh\n", yamlProject("net", ""), []string{"net/smoke.sh", "#!/bin/sh\n"}), want: "net/smoke.sh is not executable: `chmod +x"},
	{name: "a name that Pulumi refuses", files: ownProjects("projects:\n- path: net\n", []string{"net/Pulumi.yaml", "name: my net\nruntime: yaml\n"}), want: `net/Pulumi.yaml:1: name is "my net", which Pulumi refuses`},
	{name: "a condition that is no jq", files: ownProjects("projects:\n- path: net\n  when: \".config[\"\n", yamlProject("net", "")), want: "mara.yaml:3: "},
	{name: "an output that its owner does not export", config: "net:size: 1", files: ownProjects("projects:\n- path: net\n- path: app\n  reads: [net]\n", yamlProject("net", "outputs: {dns: x}\n"), yamlProject("app", `resources:
  ref: {type: "pulumi:pulumi:StackReference", properties: {name: "organization/net/${pulumi.stack}"}}
outputs: {x: '${ref.outputs["dsn"]}'}
`)), want: `app/Pulumi.yaml:5: reads output "dsn" of net, which exports dns (net/Pulumi.yaml:3); did you mean "dns"?`},
	{name: "a key by the name of the directory", config: "network:size: large", files: ownProjects("projects:\n- path: network\n", []string{"network/Pulumi.yaml", "name: net\nruntime: yaml\nconfig:\n  size: {type: string, default: small}\n"}), want: `Pulumi.dev.yaml:2: network:size is read by no project; keys have the name of the project, not of its directory: did you mean "net:size"?`},
	{name: "a key of one's own with a typing error", config: "net:sise: large", files: ownProjects("projects:\n- path: net\n", yamlProject("net", "config:\n  size: {type: string, default: small}\n")), want: `Pulumi.dev.yaml:2: net:sise is read by no project; did you mean "net:size"?`},
	{name: "a value that is not allowed", config: "net:size: huge", files: ownProjects("projects:\n- path: net\n  config: {size: {allowed: [small, large]}}\n", yamlProject("net", "config:\n  size: {type: string, default: small}\n")), want: `Pulumi.dev.yaml:2: net:size is "huge"; allowed: small, large`},
	{name: "a secret of one's own in plain text", config: "net:pw: hunter2hunter2", files: ownProjects("projects:\n- path: net\n", yamlProject("net", "config:\n  pw: {type: string, secret: true}\n")), want: "Pulumi.dev.yaml:2: net:pw"},

	// what takes the engine, still before anything is created
	{name: "another provider than the deployed one", config: onKind, files: []string{
		".runner/simulated/state/.pulumi/stacks/kind-cluster/dev.json", deployedState("kind-cluster")}, args: simPlan + "-p aws", want: "never changes its provider while something is deployed"},
	{name: "two stacks", config: onKind, files: []string{"config/pulumi/environment", "RUNNER_STACK=dev\nPULUMI_STACK=prod\n"}, args: simPlan, want: `PULUMI_STACK: is "prod", but RUNNER_STACK in config/pulumi/environment:1 says "dev"`},
	{name: "missing secrets", config: onKind, args: "up --yes --non-interactive", want: "prometheus:admin_password is missing"},
	{name: "a project with a typing error", config: onKind, args: simPlan + "--only certmger", want: `no project "certmger" in the plan; did you mean "certmgr"?`},
	{name: "skipped what others need", config: onKind, args: simUp + "--skip kind-cluster", want: "not deployed yet, but skipped: kind-cluster (needed by kind-registry, kubeconfig)"},
	{name: "a quota", config: onKind, args: simUp + "--only kind-cluster --simulate-fail kind:index:Cluster=QuotaExceeded", want: "QuotaExceeded"},
	{name: "a provider's region that does not exist", config: "kubernetes:infra_type: linode\n  linode:region: nowhere", args: simPlan + "--only linode-lke", want: "nowhere"},
	{name: "a version of Kubernetes without support", config: onAWS + "\n  eks:k8s_version: \"1.31\"", files: []string{"policies/policies.yaml", "use: [kubernetes-version]\nlevels: {kubernetes-version: deny}\n"}, args: simPlan + "--only aws-vpc,aws-eks", want: "Kubernetes 1.31: support has ended on 2025-11-11"},
	{name: "an API server for everybody", config: onAWS, files: []string{"policies/policies.yaml", "use: [public-api]\n"}, args: simPlan + "--only aws-vpc,aws-eks", want: "policy DENIES public-api"},
	{name: "more than it may cost", config: "kubernetes:infra_type: linode", args: simPlan + "--only linode-lke --max-monthly 50", want: "forbidden by --max-monthly 50: it costs at least 144 USD"},
	{name: "more than it may cost on DigitalOcean", config: onDO, args: simPlan + "--only digitalocean-doks --max-monthly 50", want: "forbidden by --max-monthly 50: it costs at least 144 USD"},
	{name: "a limit of costs where no prices are known", config: "kubernetes:infra_type: aws\n  aws:region: ap-southeast-7", args: simPlan + "--only aws-vpc,aws-eks --max-monthly 1000", want: "not all costs are known"},
	{name: "a property with a typing error", files: ownProjects("projects:\n- path: net\n", yamlProject("net", `resources:
  n: {type: "aws:ec2/vpc:Vpc", properties: {cidrBlok: 10.0.0.0/16}}
`)), args: simPlan, want: "cidrBlok"},
	{name: "a variable that is not there", files: ownProjects("projects:\n- path: net\n", yamlProject("net", `outputs: {x: "${nowhere}"}
`)), args: simPlan, want: "nowhere"},

	{name: "a function with a typing error", files: ownProjects("projects:\n- path: net\n", yamlProject("net", `variables:
  zones: {"fn::aws:getAvailabilityZone": {}}
`)), args: simPlan, want: `net/Pulumi.yaml:4: aws:getAvailabilityZone is none of the `},
	{name: "a function of a package that is not at hand", files: ownProjects("projects:\n- path: net\n", yamlProject("net", `variables:
  zone:
    fn::invoke:
      function: cloudflare:index/getZone:getZone
`)), args: simPlan, want: "net/Pulumi.yaml:6: cloudflare:index/getZone:getZone"},

	// what only a cloud can tell
	{name: "a chart version that was never released", cannot: "which versions a registry has, only the registry says: `runner doctor` asks it"},
	{name: "a wrong value inside chart values", cannot: "what a chart does with its values, only its templates say"},
	{name: "a domain that DigitalOcean does not have", cannot: "which domains an account has, only the cloud says"},
	{name: "a KMS key that was deleted", cannot: "whether a key is usable, only AWS says"},
	{name: "an instance type that one zone lacks", cannot: "which types a zone has, only AWS says: `runner doctor` asks it"},
	{name: "a licence token that has expired", cannot: "F5's registry says so when it is asked"},
}

// TestMistakes: files, rules and simulation name what is wrong before anything is paid for, and most of it is named by
// `runner check`, with its file and line.
func TestMistakes(t *testing.T) {
	t.Parallel()
	long(t)
	const least, leastByCheck = 195, 172
	named, byCheck, made := 0, 0, 0
	for _, m := range mistakes {
		t.Run(m.name, func(t *testing.T) {
			made++
			if m.cannot != "" {
				t.Skip(m.cannot)
			}
			e := newEnvironment(t, embedded)
			said, failed := m.make(e)
			if m.args == "" && strings.Contains(said, m.want) && placed.MatchString(m.want) {
				byCheck++
			}
			if isWarning := m.args == "" && !failed; !strings.Contains(said, m.want) || !failed && !isWarning {
				t.Errorf("failed: %v, want %q in\n%s", failed, m.want, said)
				return
			}
			named++
		})
	}
	t.Logf("%d of %d mistakes are named before anything is created, %d of them by `runner check` with file and line", named, len(mistakes), byCheck)
	if made == len(mistakes) && (named < least || byCheck < leastByCheck) { // with -run, only some are made
		t.Errorf("%d and %d are to be", least, leastByCheck)
	}
}

// placed matches a message with a file and a line.
var placed = regexp.MustCompile(`(yaml|jq|environment):[0-9]+: `)

// make makes the mistake, and returns what is said about it.
func (m mistake) make(e *environment) (said string, failed bool) {
	for i := 0; i < len(m.files); i += 2 {
		e.write(m.files[i], m.files[i+1])
	}
	if m.first != "" {
		e.write("config/pulumi/Pulumi.dev.yaml", "config:\n  "+m.first+"\n")
		if r := e.run(strings.Fields(simUp + m.only())...); r.code != 0 {
			return r.stdout + r.stderr, false
		}
	}
	if m.config != "" {
		e.write("config/pulumi/Pulumi.dev.yaml", "config:\n  "+m.config+"\n")
	}
	args := strings.Fields(m.args)
	switch {
	case len(args) == 0:
		args = []string{"check"}
	case args[0] == "preview":
		args = append(args, "--simulate", "--simulate-speed", "100000")
	}
	r := e.run(args...)
	said = strings.NewReplacer(": error: ", ": ", ": warning: ", ": ").Replace(r.stdout + r.stderr)
	return said, r.code != 0
}

// only returns the projects of the up before the mistake: the same as of the mistake itself.
func (m mistake) only() string {
	_, projects, found := strings.Cut(m.args, "--only ")
	if !found {
		return ""
	}
	return "--only " + strings.Fields(projects)[0]
}

// deployedState returns the state of a project of the stack dev that has one resource.
func deployedState(project string) string {
	return fmt.Sprintf(`{"version":3,"checkpoint":{"stack":"organization/%[1]s/dev","latest":{"manifest":{"time":"2026-01-01T00:00:00Z"},
		"resources":[{"urn":"urn:pulumi:dev::%[1]s::pulumi:pulumi:Stack::%[1]s-dev","type":"pulumi:pulumi:Stack","created":"2026-01-01T00:00:00Z","modified":"2026-01-01T00:00:00Z"}]}}}`, project)
}
