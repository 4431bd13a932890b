package clouds_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"gopkg.in/yaml.v3"
	"k8s.io/client-go/tools/clientcmd"

	"mara/runner/internal/feature/simulate"
	"mara/runner/internal/feature/simulate/clouds"
)

// step makes one resource of the tables.
type step struct {
	Name, Token string
	Inputs      map[string]any
	ID          string // what the id must look like
}

type object = map[string]any

func list(items ...any) []any { return items }

// environment has at least one resource of every type, each after what it
// needs. The server itself refuses outputs that do not fit their type.
func environment(t *testing.T) []step {
	t.Helper()
	return slices.Concat(dockerSteps(), hostSteps(t), kubernetesSteps())
}

// hostSteps reads the steps of all providers from testdata/made, one file for each
// provider.
func hostSteps(t *testing.T) []step {
	t.Helper()
	var all []step
	readAll(t, "testdata/made/*.yaml", func(steps []step) { all = append(all, steps...) })
	return all
}

// readAll reads files, in the order of their names.
func readAll[T any](t *testing.T, pattern string, take func(T)) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %v, %v", pattern, files, err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		var read T
		if err == nil {
			err = yaml.Unmarshal(content, &read)
		}
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		take(read)
	}
}

func dockerSteps() []step {
	return []step{
		{"built", "docker:index/image:Image", object{"imageName": "localhost:5001/kic:1", "build": object{"context": "."}}, `^sha256:[0-9a-f]{64}$`},
		{"pulled", "docker:index/remoteImage:RemoteImage", object{"name": "nginx/nginx-ingress:5.5.4"}, `^sha256:[0-9a-f]{64}nginx/nginx-ingress:5.5.4$`},
		{"tagged", "docker:index/tag:Tag", object{"sourceImage": "$pulled.imageId", "targetImage": "localhost:5001/kic:1"}, `localhost:5001/kic:1`},
		{"pushed", "docker:index/registryImage:RegistryImage", object{"name": "localhost:5001/kic:1"}, `^sha256:`},
		{"container", "docker:index/container:Container", object{"image": "registry:3", "name": "c"}, `^[0-9a-f]{64}$`},
		{"network", "docker:index/network:Network", object{"name": "n"}, `^[0-9a-f]{64}$`},
		{"volume", "docker:index/volume:Volume", object{"name": "v"}, `^v$`},
	}
}

const definitionType = "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition"

// definitionOf makes a kind of the group k8s.nginx.org known.
func definitionOf(plural, kind string) object {
	return object{
		"metadata": object{"name": plural + ".k8s.nginx.org"},
		"spec": object{
			"group": "k8s.nginx.org", "scope": "Namespaced", "names": object{"plural": plural, "kind": kind},
			"versions": list(object{"name": "v1", "served": true, "storage": true}),
		},
	}
}

func meta(name string) object { return object{"name": name, "namespace": "app"} }

func kubernetesSteps() []step {
	workload := object{
		"selector": object{"matchLabels": object{"app": "x"}}, "serviceName": "x",
		"template": object{"metadata": object{"labels": object{"app": "x"}}, "spec": object{"containers": list(object{"name": "c", "image": "nginx:1"})}},
	}
	deployment := maps.Clone(workload)
	delete(deployment, "serviceName")
	return []step{
		{"namespace", "kubernetes:core/v1:Namespace", object{"metadata": object{"name": "app"}}, `^app$`},
		{"secret", "kubernetes:core/v1:Secret", object{"metadata": meta("s"), "stringData": object{"password": "hush"}, "data": object{"a": "Yg=="}}, `^app/s$`},
		{"configmap", "kubernetes:core/v1:ConfigMap", object{"metadata": meta("c"), "data": object{"a": "b"}}, `^app/c$`},
		{"service", "kubernetes:core/v1:Service", object{"metadata": meta("s"), "spec": object{"ports": list(object{"port": 80})}}, `^app/s$`},
		{"account", "kubernetes:core/v1:ServiceAccount", object{"metadata": meta("a")}, `^app/a$`},
		{"claim", "kubernetes:core/v1:PersistentVolumeClaim", object{"metadata": meta("p"), "spec": object{"accessModes": list("ReadWriteOnce"), "resources": object{"requests": object{"storage": "1Gi"}}}}, `^app/p$`},
		{"pod", "kubernetes:core/v1:Pod", object{"metadata": meta("p"), "spec": object{"containers": list(object{"name": "c", "image": "nginx:1"})}}, `^app/p$`},
		{"persistent", "kubernetes:core/v1:PersistentVolume", object{"metadata": object{"name": "v"}, "spec": object{"capacity": object{"storage": "1Gi"}, "accessModes": list("ReadWriteOnce"), "nfs": object{"server": "a", "path": "/x"}}}, `^v$`},
		{"limits", "kubernetes:core/v1:LimitRange", object{"metadata": meta("l"), "spec": object{"limits": list()}}, `^app/l$`},
		{"quota", "kubernetes:core/v1:ResourceQuota", object{"metadata": meta("q"), "spec": object{}}, `^app/q$`},
		{"deployment", "kubernetes:apps/v1:Deployment", object{"metadata": meta("d"), "spec": deployment}, `^app/d$`},
		{"statefulset", "kubernetes:apps/v1:StatefulSet", object{"metadata": meta("s"), "spec": workload}, `^app/s$`},
		{"daemonset", "kubernetes:apps/v1:DaemonSet", object{"metadata": meta("d"), "spec": deployment}, `^app/d$`},
		{"replicaset", "kubernetes:apps/v1:ReplicaSet", object{"metadata": meta("r"), "spec": deployment}, `^app/r$`},
		{"cronjob", "kubernetes:batch/v1:CronJob", object{"metadata": meta("c"), "spec": object{"schedule": "@daily", "jobTemplate": object{"spec": object{"template": object{"spec": object{"restartPolicy": "Never"}}}}}}, `^app/c$`},
		{"rights", "kubernetes:rbac.authorization.k8s.io/v1:Role", object{"metadata": meta("r"), "rules": list()}, `^app/r$`},
		{"ingress", "kubernetes:networking.k8s.io/v1:Ingress", object{"metadata": meta("i"), "spec": object{"ingressClassName": "nginx", "defaultBackend": object{"service": object{"name": "s", "port": object{"number": 80}}}}}, `^app/i$`},
		{"class", "kubernetes:networking.k8s.io/v1:IngressClass", object{"metadata": object{"name": "nginx"}, "spec": object{"controller": "x.org/y"}}, `^nginx$`},
		{"policy-net", "kubernetes:networking.k8s.io/v1:NetworkPolicy", object{"metadata": meta("n"), "spec": object{"podSelector": object{}}}, `^app/n$`},
		{"budget", "kubernetes:policy/v1:PodDisruptionBudget", object{"metadata": meta("b"), "spec": object{"minAvailable": "50%"}}, `^app/b$`},
		{"job", "kubernetes:batch/v1:Job", object{"metadata": meta("j"), "spec": object{"template": object{"spec": object{"restartPolicy": "Never"}}}}, `^app/j$`},
		{"scaler", "kubernetes:autoscaling/v2:HorizontalPodAutoscaler", object{"metadata": meta("s"), "spec": object{"maxReplicas": 3, "scaleTargetRef": object{"kind": "Deployment", "name": "web"}}}, `^app/s$`},
		{"storage", "kubernetes:storage.k8s.io/v1:StorageClass", object{"metadata": object{"name": "gp3"}, "provisioner": "ebs.csi.aws.com"}, `^gp3$`},
		{"clusterrole", "kubernetes:rbac.authorization.k8s.io/v1:ClusterRole", object{"metadata": object{"name": "r"}, "rules": list()}, `^r$`},
		{"clusterbinding", "kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding", object{"metadata": object{"name": "r"}, "roleRef": object{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}}, `^r$`},
		{"binding", "kubernetes:rbac.authorization.k8s.io/v1:RoleBinding", object{"metadata": meta("r"), "roleRef": object{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "edit"}}, `^app/r$`},
		{"priority", "kubernetes:scheduling.k8s.io/v1:PriorityClass", object{"metadata": object{"name": "p"}, "value": 1000}, `^p$`},
		{"certmgr", "kubernetes:helm.sh/v3:Release", object{
			"name": "cert-manager", "namespace": "app", "chart": "oci://quay.io/jetstack/charts/cert-manager", "version": "v1.21.1",
			"values": object{"crds": object{"enabled": true}}, "compat": "true"}, `^app/cert-manager$`},
		{"issuer", "kubernetes:cert-manager.io/v1:ClusterIssuer", object{
			"apiVersion": "cert-manager.io/v1", "kind": "ClusterIssuer", "metadata": object{"name": "self"}, "spec": object{"selfSigned": object{}}}, `^self$`},
		{"definition", definitionType, definitionOf("policies", "Policy"), `^policies.k8s.nginx.org$`},
	}
}

// makeAll makes the environment; kubernetes is configured for kind's cluster.
func makeAll(t *testing.T) *engine {
	t.Helper()
	e := startEngine(t)
	e.configureClouds()
	for _, s := range environment(t) {
		if s.Name == "namespace" {
			if err := e.configure("kubernetes", object{"kubeconfig": e.text("kind", "kubeconfig")}); err != nil {
				t.Fatal(err)
			}
		}
		if err := e.make(s.Name, s.Token, s.Inputs); err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		if id := e.made[s.Name].id; !regexp.MustCompile(s.ID).MatchString(id) {
			t.Errorf("%s has the id %q, want %s", s.Name, id, s.ID)
		}
	}
	return e
}

func TestEveryTypeIsMade(t *testing.T) {
	t.Parallel()
	e := makeAll(t)
	covered := map[string]bool{"linode:index/lkeNodePool:LkeNodePool": true, "linode:index/domainRecord:DomainRecord": true}
	for _, s := range environment(t) {
		covered[s.Token] = true
	}
	// The first behaves as custom kinds do, the second as what is in it.
	behaves := map[string]bool{"kubernetes:apiextensions.k8s.io:CustomResource": true, "kubernetes:yaml/v2:ConfigGroup": true}
	for _, pkg := range clouds.Packages() {
		for _, r := range pkg.Resources {
			if !covered[r.Token] {
				t.Errorf("%s is not in the table", r.Token)
			}
			behaves[r.Token] = true
		}
		for _, token := range resourcesOf(t, pkg.Schemas[0]) {
			if !behaves[token] {
				t.Errorf("nothing says how %s behaves", token)
			}
		}
	}
	// References that are numbers are numbers in the programs as well.
	number := func(name string) int {
		var n int
		if _, err := fmt.Sscan(e.made[name].id, &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if err := e.make("pool", "linode:index/lkeNodePool:LkeNodePool", object{"clusterId": number("lke"), "type": "g6-standard-2", "nodeCount": 2}); err != nil {
		t.Error(err)
	}
	if err := e.make("record", "linode:index/domainRecord:DomainRecord", object{
		"domainId": number("domain"), "recordType": "A", "target": "192.0.2.1"}); err != nil {
		t.Error(err)
	}
	err := e.make("lost", "linode:index/lkeNodePool:LkeNodePool", object{"clusterId": 1, "type": "g6-standard-2"})
	wantError(t, err, "there is no cluster 1")
}

// resourcesOf lists the types of resources in a schema.
func resourcesOf(t *testing.T, schema []byte) []string {
	t.Helper()
	var types struct{ Resources map[string]any }
	if err := json.Unmarshal(schema, &types); err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(maps.Keys(types.Resources))
}

// TestNothingLeadsAnywhere looks for addresses that could exist.
func TestNothingLeadsAnywhere(t *testing.T) {
	t.Parallel()
	e := makeAll(t)
	address := regexp.MustCompile(`https?://[^\s"']+`)
	allowed := []string{"https://000000000000.dkr.ecr"}
	for name, made := range e.made {
		for _, found := range address.FindAllString(fmt.Sprint(made.outputs.Mappable()), -1) {
			ok := strings.Contains(found, ".invalid") || slices.ContainsFunc(allowed, func(a string) bool { return strings.HasPrefix(found, a) })
			if !ok {
				t.Errorf("%s leads to %s", name, found)
			}
		}
	}
}

func TestOutputs(t *testing.T) {
	t.Parallel()
	e := makeAll(t)
	cases := []struct{ name, output, want string }{
		{"vpc", "arn", `^arn:aws:ec2:us-east-1:000000000000:vpc/vpc-0`},
		{"vpc", "ownerId", `^000000000000$`},
		{"subnet-b", "availabilityZone", `^us-east-1a$`},
		{"subnet-a", "availabilityZoneId", `^use1-az1$`},
		{"role", "arn", `^arn:aws:iam::000000000000:role/role$`},
		{"role", "createDate", `^2026-01-01T00:00:00Z$`},
		{"eks", "endpoint", `^https://[0-9a-f]{32}\.gr7\.us-east-1\.eks\.simulated\.invalid:6443$`},
		{"eks", "status", `^ACTIVE$`},
		{"dns", "addonVersion", `^v1\.`},
		{"repository", "repositoryUrl", `^000000000000\.dkr\.ecr\.us-east-1\.amazonaws\.com/kic$`},
		{"logs", "arn", `^arn:aws:logs:us-east-1:000000000000:log-group:/aws/eks$`},
		{"machine", "ipAddress", `^(192\.0\.2|198\.51\.100|203\.0\.113)\.[0-9]+$`},
		{"pulled", "repoDigest", `^nginx/nginx-ingress@sha256:[0-9a-f]{64}$`},
		{"built", "repoDigest", `^localhost:5001/kic@sha256:[0-9a-f]{64}$`},
		{"kind", "endpoint", `^https://mara-dev\.kind\.simulated\.invalid:6443$`},
		{"registry", "endpoint", `^localhost:5001$`},
		{"registry", "internalEndpoint", `^mara-dev-registry:5000$`},
		{"secret", "type", `^Opaque$`},
		{"deployment", "kind", `^Deployment$`},
		{"issuer", "apiVersion", `^cert-manager\.io/v1$`},
	}
	for _, c := range cases {
		if got := e.text(c.name, c.output); !regexp.MustCompile(c.want).MatchString(got) {
			t.Errorf("%s of %s is %q, want %s", c.output, c.name, got, c.want)
		}
	}
	nested := []struct{ name, path, want string }{
		{"vpc", "tagsAll.a", "b"},
		{"eks", "vpcConfig.subnetIds[1]", e.made["subnet-b"].id},
		{"eks", "accessConfig.authenticationMode", "CONFIG_MAP"},
		{"nodes", "scalingConfig.desiredSize", "2"},
		{"lke", "pools[0].count", "3"},
		{"lke", "pools[0].nodes[2].status", "ready"},
		{"kind", "nodeNames[2]", "mara-dev-worker2"},
		{"namespace", "status.phase", "Active"},
		{"namespace", "metadata.name", "app"},
		{"deployment", "metadata.namespace", "app"},
		{"deployment", "status.readyReplicas", "1"},
		{"service", "spec.type", "ClusterIP"},
		{"ingress", "status.loadBalancer.ingress[0].hostname", "localhost"},
		{"certmgr", "status.status", "deployed"},
		{"certmgr", "status.chart", "cert-manager"},
		{"issuer", "metadata.creationTimestamp", "2026-01-01T00:00:00Z"},
	}
	for _, c := range nested {
		path, err := resource.ParsePropertyPath(c.path)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := path.Get(resource.NewObjectProperty(e.made[c.name].outputs))
		if !ok || fmt.Sprint(got.V) != c.want {
			t.Errorf("%s of %s is %v, want %s", c.path, c.name, got, c.want)
		}
	}
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	e := makeAll(t)
	for name, output := range map[string]string{
		"lke": "kubeconfig", "kind": "kubeconfig", "secret": "data", "machine": "stackscriptData", "token": "token",
	} {
		if v := e.made[name].outputs[resource.PropertyKey(output)]; !v.IsSecret() {
			t.Errorf("%s of %s is not secret: %v", output, name, v)
		}
	}
	data := e.made["secret"].outputs["data"].SecretValue().Element.ObjectValue()
	if got := data["password"].StringValue(); got != base64.StdEncoding.EncodeToString([]byte("hush")) || data["a"].StringValue() != "Yg==" {
		t.Errorf("got the data %v", data)
	}
	if _, ok := e.made["secret"].outputs["stringData"]; ok {
		t.Error("stringData was not folded into data")
	}
	resp, err := e.client("aws:").Invoke(t.Context(), &pulumirpc.InvokeRequest{Tok: "aws:ecr/getAuthorizationToken:getAuthorizationToken", Args: e.pack(nil)})
	if err != nil {
		t.Fatal(err)
	}
	if password := e.unpack(resp.GetReturn())["password"]; !password.IsSecret() {
		t.Errorf("the password of ECR is not secret: %v", password)
	}
}

func TestKubeconfigs(t *testing.T) {
	t.Parallel()
	e := makeAll(t)
	decoded, err := base64.StdEncoding.DecodeString(e.text("lke", "kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"lke": string(decoded), "kind": e.text("kind", "kubeconfig")} {
		config, err := clientcmd.Load([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := clientcmd.Validate(*config); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !strings.HasPrefix(config.CurrentContext, "SIMULATED-") {
			t.Errorf("%s: the context %q does not say that it is simulated", name, config.CurrentContext)
		}
		server := config.Clusters[config.Contexts[config.CurrentContext].Cluster].Server
		if !strings.Contains(server, ".simulated.invalid:") {
			t.Errorf("%s leads to %s", name, server)
		}
	}
}

// declaresID reports whether a function returns an id, by its schema.
func declaresID(t *testing.T, pkg simulate.Package, token string) bool {
	t.Helper()
	var schema struct {
		Functions map[string]struct {
			Outputs struct{ Properties map[string]any }
		}
	}
	if err := json.Unmarshal(pkg.Schemas[0], &schema); err != nil {
		t.Fatal(err)
	}
	_, ok := schema.Functions[token].Outputs.Properties["id"]
	return ok
}

func TestFunctions(t *testing.T) {
	t.Parallel()
	e := startEngine(t)
	e.configureClouds()
	args := map[string]object{}
	readAll(t, "testdata/asked/*.yaml", func(read map[string]object) { maps.Copy(args, read) })
	for _, pkg := range clouds.Packages() {
		if pkg.Name == "kubernetes" {
			continue // its one function, for charts, answers without an id: TestDefinitions
		}
		for _, function := range pkg.Invokes {
			resp, err := e.client(function.Token).Invoke(t.Context(), &pulumirpc.InvokeRequest{Tok: function.Token, Args: e.pack(args[function.Token])})
			if err != nil || len(resp.GetFailures()) > 0 {
				t.Errorf("%s: %v, %v", function.Token, err, resp.GetFailures())
			}
			id := e.unpack(resp.GetReturn())["id"]
			if declared := declaresID(t, pkg, function.Token); declared != (id.IsString() && id.StringValue() != "") {
				t.Errorf("%s has the id %v; its schema has one: %v", function.Token, id, declared)
			}
		}
	}
}

func wantError(t *testing.T, err error, part string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), part) {
		t.Errorf("got the error %v, want one with %q", err, part)
	}
}
