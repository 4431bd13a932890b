package survey

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mara/config"
	"mara/projects"
	"mara/projects/model"
	"mara/projects/model/cloud"
	"mara/providers"
	"mara/runner/internal/testing/clustertest"
)

const (
	nodes       = "/api/v1/nodes"
	services    = "/api/v1/services"
	namespaces  = "/api/v1/namespaces"
	classes     = "/apis/storage.k8s.io/v1/storageclasses"
	deployments = "/apis/apps/v1/deployments"
	definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	ingress     = "/apis/networking.k8s.io/v1/ingressclasses"

	localPath    = `{"metadata":{"name":"local-path","annotations":{"storageclass.kubernetes.io/is-default-class":"true"}},"provisioner":"rancher.io/local-path"}`
	certificates = `{"metadata":{"name":"certificates.cert-manager.io"}}`
)

func deployed(namespace string) string {
	return `{"metadata":{"name":"cert-manager","namespace":"` + namespace + `","labels":{"app.kubernetes.io/version":"v1.20.0"}}}`
}

func ours(namespace, stack string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q,"labels":{"app.kubernetes.io/managed-by":"mara","mara.dev/stack":%q}}}`, namespace, stack)
}

// served returns a client of the context "mine".
func served(t *testing.T, w *clustertest.World) client {
	t.Helper()
	return client{cloud.Access{Kubeconfig: w.Serve(t), Context: "mine"}}
}

// survey asks for what a whole environment wants to know, with this configuration.
func survey(t *testing.T, w *clustertest.World, content string, rights bool) cloud.Survey {
	t.Helper()
	provider, err := providers.ByName("cluster")
	if err != nil {
		t.Fatal(err)
	}
	file, err := config.ParseStack("Pulumi.dev.yaml", []byte("config:\n  cluster:context: mine\n"+content))
	if err != nil {
		t.Fatal(err)
	}
	found, err := served(t, w).Survey(t.Context(), cloud.Question{
		Stack: "dev", Projects: provider.Projects(), Settings: provider.Values(file), Rights: rights,
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// lines shows answers, problems and doubts.
func lines(s cloud.Survey) string {
	var b strings.Builder
	for _, a := range s.Answers {
		fmt.Fprintf(&b, "%s = %v (%s)\n", a.Key, a.Value, a.Why)
	}
	for _, o := range s.Problems {
		fmt.Fprintf(&b, "problem: %s -> %s\n", o.Text, o.Next)
	}
	for _, o := range s.Doubts {
		fmt.Fprintf(&b, "doubt: %s -> %s\n", o.Text, o.Next)
	}
	return b.String()
}

// TestAnswers: what differs between clusters is asked, and each answer has its evidence.
func TestAnswers(t *testing.T) {
	t.Parallel()
	three := func(provider, labels string) []string {
		return []string{clustertest.Worker("a", provider, labels), clustertest.Worker("b", provider, labels), clustertest.Worker("c", provider, labels)}
	}
	for _, tt := range []struct {
		name, content, want string
		world               *clustertest.World
	}{
		{name: "k3s whose ports are taken", world: &clustertest.World{Version: "v1.33.1+k3s1", Objects: map[string][]string{
			nodes: {clustertest.Worker("a", "k3s://a", "")}, classes: {localPath}, namespaces: {},
			services: {`{"metadata":{"name":"traefik","namespace":"kube-system"},"spec":{"type":"LoadBalancer","ports":[{"port":80}]},"status":{"loadBalancer":{"ingress":[{"ip":"10.0.0.1"}]}}}`},
			ingress:  {`{"metadata":{"name":"traefik","annotations":{"ingressclass.kubernetes.io/is-default-class":"true"}}}`},
		}}, want: `cluster:small = true (1 node for Pods)
cluster:distribution = k3s (its version is v1.33.1+k3s1)
kubernetes:storage_class = local-path (the default StorageClass, which the cluster chooses for each new volume)
cluster:entry = node-ports (the Service kube-system/traefik holds the ports 80 and 443 of all nodes)
cluster:address = 10.0.0.1 (the address of the node a)
doubt: the IngressClass traefik of others is the default, too: Ingresses without a class are refused then -> 
`},
		{name: "a cloud with cert-manager of others", world: &clustertest.World{Version: "v1.34.0", Objects: map[string][]string{
			nodes: three("azure:///x", `"kubernetes.azure.com/role":"agent"`), classes: {localPath}, namespaces: {`{"metadata":{"name":"cert-manager"}}`},
			services: {}, deployments: {deployed("cert-manager")}, definitions: {certificates},
		}}, want: `cluster:small = false (3 nodes for Pods)
cluster:distribution = aks (its nodes have the label kubernetes.azure.com/role)
kubernetes:storage_class = local-path (the default StorageClass, which the cluster chooses for each new volume)
cluster:entry = load-balancer (its nodes are of a cloud: azure)
certmgr:install = false (cert-manager v1.20.0 runs in the namespace cert-manager)
`},
		{name: "a second cert-manager", content: "  certmgr:install: true\n", world: &clustertest.World{Version: "v1.34.0", Objects: map[string][]string{
			nodes: three("azure:///x", ""), classes: {localPath}, namespaces: {}, services: {}, deployments: {deployed("tls")}, definitions: {certificates},
		}}, want: `cluster:small = false (3 nodes for Pods)
kubernetes:storage_class = local-path (the default StorageClass, which the cluster chooses for each new volume)
cluster:entry = load-balancer (its nodes are of a cloud: azure)
certmgr:install = false (cert-manager v1.20.0 runs in the namespace tls)
problem: cert-manager v1.20.0 runs in the namespace tls, and a second one would take over its definitions -> unset certmgr:install, which uses the one that is there
`},
		{name: "the same environment again", world: &clustertest.World{Version: "v1.34.0", Objects: map[string][]string{
			nodes: three("kind://x", ""), classes: {localPath}, definitions: {certificates}, deployments: {deployed("cert-manager")},
			namespaces: {ours("nginx-ingress", "dev"), ours("cert-manager", "dev"), ours("prometheus", "dev")},
			services:   {`{"metadata":{"name":"nginx-ingress-controller","namespace":"nginx-ingress"},"spec":{"type":"LoadBalancer"}}`},
			ingress:    {`{"metadata":{"name":"nginx","annotations":{"meta.helm.sh/release-namespace":"nginx-ingress"}}}`},
			"/apis/monitoring.coreos.com/v1/prometheuses": {`{"metadata":{"name":"p","namespace":"prometheus"}}`},
		}}, want: `cluster:small = false (3 nodes for Pods)
cluster:distribution = kind (the providerID of its nodes begins with kind://)
kubernetes:storage_class = local-path (the default StorageClass, which the cluster chooses for each new volume)
cluster:entry = load-balancer (the Service nginx-ingress/nginx-ingress-controller of this environment has one)
certmgr:install = true (this environment has installed it)
`},
		{name: "the place of others", content: "  kubernetes:storage_class: fsat\n", world: &clustertest.World{Version: "v1.34.0", Groups: []string{"config.openshift.io"}, Objects: map[string][]string{
			nodes: three("", ""), classes: {`{"metadata":{"name":"fast"}}`}, definitions: {},
			namespaces: {ours("nginx-ingress", "prod"), `{"metadata":{"name":"logstore"}}`}, services: {},
			"/apis/monitoring.coreos.com/v1/prometheuses": {`{"metadata":{"name":"k8s","namespace":"monitoring"}}`},
			ingress: {`{"metadata":{"name":"nginx"}}`},
		}}, want: `cluster:small = false (3 nodes for Pods)
cluster:distribution = openshift (it has the API group config.openshift.io)
cluster:entry = node-ports (nothing in the cluster gives Services an address)
cluster:address = 10.0.0.1 (the address of the node a)
problem: there is no StorageClass "fsat"; it has fast; did you mean "fast"? -> set kubernetes:storage_class to one of them
problem: others have installed Prometheus (k8s in the namespace monitoring), and a second operator would take over its definitions -> leave the project prometheus out: ` + "`without: [prometheus]`" + ` in mara.yaml, or --skip prometheus
problem: the IngressClass nginx belongs to others -> leave the project ingress-controller out, and what needs it
problem: the namespace nginx-ingress belongs to the environment prod, which runs on the same cluster -> name another context for one of the two environments
problem: the namespace logstore is there already, and this environment has not made it -> leave its project out: ` + "`without`" + ` in mara.yaml, or --skip
`},
		{name: "what others have left", world: &clustertest.World{Version: "v1.34.0", Objects: map[string][]string{
			nodes: three("azure:///x", ""), classes: {localPath}, services: {}, deployments: {},
			definitions: {
				`{"metadata":{"name":"certificates.cert-manager.io"},"spec":{"group":"cert-manager.io"}}`,
				`{"metadata":{"name":"orders.acme.cert-manager.io","labels":{"app.kubernetes.io/managed-by":"Helm"},"annotations":` +
					`{"meta.helm.sh/release-name":"cert-manager","meta.helm.sh/release-namespace":"cert-manager"}},"spec":{"group":"acme.cert-manager.io"}}`,
				`{"metadata":{"name":"gateways.gateway.networking.k8s.io"},"spec":{"group":"gateway.networking.k8s.io"}}`,
			},
			namespaces: {`{"metadata":{"name":"logstore","deletionTimestamp":"2026-11-01T00:00:00Z","labels":{"app.kubernetes.io/managed-by":"mara","mara.dev/stack":"dev"}},` +
				`"status":{"conditions":[{"type":"NamespaceFinalizersRemaining","status":"True","message":"Some content in the namespace has finalizers remaining: example.com/never in 1 resource instances"}]}}`},
			"/apis/rbac.authorization.k8s.io/v1/roles": {`{"metadata":{"name":"cert-manager-cainjector:leaderelection","namespace":"kube-system"}}`},
		}}, want: `cluster:small = false (3 nodes for Pods)
kubernetes:storage_class = local-path (the default StorageClass, which the cluster chooses for each new volume)
cluster:entry = load-balancer (its nodes are of a cloud: azure)
problem: 1 definition of a cert-manager that does not run is left in the cluster, and Helm refuses to take over what it has not made -> if they are nobody's, have Helm take them over, which keeps all certificates: ` + "`kubectl annotate --overwrite crd/certificates.cert-manager.io meta.helm.sh/release-name=cert-manager meta.helm.sh/release-namespace=cert-manager && kubectl label --overwrite crd/certificates.cert-manager.io app.kubernetes.io/managed-by=Helm`" + `
problem: 1 role or binding of a cert-manager that does not run is left in the cluster, and Helm refuses to take over what it has not made -> if nothing uses them: ` + "`kubectl delete -n kube-system role/cert-manager-cainjector:leaderelection`" + `
problem: the namespace logstore is being deleted (Some content in the namespace has finalizers remaining: example.com/never in 1 resource instances), and nothing can be made in it -> wait until it is gone; ` + "`kubectl get namespace logstore -o jsonpath='{.status.conditions}'`" + ` tells what keeps it
`},
		{name: "a node whose kubelet has not said its architecture", world: &clustertest.World{Version: "v1.34.0", Objects: map[string][]string{
			nodes: {
				strings.Replace(clustertest.Worker("a", "azure:///x", ""), "amd64", "arm64", 1),
				strings.Replace(clustertest.Worker("b", "azure:///x", ""), `"architecture":"amd64"`, "", 1),
			}, classes: {localPath}, namespaces: {}, services: {}, deployments: {}, definitions: {},
		}}, want: `cluster:small = true (2 nodes for Pods)
kubernetes:storage_class = local-path (the default StorageClass, which the cluster chooses for each new volume)
cluster:entry = load-balancer (its nodes are of a cloud: azure)
`},
		{name: "a user who sees nothing", world: &clustertest.World{Version: "v1.34.0", Hidden: []string{nodes, services, namespaces, classes, deployments, definitions, ingress}}, want: `cluster:entry = node-ports (nothing in the cluster gives Services an address)
problem: the address of a node, at which its ports are reached, is not known -> set cluster:address
problem: whether the cluster has cert-manager already is not known: its Deployments or definitions may not be listed -> ask its administrators, and set certmgr:install to true or false
doubt: the nodes may not be listed -> set cluster:small and cluster:distribution
doubt: the StorageClasses may not be listed; volumes need a default one, or kubernetes:storage_class -> 
doubt: the namespaces may not be listed: whether others use the same ones is not known -> 
doubt: the Services may not be listed: whether there are load balancers is not known -> set cluster:entry
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, lines(survey(t, tt.world, tt.content, false))); diff != "" {
				t.Error(diff)
			}
			if len(tt.world.Asked()) > 0 {
				t.Errorf("asked for rights: %v", tt.world.Asked())
			}
		})
	}
}

// TestIdentity: a cluster is compared with the configured one, and one that does not say which it is is refused.
func TestIdentity(t *testing.T) {
	t.Parallel()
	const uid, other = "5b0c6f4e-5c0e-4a8e-9d0a-0c2b7f1d3e55", "00000000-5c0e-4a8e-9d0a-0c2b7f1d3e55"
	world := func(hidden ...string) *clustertest.World {
		return &clustertest.World{Version: "v1.34.0", Hidden: hidden, Objects: map[string][]string{
			nodes: {clustertest.Worker("a", "azure:///x", "")}, services: {}, classes: {localPath}, deployments: {}, definitions: {},
			namespaces: {fmt.Sprintf(`{"metadata":{"name":"kube-system","uid":%q}}`, uid)},
		}}
	}
	for _, tt := range []struct {
		name, configured string
		world            *clustertest.World
		fact, problem    string
	}{
		{name: "none is configured", world: world()},
		{name: "the same", configured: uid, world: world(), fact: "identity: " + uid + ", as configured"},
		{name: "another", configured: other, world: world(), problem: "another cluster: cluster:identity is " + other +
			", and the UID of its namespace kube-system is " + uid},
		{name: "it does not say", configured: uid, world: world(namespaces + "/kube-system"), problem: "is not known"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			content := ""
			if tt.configured != "" {
				content = "  cluster:identity: " + tt.configured + "\n"
			}
			found := survey(t, tt.world, content, false)
			if got := strings.Join(found.Facts, "\n"); !strings.Contains(got, tt.fact) || tt.fact == "" && strings.Contains(got, "identity") {
				t.Errorf("facts:\n%s", got)
			}
			if got := fmt.Sprint(found.Problems); !strings.Contains(got, tt.problem) || tt.problem == "" && len(found.Problems) > 0 {
				t.Errorf("problems: %s", got)
			}
		})
	}
	choices, err := served(t, world()).Choices(t.Context(), model.Identities)
	if diff := cmp.Diff([]cloud.Choice{{Value: uid, Note: "that of context mine"}}, choices); err != nil || diff != "" {
		t.Errorf("%v: %s", err, diff)
	}
}

// TestRights: an administrator is asked about once; for others, what is missing is listed with the projects that need it.
func TestRights(t *testing.T) {
	t.Parallel()
	admin := &clustertest.World{Version: "v1.34.0", Objects: map[string][]string{nodes: {}, namespaces: {}, services: {}, classes: {localPath}}}
	if found := survey(t, admin, "", true); len(found.Missing) > 0 || fmt.Sprint(admin.Asked()) != "[* *.*]" {
		t.Errorf("missing %v, asked %v", found.Missing, admin.Asked())
	}
	developer := &clustertest.World{Version: "v1.34.0", Objects: admin.Objects, Denied: func(verb, group, resource, namespace string) bool {
		return resource == "customresourcedefinitions" && verb != "get" || resource == "services" && namespace == "kube-system"
	}}
	found := survey(t, developer, "", true)
	got := ""
	for _, r := range found.Missing {
		got += fmt.Sprintln(r.Place(), r.Name(), r.Verbs, r.Projects)
	}
	want := `the whole cluster customresourcedefinitions.apiextensions.k8s.io [create patch delete] [ingress-controller certmgr prometheus]
namespace kube-system services [get create patch delete] [prometheus]
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestApplications: the namespace of an application that is there already is seen, and the rights of its user are asked for;
// what the programs of own projects make is not known.
func TestApplications(t *testing.T) {
	t.Parallel()
	world := &clustertest.World{Version: "v1.34.0", Objects: map[string][]string{
		nodes: {}, services: {}, classes: {localPath}, deployments: {}, definitions: {}, namespaces: {`{"metadata":{"name":"web"}}`},
	}, Denied: func(_, _, resource, namespace string) bool { return resource == "deployments" && namespace == "web" }}
	web := model.Project{Name: "web", Namespace: "web", Own: &model.Own{Generated: true, Access: model.AccessTo("web", "deployments.apps", "services")}}
	found, err := served(t, world).Survey(t.Context(), cloud.Question{
		Stack: "dev", Settings: config.Values{Get: func(string) any { return nil }}, Projects: []model.Project{web, {Name: "mine", Own: &model.Own{}}}, Rights: true,
	})
	if err != nil || len(found.Problems) != 1 || !strings.Contains(found.Problems[0].Text, "the namespace web is there already") ||
		!strings.Contains(found.Problems[0].Next, "another name") {
		t.Errorf("%v, problems %v", err, found.Problems)
	}
	if len(found.Missing) != 1 || found.Missing[0].Name() != "deployments.apps" || found.Missing[0].Namespace != "web" {
		t.Errorf("missing %v", found.Missing)
	}
	world.Objects["/apis/networking.k8s.io/v1/ingresses"] = []string{
		`{"metadata":{"name":"old","namespace":"legacy"},"spec":{"rules":[{"host":"web.example.com"}]}}`,
		`{"metadata":{"name":"web","namespace":"web"},"spec":{"rules":[{"host":"web.example.com"}]}}`,
	}
	hosted, err := served(t, world).Survey(t.Context(), cloud.Question{
		Stack: "dev", Projects: []model.Project{web}, Settings: config.Values{Get: func(key string) any {
			return map[string]any{"web:host": "web.example.com"}[key]
		}},
	})
	if err != nil || len(hosted.Problems) != 2 || !strings.Contains(hosted.Problems[1].Text, "is served already, by the Ingress legacy/old") {
		t.Errorf("%v, problems %v", err, hosted.Problems)
	}
	if facts := strings.Join(found.Facts, "\n"); !strings.Contains(facts, "rights: not asked for mine") || strings.Contains(facts, "not asked for web") {
		t.Errorf("facts:\n%s", facts)
	}
}

// TestExpiredCertificate: where the cluster refuses a client certificate that has expired, its date is named.
func TestExpiredCertificate(t *testing.T) {
	t.Parallel()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	end := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: end.AddDate(-1, 0, 0), NotAfter: end}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	data := func(kind string, content []byte) string {
		return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}))
	}
	file := filepath.Join(t.TempDir(), "config")
	content := fmt.Sprintf(`{"clusters":[{"name":"c","cluster":{"server":"https://127.0.0.1:1"}}],"contexts":[{"name":"mine","context":{"cluster":"c","user":"u"}}],`+
		`"users":[{"name":"u","user":{"client-certificate-data":%q,"client-key-data":%q}}]}`, data("CERTIFICATE", der), data("EC PRIVATE KEY", encoded))
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	c := client{cloud.Access{Kubeconfig: file, Context: "mine"}}
	if got := c.expired(end.Add(time.Hour)); got != ": its client certificate has expired on 2026-11-01" {
		t.Errorf("got %q", got)
	}
	if got := c.expired(end.Add(-time.Hour)); got != "" {
		t.Errorf("before its end: %q", got)
	}
}

// TestClient: the context of the configuration counts, not the current one.
func TestClient(t *testing.T) {
	t.Parallel()
	c := served(t, &clustertest.World{Version: "v1.34.0"})
	who, err := c.Account(t.Context())
	if err != nil || who.String() != "ann in context mine" {
		t.Errorf("%v, %v", who, err)
	}
	choices, err := c.Choices(t.Context(), model.Contexts)
	if diff := cmp.Diff([]cloud.Choice{{Value: "mine", Note: "cluster c"}, {Value: "other", Note: "cluster c"}}, choices); err != nil || diff != "" {
		t.Errorf("%v: %s", err, diff)
	}
	c.access.Env = map[string]string{"KUBECONFIG": c.access.Kubeconfig + string(os.PathListSeparator) + "/nowhere"}
	files, err := c.Choices(t.Context(), model.Kubeconfigs)
	if diff := cmp.Diff([]cloud.Choice{{Value: c.access.Kubeconfig}}, files); err != nil || diff != "" {
		t.Errorf("%v: %s", err, diff)
	}
	for name, want := range map[string]string{
		"other": "the cluster of context other refuses the credentials", "mien": `has no context "mien"; it has mine, other; did you mean "mine"?`,
		"": "no context is named",
	} {
		c.access.Context = name
		_, err := c.Account(t.Context())
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hidden-token") {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, provider := range projects.Infrastructures() {
		client, err := Clients(func(context.Context, string, cloud.Access) (cloud.Client, error) { return nil, nil })(t.Context(), provider.Name, c.access)
		if err != nil || (client != nil) != (provider.Existing != nil) {
			t.Errorf("%s: %v, %v", provider.Name, client, err)
		}
	}
}

// TestAnotherRepository: a namespace with the label of an environment of this name is another repository's where this one has
// no state of the project.
func TestAnotherRepository(t *testing.T) {
	t.Parallel()
	labels := `"labels":{"app.kubernetes.io/managed-by":"mara","mara.dev/stack":"dev","mara.dev/project":"web"}`
	world := &clustertest.World{Version: "v1.34.0", Objects: map[string][]string{
		nodes: {}, services: {}, classes: {localPath}, namespaces: {`{"metadata":{"name":"web",` + labels + `}}`},
	}}
	web := model.Project{Name: "web", Namespace: "web", Own: &model.Own{Generated: true}}
	for want, absent := range map[int][]string{0: nil, 1: {"web"}} {
		found, err := served(t, world).Survey(t.Context(), cloud.Question{
			Stack: "dev", Settings: config.Values{Get: func(string) any { return nil }}, Projects: []model.Project{web}, Absent: absent,
		})
		if err != nil || len(found.Problems) != want || want > 0 && !strings.Contains(found.Problems[0].Text, "one of another repository") {
			t.Errorf("absent %v: %v, problems %v", absent, err, found.Problems)
		}
		// Without states in files it is for the doctor to say, once the backend has answered.
		if len(found.Claims) != 1-want || want == 0 && found.Claims[0].Project != "web" {
			t.Errorf("absent %v: claims %v", absent, found.Claims)
		}
	}
}

// TestGateways: an application names a Gateway that is there, serves its host and takes routes of other namespaces.
func TestGateways(t *testing.T) {
	t.Parallel()
	const gateways = "/apis/gateway.networking.k8s.io/v1/gateways"
	web := model.Project{Name: "web", Namespace: "web", Own: &model.Own{Generated: true}}
	gateway := func(listener string) []string {
		return []string{`{"metadata":{"name":"public","namespace":"infra"},"spec":{"listeners":[` + listener + `]}}`}
	}
	for name, c := range map[string]struct {
		gateways []string
		want     string // of the problem; "" for none
	}{
		"none":           {nil, "the cluster has none"},
		"another name":   {[]string{`{"metadata":{"name":"private","namespace":"infra"}}`}, "the cluster has infra/private"},
		"another host":   {gateway(`{"protocol":"HTTPS","hostname":"*.other.com"}`), "no listener of the Gateway infra/public serves the host web.example.com"},
		"its own routes": {gateway(`{"protocol":"HTTPS"}`), "takes routes of its own namespace only"},
		"all routes":     {gateway(`{"protocol":"HTTPS","hostname":"*.example.com","allowedRoutes":{"namespaces":{"from":"All"}}}`), ""},
		"selected ones":  {gateway(`{"protocol":"HTTP","allowedRoutes":{"namespaces":{"from":"Selector"}}}`), ""},
		"not with TLS":   {gateway(`{"protocol":"TLS","allowedRoutes":{"namespaces":{"from":"All"}}}`), "no listener"},
	} {
		world := &clustertest.World{Version: "v1.34.0", Objects: map[string][]string{
			nodes: {}, services: {}, classes: {localPath}, namespaces: {}, gateways: c.gateways,
		}}
		values := map[string]any{"web:host": "web.example.com", "web:gateway": "infra/public"}
		found, err := served(t, world).Survey(t.Context(), cloud.Question{
			Stack: "dev", Projects: []model.Project{web}, Settings: config.Values{Get: func(key string) any { return values[key] }},
		})
		var problems []string
		for _, p := range found.Problems {
			problems = append(problems, p.Text)
		}
		if text := strings.Join(problems, "; "); err != nil || (c.want == "") != (text == "") || !strings.Contains(text, c.want) {
			t.Errorf("%s: %v, problems %q, want %q", name, err, text, c.want)
		}
	}
}

// TestPortsOfNodes: ports of the nodes that others have are named before the ingress controller asks for them.
func TestPortsOfNodes(t *testing.T) {
	t.Parallel()
	world := &clustertest.World{Version: "v1.34.0", Objects: map[string][]string{
		nodes: {clustertest.Worker("a", "", "")}, classes: {localPath}, namespaces: {}, deployments: {}, definitions: {},
		services: {`{"metadata":{"name":"old","namespace":"legacy"},"spec":{"type":"NodePort","ports":[{"port":80,"nodePort":30080}]}}`},
	}}
	text := lines(survey(t, world, "", false))
	if want := "the port 30080 of the nodes, which is cluster:http_node_port, belongs to the Service legacy/old"; !strings.Contains(text, want) {
		t.Errorf("want %q in\n%s", want, text)
	}
}
