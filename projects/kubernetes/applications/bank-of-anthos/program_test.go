package bank

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"mara/projects"
	"mara/projects/internal/programtest"
)

const (
	deploymentType = "kubernetes:apps/v1:Deployment"
	setType        = "kubernetes:apps/v1:StatefulSet"
	ingressType    = "kubernetes:networking.k8s.io/v1:Ingress"
	serviceType    = "kubernetes:core/v1:Service"
)

// balancer is what the ingress controller exports.
type balancer struct{ hostname, ip string }

func run(t *testing.T, config map[string]string, at balancer) programtest.Result {
	t.Helper()
	return programtest.Run(t, programtest.Case{
		Project: projects.BankOfAnthos(), Program: Program, Config: config,
		Stacks: map[string]resource.PropertyMap{
			"kubeconfig": {"kubeconfig": resource.MakeSecret(resource.NewProperty("k"))},
			"secrets": {"secrets": resource.NewProperty(resource.PropertyMap{
				"bank-of-anthos": resource.NewProperty("bank-of-anthos-credentials"),
			})},
			"ingress-controller": {
				"hostname": resource.NewProperty(at.hostname), "ip": resource.NewProperty(at.ip),
				"ingress_class": resource.NewProperty("nginx"),
			},
		},
	})
}

func kind(extra ...string) map[string]string {
	config := map[string]string{"kubernetes:infra_type": "kind"}
	for i := 0; i+1 < len(extra); i += 2 {
		config[extra[i]] = extra[i+1]
	}
	return config
}

func TestProgram(t *testing.T) {
	t.Parallel()
	result := run(t, kind(), balancer{})
	if result.Err != nil {
		t.Fatal(result.Err)
	}
	result.CheckOutputs(t, projects.BankOfAnthos())
	if diff := cmp.Diff([]string{"ingress-controller", "kubeconfig", "secrets"}, result.References()); diff != "" {
		t.Errorf("references differ (-want +got):\n%s", diff)
	}
	var deployments, services []string
	for _, deployment := range result.All(deploymentType) {
		deployments = append(deployments, deployment.Name)
	}
	for _, service := range result.All(serviceType) {
		services = append(services, service.Name)
		if got := service.Value("spec", "type"); got != "ClusterIP" {
			t.Errorf("Service %s is a %v", service.Name, got)
		}
	}
	slices.Sort(deployments)
	slices.Sort(services)
	wantDeployments := []string{
		"balancereader", "contacts", "frontend", "ledgerwriter", "loadgenerator", "transactionhistory", "userservice",
	}
	wantServices := []string{
		"accounts-db", "balancereader", "contacts", "frontend", "ledger-db", "ledgerwriter", "transactionhistory", "userservice",
	}
	if diff := cmp.Diff(wantDeployments, deployments); diff != "" {
		t.Errorf("Deployments differ (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(wantServices, services); diff != "" {
		t.Errorf("Services differ (-want +got):\n%s", diff)
	}
	if len(result.All("kubernetes:core/v1:Namespace")) > 0 {
		t.Error("the namespace belongs to the secrets project")
	}
}

func TestAddress(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name      string
		config    map[string]string
		at        balancer
		host, url string
	}{
		{"kind", kind(), balancer{hostname: "localhost"}, "localhost", "https://localhost"},
		{"kind on another port", kind("kind:https_port", "8443"), balancer{}, "localhost", "https://localhost:8443"},
		{
			"load balancer with a name", map[string]string{"kubernetes:infra_type": "aws"},
			balancer{hostname: "lb.example.com"}, "lb.example.com", "https://lb.example.com",
		},
		{
			"load balancer with an address", map[string]string{"kubernetes:infra_type": "linode", "kind:https_port": "8443"},
			balancer{ip: "192.0.2.1"}, "192-0-2-1.sslip.io", "https://192-0-2-1.sslip.io",
		},
		{
			"host of its own", map[string]string{"kubernetes:infra_type": "linode", "bank-of-anthos:host": "bank.example.com"},
			balancer{ip: "192.0.2.1"}, "bank.example.com", "https://bank.example.com",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			result := run(t, tt.config, tt.at)
			if result.Err != nil {
				t.Fatal(result.Err)
			}
			if got := result.Export(t, "application_url").Value; got != tt.url {
				t.Errorf("application_url %v, want %s", got, tt.url)
			}
			ingress := result.One(t, ingressType, "bank-of-anthos")
			if got := ingress.Value("spec", "rules", "0", "host"); got != tt.host {
				t.Errorf("host %v, want %s", got, tt.host)
			}
			want := []any{map[string]any{"hosts": []any{tt.host}, "secretName": "bank-of-anthos-tls"}}
			if diff := cmp.Diff(want, ingress.Value("spec", "tls")); diff != "" {
				t.Errorf("TLS differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestIngress(t *testing.T) {
	t.Parallel()
	self := run(t, kind(), balancer{}).One(t, ingressType, "bank-of-anthos")
	want := map[string]any{"cert-manager.io/cluster-issuer": "mara"}
	if diff := cmp.Diff(want, self.Value("metadata", "annotations")); diff != "" {
		t.Errorf("annotations differ (-want +got):\n%s", diff)
	}
	if got := self.Value("spec", "ingressClassName"); got != "nginx" {
		t.Errorf("class %v", got)
	}
	if !self.DependsOn(deploymentType, "frontend") {
		t.Error("the Ingress does not wait for the frontend")
	}
	config := map[string]string{"kubernetes:infra_type": "aws", "certmgr:issuer": "acme"}
	acme := run(t, config, balancer{hostname: "lb.example.com"}).One(t, ingressType, "bank-of-anthos")
	want["acme.cert-manager.io/http01-edit-in-place"] = "true"
	if diff := cmp.Diff(want, acme.Value("metadata", "annotations")); diff != "" {
		t.Errorf("annotations differ (-want +got):\n%s", diff)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		config map[string]string
		want   string
	}{
		{"no address yet", map[string]string{"kubernetes:infra_type": "aws"}, "has no address yet"},
		{"address for a host", kind("bank-of-anthos:host", "192.0.2.1"), "not a host name in lower case"},
		{"URL for a host", kind("bank-of-anthos:host", "https://bank.example.com"), "not a host name in lower case"},
		{"no users", kind("bank-of-anthos:load_users", "0"), "the smallest allowed value is 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if err := run(t, tt.config, balancer{}).Err; err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want it to contain %q", err, tt.want)
			}
		})
	}
}

func TestNoCredentialsOutsideOfTheSecret(t *testing.T) {
	t.Parallel()
	result := run(t, kind(), balancer{})
	for _, configMap := range result.All("kubernetes:core/v1:ConfigMap") {
		for key := range configMap.Input("data").ObjectValue() {
			if strings.Contains(string(key), "PASSWORD") || strings.Contains(string(key), "DB_URI") {
				t.Errorf("ConfigMap %s has the key %s", configMap.Name, key)
			}
		}
	}
	for _, pods := range slices.Concat(result.All(deploymentType), result.All(setType)) {
		containers := pods.Input("spec", "template", "spec", "containers").ArrayValue()
		for _, container := range containers {
			checkEnvironment(t, pods.Name, container.ObjectValue()["env"])
		}
	}
}

// checkEnvironment holds that every credential comes from the Secret.
func checkEnvironment(t *testing.T, name string, env resource.PropertyValue) {
	t.Helper()
	if !env.IsArray() {
		return
	}
	for _, item := range env.ArrayValue() {
		variable, _ := item.Mappable().(map[string]any)
		key, _ := variable["name"].(string)
		if !strings.Contains(key, "PASS") && !strings.Contains(key, "DB_URI") {
			continue
		}
		from, _ := variable["valueFrom"].(map[string]any)
		ref, _ := from["secretKeyRef"].(map[string]any)
		if ref["name"] != "bank-of-anthos-credentials" || variable["value"] != nil {
			t.Errorf("%s takes %s from %v", name, key, variable)
		}
	}
}

func TestReplicasByProvider(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		config  map[string]string
		want    map[string]float64
		budgets int
	}{
		{"kind", kind(), map[string]float64{"frontend": 1, "userservice": 1, "ledgerwriter": 1}, 0},
		{"aws", map[string]string{"kubernetes:infra_type": "aws"}, map[string]float64{"frontend": 2, "contacts": 2, "ledgerwriter": 1}, 3},
		{"set", kind("bank-of-anthos:replicas", "3"), map[string]float64{"frontend": 3, "balancereader": 1}, 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			result := run(t, tt.config, balancer{hostname: "lb.example.com"})
			for name, want := range tt.want {
				if got := result.One(t, deploymentType, name).Value("spec", "replicas"); got != want {
					t.Errorf("%s has %v replicas, want %v", name, got, want)
				}
			}
			if got := len(result.All("kubernetes:policy/v1:PodDisruptionBudget")); got != tt.budgets {
				t.Errorf("%d disruption budgets, want %d", got, tt.budgets)
			}
		})
	}
}

func TestDatabases(t *testing.T) {
	t.Parallel()
	config := map[string]string{"kubernetes:infra_type": "linode", "bank-of-anthos:storage_size": "20Gi"}
	result := run(t, config, balancer{ip: "192.0.2.1"})
	for _, name := range []string{"accounts-db", "ledger-db"} {
		set := result.One(t, setType, name)
		claim := map[string]any{
			"accessModes": []any{"ReadWriteOnce"}, "storageClassName": "linode-block-storage",
			"resources": map[string]any{"requests": map[string]any{"storage": "20Gi"}},
		}
		if diff := cmp.Diff(claim, set.Value("spec", "volumeClaimTemplates", "0", "spec")); diff != "" {
			t.Errorf("volume of %s differs (-want +got):\n%s", name, diff)
		}
		if got := set.Value("spec", "persistentVolumeClaimRetentionPolicy", "whenDeleted"); got != "Delete" {
			t.Errorf("the volume of %s stays behind: %v", name, got)
		}
		if got := set.Value("spec", "template", "metadata", "labels", databaseLabel); got != "true" {
			t.Errorf("Prometheus does not find %s", name)
		}
		policy := result.One(t, "kubernetes:networking.k8s.io/v1:NetworkPolicy", name)
		if got := policy.Value("spec", "ingress", "0", "ports", "0", "port"); got != 5432.0 {
			t.Errorf("%s: port %v is open", name, got)
		}
	}
	for deployment, database := range map[string]string{
		"userservice": "accounts-db", "contacts": "accounts-db", "ledgerwriter": "ledger-db", "balancereader": "ledger-db",
	} {
		if !result.One(t, deploymentType, deployment).DependsOn(setType, database) {
			t.Errorf("%s does not wait for %s", deployment, database)
		}
	}
	monitor := result.One(t, "kubernetes:monitoring.coreos.com/v1:PodMonitor", "databases")
	if got := monitor.Value("spec", "selector", "matchLabels", databaseLabel); got != "true" {
		t.Errorf("the monitor selects %v", monitor.Value("spec", "selector"))
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	result := run(t, kind(
		"bank-of-anthos:demo_data", "false", "bank-of-anthos:load_generator", "false",
		"kubernetes:mirror", "m.example.com/x",
	), balancer{})
	for _, deployment := range result.All(deploymentType) {
		if deployment.Name == "loadgenerator" {
			t.Error("the load generator runs")
		}
		image, _ := deployment.Value("spec", "template", "spec", "containers", "0", "image").(string)
		if !strings.HasPrefix(image, "m.example.com/x/bank-of-anthos-ci/bank-of-anthos/") || !strings.Contains(image, ":v0.6.10@sha256:") {
			t.Errorf("%s has the image %s", deployment.Name, image)
		}
	}
	if got := result.Export(t, "demo_user").Value; got != "none: sign up in the application" {
		t.Errorf("demo_user %v", got)
	}
	env, _ := result.One(t, setType, "ledger-db").Value("spec", "template", "spec", "containers", "0", "env").([]any)
	if !slices.ContainsFunc(env, func(item any) bool {
		variable := item.(map[string]any)
		return variable["name"] == "USE_DEMO_DATA" && variable["value"] == ""
	}) {
		t.Errorf("demo data is not switched off: %v", env)
	}
}

func TestOnlyTheUserServiceSeesThePrivateKey(t *testing.T) {
	t.Parallel()
	for _, deployment := range run(t, kind(), balancer{}).All(deploymentType) {
		volumes := deployment.Input("spec", "template", "spec", "volumes").String()
		if got, want := strings.Contains(volumes, "privatekey"), deployment.Name == "userservice"; got != want {
			t.Errorf("%s sees the private key: %v", deployment.Name, got)
		}
	}
}

func TestPodsAreRestricted(t *testing.T) {
	t.Parallel()
	result := run(t, kind(), balancer{})
	pod := []string{"spec", "template", "spec"}
	seccomp := append(pod, "securityContext", "seccompProfile", "type")
	for _, database := range result.All("kubernetes:apps/v1:StatefulSet") {
		if got := database.Value(seccomp...); got != "RuntimeDefault" {
			t.Errorf("%s has the seccomp profile %v", database.Name, got)
		}
	}
	for _, deployment := range result.All(deploymentType) {
		for path, want := range map[string]any{
			"securityContext runAsNonRoot":                          true,
			"securityContext seccompProfile type":                   "RuntimeDefault",
			"automountServiceAccountToken":                          false,
			"containers 0 securityContext readOnlyRootFilesystem":   true,
			"containers 0 securityContext allowPrivilegeEscalation": false,
		} {
			if got := deployment.Value(append(pod, strings.Fields(path)...)...); got != want {
				t.Errorf("%s: %s is %v, want %v", deployment.Name, path, got, want)
			}
		}
	}
}

func TestEveryImageIsPinned(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"accounts-db", "ledger-db", "frontend", "userservice", "contacts", "loadgenerator",
		"ledgerwriter", "balancereader", "transactionhistory"} {
		if digest := imageOf(name)[strings.LastIndex(imageOf(name), ":")+1:]; len(digest) != 64 {
			t.Errorf("image of %s has the digest %q", name, digest)
		}
	}
}
