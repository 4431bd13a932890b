package providers

import (
	"strings"
	"testing"

	"mara/config"
)

// TestJudge: values that fit their keys, but not one another.
func TestJudge(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ provider, content, want string }{
		{"aws", "", ""},
		{"aws", "vpc:cidr: 172.16.0.0/12", "vpc:cidr is 172.16.0.0/12, which overlaps eks:service_cidr (172.20.0.0/16, the default)"},
		{"aws", "vpc:azs: [us-west-2a]\n  aws:region: us-west-2", "vpc:azs names one zone; EKS needs two at least"},
		{"aws", "vpc:azs: [us-west-2a, eu-west-1b]\n  aws:region: us-west-2", "vpc:azs names eu-west-1b, which is not in aws:region (us-west-2)"},
		{"aws", "vpc:azs: [us-west-2a, us-west-2b]\n  aws:region: us-west-2", ""},
		{"aws", "eks:instance_type: t4g.large", "eks:instance_type is t4g.large, which has an ARM processor, but eks:ami_type is AL2023_x86_64_STANDARD"},
		{"aws", "eks:instance_type: c7gn.large\n  eks:ami_type: AL2023_ARM_64_STANDARD\n  kic:platform: linux/arm64", ""},
		{"aws", "eks:instance_type: g5.xlarge", ""},
		{"aws", "eks:ami_type: AL2023_ARM_64_STANDARD", "eks:instance_type is t3.large, which has no ARM processor"},
		{"kind", "kind:pod_subnet: 10.96.0.0/12\n  kind:service_subnet: 10.96.0.0/16", "kind:service_subnet is 10.96.0.0/16, which overlaps kind:pod_subnet (10.96.0.0/12)"},
		{"kind", "kind:pod_subnet: 10.1.0.0/16\n  kind:service_subnet: 10.2.0.0/16", ""},
		{"kind", "kind:registry_port: 80", "kind:registry_port is 80, the port of kind:http_port"},
		{"kind", "kind:https_port: 8080\n  kind:http_port: \"8080\"", "kind:https_port is 8080, the port of kind:http_port"},
		{"kind", "kind:api_server_port: 0", ""},
	} {
		p, err := ByName(test.provider)
		if err != nil {
			t.Fatal(err)
		}
		file, err := config.ParseStack("Pulumi.dev.yaml", []byte("config:\n  kubernetes:infra_type: "+test.provider+"\n  "+test.content+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		problems, _ := p.Judge(file, "")
		for _, problem := range problems {
			found = append(found, problem.String())
		}
		if got := strings.Join(found, "\n"); !strings.Contains(got, test.want) || (got == "") != (test.want == "") {
			t.Errorf("%s, %s: got %q, want %q", test.provider, test.content, got, test.want)
		}
	}
}
