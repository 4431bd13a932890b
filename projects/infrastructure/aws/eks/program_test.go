package eks_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/infrastructure/aws/eks"
	"mara/projects/internal/programtest"
)

const (
	clusterType    = "aws:eks/cluster:Cluster"
	nodeGroupType  = "aws:eks/nodeGroup:NodeGroup"
	addonType      = "aws:eks/addon:Addon"
	entryType      = "aws:eks/accessEntry:AccessEntry"
	policyType     = "aws:eks/accessPolicyAssociation:AccessPolicyAssociation"
	roleType       = "aws:iam/role:Role"
	rolePolicyType = "aws:iam/rolePolicy:RolePolicy"
	attachmentType = "aws:iam/rolePolicyAttachment:RolePolicyAttachment"
	keyType        = "aws:kms/key:Key"
	logsType       = "aws:cloudwatch/logGroup:LogGroup"
)

// account answers as AWS would in one of its partitions.
func account(partition, region string) func(pulumi.MockCallArgs) (resource.PropertyMap, error) {
	return func(args pulumi.MockCallArgs) (resource.PropertyMap, error) {
		switch args.Token {
		case "aws:index/getPartition:getPartition":
			return resource.PropertyMap{"partition": resource.NewProperty(partition)}, nil
		case "aws:index/getRegion:getRegion":
			return resource.PropertyMap{"region": resource.NewProperty(region)}, nil
		case "aws:eks/getAddonVersion:getAddonVersion":
			name, version := args.Args["addonName"].StringValue(), args.Args["kubernetesVersion"].StringValue()
			return resource.PropertyMap{"version": resource.NewProperty(name + " for " + version)}, nil
		}
		return nil, fmt.Errorf("unexpected call of %s", args.Token)
	}
}

// outputs returns the outputs that AWS adds to the inputs.
func outputs() map[string]resource.PropertyMap {
	return map[string]resource.PropertyMap{
		clusterType: resource.NewPropertyMapFromMap(map[string]any{
			"endpoint":             "https://0123.gr7.us-east-1.eks.amazonaws.com",
			"certificateAuthority": map[string]any{"data": "Q0EK"},
		}),
		roleType: {"arn": resource.NewProperty("arn:aws:iam::123456789012:role/some")},
		keyType:  {"arn": resource.NewProperty("arn:aws:kms:us-east-1:123456789012:key/made"), "keyId": resource.NewProperty("made")},
	}
}

func network(subnets ...any) map[string]resource.PropertyMap {
	return map[string]resource.PropertyMap{
		"aws-vpc": resource.NewPropertyMapFromMap(map[string]any{"private_subnet_ids": subnets}),
	}
}

func run(t *testing.T, config map[string]string) programtest.Result {
	t.Helper()
	return programtest.Run(t, programtest.Case{
		Project: projects.AWSEKS(), Program: eks.Program, Config: config, Stacks: network("subnet-1", "subnet-2"),
		Call: account("aws", "us-east-1"), Outputs: outputs(),
	})
}

func TestCluster(t *testing.T) {
	t.Parallel()
	defaults := map[string]any{
		"name": "mara-dev", "roleArn": "arn:aws:iam::123456789012:role/some", "version": "1.36",
		"accessConfig":               map[string]any{"authenticationMode": "API", "bootstrapClusterCreatorAdminPermissions": true},
		"bootstrapSelfManagedAddons": false,
		"enabledClusterLogTypes":     []any{"api", "audit", "authenticator"},
		"kubernetesNetworkConfig":    map[string]any{"serviceIpv4Cidr": "172.20.0.0/16"},
		"upgradePolicy":              map[string]any{"supportType": "STANDARD"},
		"vpcConfig": map[string]any{
			"subnetIds": []any{"subnet-1", "subnet-2"}, "endpointPublicAccess": true, "endpointPrivateAccess": true,
			"publicAccessCidrs": []any{"0.0.0.0/0"},
		},
		"tags": map[string]any{"Name": "mara-dev", "mara.dev/project": "aws-eks", "mara.dev/stack": "dev"},
	}
	tests := []struct {
		name   string
		config map[string]string
		want   map[string]any // what differs from the defaults
	}{
		{name: "defaults"},
		{
			name: "version, support, range and logs",
			config: map[string]string{
				"eks:k8s_version": "1.33", "eks:support_type": "EXTENDED", "eks:service_cidr": "10.100.0.0/16",
				"eks:log_types": `["audit", "scheduler"]`,
			},
			want: map[string]any{
				"version": "1.33", "upgradePolicy": map[string]any{"supportType": "EXTENDED"},
				"kubernetesNetworkConfig": map[string]any{"serviceIpv4Cidr": "10.100.0.0/16"},
				"enabledClusterLogTypes":  []any{"audit", "scheduler"},
			},
		},
		{
			name:   "a limited public endpoint",
			config: map[string]string{"eks:public_access_cidrs": `["203.0.113.0/24"]`, "eks:endpoint_private_access": "false"},
			want: map[string]any{"vpcConfig": map[string]any{
				"subnetIds": []any{"subnet-1", "subnet-2"}, "endpointPublicAccess": true, "endpointPrivateAccess": false,
				"publicAccessCidrs": []any{"203.0.113.0/24"},
			}},
		},
		{
			name:   "a private endpoint",
			config: map[string]string{"eks:endpoint_public_access": "false"},
			want: map[string]any{"vpcConfig": map[string]any{
				"subnetIds": []any{"subnet-1", "subnet-2"}, "endpointPublicAccess": false, "endpointPrivateAccess": true,
			}},
		},
		{
			name:   "encryption with a key of its own",
			config: map[string]string{"eks:encrypt_secrets": "true"},
			want: map[string]any{"encryptionConfig": map[string]any{
				"provider": map[string]any{"keyArn": "arn:aws:kms:us-east-1:123456789012:key/made"}, "resources": []any{"secrets"},
			}},
		},
		{
			name:   "encryption with a given key",
			config: map[string]string{"eks:kms_key_arn": "arn:aws:kms:us-east-1:123456789012:key/given"},
			want: map[string]any{"encryptionConfig": map[string]any{
				"provider": map[string]any{"keyArn": "arn:aws:kms:us-east-1:123456789012:key/given"}, "resources": []any{"secrets"},
			}},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			result := run(t, test.config)
			if result.Err != nil {
				t.Fatal(result.Err)
			}
			want := maps.Clone(defaults)
			maps.Copy(want, test.want)
			cluster := result.One(t, clusterType, "cluster")
			if diff := cmp.Diff(want, cluster.Inputs.Mappable()); diff != "" {
				t.Errorf("inputs (-want +got):\n%s", diff)
			}
			if !cluster.DependsOn(attachmentType, "eks-cluster-AmazonEKSClusterPolicy") {
				t.Error("the cluster would outlive its role's permissions")
			}
			if diff := cmp.Diff([]string{"aws-vpc"}, result.References()); diff != "" {
				t.Errorf("references (-want +got):\n%s", diff)
			}
			result.CheckOutputs(t, projects.AWSEKS())
		})
	}
}

func TestLogs(t *testing.T) {
	t.Parallel()
	result := run(t, map[string]string{"eks:log_retention_days": "90"})
	group := result.One(t, logsType, "logs")
	if group.Value("name") != "/aws/eks/mara-dev/cluster" || group.Value("retentionInDays") != 90.0 {
		t.Errorf("the logs go to %v", group.Inputs.Mappable())
	}
	if !result.One(t, clusterType, "cluster").DependsOn(logsType, "logs") {
		t.Error("the cluster would make the log group itself")
	}
	result = run(t, map[string]string{"eks:log_types": "[]"})
	if groups := result.All(logsType); len(groups) != 0 || result.Err != nil {
		t.Errorf("without logs there are %d log groups, error %v", len(groups), result.Err)
	}
}

func TestEncryption(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		config map[string]string
		keys   int
		key    string // that the cluster's role may use
	}{
		{name: "off"},
		{name: "a key of its own", config: map[string]string{"eks:encrypt_secrets": "true"}, keys: 1, key: "key/made"},
		{
			name:   "a given key",
			config: map[string]string{"eks:kms_key_arn": "arn:aws:kms:us-east-1:123456789012:key/given"}, key: "key/given",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			result := run(t, test.config)
			keys := result.All(keyType)
			if len(keys) != test.keys {
				t.Errorf("%d keys, want %d", len(keys), test.keys)
			}
			for _, key := range keys {
				if key.Value("enableKeyRotation") != true {
					t.Error("the key is never rotated")
				}
			}
			if test.key == "" {
				return
			}
			policy := result.One(t, rolePolicyType, "encryption")
			if text := policy.Value("policy").(string); !strings.Contains(text, test.key) {
				t.Errorf("the cluster's role may use another key: %s", text)
			}
			if !result.One(t, clusterType, "cluster").DependsOn(rolePolicyType, "encryption") {
				t.Error("the cluster would outlive its permission to decrypt")
			}
		})
	}
}

func TestNodes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		config map[string]string
		want   map[string]any
	}{
		{
			name: "defaults",
			want: map[string]any{
				"amiType": "AL2023_x86_64_STANDARD", "capacityType": "ON_DEMAND", "diskSize": 50.0, "instanceTypes": []any{"t3.large"},
				"scalingConfig": map[string]any{"minSize": 3.0, "maxSize": 6.0, "desiredSize": 3.0},
			},
		},
		{
			name: "configured",
			config: map[string]string{
				"eks:ami_type": "AL2023_ARM_64_STANDARD", "eks:capacity_type": "SPOT", "eks:disk_size": "100",
				"eks:instance_type": "m7g.large", "eks:min_size": "1", "eks:max_size": "9", "eks:desired_capacity": "9",
			},
			want: map[string]any{
				"amiType": "AL2023_ARM_64_STANDARD", "capacityType": "SPOT", "diskSize": 100.0, "instanceTypes": []any{"m7g.large"},
				"scalingConfig": map[string]any{"minSize": 1.0, "maxSize": 9.0, "desiredSize": 9.0},
			},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			result := run(t, test.config)
			if result.Err != nil {
				t.Fatal(result.Err)
			}
			group := result.One(t, nodeGroupType, "nodes")
			want := map[string]any{
				"clusterName": "mara-dev", "nodeGroupNamePrefix": "nodes-", "nodeRoleArn": "arn:aws:iam::123456789012:role/some",
				"subnetIds": []any{"subnet-1", "subnet-2"}, "version": "1.36",
				"updateConfig": map[string]any{"maxUnavailable": 1.0},
				"tags":         map[string]any{"Name": "mara-dev-nodes", "mara.dev/project": "aws-eks", "mara.dev/stack": "dev"},
			}
			maps.Copy(want, test.want)
			if diff := cmp.Diff(want, group.Inputs.Mappable()); diff != "" {
				t.Errorf("inputs (-want +got):\n%s", diff)
			}
		})
	}
}

// TestOrder checks what comes before what. Destroying goes the other way.
func TestOrder(t *testing.T) {
	t.Parallel()
	result := run(t, nil)
	nodes := result.One(t, nodeGroupType, "nodes")
	for _, need := range []string{"vpc-cni", "kube-proxy", "eks-pod-identity-agent"} {
		if !nodes.DependsOn(addonType, need) {
			t.Errorf("the nodes do not wait for %s, without which they are not ready", need)
		}
	}
	for _, policy := range []string{"AmazonEKSWorkerNodePolicy", "AmazonEKS_CNI_Policy", "AmazonEC2ContainerRegistryPullOnly"} {
		if !nodes.DependsOn(attachmentType, "eks-nodes-"+policy) {
			t.Errorf("the nodes would outlive the permission %s", policy)
		}
	}
	for _, late := range []string{"coredns", "aws-ebs-csi-driver"} {
		if !result.One(t, addonType, late).DependsOn(nodeGroupType, "nodes") {
			t.Errorf("%s does not wait for the nodes, and would time out", late)
		}
	}
	storage := result.One(t, addonType, "aws-ebs-csi-driver")
	if !storage.DependsOn(attachmentType, "eks-storage-AmazonEBSCSIDriverPolicy") {
		t.Error("the storage driver would outlive its permission to delete volumes")
	}
}

func TestAddons(t *testing.T) {
	t.Parallel()
	result := run(t, map[string]string{"eks:addon_versions": `{"coredns": "v1.12.3-eksbuild.1"}`, "eks:k8s_version": "1.35"})
	if result.Err != nil {
		t.Fatal(result.Err)
	}
	versions := map[string]any{}
	for _, addon := range result.All(addonType) {
		versions[addon.Value("addonName").(string)] = addon.Value("addonVersion")
	}
	want := map[string]any{
		"vpc-cni": "vpc-cni for 1.35", "kube-proxy": "kube-proxy for 1.35", "eks-pod-identity-agent": "eks-pod-identity-agent for 1.35",
		"aws-ebs-csi-driver": "aws-ebs-csi-driver for 1.35", "coredns": "v1.12.3-eksbuild.1",
	}
	if diff := cmp.Diff(want, versions); diff != "" {
		t.Errorf("add-ons and versions (-want +got):\n%s", diff)
	}
	storage := result.One(t, addonType, "aws-ebs-csi-driver")
	if got := storage.Value("configurationValues"); got != `{"defaultStorageClass":{"enabled":true}}` {
		t.Errorf("the storage driver is configured with %v", got)
	}
	if got := storage.Value("podIdentityAssociations", "0", "serviceAccount"); got != "ebs-csi-controller-sa" {
		t.Errorf("the storage driver's permissions go to the account %v", got)
	}
}

func TestRoles(t *testing.T) {
	t.Parallel()
	result := run(t, nil)
	want := map[string]string{
		"eks-cluster": `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["sts:AssumeRole"],"Principal":{"Service":"eks.amazonaws.com"}}]}`,
		"eks-nodes":   `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["sts:AssumeRole"],"Principal":{"Service":"ec2.amazonaws.com"}}]}`,
		"eks-storage": `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["sts:AssumeRole","sts:TagSession"],"Principal":{"Service":"pods.eks.amazonaws.com"}}]}`,
	}
	got := map[string]string{}
	for _, role := range result.All(roleType) {
		got[role.Name] = role.Value("assumeRolePolicy").(string)
		if name := role.Value("name"); name != "mara-dev-"+role.Name {
			t.Errorf("role %s is named %v", role.Name, name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("who may take on which role (-want +got):\n%s", diff)
	}
	attached := result.One(t, attachmentType, "eks-storage-AmazonEBSCSIDriverPolicy")
	if got := attached.Value("policyArn"); got != "arn:aws:iam::aws:policy/service-role/AmazonEBSCSIDriverPolicy" {
		t.Errorf("the storage driver gets %v", got)
	}
}

func TestAccess(t *testing.T) {
	t.Parallel()
	result := run(t, map[string]string{
		"eks:admin_principals": `["arn:aws:iam::123456789012:role/platform", "arn:aws:iam::123456789012:user/ann"]`,
	})
	if result.Err != nil {
		t.Fatal(result.Err)
	}
	var admins []string
	for _, entry := range result.All(entryType) {
		admins = append(admins, entry.Value("principalArn").(string))
		policy := result.One(t, policyType, entry.Name)
		if got := policy.Value("policyArn"); got != "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy" {
			t.Errorf("%s gets %v", entry.Name, got)
		}
	}
	slices.Sort(admins)
	want := []string{"arn:aws:iam::123456789012:role/platform", "arn:aws:iam::123456789012:user/ann"}
	if diff := cmp.Diff(want, admins); diff != "" {
		t.Errorf("administrators (-want +got):\n%s", diff)
	}
}

// TestWorkloads gives rights in zones of Route 53 to what the configuration says, through Pod Identity.
func TestWorkloads(t *testing.T) {
	t.Parallel()
	const zones = `["Z0123456789ABCDEFGHIJ"]`
	for _, test := range []struct {
		config map[string]string
		want   []string // namespace and account
	}{
		{nil, nil},
		{map[string]string{"certmgr:acme_dns": "route53"}, nil}, // a rule of certmgr requires the zones
		{map[string]string{"eks:dns_zones": zones}, []string{"external-dns external-dns"}},
		{map[string]string{"eks:dns_zones": zones, "certmgr:acme_dns": "cloudflare"}, []string{"external-dns external-dns"}},
		{map[string]string{"eks:dns_zones": zones, "certmgr:acme_dns": "route53"}, []string{"cert-manager cert-manager", "external-dns external-dns"}},
	} {
		result := run(t, test.config)
		if result.Err != nil {
			t.Fatal(result.Err)
		}
		var got []string
		for _, association := range result.All("aws:eks/podIdentityAssociation:PodIdentityAssociation") {
			if account := fmt.Sprint(association.Value("serviceAccount")); account != "aws-node" && account != "ebs-csi-controller-sa" {
				got = append(got, fmt.Sprint(association.Value("namespace"), " ", account))
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%v: %s", test.config, diff)
		}
		if len(test.want) == 2 {
			policy := fmt.Sprint(result.One(t, rolePolicyType, "cert-manager").Value("policy"))
			for _, want := range []string{"hostedzone/Z0123456789ABCDEFGHIJ", `"route53:ChangeResourceRecordSetsRecordTypes":"TXT"`, "change/*"} {
				if !strings.Contains(policy, want) {
					t.Errorf("the policy lacks %s: %s", want, policy)
				}
			}
		}
	}
}

func TestPartition(t *testing.T) {
	t.Parallel()
	result := programtest.Run(t, programtest.Case{
		Project: projects.AWSEKS(), Program: eks.Program, Stacks: network("subnet-1", "subnet-2"),
		Call: account("aws-us-gov", "us-gov-west-1"), Outputs: outputs(),
	})
	for _, attached := range result.All(attachmentType) {
		if arn := attached.Value("policyArn").(string); !strings.HasPrefix(arn, "arn:aws-us-gov:") {
			t.Errorf("%s is a policy of another partition", arn)
		}
	}
	if got := result.Export(t, "region").Value; got != "us-gov-west-1" {
		t.Errorf("the region is %v", got)
	}
}

func TestKubeconfig(t *testing.T) {
	t.Parallel()
	const plain = `apiVersion: v1
clusters:
    - cluster:
        certificate-authority-data: Q0EK
        server: https://0123.gr7.us-east-1.eks.amazonaws.com
      name: mara-dev
contexts:
    - context:
        cluster: mara-dev
        user: mara-dev
      name: mara-dev
current-context: mara-dev
kind: Config
users:
    - name: mara-dev
      user:
        exec:
            apiVersion: client.authentication.k8s.io/v1beta1
            args:
                - --region
                - us-east-1
                - eks
                - get-token
                - --cluster-name
                - mara-dev
                - --output
                - json
            command: aws
`
	const env = `            env:
                - name: AWS_PROFILE
                  value: platform
`
	tests := []struct {
		name   string
		config map[string]string
		want   string
	}{
		{"the environment's credentials", nil, plain},
		{"a profile", map[string]string{"aws:profile": "platform"}, plain + env},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := run(t, test.config).Export(t, "kubeconfig")
			if diff := cmp.Diff(test.want, got.Value); diff != "" {
				t.Errorf("kubeconfig (-want +got):\n%s", diff)
			}
			if !got.Secret {
				t.Error("the kubeconfig is not secret")
			}
		})
	}
}

func TestPreviewOfAnEmptyEnvironment(t *testing.T) {
	t.Parallel()
	result := programtest.Run(t, programtest.Case{
		Project: projects.AWSEKS(), Program: eks.Program, Call: account("aws", "us-east-1"), Preview: true,
	})
	if result.Err != nil {
		t.Fatal(result.Err)
	}
	if result.Export(t, "kubeconfig").Known {
		t.Error("the kubeconfig of a cluster that does not exist yet is known")
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		config map[string]string
		want   string
	}{
		{"a version without quotes", map[string]string{"eks:k8s_version": "1.3"}, `is "1.3", which is not a version of Kubernetes`},
		{"half a node", map[string]string{"eks:min_size": "1.5"}, `"eks:min_size"`},
		{"more at least than at most", map[string]string{"eks:min_size": "7"}, "is 7; it may not be more than eks:max_size (6)"},
		{"too few nodes", map[string]string{"eks:desired_capacity": "2"}, "is 2; it may not be less than eks:min_size (3)"},
		{"too many nodes", map[string]string{"eks:desired_capacity": "7"}, "is 7; it may not be more than eks:max_size (6)"},
		{"an old image", map[string]string{"eks:ami_type": "AL2_x86_64"}, "allowed: AL2023_x86_64_STANDARD"},
		{"a service range of the internet", map[string]string{"eks:service_cidr": "8.8.0.0/16"}, `"eks:service_cidr"`},
		{
			"no endpoint",
			map[string]string{"eks:endpoint_public_access": "false", "eks:endpoint_private_access": "false"},
			"must be true when eks:endpoint_public_access is false",
		},
		{"a name for a range", map[string]string{"eks:public_access_cidrs": `["office"]`}, "not an address range"},
		{"an unknown log", map[string]string{"eks:log_types": `["kubelet"]`}, `has "kubelet"`},
		{"an odd time", map[string]string{"eks:log_retention_days": "31"}, "is 31; allowed: 0, 1, 3"},
		{"a name for an ARN", map[string]string{"eks:admin_principals": `["ann"]`}, `has "ann"`},
		{
			"an administrator twice",
			map[string]string{"eks:admin_principals": `["arn:aws:iam::123456789012:user/a", "arn:aws:iam::123456789012:user/a"]`},
			"twice",
		},
		{"an unknown add-on", map[string]string{"eks:addon_versions": `{"istio": "v1"}`}, `has "istio"`},
		{"an add-on's version without quotes", map[string]string{"eks:addon_versions": `{"coredns": 1.12}`}, "write it in quotes"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			result := run(t, test.config)
			result.CheckRefused(t, test.want)
			if len(result.Resources) != 0 {
				t.Errorf("declared %v before the configuration was checked", result.Names())
			}
		})
	}
}

func TestOneZone(t *testing.T) {
	t.Parallel()
	result := programtest.Run(t, programtest.Case{
		Project: projects.AWSEKS(), Program: eks.Program, Stacks: network("subnet-1"),
		Call: account("aws", "us-east-1"), Outputs: outputs(),
	})
	result.CheckRefused(t, "EKS needs 2")
}
