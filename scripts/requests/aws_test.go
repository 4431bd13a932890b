package requests

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
)

// awsRequest is a request that AWS's provider makes of the inputs of a resource.
type awsRequest struct {
	service, shape string
	// fields maps inputs to what they are in the request; other inputs have the same name there, but for the case of the
	// first letter.
	fields map[string]field
	only   []string // inputs that are sent; nil for all that no other request sends
}

// field is an input in a request.
type field struct {
	name string        // in the request; "" if it is not sent
	as   func(any) any // value in the request; nil for the same
}

var (
	notSent = field{}
	// listOfTags is for services that take tags as a list.
	listOfTags = field{"tags", tags("Key", "Value")}
	ec2Tags    = field{"TagSpecifications", func(value any) any {
		return []any{map[string]any{"Tags": tags("Key", "Value")(value)}}
	}}
	iamTags = field{"Tags", tags("Key", "Value")}
)

// tags returns a function that makes a list of a map of tags.
func tags(key, value string) func(any) any {
	return func(of any) any {
		all, _ := of.(map[string]any)
		list := []any{}
		for _, name := range slices.Sorted(maps.Keys(all)) {
			list = append(list, map[string]any{key: name, value: all[name]})
		}
		return list
	}
}

func first(value any) any {
	if list, ok := value.([]any); ok && len(list) > 0 {
		return list[0]
	}
	return value
}

func list(value any) any { return []any{value} }

// attribute returns a flag as EC2 takes it where it is changed.
func attribute(value any) any { return map[string]any{"Value": value} }

// awsRequests are the requests for each type of resource of the built-in programs.
var awsRequests = map[string][]awsRequest{
	"aws:eks/cluster:Cluster": {{service: "eks", shape: "CreateClusterRequest", fields: map[string]field{
		"vpcConfig": {name: "resourcesVpcConfig"}, "encryptionConfig": {"encryptionConfig", list},
		"enabledClusterLogTypes": {"logging", func(value any) any {
			return map[string]any{"clusterLogging": []any{map[string]any{"enabled": true, "types": value}}}
		}},
	}}},
	"aws:eks/nodeGroup:NodeGroup": {{service: "eks", shape: "CreateNodegroupRequest", fields: map[string]field{
		"nodeGroupName": {name: "nodegroupName"}, "nodeRoleArn": {name: "nodeRole"}, "subnetIds": {name: "subnets"},
		"nodeGroupNamePrefix": notSent,
	}}},
	"aws:eks/addon:Addon": {
		{service: "eks", shape: "CreateAddonRequest", fields: map[string]field{"resolveConflictsOnCreate": {name: "resolveConflicts"}}},
		{service: "eks", shape: "UpdateAddonRequest", only: []string{"clusterName", "addonName", "resolveConflictsOnUpdate"},
			fields: map[string]field{"resolveConflictsOnUpdate": {name: "resolveConflicts"}}},
	},
	"aws:eks/accessEntry:AccessEntry":                         {{service: "eks", shape: "CreateAccessEntryRequest"}},
	"aws:eks/accessPolicyAssociation:AccessPolicyAssociation": {{service: "eks", shape: "AssociateAccessPolicyRequest"}},
	"aws:eks/podIdentityAssociation:PodIdentityAssociation":   {{service: "eks", shape: "CreatePodIdentityAssociationRequest"}},
	"aws:ec2/vpc:Vpc": {
		{service: "ec2", shape: "CreateVpcRequest", fields: map[string]field{"tags": ec2Tags}},
		{service: "ec2", shape: "ModifyVpcAttributeRequest", only: []string{"enableDnsHostnames", "enableDnsSupport"}, fields: map[string]field{
			"enableDnsHostnames": {"EnableDnsHostnames", attribute}, "enableDnsSupport": {"EnableDnsSupport", attribute},
		}},
	},
	"aws:ec2/subnet:Subnet": {
		{service: "ec2", shape: "CreateSubnetRequest", fields: map[string]field{"tags": ec2Tags}},
		{service: "ec2", shape: "ModifySubnetAttributeRequest", only: []string{"mapPublicIpOnLaunch"},
			fields: map[string]field{"mapPublicIpOnLaunch": {"MapPublicIpOnLaunch", attribute}}},
	},
	"aws:ec2/internetGateway:InternetGateway": {
		{service: "ec2", shape: "CreateInternetGatewayRequest", fields: map[string]field{"tags": ec2Tags}},
		{service: "ec2", shape: "AttachInternetGatewayRequest", only: []string{"vpcId"}},
	},
	"aws:ec2/eip:Eip":                                     {{service: "ec2", shape: "AllocateAddressRequest", fields: map[string]field{"tags": ec2Tags}}},
	"aws:ec2/natGateway:NatGateway":                       {{service: "ec2", shape: "CreateNatGatewayRequest", fields: map[string]field{"tags": ec2Tags}}},
	"aws:ec2/routeTable:RouteTable":                       {{service: "ec2", shape: "CreateRouteTableRequest", fields: map[string]field{"tags": ec2Tags}}},
	"aws:ec2/route:Route":                                 {{service: "ec2", shape: "CreateRouteRequest"}},
	"aws:ec2/routeTableAssociation:RouteTableAssociation": {{service: "ec2", shape: "AssociateRouteTableRequest"}},
	"aws:ecr/repository:Repository": {{service: "ecr", shape: "CreateRepositoryRequest", fields: map[string]field{
		"name": {name: "repositoryName"}, "tags": listOfTags, "forceDelete": notSent,
		"encryptionConfigurations": {"encryptionConfiguration", first},
	}}},
	"aws:ecr/lifecyclePolicy:LifecyclePolicy": {{service: "ecr", shape: "PutLifecyclePolicyRequest", fields: map[string]field{
		"policy": {name: "lifecyclePolicyText"}, "repository": {name: "repositoryName"},
	}}},
	"aws:iam/role:Role": {{service: "iam", shape: "CreateRoleRequest", fields: map[string]field{
		"name": {name: "RoleName"}, "assumeRolePolicy": {name: "AssumeRolePolicyDocument"}, "tags": iamTags,
	}}},
	"aws:iam/rolePolicy:RolePolicy": {{service: "iam", shape: "PutRolePolicyRequest", fields: map[string]field{
		"name": {name: "PolicyName"}, "policy": {name: "PolicyDocument"}, "role": {name: "RoleName"},
	}}},
	"aws:iam/rolePolicyAttachment:RolePolicyAttachment": {{service: "iam", shape: "AttachRolePolicyRequest", fields: map[string]field{
		"role": {name: "RoleName"},
	}}},
	"aws:kms/key:Key": {
		{service: "kms", shape: "CreateKeyRequest", fields: map[string]field{
			"tags": {"Tags", tags("TagKey", "TagValue")}, "enableKeyRotation": notSent,
		}},
		{service: "kms", shape: "ScheduleKeyDeletionRequest", only: []string{"deletionWindowInDays"},
			fields: map[string]field{"deletionWindowInDays": {name: "PendingWindowInDays"}}},
	},
	"aws:kms/alias:Alias": {{service: "kms", shape: "CreateAliasRequest", fields: map[string]field{"name": {name: "AliasName"}}}},
	"aws:cloudwatch/logGroup:LogGroup": {
		{service: "logs", shape: "CreateLogGroupRequest", fields: map[string]field{"name": {name: "logGroupName"}}},
		{service: "logs", shape: "PutRetentionPolicyRequest", only: []string{"name", "retentionInDays"},
			fields: map[string]field{"name": {name: "logGroupName"}}},
	},
}

// identified are members that the provider knows from an earlier answer.
var identified = map[string][]string{
	"ModifyVpcAttributeRequest": {"VpcId"}, "ModifySubnetAttributeRequest": {"SubnetId"}, "AttachInternetGatewayRequest": {"InternetGatewayId"},
	"ScheduleKeyDeletionRequest": {"KeyId"},
}

// awsInvalid makes the requests of the inputs of a resource, and returns what is wrong with them by AWS's models.
func awsInvalid(models map[string]model, kind string, inputs map[string]any) (wrong []string) {
	elsewhere := map[string]bool{}
	for _, r := range awsRequests[kind] {
		for _, name := range r.only {
			elsewhere[name] = true
		}
	}
	for _, r := range awsRequests[kind] {
		request := map[string]any{}
		for _, name := range identified[r.shape] {
			request[name] = unknown
		}
		members := models[r.service][r.shape].Members
		sent := false
		for name, value := range inputs {
			f, known := r.fields[name]
			switch {
			case r.only != nil && !slices.Contains(r.only, name), r.only == nil && elsewhere[name] && !known && !hasMember(members, name):
				continue
			case known && f.name == "":
				continue
			case !known:
				f.name = memberOf(members, name)
			}
			if f.as != nil && value != unknown && value != secret {
				value = f.as(value)
			}
			request[f.name], sent = value, true
		}
		if sent {
			wrong = append(wrong, models[r.service].invalid(r.shape, r.shape, request)...)
		}
	}
	return wrong
}

func hasMember(members map[string]shape, name string) bool {
	_, ok := members[memberOf(members, name)]
	return ok
}

// memberOf returns the member with the name of an input, or that name.
func memberOf(members map[string]shape, name string) string {
	for member := range members {
		if strings.EqualFold(member[:1], name[:1]) && member[1:] == name[1:] {
			return member
		}
	}
	return name
}

// TestAWS: the requests that follow from the simulated inputs have the names, values, patterns and lengths of AWS's models,
// for names of environments of all sorts, and with every setting that changes a request.
func TestAWS(t *testing.T) {
	t.Parallel()
	models := readModels(t)
	const key = "arn:aws:kms:us-east-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab"
	made := map[string]bool{}
	for _, test := range []struct {
		name, stack string
		config      []string
	}{
		{"defaults", "dev", nil},
		{"a long name", "a-very-long-name-of-an-environment-from-a-branch", nil},
		{"capitals and dots", "Test.Env_1", nil},
		{"two hyphens in a row", "x--y", nil},
		{"a hyphen first", "-x", nil},
		{"one letter", "x", nil},
		{"one gateway", "dev", []string{"vpc:nat=single"}},
		{"keys of one's own", "dev", []string{"eks:kms_key_arn=" + key, "ecr:kms_key_arn=" + key}},
		{"secrets encrypted", "dev", []string{"eks:encrypt_secrets=true"}},
		{"access", "dev", []string{"eks:public_access_cidrs=[\"203.0.113.0/24\"]", "eks:admin_principals=[\"arn:aws:iam::123456789012:role/admin\"]", "eks:endpoint_public_access=true"}},
		{"all logs, for a year", "dev", []string{"eks:log_types=[\"api\",\"audit\",\"authenticator\",\"controllerManager\",\"scheduler\"]", "eks:log_retention_days=365"}},
		{"ARM, and extended support", "dev", []string{"eks:ami_type=AL2023_ARM_64_STANDARD", "eks:instance_type=t4g.large", "kic:platform=linux/arm64", "eks:support_type=EXTENDED"}},
		{"for optional projects", "dev", []string{"eks:cluster_autoscaler=true", `eks:dns_zones=["Z0123456789ABCDEFGHIJ"]`, `eks:group_principals={"developers":["arn:aws:iam::123456789012:role/dev"]}`}},
		{"no nodes on demand", "dev", []string{"eks:capacity_type=SPOT", "eks:node_version=1.35", "eks:disk_size=16384", "ecr:keep_images=1000", "ecr:untagged_days=365"}},
		{"versions of add-ons", "dev", []string{`eks:addon_versions={"vpc-cni":"v1.20.4-eksbuild.2"}`}},
		{"pools", "dev", []string{`eks:pools={"batch":{"size":"m6i.large","min":0,"max":5,"spot":true,"labels":{"role":"batch"},"taints":["role=batch:NoSchedule"]}}`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			args := []string{"-p", "aws", "--stack=" + test.stack, "--only", "aws-vpc,aws-eks,aws-ecr", "--config", "aws:region=us-east-1"}
			for _, r := range plan(t, append(args, settings(test.config)...)...) {
				if !strings.HasPrefix(r.Type, "aws:") {
					continue
				}
				var inputs map[string]any
				if err := json.Unmarshal(r.Inputs, &inputs); err != nil {
					t.Fatal(err)
				}
				if awsRequests[r.Type] == nil {
					t.Errorf("no request is known for %s", r.Type)
				}
				made[r.Type] = true
				for _, wrong := range awsInvalid(models, r.Type, inputs) {
					t.Errorf("%s %s: %s", r.Type, r.Name, wrong)
				}
			}
		})
	}
	for kind := range awsRequests {
		if !made[kind] {
			t.Errorf("no request was made for %s", kind)
		}
	}
}

// TestAWSRefuses: the validation finds what AWS would refuse.
func TestAWSRefuses(t *testing.T) {
	t.Parallel()
	models := readModels(t)
	for _, test := range []struct{ kind, inputs, want string }{
		{"aws:eks/cluster:Cluster", `{"name":"x","roleArn":"r"}`, "resourcesVpcConfig is missing"},
		{"aws:eks/cluster:Cluster", `{"name":"-x","roleArn":"r","vpcConfig":{}}`, "has to match"},
		{"aws:eks/cluster:Cluster", `{"name":"x","roleArn":"r","vpcConfig":{"hue":"red"}}`, "has no hue"},
		{"aws:eks/cluster:Cluster", `{"name":"x","roleArn":"r","vpcConfig":{},"enabledClusterLogTypes":["scheduling"]}`, "one of [api audit"},
		{"aws:eks/nodeGroup:NodeGroup", `{"nodeGroupName":"n","clusterName":"c","nodeRoleArn":"r","subnetIds":"[unknown]","amiType":"AL3"}`, "one of [AL2_x86_64"},
		{"aws:eks/nodeGroup:NodeGroup", `{"nodeGroupName":"n","clusterName":"c","nodeRoleArn":"r","subnetIds":["s"],"diskSize":"50"}`, "has to be a integer"},
		{"aws:eks/nodeGroup:NodeGroup", `{"nodeGroupName":"n","clusterName":"c","nodeRoleArn":"r","subnetIds":["s"],"scalingConfig":{"minSize":-1}}`, "is not from"},
		{"aws:eks/addon:Addon", `{"clusterName":"c","addonName":"a","resolveConflictsOnUpdate":"KEEP"}`, "one of [OVERWRITE"},
		{"aws:ecr/repository:Repository", `{"name":"Images"}`, "has to match"},
		{"aws:iam/role:Role", `{"name":"a role","assumeRolePolicy":"{}"}`, "has to match"},
		{"aws:iam/role:Role", `{"name":"` + strings.Repeat("x", 65) + `","assumeRolePolicy":"{}"}`, "65 is not from 1 to 64"},
		{"aws:ec2/eip:Eip", `{"domain":"vcp"}`, "one of [vpc standard]"},
		{"aws:ec2/vpc:Vpc", `{"cidrBlock":"10.0.0.0/16","enableDnsSupport":"yes"}`, "has to be a boolean"},
	} {
		var inputs map[string]any
		if err := json.Unmarshal([]byte(test.inputs), &inputs); err != nil {
			t.Fatal(err)
		}
		if wrong := strings.Join(awsInvalid(models, test.kind, inputs), "\n"); !strings.Contains(wrong, test.want) {
			t.Errorf("%s %s: got %q, want %q", test.kind, test.inputs, wrong, test.want)
		}
	}
}
