package programs_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/projects"
	"mara/projects/internal/programtest"
	"mara/projects/model"
)

const releaseType = "kubernetes:helm.sh/v3:Release"

// withConfig runs a program with everything else deployed.
func withConfig(t *testing.T, project model.Project, provider string, pairs ...string) programtest.Result {
	t.Helper()
	result := deploy(t, project, provider, pairs...)
	result.CheckOutputs(t, project)
	return result
}

// TestMetricsServer accepts kubelets that sign their certificates themselves on kind, and where the user says so.
func TestMetricsServer(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		provider, insecure string
		want               any
	}{
		{"kind", "", []any{"--kubelet-insecure-tls"}}, {"aws", "", nil}, {"linode", "true", []any{"--kubelet-insecure-tls"}}, {"kind", "false", nil},
	} {
		var pairs []string
		if test.insecure != "" {
			pairs = []string{"metrics-server:insecure_kubelets", test.insecure}
		}
		release := withConfig(t, projects.MetricsServer(), test.provider, pairs...).One(t, releaseType, "metrics-server")
		if diff := cmp.Diff(test.want, release.Value("values", "args")); diff != "" {
			t.Errorf("%+v: %s", test, diff)
		}
	}
}

// TestDashboard has no rights of its own, and meets the level "restricted".
func TestDashboard(t *testing.T) {
	t.Parallel()
	release := withConfig(t, projects.Dashboard(), "kind").One(t, releaseType, "headlamp")
	if got := release.Value("values", "clusterRoleBinding", "create"); got != false {
		t.Errorf("its account is bound to a role: %v", got)
	}
	want := map[string]any{
		"runAsNonRoot": true, "runAsUser": 100.0, "runAsGroup": 101.0, "allowPrivilegeEscalation": false,
		"readOnlyRootFilesystem": true, "capabilities": map[string]any{"drop": []any{"ALL"}},
		"seccompProfile": map[string]any{"type": "RuntimeDefault"},
	}
	if diff := cmp.Diff(want, release.Value("values", "securityContext")); diff != "" {
		t.Error(diff)
	}
}

// TestGuardrails: a namespace denies by default, allows itself and DNS, and has a quota with defaults for Pods
// without requests.
func TestGuardrails(t *testing.T) {
	t.Parallel()
	result := withConfig(t, projects.Guardrails(), "kind", "guardrails:namespaces", `{"team-a":{"cpu":"8","pods":20},"team-b":{}}`)
	for namespace, cpu := range map[string]string{"team-a": "8", "team-b": "4"} {
		quota := result.One(t, "kubernetes:core/v1:ResourceQuota", namespace+"-quota")
		if got := quota.Value("spec", "hard", "requests.cpu"); got != cpu {
			t.Errorf("%s: %v processors", namespace, got)
		}
		denied := result.One(t, "kubernetes:networking.k8s.io/v1:NetworkPolicy", namespace+"-deny-by-default")
		want := map[string]any{"podSelector": map[string]any{}, "policyTypes": []any{"Ingress", "Egress"}}
		if diff := cmp.Diff(want, denied.Value("spec")); diff != "" {
			t.Errorf("%s: %s", namespace, diff)
		}
		if got := denied.Value("metadata", "namespace"); got != namespace {
			t.Errorf("the policy is in %v", got)
		}
		result.One(t, "kubernetes:core/v1:LimitRange", namespace+"-limits")
	}
	if got := len(result.All("kubernetes:scheduling.k8s.io/v1:PriorityClass")); got != 2 {
		t.Errorf("%d PriorityClasses", got)
	}
}

// TestAccess: a group and its account get the same role; a developer gets it in namespaces only.
func TestAccess(t *testing.T) {
	t.Parallel()
	result := withConfig(t, projects.Access(), "kind", "access:groups",
		`{"platform":{"role":"admin"},"team-a":{"role":"developer","namespaces":["a","b"]},"audit":{"role":"viewer"}}`)
	role := func(kind, name string) any {
		binding := result.One(t, "kubernetes:rbac.authorization.k8s.io/v1:"+kind, name)
		if subjects, _ := json.Marshal(binding.Value("subjects")); !strings.Contains(string(subjects), `"Group"`) ||
			!strings.Contains(string(subjects), `"ServiceAccount"`) {
			t.Errorf("%s is for %s", name, subjects)
		}
		return binding.Value("roleRef", "name")
	}
	if got := []any{
		role("ClusterRoleBinding", "mara-platform"), role("ClusterRoleBinding", "mara-audit"), role("RoleBinding", "team-a-a"),
		role("RoleBinding", "team-a-b"),
	}; !slices.Equal(got, []any{"cluster-admin", "view", "edit", "edit"}) {
		t.Errorf("roles %v", got)
	}
	if got := len(result.All("kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding")); got != 2 {
		t.Errorf("%d bindings in the whole cluster", got)
	}
	view := result.One(t, "kubernetes:rbac.authorization.k8s.io/v1:ClusterRole", "mara-monitors-view")
	if got := view.Value("metadata", "labels", "rbac.authorization.k8s.io/aggregate-to-view"); got != "true" {
		t.Errorf("it is not added to the role view: %v", got)
	}
}

// TestExternalDNS takes its token from a Secret, but on AWS, and refuses to work without rights.
func TestExternalDNS(t *testing.T) {
	t.Parallel()
	project := projects.ExternalDNS()
	linode := withConfig(t, project, "linode", "external-dns:token", hidden)
	release := linode.One(t, releaseType, "external-dns")
	for path, want := range map[string]any{"provider name": "linode", "policy": "sync", "txtOwnerId": "mara-dev"} {
		if got := release.Value(append([]string{"values"}, strings.Fields(path)...)...); got != want {
			t.Errorf("%s is %v", path, got)
		}
	}
	if env, _ := json.Marshal(release.Value("values", "env")); !strings.Contains(string(env), "LINODE_TOKEN") || strings.Contains(string(env), hidden) {
		t.Errorf("env %s", env)
	}
	if !release.DependsOn("kubernetes:core/v1:Secret", "external-dns-token") {
		t.Error("it does not wait for its token")
	}
	aws := withConfig(t, project, "aws", "eks:dns_zones", `["Z0123456789ABCDEFGHIJ"]`)
	if found := len(aws.All("kubernetes:core/v1:Secret")); found > 0 {
		t.Errorf("%d Secrets on AWS", found)
	}
	for provider, without := range map[string][2]string{
		"aws": {"eks:dns_zones", "[]"}, "linode": {"external-dns:token", ""}, "cluster": {"external-dns:provider", ""},
	} {
		result := tryToDeploy(t, project, provider, without[0], without[1])
		if result.Err == nil || !strings.Contains(result.Err.Error(), without[0]) {
			t.Errorf("%s: %v, want %s", provider, result.Err, without[0])
		}
	}
}

// TestBackup: the password of the repository is there before the first backup, and volumes are in backups
// unless someone says otherwise.
func TestBackup(t *testing.T) {
	t.Parallel()
	result := withConfig(t, projects.Backup(), "kind", "backup:endpoint", "https://s3.example.com", "backup:keep_days", "7",
		"backup:namespaces", `["shop"]`)
	release := result.One(t, releaseType, "velero")
	for _, secret := range []string{"velero-credentials", "velero-repo-credentials"} {
		if !release.DependsOn("kubernetes:core/v1:Secret", secret) {
			t.Errorf("it does not wait for %s", secret)
		}
		if data := result.One(t, "kubernetes:core/v1:Secret", secret); !data.IsSecret("stringData") {
			t.Errorf("%s is plain", secret)
		}
	}
	want := map[string]any{"region": "us-east-1", "s3Url": "https://s3.example.com", "s3ForcePathStyle": "true", "checksumAlgorithm": ""}
	location := release.Value("values", "configuration", "backupStorageLocation").([]any)[0].(map[string]any)
	if diff := cmp.Diff(want, location["config"]); diff != "" {
		t.Error(diff)
	}
	if location["prefix"] != "mara-dev" || release.Value("values", "configuration", "defaultVolumesToFsBackup") != true {
		t.Errorf("%v", release.Value("values", "configuration"))
	}
	schedule := map[string]any{"schedule": "0 3 * * *", "template": map[string]any{
		"ttl": "168h", "storageLocation": "default", "includedNamespaces": []any{"shop"},
	}}
	if diff := cmp.Diff(schedule, release.Value("values", "schedules", "daily")); diff != "" {
		t.Error(diff)
	}
}

// TestClusterAutoscaler takes the image of the cluster's minor version, and refuses another one.
func TestClusterAutoscaler(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ version, want string }{
		{"", "v1.36.1"}, {"1.36.0", "v1.36.0"}, {"1.35.2", "set a version 1.36.N"},
	} {
		result := tryToDeploy(t, projects.ClusterAutoscaler(), "aws", "cluster-autoscaler:version", test.version)
		if result.Err != nil {
			if !strings.Contains(result.Err.Error(), test.want) {
				t.Errorf("%+v: %v", test, result.Err)
			}
			continue
		}
		if got := result.One(t, releaseType, "cluster-autoscaler").Value("values", "image", "tag"); got != test.want {
			t.Errorf("%+v: %v", test, got)
		}
	}
	if result := tryToDeploy(t, projects.ClusterAutoscaler(), "aws", "eks:cluster_autoscaler", "false"); result.Err == nil ||
		!strings.Contains(result.Err.Error(), "eks:cluster_autoscaler") {
		t.Errorf("without rights: %v", result.Err)
	}
}
