package policy

import (
	"strconv"
	"strings"
	"testing"
)

// TestProbes: common mistakes, each with the rule that finds it, or with the reason why none does;
// and what looks like a mistake and is none.
func TestProbes(t *testing.T) {
	t.Parallel()
	const (
		allowed  = ""  // none of the rules may find it
		declined = "-" // no rule finds it, for the reason
	)
	deployment := func(spec string) string {
		return step("kubernetes:apps/v1:Deployment", `"kind":"Deployment","spec":{"template":{"spec":`+spec+`}}`)
	}
	container := func(more string) string {
		return deployment(`{"containers":[{"name":"a","image":"nginx:1.27","resources":{"limits":{"memory":"1Gi"}}` + more + `}]}`)
	}
	group := func(from, to int, ranges string) string {
		return step("aws:ec2/securityGroup:SecurityGroup", `"tags":{"owner":"a"},"ingress":[{"fromPort":`+strconv.Itoa(from)+`,"toPort":`+strconv.Itoa(to)+`,`+ranges+`}]`)
	}
	const everybody = `"cidrBlocks":["0.0.0.0/0"]`
	for _, test := range []struct{ name, steps, want, reason string }{
		{"EKS 1.30", step("aws:eks/cluster:Cluster", `"tags":{"owner":"a"},"version":"1.30","vpcConfig":{"endpointPublicAccess":false}`), "kubernetes-version", ""},
		{"EKS 1.36", step("aws:eks/cluster:Cluster", `"tags":{"owner":"a"},"version":"1.36","vpcConfig":{"endpointPublicAccess":false}`), allowed, ""},
		{"DOKS 1.33.1-do.0", step("digitalocean:index/kubernetesCluster:KubernetesCluster", `"tags":["owner:a"],"version":"1.33.1-do.0","controlPlaneFirewall":{"enabled":true,"allowedAddresses":["192.0.2.1"]}`), "kubernetes-version", ""},
		{"LKE Enterprise v1.31.9+lke5", step("linode:index/lkeCluster:LkeCluster", `"tags":["owner:a"],"k8sVersion":"v1.31.9+lke5","controlPlane":{"acl":{"enabled":true}}`), "kubernetes-version", ""},
		{"EKS 1.40, which is not there yet", step("aws:eks/cluster:Cluster", `"tags":{"owner":"a"},"version":"1.40","vpcConfig":{"endpointPublicAccess":false}`), declined, "the list of versions cannot know which will come; the cloud refuses versions that it does not have"},

		{"Deployment with :latest", deployment(`{"containers":[{"name":"a","image":"nginx:latest","resources":{"limits":{"memory":"1Gi"}}}]}`), "latest-tags", ""},
		{"no tag, and a port in the host", deployment(`{"containers":[{"name":"a","image":"localhost:5000/nginx","resources":{"limits":{"memory":"1Gi"}}}]}`), "latest-tags", ""},
		{"an init container", deployment(`{"initContainers":[{"name":"a","image":"busybox","resources":{"limits":{"memory":"1Gi"}}}]}`), "latest-tags", ""},
		{"a digest", deployment(`{"containers":[{"name":"a","image":"nginx@sha256:0a1b","resources":{"limits":{"memory":"1Gi"}}}]}`), allowed, ""},
		{"an image of Docker with latest", step("docker:index/image:Image", `"imageName":"r/x:latest"`), "latest-tags", ""},
		{"a value of Helm with the tag latest", step("kubernetes:helm.sh/v3:Release", `"chart":"x","values":{"image":{"repository":"nginx","tag":"latest"}}`), "latest-tags", ""},
		{"a task definition of ECS with latest", step("aws:ecs/taskDefinition:TaskDefinition", `"tags":{"owner":"a"},"containerDefinitions":"[{\"image\":\"x:latest\"}]"`), "latest-tags", ""},

		{"no limits", deployment(`{"containers":[{"name":"a","image":"nginx:1.27"}]}`), "missing-limits", ""},
		{"a limit", container(""), allowed, ""},
		{"a CronJob without limits", step("kubernetes:batch/v1:CronJob", `"spec":{"jobTemplate":{"spec":{"template":{"spec":{"containers":[{"name":"a","image":"x:1"}]}}}}}`), "missing-limits", ""},

		{"a security group with 22", group(22, 22, everybody), "open-ranges", ""},
		{"a security group with 443", group(443, 443, everybody), allowed, ""},
		{"an old rule of a security group", step("aws:ec2/securityGroupRule:SecurityGroupRule", `"type":"ingress","fromPort":22,"toPort":22,`+everybody), "open-ranges", ""},
		{"the default security group", step("aws:ec2/defaultSecurityGroup:DefaultSecurityGroup", `"tags":{"owner":"a"},"ingress":[{"fromPort":22,"toPort":22,`+everybody+`}]`), "open-ranges", ""},
		{"two halves of the Internet", group(22, 22, `"cidrBlocks":["0.0.0.0/1","128.0.0.0/1"]`), "open-ranges", ""},
		{"::0/0", group(22, 22, `"ipv6CidrBlocks":["::0/0"]`), "open-ranges", ""},
		{"a firewall of DigitalOcean with 22", step("digitalocean:index/firewall:Firewall", `"tags":["owner:a"],"inboundRules":[{"protocol":"tcp","portRange":"22","sourceAddresses":["0.0.0.0/0"]}]`), "open-ranges", ""},
		{"a firewall of Linode that accepts by default", step("linode:index/firewall:Firewall", `"tags":["owner:a"],"inboundPolicy":"ACCEPT"`), "open-ranges", ""},
		{"a firewall of Linode with 443,80", step("linode:index/firewall:Firewall", `"tags":["owner:a"],"inboundPolicy":"DROP","inbounds":[{"action":"ACCEPT","ports":"443,80","ipv4s":["0.0.0.0/0"]}]`), allowed, ""},
		{"a firewall of Linode without ports", step("linode:index/firewall:Firewall", `"tags":["owner:a"],"inboundPolicy":"DROP","inbounds":[{"action":"ACCEPT","ports":null,"ipv4s":["0.0.0.0/0"]}]`), "open-ranges", ""},
		{"a load balancer of Kubernetes for everybody", step("kubernetes:core/v1:Service", `"kind":"Service","spec":{"type":"LoadBalancer","loadBalancerSourceRanges":["0.0.0.0/0"],"ports":[{"port":5432}]}`), "open-ranges", ""},

		{"AWS without tags", step("aws:ec2/vpc:Vpc", `"cidrBlock":"10.0.0.0/16"`), "owner-label", ""},
		{"AWS with tags, without owner", step("aws:ec2/vpc:Vpc", `"tags":{"Name":"x"}`), "owner-label", ""},
		{"AWS with the tag OWNER", step("aws:ec2/vpc:Vpc", `"tags":{"OWNER":"a"}`), allowed, ""},
		{"AWS with an owner in the default tags", step("aws:ec2/vpc:Vpc", `"tags":{"Name":"x"},"tagsAll":{"Name":"x","owner":"a"}`), allowed, ""},
		{"Linode without an owner", step("linode:index/instance:Instance", `"tags":["x"]`), "owner-label", ""},

		{"privileged", container(`,"securityContext":{"privileged":true}`), "privileged-pods", ""},
		{"hostPath /", deployment(`{"volumes":[{"name":"a","hostPath":{"path":"/"}}]}`), "privileged-pods", ""},
		{"SYS_ADMIN", container(`,"securityContext":{"capabilities":{"add":["SYS_ADMIN"]}}`), "privileged-pods", ""},
		{"an ordinary Pod", container(`,"securityContext":{"capabilities":{"drop":["ALL"]}}`), allowed, ""},

		{"EKS as it is by default", step("aws:eks/cluster:Cluster", `"tags":{"owner":"a"},"vpcConfig":{}`), "public-api", ""},
		{"EKS, private", step("aws:eks/cluster:Cluster", `"tags":{"owner":"a"},"vpcConfig":{"endpointPublicAccess":false}`), allowed, ""},
		{"DOKS without a firewall", step("digitalocean:index/kubernetesCluster:KubernetesCluster", `"tags":["owner:a"]`), "public-api", ""},
		{"LKE with 0.0.0.0/0 in its list", step("linode:index/lkeCluster:LkeCluster", `"tags":["owner:a"],"controlPlane":{"acl":{"enabled":true,"addresses":[{"ipv4s":["0.0.0.0/0"]}]}}`), "public-api", ""},

		{"two subnets in one zone", subnets("a", "a"), "single-zone", ""},
		{"two subnets in two zones", subnets("a", "b"), allowed, ""},
		{"RDS in one zone", step("aws:rds/instance:Instance", `"tags":{"owner":"a"},"storageEncrypted":true,"availabilityZone":"a"`), "single-zone", ""},
		{"RDS in several zones", step("aws:rds/instance:Instance", `"tags":{"owner":"a"},"storageEncrypted":true,"multiAz":true`), allowed, ""},

		{"a database is deleted", `{"op":"delete","type":"aws:rds/instance:Instance","name":"n","stateful":true}`, "stateful-deletion", ""},
		{"something without data is deleted", `{"op":"delete","type":"aws:ec2/route:Route","name":"n","stateful":false}`, allowed, ""},

		{"RDS without encryption", step("aws:rds/instance:Instance", `"tags":{"owner":"a"},"multiAz":true`), "unencrypted-storage", ""},
		{"RDS with encryption", step("aws:rds/instance:Instance", `"tags":{"owner":"a"},"multiAz":true,"storageEncrypted":true`), allowed, ""},
		{"the root volume of an instance", step("aws:ec2/instance:Instance", `"tags":{"owner":"a"},"rootBlockDevice":{"encrypted":false}`), "unencrypted-storage", ""},
		{"the disks of a machine of Linode", step("linode:index/instance:Instance", `"tags":["owner:a"],"diskEncryption":"disabled"`), "unencrypted-storage", ""},
		{"a volume of Linode", step("linode:index/volume:Volume", `"tags":["owner:a"],"size":10`), "unencrypted-storage", ""},
		{"ElastiCache", step("aws:elasticache/replicationGroup:ReplicationGroup", `"tags":{"owner":"a"},"engine":"redis"`), "unencrypted-storage", ""},
		{"OpenSearch", step("aws:opensearch/domain:Domain", `"tags":{"owner":"a"}`), "unencrypted-storage", ""},
		{"a launch template", step("aws:ec2/launchTemplate:LaunchTemplate", `"tags":{"owner":"a"},"blockDeviceMappings":[{"deviceName":"xvda","ebs":{"volumeSize":10}}]`), "unencrypted-storage", ""},

		{"a public bucket", step("aws:s3/bucketAcl:BucketAcl", `"acl":"public-read"`), "public-data", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var found []string
			for _, f := range judge(t, allRules(t), "dev", test.steps) {
				found = append(found, f.Rule)
			}
			want := test.want
			if want == declined {
				want = allowed
			}
			if got := strings.Join(found, " "); got != want {
				t.Errorf("found by %q, want %q", got, want)
			}
			if (test.want == declined) != (test.reason != "") {
				t.Errorf("a mistake that no rule finds needs a reason, and only that: %q", test.reason)
			}
		})
	}
}

// subnets returns a subnet in each zone.
func subnets(zones ...string) string {
	var all []string
	for _, zone := range zones {
		all = append(all, step("aws:ec2/subnet:Subnet", `"tags":{"owner":"a"},"availabilityZone":"`+zone+`"`))
	}
	return strings.Join(all, ",")
}

// allRules makes a root that uses all rules that ship.
func allRules(t *testing.T) string {
	t.Helper()
	set, err := Load(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return root(t, map[string]string{"policies.yaml": "use: [" + strings.Join(set.names(), ", ") + "]\n"})
}
