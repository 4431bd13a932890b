package clouds_test

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func TestChecks(t *testing.T) {
	t.Parallel()
	e := makeAll(t)
	custom := object{"apiVersion": "cert-manager.io/v1", "kind": "ClusterIssuer", "metadata": object{"name": "x"}}
	cases := []struct {
		name, token string
		inputs      object
		want        string
	}{
		{"did you mean", "aws:ec2/vpc:Vpc", object{"cidrBlok": "10.0.0.0/16"}, `unknown input "cidrBlok"; did you mean "cidrBlock"?`},
		{"unknown type", "aws:ec2/vpx:Vpc", nil, `did you mean "aws:ec2/vpc:Vpc"?`},
		{"not a range", "aws:ec2/vpc:Vpc", object{"cidrBlock": "10.0.0.1/16"}, "not a range of addresses"},
		{"required", "aws:eks/cluster:Cluster", object{"roleArn": "x"}, `missing required input "vpcConfig", an object (ClusterVpcConfig)`},
		{"nested type", "aws:eks/cluster:Cluster", object{"roleArn": "x", "vpcConfig": object{"subnetIds": list("a", list())}}, `vpcConfig.subnetIds[1]`},
		{"one subnet", "aws:eks/cluster:Cluster", object{"roleArn": "x", "vpcConfig": object{"subnetIds": list("a")}}, "two different availability zones"},
		{"a version that YAML has shortened", "aws:eks/cluster:Cluster", object{
			"roleArn": "x", "version": "1", "vpcConfig": object{}}, `"1" is not a version such as 1.36`},
		{"sizes", "aws:eks/nodeGroup:NodeGroup", object{
			"clusterName": "c", "nodeRoleArn": "r", "subnetIds": list("s"), "scalingConfig": object{"minSize": 3, "maxSize": 2, "desiredSize": 3}}, "do not fit together"},
		{"not JSON", "aws:iam/policy:Policy", object{"policy": "{"}, "MalformedPolicyDocument"},
		{"no pools", "linode:index/lkeCluster:LkeCluster", object{"label": "l", "region": "r", "k8sVersion": "1.36", "pools": list()}, "at least one pool"},
		{"two hyphens", "linode:index/firewall:Firewall", object{"label": "mara-x--y", "inboundPolicy": "DROP", "outboundPolicy": "ACCEPT"}, `"mara-x--y" is not a label`},
		{"a long label", "linode:index/firewall:Firewall", object{"label": strings.Repeat("x", 33), "inboundPolicy": "DROP", "outboundPolicy": "ACCEPT"}, "3 to 32 letters"},
		{"a label with a digit first", "linode:index/instance:Instance", object{"label": "1st", "region": "us-ord"}, "the first a letter"},
		{"region of a registry", "digitalocean:index/containerRegistry:ContainerRegistry", object{"name": "x", "region": "nyc1", "subscriptionTierSlug": "basic"}, "ams3, fra1, nyc3, sfo3, sgp1"},
		{"image", "docker:index/image:Image", object{"imageName": "https://x/y"}, "not a name for an image"},
		{"kind", "kind:index:Cluster", object{"name": "A_b", "nodeImage": "x"}, "not a name for a cluster"},
		{"object name", "kubernetes:core/v1:ConfigMap", object{"metadata": object{"name": "A_b"}}, "not a name for an object"},
		{"label", "kubernetes:core/v1:ConfigMap", object{"metadata": object{"name": "a", "labels": object{"l": "a b"}}}, "not a value for the label l"},
		{"container without a name", "kubernetes:core/v1:Pod", object{"spec": object{"containers": list(object{"image": "x"})}}, `missing required input "spec.containers[0].name"`},
		{"selector", "kubernetes:apps/v1:Deployment", object{"spec": object{
			"selector": object{"matchLabels": object{"a": "b"}}, "template": object{"metadata": object{"labels": object{"a": "c"}}}}}, "does not match template"},
		{"builtin kind that is not listed", "kubernetes:core/v1:ReplicationController", nil, "no resource type"},
		{"builtin group that is not listed", "kubernetes:coordination.k8s.io/v1:Lease", nil, "no resource type"},
		{"the three ways to a schema", "aws:s3/bucketV3:BucketV3", nil, "`pulumi plugin install resource aws`"},
		{"another kind of chart", "kubernetes:helm.sh/v4:Chart", nil, "no resource type"},
		{"custom without spec", "kubernetes:cert-manager.io/v1:ClusterIssuer", custom, "property spec: must be an object"},
		{"custom of another kind", "kubernetes:cert-manager.io/v1:Issuer", custom, `"ClusterIssuer" is not "Issuer"`},
		{"chart from nowhere", "kubernetes:helm.sh/v3:Release", object{"name": "x", "chart": "nginx"}, "neither an oci:// address nor repositoryOpts.repo"},
		{"chart from two places", "kubernetes:helm.sh/v3:Release", object{
			"name": "x", "chart": "oci://x/nginx", "repositoryOpts": object{"repo": "https://x"}}, "not with an oci:// address"},
		{"chart missing", "kubernetes:helm.sh/v3:Release", object{"name": "x"}, `missing required input "chart"`},
		{"release name", "kubernetes:helm.sh/v3:Release", object{"name": strings.Repeat("x", 54), "chart": "./x"}, "not a name for a release"},
	}
	for _, c := range cases {
		if got := e.problems(c.token, c.inputs); !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// TestObjectsAsAnAPIServer: what any API server refuses about the kinds that people write most is refused, and what it
// takes is not.
func TestObjectsAsAnAPIServer(t *testing.T) {
	t.Parallel()
	e := makeAll(t)
	container := func(more object) object {
		c := object{"name": "web", "image": "nginx:1"}
		for key, value := range more {
			c[key] = value
		}
		return c
	}
	pod := func(containers ...any) object { return object{"spec": object{"containers": list(containers...)}} }
	deployment := func(spec object, strategy any) object {
		labels := object{"app": "web"}
		made := object{"selector": object{"matchLabels": labels}, "template": object{"metadata": object{"labels": labels}, "spec": spec}}
		if strategy != nil {
			made["strategy"] = strategy
		}
		return object{"spec": made}
	}
	stateful := func(claim object, mounted string) object {
		made := deployment(object{"containers": list(container(object{"volumeMounts": list(object{"name": mounted, "mountPath": "/d"})}))}, nil)
		made["spec"].(object)["serviceName"] = "web"
		made["spec"].(object)["volumeClaimTemplates"] = list(object{"metadata": claim, "spec": object{
			"accessModes": list("ReadWriteOnce"), "resources": object{"requests": object{"storage": "1Gi"}}}})
		return made
	}
	service := func(spec object) object { return object{"metadata": object{"name": "web"}, "spec": spec} }
	rule := func(host, where, kind string, port object) object {
		return object{"spec": object{"rules": list(object{"host": host, "http": object{"paths": list(object{
			"path": where, "pathType": kind, "backend": object{"service": object{"name": "web", "port": port}}})}})}}
	}
	const kindOf = "kubernetes:core/v1:"
	for _, c := range []struct {
		name, token string
		inputs      object
		want        string // "" for an object that is taken
	}{
		{"good pod", kindOf + "Pod", object{"spec": object{"restartPolicy": "Never", "volumes": list(object{"name": "v", "emptyDir": object{}}), "containers": list(container(object{
			"ports": list(object{"name": "http", "containerPort": 80}), "env": list(object{"name": "http_proxy", "value": "x"}),
			"resources":    object{"requests": object{"cpu": "250m", "memory": "64Mi"}, "limits": object{"memory": "128Mi"}},
			"volumeMounts": list(object{"name": "v", "mountPath": "/v"}), "livenessProbe": object{"httpGet": object{"path": "/", "port": "http"}},
		}))}}, ""},
		{"memory", kindOf + "Pod", pod(container(object{"resources": object{"limits": object{"memory": "4g"}}})), `"4g" is not an amount`},
		{"requests", kindOf + "Pod", pod(container(object{"resources": object{"requests": object{"cpu": "2"}, "limits": object{"cpu": "1"}}})), "is more than the limit"},
		{"port", kindOf + "Pod", pod(container(object{"ports": list(object{"containerPort": 70000})})), "must be between 1 and 65535"},
		{"name of a port", kindOf + "Pod", pod(container(object{"ports": list(object{"name": "a-very-long-name-of-a-port", "containerPort": 80})})), "no more than 15"},
		{"container", kindOf + "Pod", pod(container(object{"name": "Web"})), "spec.containers[0].name"},
		{"two containers", kindOf + "Pod", pod(container(nil), container(nil)), "is the name of another container"},
		{"no volume", kindOf + "Pod", pod(container(object{"volumeMounts": list(object{"name": "x", "mountPath": "/x"})})), `"x" is no volume of the Pod`},
		{"two mounts", kindOf + "Pod", object{"spec": object{"volumes": list(object{"name": "v", "emptyDir": object{}}), "containers": list(container(object{
			"volumeMounts": list(object{"name": "v", "mountPath": "/tmp"}, object{"name": "v", "mountPath": "/tmp"}),
		}))}}, "must be unique"},
		{"claim of a StatefulSet", "kubernetes:apps/v1:StatefulSet", stateful(object{"name": "data"}, "data"), ""},
		{"claim that is not known", "kubernetes:apps/v1:StatefulSet", stateful(nil, "data"), ""},
		{"another claim", "kubernetes:apps/v1:StatefulSet", stateful(object{"name": "data"}, "date"), `"date" is no volume of the Pod`},
		{"pull policy", kindOf + "Pod", pod(container(object{"imagePullPolicy": "always"})), `"always" is not supported`},
		{"two handlers", kindOf + "Pod", pod(container(object{"livenessProbe": object{"httpGet": object{"port": 80}, "tcpSocket": object{"port": 80}}})), "must have one of exec"},
		{"restart", "kubernetes:apps/v1:Deployment", deployment(object{"restartPolicy": "Never", "containers": list(container(nil))}, nil), `"Never" is not supported`},
		{"good deployment", "kubernetes:apps/v1:Deployment", deployment(object{"containers": list(container(nil))}, object{"type": "Recreate"}), ""},
		{"strategy", "kubernetes:apps/v1:Deployment", deployment(object{"containers": list(container(nil))}, object{"type": "Recreate", "rollingUpdate": object{"maxSurge": 1}}), "may not be specified"},
		{"no rollout", "kubernetes:apps/v1:Deployment", deployment(object{"containers": list(container(nil))}, object{"rollingUpdate": object{"maxSurge": 0, "maxUnavailable": 0}}), "may not be 0"},
		{"job", "kubernetes:batch/v1:Job", object{"spec": object{"template": pod(container(nil))}}, "spec.template.spec.restartPolicy"},
		{"good service", kindOf + "Service", service(object{"ports": list(object{"name": "a", "port": 80, "targetPort": "http"}, object{"name": "b", "port": 81})}), ""},
		{"names of ports", kindOf + "Service", service(object{"ports": list(object{"port": 80}, object{"port": 81})}), "is required: the Service has several ports"},
		{"port of nodes", kindOf + "Service", service(object{"type": "NodePort", "ports": list(object{"port": 80, "nodePort": 8080})}), "30000-32767"},
		{"type of a service", kindOf + "Service", service(object{"type": "Loadbalancer", "ports": list(object{"port": 80})}), `"Loadbalancer" is not supported`},
		{"name of a service", kindOf + "Service", object{"metadata": object{"name": "1web"}, "spec": object{"ports": list(object{"port": 80})}}, "metadata.name"},
		{"good ingress", "kubernetes:networking.k8s.io/v1:Ingress", rule("*.example.com", "/", "Prefix", object{"name": "http"}), ""},
		{"path", "kubernetes:networking.k8s.io/v1:Ingress", rule("a.example.com", "x", "Prefix", object{"number": 80}), "does not begin with /"},
		{"kind of path", "kubernetes:networking.k8s.io/v1:Ingress", rule("a.example.com", "/", "prefix", object{"number": 80}), `"prefix" is not supported`},
		{"host", "kubernetes:networking.k8s.io/v1:Ingress", rule("https://a.example.com", "/", "Prefix", object{"number": 80}), "spec.rules[0].host"},
		{"address", "kubernetes:networking.k8s.io/v1:Ingress", rule("10.0.0.1", "/", "Prefix", object{"number": 80}), "must be a DNS name"},
		{"two ports", "kubernetes:networking.k8s.io/v1:Ingress", rule("a.example.com", "/", "Prefix", object{"number": 80, "name": "http"}), "either name or number"},
		{"scaler", "kubernetes:autoscaling/v2:HorizontalPodAutoscaler", object{"spec": object{
			"minReplicas": 9, "maxReplicas": 4, "scaleTargetRef": object{"kind": "Deployment", "name": "web"}}}, "must be minReplicas (9) or more"},
		{"budget", "kubernetes:policy/v1:PodDisruptionBudget", object{"spec": object{"minAvailable": 1, "maxUnavailable": 1}}, "cannot be both set"},
		{"claim", kindOf + "PersistentVolumeClaim", object{"spec": object{"accessModes": list("ReadWrite"), "resources": object{"requests": object{"storage": "10GB"}}}}, `"10GB" is not an amount`},
		{"mode", kindOf + "PersistentVolumeClaim", object{"spec": object{"accessModes": list("ReadWrite"), "resources": object{"requests": object{"storage": "10Gi"}}}}, `"ReadWrite" is not supported`},
		{"network", "kubernetes:networking.k8s.io/v1:NetworkPolicy", object{"spec": object{
			"podSelector": object{}, "policyTypes": list("ingress")}}, `"ingress" is not supported`},
		{"range", "kubernetes:networking.k8s.io/v1:NetworkPolicy", object{"spec": object{
			"podSelector": object{}, "ingress": list(object{"from": list(object{"ipBlock": object{"cidr": "10.0.0.1"}})})}}, "is not a range"},
		{"key", kindOf + "ConfigMap", object{"data": object{"a b": "x"}}, "data"},
		{"not base64", kindOf + "Secret", object{"data": object{"a": "plain text"}}, "is not base64"},
		{"certificate", kindOf + "Secret", object{"type": "kubernetes.io/tls", "stringData": object{"tls.crt": "x"}}, "data.tls.key"},
		{"label", kindOf + "ConfigMap", object{"metadata": object{"name": "a", "labels": object{"a b": "c"}}}, "metadata.labels"},
		{"namespace", kindOf + "Namespace", object{"metadata": object{"name": "a.b"}}, "metadata.name"},
		{"quota", kindOf + "ResourceQuota", object{"spec": object{"hard": object{"memory": "8gb"}}}, "is not an amount"},
	} {
		got := e.problems(c.token, c.inputs)
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// TestComponents: a component that no schema has is refused with what to do.
func TestComponents(t *testing.T) {
	t.Parallel()
	e := makeAll(t)
	_, err := e.client("kubernetes:").Construct(t.Context(), &pulumirpc.ConstructRequest{Type: "kubernetes:yaml/v2:ConfigFile"})
	wantError(t, err, "what is in the component kubernetes:yaml/v2:ConfigFile, only its program says")
}

func TestWhatNeedsWhat(t *testing.T) {
	t.Parallel()
	e := makeAll(t)
	cases := []struct {
		name, token string
		inputs      object
		want        string
	}{
		{"vpc", "aws:ec2/subnet:Subnet", object{"vpcId": "vpc-1"}, "InvalidVpcID.NotFound: there is no vpc 'vpc-1'"},
		{"role", "aws:eks/cluster:Cluster", object{"name": "x", "roleArn": "arn:x", "vpcConfig": object{}}, "there is no role 'arn:x'"},
		{"cluster", "aws:eks/addon:Addon", object{"clusterName": "x", "addonName": "vpc-cni"}, "No cluster found for name: 'x'"},
		{"kind cluster", "kind:index:Registry", object{
			"name": "r", "image": "i", "hostPort": 1, "network": "kind", "clusterName": "x", "clusterUid": "u"}, "no nodes found for cluster 'x'"},
		{"namespace", "kubernetes:core/v1:ConfigMap", object{"metadata": object{"name": "c", "namespace": "x"}}, `namespaces "x" not found`},
		{"namespace of a release", "kubernetes:helm.sh/v3:Release", object{"name": "r", "namespace": "x", "chart": "oci://x/y"}, `namespaces "x" not found`},
		{"definition", "kubernetes:monitoring.coreos.com/v1:ServiceMonitor", object{
			"apiVersion": "monitoring.coreos.com/v1", "kind": "ServiceMonitor", "metadata": object{"name": "m"}, "spec": object{}},
			`no matches for kind "ServiceMonitor" in version "monitoring.coreos.com/v1"`},
		{"load balancer", "kubernetes:core/v1:Service", object{"metadata": meta("lb"), "spec": object{"type": "LoadBalancer", "ports": list(object{"port": 80})}}, "kind has no load balancers"},
		{"twice", "kubernetes:core/v1:Secret", object{"metadata": meta("s")}, `Secret "s" already exists; it belongs to urn`},
	}
	for _, c := range cases {
		wantError(t, e.make("another-"+c.name, c.token, c.inputs), c.want)
	}
	fine := []step{
		{"default namespace", "kubernetes:core/v1:ConfigMap", object{"metadata": object{"name": "c"}}, "default/c"},
		{"release with a namespace", "kubernetes:helm.sh/v3:Release", object{"name": "r", "namespace": "own", "createNamespace": true, "chart": "oci://x/y"}, "own/r"},
		{"in that namespace", "kubernetes:core/v1:ConfigMap", object{"metadata": object{"name": "c", "namespace": "own"}}, "own/c"},
		{"kind of an unknown chart", "kubernetes:example.com/v1:Thing", object{
			"apiVersion": "example.com/v1", "kind": "Thing", "metadata": meta("t"), "spec": object{}}, "app/t"},
	}
	for _, s := range fine {
		if err := e.make(s.Name, s.Token, s.Inputs); err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
		if got := e.made[s.Name].id; got != s.ID {
			t.Errorf("%s has the id %q, want %q", s.Name, got, s.ID)
		}
	}
}

func TestCoreDNSNeedsNodes(t *testing.T) {
	t.Parallel()
	e := startEngine(t)
	if err := e.configure("aws", object{"region": "eu-west-1"}); err != nil {
		t.Fatal(err)
	}
	for _, s := range hostSteps(t) {
		if s.Name == "nodes" {
			wantError(t, e.make("dns", "aws:eks/addon:Addon", object{"clusterName": "dev", "addonName": "coredns"}), "DEGRADED")
			return
		}
		if err := e.make(s.Name, s.Token, s.Inputs); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDeletionsThatClash(t *testing.T) {
	t.Parallel()
	e := makeAll(t)
	steps := map[string]step{}
	for _, s := range environment(t) {
		steps[s.Name] = s
	}
	remove := func(name string) error { return e.delete(name, steps[name].Token, steps[name].Inputs) }
	wantError(t, remove("vpc"), "DependencyViolation")
	wantError(t, remove("subnet-a"), "DependencyViolation")
	wantError(t, remove("eks"), "Cluster has nodegroups attached (dev:n)")
	wantError(t, remove("role"), "must detach all policies first")
	for _, name := range []string{"nodes", "eks", "attachment", "inline", "role"} {
		if err := remove(name); err != nil {
			t.Errorf("deleting %s: %v", name, err)
		}
	}

	// The cluster takes all its objects along, and cannot be reached any more.
	if err := remove("kind"); err != nil {
		t.Fatal(err)
	}
	wantError(t, remove("secret"), "configured Kubernetes cluster is unreachable")
	if err := e.make("kind", steps["kind"].Token, steps["kind"].Inputs); err != nil {
		t.Fatal(err)
	}
	_, err := e.client("kubernetes:").Read(t.Context(), &pulumirpc.ReadRequest{Urn: urn(steps["secret"].Token, "secret"), Id: "app/s"})
	wantError(t, err, `"app/s" does not exist: simulated clouds have only what was simulated`)
}

func TestChartsServices(t *testing.T) {
	t.Parallel()
	for cluster, want := range map[string]string{"lke": "ip", "eks": "hostname"} {
		e := makeAll(t)
		config := e.kubeconfigOf(cluster)
		if err := e.configure("kubernetes", object{"kubeconfig": config}); err != nil {
			t.Fatal(err)
		}
		const token = "kubernetes:core/v1:Service"
		read := func(id string) *pulumirpc.ReadResponse {
			resp, err := e.client(token).Read(t.Context(), &pulumirpc.ReadRequest{Urn: urn(token, "lb"), Id: id})
			if err != nil && status.Code(err) != codes.NotFound {
				t.Fatal(err)
			}
			return resp
		}
		release := object{"name": "nginx-ingress", "chart": "oci://ghcr.io/nginx/charts/nginx-ingress", "namespace": "default"}
		if before := read("default/nginx-ingress-controller"); before.GetId() != "" {
			t.Errorf("%s: a Service exists before its chart: %v", cluster, before)
		}
		if err := e.make("release", "kubernetes:helm.sh/v3:Release", release); err != nil {
			t.Fatal(err)
		}
		found := read("default/nginx-ingress-controller")
		path, err := resource.ParsePropertyPath("status.loadBalancer.ingress[0]." + want)
		if err != nil {
			t.Fatal(err)
		}
		if address, ok := path.Get(resource.NewObjectProperty(e.unpack(found.GetProperties()))); !ok || address.StringValue() == "" {
			t.Errorf("%s: no %s in %v", cluster, want, found.GetProperties())
		}
		again, err := e.client(token).Read(t.Context(), &pulumirpc.ReadRequest{
			Urn: urn(token, "lb"), Id: found.GetId(), Properties: found.GetProperties(),
		})
		if err != nil {
			t.Fatal(err)
		}
		var changed []resource.PropertyKey
		if diff := e.unpack(found.GetProperties()).Diff(e.unpack(again.GetProperties())); diff != nil {
			changed = diff.ChangedKeys()
		}
		if !slices.Equal(changed, []resource.PropertyKey{"__inputs"}) {
			t.Errorf("%s: a refresh changes %v, want __inputs as the real provider does", cluster, changed)
		}
		if other := read("default/nginx"); other.GetId() != "" {
			t.Errorf("%s: a Service that no chart makes exists: %v", cluster, other)
		}
	}
}

func TestClustersAreApart(t *testing.T) {
	t.Parallel()
	e := makeAll(t)
	if err := e.configure("kubernetes", object{"kubeconfig": e.kubeconfigOf("lke")}); err != nil {
		t.Fatal(err)
	}
	wantError(t, e.make("x", "kubernetes:core/v1:ConfigMap", object{"metadata": meta("c")}), `namespaces "app" not found`)
}

func TestProvidersOfKubernetes(t *testing.T) {
	t.Parallel()
	e := makeAll(t)
	cases := []struct{ name, kubeconfig, want string }{
		{"a path", "/root/.kube/config", "cannot be parsed"},
		{"no context", "apiVersion: v1\nkind: Config\n", `its context "" leads to no server`},
		{"a real cluster", strings.ReplaceAll(e.text("kind", "kubeconfig"), ".invalid", ".example.com"), "not one of a simulated cluster"},
	}
	for _, c := range cases {
		err := e.configure("kubernetes", object{"kubeconfig": c.kubeconfig})
		wantError(t, err, c.want)
		if err != nil && strings.Contains(err.Error(), ".kube") {
			t.Errorf("%s: the error shows the text: %v", c.name, err)
		}
	}
}

// TestDefaultProviderOfKubernetes: without a kubeconfig, the objects are in the only cluster, or in one
// that no program made.
func TestDefaultProviderOfKubernetes(t *testing.T) {
	t.Parallel()
	e := startEngine(t)
	e.configureClouds()
	const namespace = "kubernetes:core/v1:Namespace"
	inputs := object{"metadata": object{"name": "shop"}}
	exists := func() bool {
		if err := e.configure("kubernetes", object{"infra_type": "own"}); err != nil {
			t.Fatal(err)
		}
		resp, err := e.client(namespace).Read(t.Context(), &pulumirpc.ReadRequest{Urn: urn(namespace, "ns"), Id: "shop"})
		if err != nil && status.Code(err) != codes.NotFound {
			t.Fatal(err)
		}
		return resp.GetId() != ""
	}
	if err := e.configure("kubernetes", object{"infra_type": "own"}); err != nil {
		t.Fatal(err)
	}
	resp, err := e.client(namespace).CheckConfig(t.Context(), &pulumirpc.CheckRequest{News: e.pack(object{"infra_type": "own"})})
	if err != nil || len(resp.GetFailures()) > 0 {
		t.Errorf("a setting of the runner: %v, %v", resp.GetFailures(), err)
	}
	if err := e.make("ns", namespace, inputs); err != nil || !exists() {
		t.Errorf("without a cluster of the environment: exists %v, error %v", exists(), err)
	}
	if err := e.make("kind", "kind:index:Cluster", object{"name": "dev", "nodeImage": "x"}); err != nil {
		t.Fatal(err)
	}
	if exists() {
		t.Error("the object is in the environment's cluster, which was made after it")
	}
	if err := e.make("ns", namespace, inputs); err != nil || !exists() {
		t.Errorf("with a cluster of the environment: exists %v, error %v", exists(), err)
	}
	if err := e.configure("kubernetes", object{"kubeconfig": e.text("kind", "kubeconfig")}); err != nil {
		t.Fatal(err)
	}
	wantError(t, e.make("other", namespace, inputs), "already exists")
}

func TestSecretsOfAnother(t *testing.T) {
	t.Parallel()
	e := makeAll(t)
	const token = "kubernetes:core/v1:Secret"
	var seen []string
	for range 2 {
		resp, err := e.client(token).Read(t.Context(), &pulumirpc.ReadRequest{Urn: urn(token, "reader"), Id: "app/s"})
		if err != nil {
			t.Fatal(err)
		}
		data := e.unpack(resp.GetProperties())["data"]
		if !data.IsSecret() {
			t.Fatalf("the data is not secret: %v", data)
		}
		password, err := base64.StdEncoding.DecodeString(data.SecretValue().Element.ObjectValue()["password"].StringValue())
		if err != nil || !strings.HasPrefix(string(password), "Simulated-") {
			t.Errorf("got the password %q, %v, want a generated one", password, err)
		}
		seen = append(seen, string(password))
	}
	if seen[0] != seen[1] {
		t.Errorf("two readers see different passwords: %v", seen)
	}
}
