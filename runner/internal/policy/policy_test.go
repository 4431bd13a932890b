package policy

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func today() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

// root is a folder with these files in policies.
func root(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, Folder), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(root, Folder, name), []byte(content), 0o600); err != nil {
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
			[]string{"deny port 22 to 22 is open to everybody"}},
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
		})
	}
}

// TestShippedAreOff until they are chosen.
func TestShippedAreOff(t *testing.T) {
	t.Parallel()
	set, err := Load(t.TempDir())
	if err != nil || set.Active() || len(set.Rules) != 10 {
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
	folder := root(t, map[string]string{
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
			"warn own: p a:b:C y: is there; the exception for it (was allowed) has ended on 2026-11-19", "warn own: in general",
		},
		"prod-1":    {"deny own: p a:b:C x: is there (but: moved soon (until 2026-11-20))", "deny own: p a:b:C y: is there", "deny own: in general"},
		"prod-test": nil,
	} {
		findings := judge(t, folder, stack, steps)
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
		"no selector":        {"policies.yaml", "levels:\n  open-ranges:\n    \"a=(\": deny", `policies.yaml:3: "a=(" does not select labels`},
		"no level":           {"policies.yaml", "levels: {open-ranges: no}", `policies.yaml:1: "no" is no level; choose deny, warn or off`},
		"exception's field":  {"policies.yaml", "exceptions:\n  - {rule: x, til: 1}", `policies.yaml:2: an exception has no field "til"`},
		"without a reason":   {"policies.yaml", "exceptions:\n  - {rule: open-ranges, resource: x}", "policies.yaml:2: an exception needs a reason"},
		"without an end":     {"policies.yaml", "exceptions:\n  - {rule: open-ranges, resource: x, reason: y}", "policies.yaml:2: an exception needs a last day"},
		"a day of next year": {"policies.yaml", "exceptions:\n  - {rule: open-ranges, resource: x, reason: y, until: soon}", `policies.yaml:2: "soon" is no day`},
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

func step(token, inputs string) string {
	return `{"op":"create","type":"` + token + `","name":"n","urn":"u","inputs":{` + inputs + `}}`
}
