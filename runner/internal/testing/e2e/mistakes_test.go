package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// mistake is a common one, and the message about it before it costs money.
type mistake struct {
	name   string
	config string   // lines of the stack file below config
	files  []string // name and content, in turn
	args   string   // of the runner; "" for a preview
	want   string   // what is said, with file and key where there is one
	cannot string   // why it cannot be found without a cloud
}

const (
	onKind   = "kubernetes:infra_type: kind"
	onAWS    = "kubernetes:infra_type: aws\n  aws:region: us-west-2"
	onLinode = "kubernetes:infra_type: linode\n  linode:region: us-east"
	inFile   = "config/pulumi/Pulumi.dev.yaml:"
	simUp    = "up --simulate --simulate-speed 100000 --yes "
)

// mistakes are those of TestMistakes.
var mistakes = []mistake{
	{name: "a range that is none", config: onAWS + "\n  vpc:cidr: 10.0.0.0/33", want: inFile + `4: vpc:cidr is "10.0.0.0/33", which is not an IPv4 range`},
	{name: "bits below the mask", config: onAWS + "\n  vpc:cidr: 10.0.0.1/16", want: inFile + "4: vpc:cidr"},
	{name: "a network that is too small", config: onAWS + "\n  vpc:cidr: 10.0.0.0/28", args: "preview --only aws-vpc", want: "vpc:cidr"},
	{name: "overlapping ranges on aws", config: onAWS + "\n  eks:service_cidr: 10.0.0.0/16", want: inFile + "4: eks:service_cidr is 10.0.0.0/16, which overlaps vpc:cidr"},
	{name: "overlapping ranges on kind", config: onKind + "\n  kind:pod_subnet: 10.0.0.0/8\n  kind:service_subnet: 10.96.0.0/16", want: inFile + "4: kind:service_subnet is 10.96.0.0/16, which overlaps kind:pod_subnet"},
	{name: "one zone", config: onAWS + "\n  vpc:azs: [us-west-2a]", want: inFile + "4: vpc:azs names one zone"},
	{name: "a zone of another region", config: onAWS + "\n  vpc:azs: [us-west-2a, eu-west-1a]", want: inFile + "4: vpc:azs names eu-west-1a, which is not in aws:region"},
	{name: "an ARM type with an x86 image", config: onAWS + "\n  eks:instance_type: t4g.large", want: inFile + "4: eks:instance_type is t4g.large, which has an ARM processor"},
	{name: "an x86 type with an ARM image", config: onAWS + "\n  eks:ami_type: AL2023_ARM_64_STANDARD", want: "eks:instance_type is t3.large, which has no ARM processor"},
	{name: "an instance type that does not exist", config: onAWS + "\n  eks:instance_type: t9.huge", cannot: "which types a region has, only AWS says; the questions of a first run offer no other"},
	{name: "an image type that does not exist", config: onAWS + "\n  eks:ami_type: AL2", want: inFile + `4: eks:ami_type is "AL2"; allowed: AL2023_x86_64_STANDARD`},
	{name: "fewer nodes than the smallest number", config: onAWS + "\n  eks:min_size: 5\n  eks:max_size: 3", want: inFile + "5: eks:max_size is 3; it may not be less than eks:min_size (5)"},
	{name: "more nodes than the largest number", config: onAWS + "\n  eks:max_size: 3\n  eks:desired_capacity: 9", want: "it may not be less than eks:desired_capacity (9)"},
	{name: "no nodes", config: onLinode + "\n  lke:node_count: 0", want: inFile + "4: lke:node_count is 0; the smallest allowed value is 1"},
	{name: "a region that does not exist", config: "kubernetes:infra_type: linode\n  linode:region: nowhere", args: "preview --only linode-lke", want: "nowhere"},
	{name: "a key with a typing error", config: onKind + "\n  kind:worker: 2", want: inFile + `3: kind:worker is read by no project; did you mean "kind:workers"?`},
	{name: "a namespace with a typing error", config: onKind + "\n  kindd:workers: 2", want: inFile + `3: kindd:workers is read by no project; did you mean "kind:workers"?`},
	{name: "a text for a number", config: onKind + "\n  kind:workers: many", want: inFile + `3: kind:workers must be a whole number, not the string "many"`},
	{name: "a port out of range", config: onKind + "\n  kind:http_port: 99999", want: inFile + "3: kind:http_port is 99999; the largest allowed value is 65535"},
	{name: "a port twice", config: onKind + "\n  kind:http_port: 8080\n  kind:https_port: 8080", want: inFile + "4: kind:https_port is 8080, the port of kind:http_port"},
	{name: "the registry's port is that of the web", config: onKind + "\n  kind:registry_port: 80", want: inFile + "3: kind:registry_port is 80, the port of kind:http_port"},
	{name: "an image without a version", config: onKind + "\n  kind:node_image: kindest/node", want: inFile + `3: kind:node_image is "kindest/node", which is not an image with a tag`},
	{name: "a mount that is none", config: onKind + "\n  kind:mounts: [\"/srv\"]", args: "preview --only kind-cluster", want: "kind:mounts"},
	{name: "control planes without workers", config: onKind + "\n  kind:control_planes: 3", args: "preview --only kind-cluster", want: "kind:workers"},
	{name: "values that are no map", config: onKind + "\n  certmgr:values: [a]", want: inFile + "3: certmgr:values must be a map, not a list"},
	{name: "a values file that is missing", config: onKind + "\n  certmgr:values_file: values/none.yaml", args: "preview --only +certmgr", want: "certmgr:values_file"},
	{name: "a values file that is no YAML", config: onKind + "\n  certmgr:values_file: values/x.yaml", files: []string{"config/pulumi/values/x.yaml", "a: [\n"}, args: "preview --only +certmgr", want: "values/x.yaml"},
	{name: "charts from nowhere", config: onKind + "\n  certmgr:chart_repository: ftp://charts", want: inFile + "3: certmgr:chart_repository"},
	{name: "a mirror with a scheme", config: onKind + "\n  kubernetes:mirror: https://mirror.example.com", want: inFile + "3: kubernetes:mirror"},
	{name: "a size that is none", config: onKind + "\n  logstore:storage_size: 10 gigs", want: inFile + `3: logstore:storage_size is "10 gigs", which is not a size such as 10Gi`},
	{name: "a host with capitals", config: onKind + "\n  bank-of-anthos:host: Bank.Example.com", want: inFile + "3: bank-of-anthos:host"},
	{name: "a wrong address", config: onKind + "\n  certmgr:acme_email: ops", want: inFile + "3: certmgr:acme_email"},
	{name: "certificates without an address", config: onAWS + "\n  certmgr:issuer: acme", args: "up --yes --non-interactive", want: "certmgr:acme_email is missing"},
	{name: "a key twice", config: onKind + "\n  kind:workers: 1\n  kind:workers: 2", want: inFile + "4: kind:workers is set a second time; the first time is line 3"},
	{name: "YAML that is none", config: onKind + "\n   kind: [", want: inFile + "3: is not valid YAML"},
	{name: "a token in plain text", config: "kubernetes:infra_type: linode\n  linode:token: abcdef", want: inFile + "3: linode:token is a credential in plain text"},
	{name: "an unknown provider", config: "kubernetes:infra_type: azure", want: inFile + `2: kubernetes:infra_type: unknown provider "azure"`},
	{name: "no provider", config: "kind:workers: 1", want: "no provider is named"},
	{name: "another provider than the deployed one", config: onKind, args: "preview -p aws", want: "never changes its provider while something is deployed", files: []string{
		".runner/simulated/state/.pulumi/stacks/kind-cluster/dev.json", deployedState("kind-cluster")}},
	{name: "a wrong line in the environment file", config: onKind, files: []string{"config/pulumi/environment", "PULUMI_STACK=dev\nnonsense\n"}, want: "config/pulumi/environment:2: has no ="},
	{name: "two stacks", config: onKind, files: []string{"config/pulumi/environment", "RUNNER_STACK=dev\nPULUMI_STACK=prod\n"}, want: `PULUMI_STACK: is "prod", but RUNNER_STACK in config/pulumi/environment:1 says "dev"`},
	{name: "missing secrets", config: onKind, args: "up --yes --non-interactive", want: "prometheus:admin_password is missing"},
	{name: "a project with a typing error", config: onKind, args: "preview --only certmger", want: `no project "certmger" in the plan; did you mean "certmgr"?`},
	{name: "skipped what others need", config: onKind, args: simUp + "--skip kind-cluster", want: "not deployed yet, but skipped: kind-cluster (needed by kind-registry, kubeconfig)"},
	{name: "a quota", config: onKind, args: simUp + "--only kind-cluster --simulate-fail kind:index:Cluster=QuotaExceeded", want: "QuotaExceeded"},
	{name: "a commercial edition without a licence", config: onKind + "\n  kic:nginx_plus: true", args: "preview --only kic-image-build", want: "kic:jwt_path"},
	{name: "a version of Kubernetes without support", config: onAWS + "\n  eks:k8s_version: \"1.31\"", files: []string{"policies/policies.yaml", "use: [kubernetes-version]\nlevels: {kubernetes-version: deny}\n"}, args: "preview --only aws-vpc,aws-eks", want: "Kubernetes 1.31: support has ended on 2025-11-11"},
	{name: "an API server for everybody", config: onAWS, files: []string{"policies/policies.yaml", "use: [public-api]\n"}, args: "preview --only aws-vpc,aws-eks", want: "policy DENIES public-api"},
	{name: "more than it may cost", config: "kubernetes:infra_type: linode", args: "preview --only linode-lke --max-monthly 50", want: "forbidden by --max-monthly 50: it costs at least 144 USD"},
	{name: "a limit of costs where no prices are known", config: onAWS, args: "preview --only aws-vpc,aws-eks --max-monthly 1000", want: "not all costs are known: no price is known for us-west-2: aws:"},
	{name: "a rule with a typing error", config: onKind, files: []string{"policies/a.jq", "def deny: stepz;"}, want: "policies/a.jq: line 1, column 11: there is no function stepz"},
}

// TestMistakes: configuration, rules and simulation name what is wrong before
// anything is paid for.
func TestMistakes(t *testing.T) {
	t.Parallel()
	const least = 45
	found, made := 0, 0
	for _, m := range mistakes {
		t.Run(m.name, func(t *testing.T) {
			if m.cannot != "" {
				t.Skip(m.cannot)
			}
			made++
			e := newEnvironment(t, embedded)
			e.write("config/pulumi/Pulumi.dev.yaml", "config:\n  "+m.config+"\n")
			for i := 0; i < len(m.files); i += 2 {
				e.write(m.files[i], m.files[i+1])
			}
			args := strings.Fields(m.args)
			if len(args) == 0 {
				args = []string{"preview"}
			}
			if args[0] == "preview" {
				args = append(args, "--simulate", "--simulate-speed", "100000")
			}
			r := e.run(args...)
			if said := r.stdout + r.stderr; r.code == 0 || !strings.Contains(said, m.want) {
				t.Errorf("exit code %d, want %q in\n%s%s", r.code, m.want, lastLines(r.stdout), r.stderr)
				return
			}
			found++
		})
	}
	t.Logf("%d of %d mistakes were found", found, len(mistakes))
	if found < least && made >= least { // with -run, only some are made
		t.Errorf("%d of %d mistakes were found; %d are to be", found, len(mistakes), least)
	}
}

// deployedState returns the state of a project of the stack dev that has one resource.
func deployedState(project string) string {
	return fmt.Sprintf(`{"version":3,"checkpoint":{"stack":"organization/%[1]s/dev","latest":{"manifest":{"time":"2026-01-01T00:00:00Z"},
		"resources":[{"urn":"urn:pulumi:dev::%[1]s::pulumi:pulumi:Stack::%[1]s-dev","type":"pulumi:pulumi:Stack","created":"2026-01-01T00:00:00Z","modified":"2026-01-01T00:00:00Z"}]}}}`, project)
}
