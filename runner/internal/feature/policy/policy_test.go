package policy

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func today() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

// root makes a directory with these files in policies.
func root(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, Directory), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(root, Directory, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// judge loads the rules of a root and runs them on steps of the project p.
func judge(t *testing.T, root, stack, steps string) []Finding {
	t.Helper()
	set, err := Load(root)
	if err != nil {
		t.Fatal(err)
	}
	var document any
	if err := json.Unmarshal([]byte(`{"stack":"`+stack+`","projects":[{"name":"p","steps":[`+steps+`]}]}`), &document); err != nil {
		t.Fatalf("%v in %s", err, steps)
	}
	findings, err := set.Judge(t.Context(), document, Target{Stack: stack}, today())
	if err != nil {
		t.Fatal(err)
	}
	return findings
}

// TestShipped: each rule that ships has hits, a miss and an edge.
func TestShipped(t *testing.T) {
	t.Parallel()
	const pod = `{"op":"create","type":"kubernetes:apps/v1:Deployment","name":"d","inputs":{"kind":"Deployment","spec":{"template":{"spec":`
	for _, test := range []struct {
		rule, name, steps string
		want              []string
	}{
		{"public-api", "EKS", step("aws:eks/cluster:Cluster", `"vpcConfig":{"endpointPublicAccess":true}`), []string{"deny its API server can be reached from everywhere; name the ranges that may, or make it private"}},
		{"public-api", "EKS from an office", step("aws:eks/cluster:Cluster", `"vpcConfig":{"endpointPublicAccess":true,"publicAccessCidrs":["192.0.2.0/24"]}`), nil},
		{"public-api", "EKS with ranges that are not known", step("aws:eks/cluster:Cluster", `"vpcConfig":{"endpointPublicAccess":true,"publicAccessCidrs":"[unknown]"}`), nil},
		{"public-api", "LKE with and without a list", step("linode:index/lkeCluster:LkeCluster", `"controlPlane":{"acl":{"enabled":true}}`) + "," + step("linode:index/lkeCluster:LkeCluster", `"label":"x"`),
			[]string{"deny its API server can be reached from everywhere; give it an access list"}},
		{"public-api", "kind", step("kind:index:Cluster", `"apiServerAddress":"0.0.0.0"`) + "," + step("kind:index:Cluster", `"apiServerAddress":"127.0.0.1"`) + "," + step("kind:index:Cluster", `"a":1`),
			[]string{"deny its API server listens on 0.0.0.0, which others on the network can reach"}},

		{"open-ranges", "ssh", step("aws:ec2/securityGroup:SecurityGroup", `"ingress":[{"fromPort":22,"toPort":22,"cidrBlocks":["0.0.0.0/0"]},{"fromPort":443,"toPort":443,"ipv6CidrBlocks":["::/0"]}]`),
			[]string{"deny port 22 is open to everybody"}},
		{"open-ranges", "a range that begins with a port of the web", step("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule", `"fromPort":80,"toPort":9000,"cidrIpv4":"0.0.0.0/0"`),
			[]string{"deny port 80 to 9000 is open to everybody"}},
		{"open-ranges", "inside", step("aws:ec2/securityGroup:SecurityGroup", `"ingress":[{"fromPort":22,"toPort":22,"cidrBlocks":["10.0.0.0/8"]}]`) + "," + step("linode:index/firewall:Firewall", `"inbounds":[{"action":"ACCEPT","ports":"80,443","ipv4s":["0.0.0.0/0"]},{"action":"DROP","ipv4s":["0.0.0.0/0"]}]`), nil},
		{"open-ranges", "a firewall of Linode", step("linode:index/firewall:Firewall", `"inbounds":[{"action":"ACCEPT","ports":"1-65535","ipv6s":["::/0"]}]`), []string{"deny ports 1-65535 are open to everybody"}},

		{"unencrypted-storage", "several", step("aws:ebs/volume:Volume", `"size":1`) + "," + step("aws:rds/cluster:Cluster", `"storageEncrypted":false`) + "," +
			step("kubernetes:storage.k8s.io/v1:StorageClass", `"provisioner":"ebs.csi.aws.com"`) + "," + step("linode:index/volume:Volume", `"size":1`),
			[]string{"deny is not encrypted", "deny is not encrypted", "deny its volumes are not encrypted", "deny is not encrypted"}},
		{"unencrypted-storage", "encrypted", step("aws:ebs/volume:Volume", `"encrypted":true`) + "," + step("kubernetes:storage.k8s.io/v1:StorageClass", `"provisioner":"ebs.csi.aws.com","parameters":{"encrypted":"true"}`), nil},
		{"unencrypted-storage", "of another provisioner", step("kubernetes:storage.k8s.io/v1:StorageClass", `"provisioner":"rancher.io/local-path"`), nil},

		{"stateful-deletion", "replaced", `{"op":"replace","type":"a:b:C","name":"n","stateful":true,"replaces":["size","zone"]}`, []string{"deny would be replaced, and its data lost; size, zone cannot change in place"}},
		{"stateful-deletion", "deleted", `{"op":"delete","type":"a:b:C","name":"n","stateful":true}`, []string{"deny would be deleted, and its data lost"}},
		{"stateful-deletion", "updated, or without data", `{"op":"update","type":"a:b:C","stateful":true},{"op":"delete","type":"a:b:C","stateful":false}`, nil},

		{"latest-tags", "latest and none", pod + `{"containers":[{"name":"a","image":"nginx:latest"},{"name":"b","image":"localhost:5001/x"}]}}}}}`,
			[]string{"deny the image localhost:5001/x has no version, so that it may be another one tomorrow", "deny the image nginx:latest has no version, so that it may be another one tomorrow"}},
		{"latest-tags", "versions and digests", pod + `{"containers":[{"image":"nginx:1"},{"image":"nginx@sha256:1"},{"image":"nginx:latest@sha256:1"}]}}}}}`, nil},
		{"latest-tags", "an image that is not known yet", pod + `{"containers":[{"image":"[unknown]"}]}}}}}`, nil},

		{"missing-limits", "one of two", pod + `{"containers":[{"name":"a","resources":{"limits":{"memory":"1Gi"}}},{"name":"b"}]}}}}}`, []string{"warn the container b has no limit of memory"}},
		{"missing-limits", "nothing with Pods", step("kubernetes:core/v1:Service", `"kind":"Service","spec":{"ports":[]}`), nil},
		{"missing-limits", "a CronJob", step("kubernetes:batch/v1:CronJob", `"spec":{"jobTemplate":{"spec":{"template":{"spec":{"initContainers":[{"name":"i"}]}}}}}`), []string{"warn the container i has no limit of memory"}},

		{"privileged-pods", "both ways", step("kubernetes:core/v1:Pod", `"kind":"Pod","spec":{"hostPID":true,"containers":[{"name":"a","securityContext":{"privileged":true}}]}`),
			[]string{"deny the container a is privileged", "deny its Pods have hostPID"}},
		{"privileged-pods", "neither", pod + `{"hostNetwork":false,"containers":[{"name":"a","securityContext":{"privileged":false}},{"name":"b"}]}}}}}`, nil},
		{"privileged-pods", "deleted", `{"op":"delete","type":"kubernetes:core/v1:Pod","old":{"kind":"Pod","spec":{"hostPID":true}}}`, nil},

		{"single-zone", "one zone", step("aws:ec2/subnet:Subnet", `"availabilityZone":"a"`) + "," + step("aws:ec2/subnet:Subnet", `"availabilityZone":"a"`), []string{"warn all subnets are in the zone a"}},
		{"single-zone", "two", step("aws:ec2/subnet:Subnet", `"availabilityZone":"a"`) + "," + step("aws:ec2/subnet:Subnet", `"availabilityZone":"b"`), nil},
		{"single-zone", "not known, and a database without a standby", step("aws:ec2/subnet:Subnet", `"availabilityZone":"[unknown]"`) + "," + step("aws:rds/instance:Instance", `"multiAz":false`), []string{"warn has no standby in another zone"}},

		{"kubernetes-version", "ended", step("aws:eks/cluster:Cluster", `"version":"1.32"`) + "," + step("kind:index:Cluster", `"nodeImage":"kindest/node:v1.20.1@sha256:1"`),
			[]string{"warn Kubernetes 1.32: support has ended on 2026-02-28", "warn Kubernetes v1.20: support has ended long ago"}},
		{"kubernetes-version", "newer than the list", step("linode:index/lkeCluster:LkeCluster", `"k8sVersion":"1.99"`), nil},
		{"kubernetes-version", "not known, and none", step("aws:eks/cluster:Cluster", `"version":"[unknown]"`) + "," + step("kind:index:Cluster", `"nodeImage":"own/node"`), nil},

		{"owner-label", "without", step("aws:ec2/vpc:Vpc", `"tags":{"Name":"x"}`) + "," + step("kubernetes:core/v1:Namespace", `"metadata":{"name":"n"}`), []string{"warn has no tag owner", "warn has no label owner"}},
		{"owner-label", "with", step("aws:ec2/vpc:Vpc", `"tags":{"owner":"x"}`) + "," + step("kubernetes:core/v1:Namespace", `"metadata":{"labels":{"owner":"x"}}`), nil},
		{"owner-label", "what takes no tags", step("aws:ec2/route:Route", `"routeTableId":"x"`), nil},

		{"public-api", "a list that has everybody on it", step("linode:index/lkeCluster:LkeCluster", `"controlPlane":{"acl":{"enabled":true,"addresses":[{"ipv4s":["0.0.0.0/0"]}]}}`),
			[]string{"deny the access list of its API server has everybody on it"}},
		{"public-api", "DOKS", step("digitalocean:index/kubernetesCluster:KubernetesCluster", `"name":"x"`) + "," +
			step("digitalocean:index/kubernetesCluster:KubernetesCluster", `"controlPlaneFirewall":{"enabled":true,"allowedAddresses":["0.0.0.0/1"]}`) + "," +
			step("digitalocean:index/kubernetesCluster:KubernetesCluster", `"controlPlaneFirewall":{"enabled":true,"allowedAddresses":["192.0.2.1/32"]}`),
			[]string{"deny its API server can be reached from everywhere; give it a firewall", "deny the firewall of its API server lets everybody in"}},

		{"open-ranges", "rules of their own, and the default group", step("aws:ec2/securityGroupRule:SecurityGroupRule", `"type":"ingress","fromPort":22,"toPort":22,"cidrBlocks":["0.0.0.0/0"]`) + "," +
			step("aws:ec2/securityGroupRule:SecurityGroupRule", `"type":"egress","fromPort":0,"toPort":0,"cidrBlocks":["0.0.0.0/0"]`) + "," +
			step("aws:ec2/defaultSecurityGroup:DefaultSecurityGroup", `"ingress":[{"fromPort":22,"toPort":22,"cidrBlocks":["0.0.0.0/0"]}]`),
			[]string{"deny port 22 is open to everybody", "deny port 22 is open to everybody"}},
		{"open-ranges", "everybody in other words", step("aws:ec2/securityGroup:SecurityGroup", `"ingress":[{"fromPort":22,"toPort":22,"cidrBlocks":["0.0.0.0/1","128.0.0.0/1"]},{"fromPort":23,"toPort":23,"ipv6CidrBlocks":["::0/0"]},{"fromPort":24,"toPort":24,"ipv6CidrBlocks":["2000::/3"]}]`),
			[]string{"deny port 22 is open to everybody", "deny port 23 is open to everybody", "deny port 24 is open to everybody"}},
		{"open-ranges", "private ranges", step("aws:ec2/securityGroup:SecurityGroup", `"ingress":[{"fromPort":22,"toPort":22,"cidrBlocks":["10.0.0.0/8"],"ipv6CidrBlocks":["fc00::/7","fd00::/8","2001:db8::/32"]}]`), nil},
		{"open-ranges", "what no rule names", step("linode:index/firewall:Firewall", `"inboundPolicy":"ACCEPT"`), []string{"deny it accepts what no rule names, from everybody; make DROP its policy"}},
		{"open-ranges", "ports of the web in any order", step("linode:index/firewall:Firewall", `"inboundPolicy":"DROP","inbounds":[{"action":"ACCEPT","ports":"443, 80","ipv4s":["0.0.0.0/0"]}]`), nil},
		{"open-ranges", "all ports", step("linode:index/firewall:Firewall", `"inbounds":[{"action":"ACCEPT","ipv4s":["0.0.0.0/0"]}]`), []string{"deny ports all are open to everybody"}},
		{"open-ranges", "a firewall of DigitalOcean", step("digitalocean:index/firewall:Firewall", `"inboundRules":[{"protocol":"tcp","portRange":"22","sourceAddresses":["0.0.0.0/0","::/0"]},{"protocol":"tcp","portRange":"443","sourceAddresses":["0.0.0.0/0"]}]`),
			[]string{"deny ports 22 are open to everybody"}},
		{"open-ranges", "a database", step("linode:index/databaseMysqlV2:DatabaseMysqlV2", `"allowLists":["0.0.0.0/0"]`), []string{"deny the database is open to everybody"}},
		{"open-ranges", "load balancers", step("kubernetes:core/v1:Service", `"kind":"Service","spec":{"type":"LoadBalancer","ports":[{"port":5432},{"port":443}]}`) + "," +
			step("kubernetes:core/v1:Service", `"spec":{"type":"LoadBalancer","loadBalancerSourceRanges":["0.0.0.0/0"],"ports":[{"port":22}]}`) + "," +
			step("kubernetes:core/v1:Service", `"spec":{"type":"LoadBalancer","loadBalancerSourceRanges":["192.0.2.0/24"],"ports":[{"port":22}]}`) + "," +
			step("kubernetes:core/v1:Service", `"metadata":{"annotations":{"service.beta.kubernetes.io/aws-load-balancer-scheme":"internal"}},"spec":{"type":"LoadBalancer","ports":[{"port":22}]}`) + "," +
			step("kubernetes:core/v1:Service", `"spec":{"type":"ClusterIP","ports":[{"port":22}]}`), []string{
			"deny its load balancer opens port 5432 to everybody; name ranges in loadBalancerSourceRanges",
			"deny its load balancer opens port 22 to everybody; name ranges in loadBalancerSourceRanges"}},

		{"unencrypted-storage", "instances", step("aws:ec2/instance:Instance", `"ami":"a","ebsBlockDevices":[{"deviceName":"sdb"},{"deviceName":"sdc","encrypted":true}]`) + "," +
			step("aws:ec2/instance:Instance", `"rootBlockDevice":{"encrypted":true}`) + "," +
			step("aws:ec2/launchTemplate:LaunchTemplate", `"blockDeviceMappings":[{"deviceName":"xvda","ebs":{"volumeSize":10}},{"ebs":{"encrypted":"true"}}]`),
			[]string{"deny its root volume is not encrypted", "deny its volume sdb is not encrypted", "deny the volume xvda of its instances is not encrypted"}},
		{"unencrypted-storage", "caches and search", step("aws:elasticache/replicationGroup:ReplicationGroup", `"a":1`) + "," + step("aws:elasticache/cluster:Cluster", `"engine":"redis"`) + "," +
			step("aws:elasticache/cluster:Cluster", `"engine":"memcached"`) + "," + step("aws:opensearch/domain:Domain", `"a":1`) + "," +
			step("aws:opensearch/domain:Domain", `"encryptAtRest":{"enabled":true}`), []string{
			"deny is not encrypted", "deny is not encrypted, and cannot be; a replication group can", "deny is not encrypted"}},
		{"unencrypted-storage", "disks of Linode", step("linode:index/instance:Instance", `"diskEncryption":"disabled"`) + "," + step("linode:index/lkeCluster:LkeCluster", `"pools":[{"diskEncryption":"disabled"}]`) + "," +
			step("linode:index/instance:Instance", `"label":"x"`), []string{"deny its disks are not encrypted", "deny the disks of its nodes are not encrypted"}},

		{"public-data", "buckets", step("aws:s3/bucketAcl:BucketAcl", `"acl":"public-read"`) + "," + step("aws:s3/bucketV2:BucketV2", `"acl":"private"`) + "," +
			step("digitalocean:index/spacesBucket:SpacesBucket", `"acl":"public-read"`) + "," + step("linode:index/objectStorageBucket:ObjectStorageBucket", `"acl":"authenticated-read"`),
			[]string{"deny its list of access is public-read", "deny its list of access is public-read", "deny its list of access is authenticated-read"}},
		{"public-data", "policies of buckets", step("aws:s3/bucketPolicy:BucketPolicy", `"policy":"{\"Statement\":[{\"Effect\":\"Allow\",\"Principal\":\"*\",\"Action\":\"s3:GetObject\"}]}"`) + "," +
			step("aws:s3/bucketPolicy:BucketPolicy", `"policy":{"Statement":{"Effect":"Allow","Principal":{"AWS":["*"]}}}`) + "," +
			step("aws:s3/bucketPolicy:BucketPolicy", `"policy":{"Statement":{"Effect":"Allow","Principal":"*","Condition":{"IpAddress":{}}}}`) + "," +
			step("aws:s3/bucketPolicy:BucketPolicy", `"policy":{"Statement":[{"Effect":"Deny","Principal":"*"},{"Effect":"Allow","Principal":{"AWS":"arn:x"}}]}`),
			[]string{"deny its policy lets everybody in", "deny its policy lets everybody in"}},
		{"public-data", "a block with a gap, and a database", step("aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock", `"blockPublicAcls":true,"blockPublicPolicy":true,"ignorePublicAcls":true`) + "," +
			step("aws:rds/instance:Instance", `"publiclyAccessible":true`) + "," + step("aws:rds/instance:Instance", `"a":1`),
			[]string{"deny it does not set restrictPublicBuckets", "deny has an address on the Internet"}},

		{"latest-tags", "values of charts", step("kubernetes:helm.sh/v3:Release", `"values":{"image":{"repository":"nginx","tag":"latest"},"sidecar":{"image":"busybox:latest"},"other":{"image":{"repository":"a/b","tag":""}}}`),
			[]string{"deny the chart uses the image busybox:latest, which may be another one tomorrow", "deny the chart uses the image nginx:latest, which may be another one tomorrow"}},
		{"latest-tags", "other things that run", step("docker:index/image:Image", `"imageName":"r/x"`) + "," + step("docker:index/remoteImage:RemoteImage", `"name":"x:1"`) + "," +
			step("docker-build:index:Image", `"tags":["x:latest","x:1"]`) + "," +
			step("aws:ecs/taskDefinition:TaskDefinition", `"containerDefinitions":"[{\"image\":\"x:latest\"}]"`), []string{
			"deny the image r/x has no version, so that it may be another one tomorrow", "deny the image x:latest has no version, so that it may be another one tomorrow",
			"deny the image x:latest has no version, so that it may be another one tomorrow"}},

		{"privileged-pods", "directories of the node", pod + `{"volumes":[{"hostPath":{"path":"/"}},{"hostPath":{"path":"/var/run/docker.sock"}},{"hostPath":{"path":"/var/log/pods"}},{"hostPath":{"path":"/etc"}},{"emptyDir":{}}]}}}}}`,
			[]string{"deny its Pods mount / of the node", "deny its Pods mount /var/run/docker.sock of the node", "deny its Pods mount /etc of the node"}},
		{"privileged-pods", "capabilities", pod + `{"containers":[{"name":"a","securityContext":{"capabilities":{"add":["NET_BIND_SERVICE","CAP_SYS_ADMIN"]}}},{"name":"b","securityContext":{"capabilities":{"drop":["ALL"]}}}]}}}}}`,
			[]string{"deny the container a has SYS_ADMIN"}},

		{"plain-password", "properties", step("aws:rds/instance:Instance", `"username":"admin","password":"hunter2","manageMasterUserPassword":true`) + "," +
			step("linode:index/instance:Instance", `"rootPass":"hunter2"`) + "," + step("a:b:C", `"tokens":{"api_token":"x1","apiKey":"x1"},"list":[{"client-secret":"x1"}]`), []string{
			"deny password is in plain text; make it a secret, or refer to one", "deny rootPass is in plain text; make it a secret, or refer to one",
			"deny list[0].client-secret is in plain text; make it a secret, or refer to one", "deny tokens.apiKey is in plain text; make it a secret, or refer to one",
			"deny tokens.api_token is in plain text; make it a secret, or refer to one"}},
		{"plain-password", "environments", pod + `{"containers":[{"env":[{"name":"DB_PASSWORD","value":"hunter2"},{"name":"DB","value":"mysql://me:hunter2@db/x"},{"name":"HOST","value":"db"}]}]}}}}},` +
			step("aws:ecs/taskDefinition:TaskDefinition", `"containerDefinitions":"[{\"environment\":[{\"name\":\"API_KEY\",\"value\":\"x1\"}]}]"`) + "," +
			step("aws:lambda/function:Function", `"environment":{"variables":{"GITHUB_TOKEN":"x1"}}`) + "," + step("aws:ssm/parameter:Parameter", `"name":"/db/password","type":"String","value":"x1"`), []string{
			"deny spec.template.spec.containers[0].env[0].value of DB_PASSWORD is in plain text; make it a secret, or refer to one",
			"deny spec.template.spec.containers[0].env[1].value has a password in a URL; make it a secret, or refer to one",
			"deny containerDefinitions[0].environment[0].value of API_KEY is in plain text; make it a secret, or refer to one",
			"deny environment.variables.GITHUB_TOKEN is in plain text; make it a secret, or refer to one", "deny value of /db/password is in plain text; make it a secret, or refer to one"}},
		{"plain-password", "secrets, and what refers to them", step("aws:rds/instance:Instance", `"password":"[secret]"`) + "," + step("docker:index/registryImage:RegistryImage", `"authConfig":{"username":"anonymous","password":"anonymous"}`) + "," + step("kubernetes:core/v1:Secret", `"stringData":{"password":"x1"}`) + "," +
			step("kubernetes:helm.sh/v3:Release", `"values":{"existingSecret":"db","passwordKey":"password","auth":{"password":"","token":"[secret]"},"tokenFile":"/run/token","secretName":"tls"}`) + "," +
			pod + `{"automountServiceAccountToken":false,"containers":[{"env":[{"name":"PASSWORD","valueFrom":{"secretKeyRef":{"name":"db","key":"password"}}},{"name":"ALLOW_EMPTY_PASSWORD","value":"yes"},` +
			`{"name":"A_TOKEN","value":"$(TOKEN)"},{"name":"B_TOKEN","value":"/run/token"},{"name":"URL","value":"https://me:$(PASSWORD)@db"},{"name":"U","value":"https://me:[secret]@db"}]}]}}}}},` +
			step("aws:efs/fileSystem:FileSystem", `"creationToken":"x"`) + "," + step("kubernetes:bitnami.com/v1alpha1:SealedSecret", `"spec":{"encryptedData":{"password":"AgB"}}`) + "," +
			step("digitalocean:index/app:App", `"envs":[{"key":"PASSWORD","value":"EV[1:x]","type":"SECRET"}]`), nil},

		{"single-zone", "a database in one zone", step("aws:rds/instance:Instance", `"availabilityZone":"a"`) + "," + step("aws:rds/instance:Instance", `"multiAz":true`) + "," +
			step("aws:rds/instance:Instance", `"multiAz":"[unknown]"`), []string{"warn has no standby in another zone"}},

		{"owner-label", "none at all", step("aws:ec2/instance:Instance", `"ami":"a"`) + "," + step("linode:index/instance:Instance", `"tags":["x"]`) + "," + step("digitalocean:index/droplet:Droplet", `"a":1`),
			[]string{"warn has no tag owner", "warn has no tag owner, such as owner:team-a", "warn has no tag owner, such as owner:team-a"}},
		{"owner-label", "in other words", step("aws:ec2/vpc:Vpc", `"tags":{"OWNER":"x"}`) + "," + step("aws:ec2/vpc:Vpc", `"tags":{"Name":"x"},"tagsAll":{"Name":"x","Owner":"default"}`) + "," +
			step("linode:index/instance:Instance", `"tags":["owner:me"]`), nil},
	} {
		t.Run(test.rule+"/"+test.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, f := range judge(t, root(t, map[string]string{"policies.yaml": "use: [" + test.rule + "]\n"}), "dev", test.steps) {
				got = append(got, string(f.Level)+" "+f.Message)
				if f.Rule != test.rule || f.Project != "p" {
					t.Errorf("%+v", f)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			checkUnknown(t, test.rule, test.steps, len(got))
		})
	}
}

// checkUnknown judges the steps with each input in turn not known yet: that is no
// error of the rule, and no further finding.
func checkUnknown(t *testing.T, rule, steps string, most int) {
	t.Helper()
	dir := root(t, map[string]string{"policies.yaml": "use: [" + rule + "]\n"})
	var list []map[string]any
	if err := json.Unmarshal([]byte("["+steps+"]"), &list); err != nil {
		t.Fatal(err)
	}
	var visit func(value any, set func(any))
	visit = func(value any, set func(any)) {
		set("[unknown]")
		text, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		if found := judge(t, dir, "dev", string(text[1:len(text)-1])); len(found) > most {
			t.Errorf("%d findings in %s", len(found), text)
		}
		set(value)
		switch value := value.(type) {
		case map[string]any:
			for name, part := range value {
				visit(part, func(v any) { value[name] = v })
			}
		case []any:
			for i, part := range value {
				visit(part, func(v any) { value[i] = v })
			}
		}
	}
	for _, step := range list {
		inputs, _ := step["inputs"].(map[string]any)
		for name, part := range inputs {
			visit(part, func(v any) { inputs[name] = v })
		}
	}
}

// TestShippedAreOff until they are chosen.
func TestShippedAreOff(t *testing.T) {
	t.Parallel()
	set, err := Load(t.TempDir())
	if err != nil || set.Active() || len(set.Rules) != 12 {
		t.Errorf("%v, %d rules, active: %v", err, len(set.Rules), set.Active())
	}
	for _, rule := range set.Rules {
		if rule.Summary == "" || rule.File != "" {
			t.Errorf("%+v", rule)
		}
	}
}

// TestLevelsByLabels: names are stronger than labels, and these than the default.
func TestLevelsByLabels(t *testing.T) {
	t.Parallel()
	s := settings{Levels: map[string]levels{"own": {of: map[string]Level{"default": Off, "stage=prod": Deny, "stage=prod,tenant=acme": Warn, "eu-*": Off}}}}
	for _, test := range []struct {
		target Target
		want   Level
	}{
		{Target{Stack: "us-1"}, Off},
		{Target{Stack: "us-1", Labels: map[string]string{"stage": "prod"}}, Deny},
		{Target{Stack: "us-1", Labels: map[string]string{"stage": "prod", "tenant": "acme"}}, Warn},
		{Target{Stack: "eu-1", Labels: map[string]string{"stage": "prod"}}, Off},
	} {
		if got := s.levelOf(Finding{Rule: "own", Level: Deny}, test.target); got != test.want {
			t.Errorf("%+v: %s, want %s", test.target, got, test.want)
		}
	}
}

func TestLevelsAndExceptions(t *testing.T) {
	t.Parallel()
	dir := root(t, map[string]string{
		"own.jq": "# Ours.\ndef deny: steps | finding(\"is there\");\ndef warn: \"in general\";\n",
		"policies.yaml": `levels:
  own: {default: warn, "prod*": deny, prod-test: "off"}
exceptions:
  - {rule: own, resource: "p a:b:C x", reason: moved soon, until: 2026-11-20}
  - {rule: own, resource: "p * y", stack: dev, reason: was allowed, until: 2026-11-19}
`,
	})
	const steps = `{"op":"create","type":"a:b:C","name":"x","urn":"u"},{"op":"create","type":"a:b:C","name":"y","urn":"u"}`
	for stack, want := range map[string][]string{
		"dev": {
			"warn own: p a:b:C x: is there (but: moved soon (until 2026-11-20))",
			"warn own: p a:b:C y: is there; its exception (was allowed) expired on 2026-11-19", "warn own: in general",
		},
		"prod-1":    {"deny own: p a:b:C x: is there (but: moved soon (until 2026-11-20))", "deny own: p a:b:C y: is there", "deny own: in general"},
		"prod-test": nil,
	} {
		findings := judge(t, dir, stack, steps)
		var got []string
		for _, f := range findings {
			text := string(f.Level) + " " + f.String()
			if f.Exception != "" {
				text += " (but: " + f.Exception + ")"
			}
			got = append(got, text)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", stack, diff)
		}
		if denied := len(Denied(findings)); stack == "prod-1" && denied != 2 || stack == "dev" && denied != 0 {
			t.Errorf("%s: %d denied", stack, denied)
		}
	}
}

func TestWrongRules(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ file, content, want string }{
		"syntax":             {"a.jq", "def deny: steps |\n  ;", `a.jq: line 2, column 3: unexpected ";"`},
		"unknown function":   {"a.jq", "def deny: stepz;", "a.jq: line 1, column 11: there is no function stepz"},
		"neither":            {"a.jq", "def other: 1;", "a.jq: a rule defines deny or warn"},
		"unknown rule":       {"policies.yaml", "use:\n- open-range", `policies.yaml:2: there is no rule "open-range"; did you mean "open-ranges"?`},
		"no rule's levels":   {"policies.yaml", "levels:\n  open-range: deny", `policies.yaml:2: there is no rule "open-range"; did you mean "open-ranges"?`},
		"unknown field":      {"policies.yaml", "uses: []", `policies.yaml:1: unknown key "uses"; did you mean "use"?`},
		"no YAML":            {"policies.yaml", "use: []\nlevels: {", "policies.yaml:2: did not find expected node content"},
		"no list":            {"policies.yaml", "use: []\nexceptions: 1", `policies.yaml:2: "1" is not a list`},
		"no selector":        {"policies.yaml", "levels:\n  open-ranges:\n    \"a=(\": deny", `policies.yaml:3: "a=(" is not a label selector`},
		"no level":           {"policies.yaml", "levels: {open-ranges: no}", `policies.yaml:1: "no" is not a level; choose deny, warn or off`},
		"exception's field":  {"policies.yaml", "exceptions:\n  - {rule: x, til: 1}", `policies.yaml:2: an exception has no field "til"`},
		"without a reason":   {"policies.yaml", "exceptions:\n  - {rule: open-ranges, resource: x}", "policies.yaml:2: an exception needs a reason"},
		"without an end":     {"policies.yaml", "exceptions:\n  - {rule: open-ranges, resource: x, reason: y}", "policies.yaml:2: an exception needs an end date"},
		"a day of next year": {"policies.yaml", "exceptions:\n  - {rule: open-ranges, resource: x, reason: y, until: soon}", `policies.yaml:2: "soon" is not a date`},
		"another one's rule": {"policies.yaml", "exceptions:\n  - {resource: x}\n  - {rule: y}", `policies.yaml:3: there is no rule "y"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Load(root(t, map[string]string{test.file: test.content}))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
	set, err := Load(root(t, map[string]string{"a.jq": "def deny: 1;"}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := set.Judge(t.Context(), map[string]any{}, Target{Stack: "dev"}, today()); err == nil || !strings.Contains(err.Error(), "the rule a: a finding is a string") {
		t.Errorf("got %v", err)
	}
}

// TestEndlessRule: a rule that does not end is stopped, and is an error, which denies.
func TestEndlessRule(t *testing.T) {
	t.Parallel()
	set, err := Load(root(t, map[string]string{"a.jq": "def deny: def f: f; f;"}))
	if err != nil {
		t.Fatal(err)
	}
	limit := errors.New("too slow")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 20*time.Millisecond, limit)
	defer cancel()
	var rule *RuleError
	if _, err := set.Judge(ctx, map[string]any{}, Target{Stack: "dev"}, today()); !errors.Is(err, limit) || !errors.As(err, &rule) {
		t.Errorf("got %v", err)
	}
}

func step(token, inputs string) string {
	return `{"op":"create","type":"` + token + `","name":"n","urn":"u","inputs":{` + inputs + `}}`
}
