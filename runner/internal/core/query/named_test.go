package query

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestAll(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, Directory), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"mysql.jq": "# Ours.\n# reads: live, state\n# kinds: pods, deployments.apps\n.items[]\n# reads: nothing\n",
		"bare.jq":  ".items[]",
		"notes.md": "no query",
	} {
		if err := os.WriteFile(filepath.Join(root, Directory, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all, err := All(root)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]Named{}
	var names []string
	for _, n := range all {
		names = append(names, n.Name)
		n.Source = ""
		got[n.Name] = n
	}
	if diff := cmp.Diff("bare certificates charts databases deprecated exposed images limits mysql orphans types", strings.Join(names, " ")); diff != "" {
		t.Error(diff)
	}
	for name, want := range map[string]Named{
		"mysql":  {Name: "mysql", Summary: "Ours.", File: filepath.Join(root, Directory, "mysql.jq"), State: true, Live: true, Kinds: []string{"pods", "deployments.apps"}},
		"bare":   {Name: "bare", File: filepath.Join(root, Directory, "bare.jq"), State: true},
		"types":  {Name: "types", Summary: "Types of resources, how many there are of each, and in which environments.", State: true},
		"charts": {Name: "charts", Summary: "Helm charts and their versions over the environments.", State: true},
	} {
		if diff := cmp.Diff(want, got[name]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestShipped: each query that ships has a hit, a miss and an edge.
func TestShipped(t *testing.T) {
	t.Parallel()
	soon := time.Now().Add(10*24*time.Hour + time.Hour).UTC().Format(time.RFC3339)
	late := time.Now().Add(90 * 24 * time.Hour).UTC().Format(time.RFC3339)
	for _, test := range []struct{ query, name, items, want string }{
		{"mysql", "a Deployment and a database", state("a", `{"kind":"Deployment","spec":{"containers":[{"image":"docker.io/library/mysql:8.4"}]}}`) + "," +
			state("b", `{"kind":"StatefulSet","spec":{"initContainers":[{"image":"mysql:8.4@sha256:1"}]}}`) + "," +
			`{"source":"state","environment":"dev","project":"db","type":"aws:rds/instance:Instance","outputs":{"engine":"mysql","engineVersion":"8.0.4"}}`,
			`{"count":1,"version":"8.0.4","where":["dev/db"]}` + "\n" + `{"count":2,"version":"8.4","where":["dev/a","dev/b"]}`},
		{"mysql", "others", state("a", `{"kind":"Deployment","spec":{"containers":[{"image":"mysql-exporter:1"},{"image":"postgres:16"}]}}`), ""},
		{"mysql", "live, only Pods count, without a tag", live("Deployment", "d", `"spec":{"containers":[{"image":"mysql"}]}`) + "," + live("Pod", "d-1", `"spec":{"containers":[{"image":"mysql"}]}`),
			`{"count":1,"version":"latest","where":["dev/shop/d-1"]}`},

		{"exposed", "behind a Service", service("web", "LoadBalancer", `"ports":[]`, "203.0.113.7", "") + "," + slice("web", "web-1", "web-2"),
			exposed("web-1", "web", "") + "\n" + exposed("web-2", "web", "")},
		{"exposed", "internal ones and other types",
			service("a", "ClusterIP", `"ports":[]`, "", "") + "," + slice("a", "a-1") + "," +
				service("b", "LoadBalancer", `"loadBalancerSourceRanges":["10.0.0.0/8"]`, "203.0.113.7", "") + "," + slice("b", "b-1") + "," +
				service("c", "LoadBalancer", `"ports":[]`, "10.1.2.3", "") + "," + slice("c", "c-1") + "," +
				service("d", "LoadBalancer", `"ports":[]`, "203.0.113.9", `"service.beta.kubernetes.io/aws-load-balancer-scheme":"internal"`) + "," + slice("d", "d-1"), ""},
		{"exposed", "through an Ingress; one of another address is not",
			service("nginx", "LoadBalancer", `"loadBalancerSourceRanges":["192.0.2.0/24","0.0.0.0/0"]`, "203.0.113.7", "") + "," + slice("nginx", "nginx-1") + "," +
				service("shop", "ClusterIP", `"ports":[]`, "", "") + "," + slice("shop", "shop-1") + "," + ingress("web", "shop", "203.0.113.7") + "," + ingress("inner", "shop", "10.9.9.9"),
			exposed("nginx-1", "nginx", "") + "\n" + exposed("shop-1", "shop", "Ingress web")},

		{"images", "registries, tags and digests", state("a", `{"spec":{"containers":[{"image":"quay.io/x/y:1"},{"image":"localhost:5001/z@sha256:2"},{"image":"w"}]}}`),
			`{"count":1,"digest":"","registry":"docker.io","repository":"w","tag":"latest","where":["dev/a"]}` + "\n" +
				`{"count":1,"digest":"sha256:2","registry":"localhost:5001","repository":"z","tag":"","where":["dev/a"]}` + "\n" +
				`{"count":1,"digest":"","registry":"quay.io","repository":"x/y","tag":"1","where":["dev/a"]}`},
		{"images", "an object without Pods", state("a", `{"kind":"Service","spec":{"image":"x"}}`), ""},
		{"images", "one image in two projects", state("a", `{"spec":{"containers":[{"image":"w:1"},{"image":"w:1"}]}}`) + "," + state("b", `{"spec":{"containers":[{"image":"w:1"}]}}`),
			`{"count":2,"digest":"","registry":"docker.io","repository":"w","tag":"1","where":["dev/a","dev/b"]}`},

		{"charts", "two versions of one chart", release("a", `"chart":"certmgr","version":"1"`) + "," + release("b", `"chart":"oci://r/x/certmgr","version":"2"`),
			`{"chart":"certmgr","count":1,"version":"1","where":["dev/a"]}` + "\n" + `{"chart":"certmgr","count":1,"version":"2","where":["dev/b"]}`},
		{"charts", "no release", state("a", `{"kind":"Pod"}`), ""},
		{"charts", "live releases are Secrets, and no items of charts", live("Secret", "sh.helm.release.v1.a.v1", `"type":"helm.sh/release.v1"`), ""},

		{"deprecated", "one that is gone", live("CronJob", "c", `"apiVersion":"batch/v1beta1"`),
			`{"apiVersion":"batch/v1beta1","environment":"dev","kind":"CronJob","name":"c","removed":"1.25","where":"dev/shop/c"}`},
		{"deprecated", "a current one", live("CronJob", "c", `"apiVersion":"batch/v1"`), ""},
		{"deprecated", "a version that only other kinds have lost", live("Event", "c", `"apiVersion":"extensions/v1beta1"`), ""},

		{"limits", "memory is limited, time is not", live("Pod", "p", `"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"memory":"1Gi"}}}]}`),
			`{"container":"c","environment":"dev","kind":"Pod","missing":["cpu"],"name":"p","where":"dev/shop/p"}`},
		{"limits", "both are", live("Pod", "p", `"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"memory":"1Gi","cpu":1}}}]}`), ""},
		{"limits", "no resources at all, in a state", state("a", `{"kind":"Deployment","spec":{"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}}`),
			`{"container":"c","environment":"dev","kind":"Deployment","missing":["cpu","memory"],"name":"a","where":"dev/a"}`},

		{"certificates", "soon", live("Certificate", "c", `"apiVersion":"cert-manager.io/v1","status":{"notAfter":"`+soon+`","conditions":[{"type":"Ready","status":"True"}]}`),
			`{"days":10,"ends":"` + soon + `","environment":"dev","name":"c","ready":"True","where":"dev/shop/c"}`},
		{"certificates", "late, and of something else", live("Certificate", "c", `"apiVersion":"cert-manager.io/v1","status":{"notAfter":"`+late+`","conditions":[{"type":"Ready","status":"True"}]}`) + "," +
			live("Certificate", "d", `"apiVersion":"example.com/v1"`), ""},
		{"certificates", "not made yet", live("Certificate", "c", `"apiVersion":"cert-manager.io/v1"`),
			`{"days":null,"ends":"","environment":"dev","name":"c","ready":"Unknown","where":"dev/shop/c"}`},

		{"databases", "open", `{"source":"state","environment":"dev","project":"p","name":"db","type":"aws:rds/instance:Instance","outputs":{"engine":"mysql","publiclyAccessible":true,"backupRetentionPeriod":0}}`,
			`{"engine":"mysql","environment":"dev","name":"db","problems":["public","not encrypted","no deletion protection","no backups"],"where":"dev/p"}`},
		{"databases", "protected", `{"source":"state","environment":"dev","project":"p","name":"db","type":"aws:rds/cluster:Cluster","outputs":{"storageEncrypted":true,"deletionProtection":true,"backupRetentionPeriod":7}}`, ""},
		{"databases", "a port of a load balancer", service("pg", "LoadBalancer", `"ports":[{"port":80},{"port":5432}]`, "", "") + "," + service("web", "NodePort", `"ports":[{"port":80}]`, "", ""),
			`{"engine":"postgres","environment":"dev","name":"pg","problems":["Service of type LoadBalancer"],"where":"dev/shop/pg"}`},

		{"orphans", "made by hand", live("Deployment", "d", `"spec":{}`), `{"created":null,"environment":"dev","kind":"Deployment","name":"d","namespace":"shop"}`},
		{"orphans", "in a state, and of the system", state("shop", `{"kind":"Deployment","metadata":{"name":"d","namespace":"shop"}}`) + "," + live("Deployment", "d", `"spec":{}`) + "," +
			`{"source":"live","environment":"dev","object":{"kind":"Service","metadata":{"name":"dns","namespace":"kube-system"}}}`, ""},
		{"orphans", "of a release that is known, owned, and of one that is not",
			release("a", `"status":{"name":"r","namespace":"shop"}`) + "," + helmed("known", "r") + "," + helmed("left", "gone") + "," +
				`{"source":"live","environment":"dev","object":{"kind":"Job","metadata":{"name":"j","namespace":"shop","ownerReferences":[{"name":"c"}]}}}`,
			`{"created":null,"environment":"dev","kind":"Service","name":"left","namespace":"shop"}`},

		{"types", "two environments", `{"type":"a:b:C","environment":"x"},{"type":"a:b:C","environment":"y"},{"type":"a:b:A","environment":"x"}`,
			`{"count":1,"environments":["x"],"type":"a:b:A"}` + "\n" + `{"count":2,"environments":["x","y"],"type":"a:b:C"}`},
		{"types", "nothing", "", ""},
		{"types", "many in one", `{"type":"a","environment":"x"},{"type":"a","environment":"x"}`, `{"count":2,"environments":["x"],"type":"a"}`},
	} {
		t.Run(test.query+"/"+test.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, ask(t, source(t, test.query), test.items)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestShippedSayColumns: a table has the columns in the order of the query.
func TestShippedSayColumns(t *testing.T) {
	t.Parallel()
	all, err := All("")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range all {
		q, err := Compile(n.Source)
		if err != nil {
			t.Fatalf("%s: %v", n.Name, err)
		}
		if len(q.Columns) == 0 || n.Summary == "" {
			t.Errorf("%s: columns %v, summary %q", n.Name, q.Columns, n.Summary)
		}
	}
}

func source(t *testing.T, name string) string {
	t.Helper()
	content, err := shipped.ReadFile("queries/" + name + ".jq")
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func state(project, object string) string {
	return `{"source":"state","environment":"dev","project":"` + project + `","name":"` + project + `","type":"kubernetes:x","object":` + object + `}`
}

func live(kind, name, more string) string {
	return `{"source":"live","environment":"dev","namespace":"shop","name":"` + name + `","type":"kubernetes:x","object":{"kind":"` + kind +
		`","metadata":{"name":"` + name + `","namespace":"shop"},` + more + `}}`
}

func release(project, outputs string) string {
	return `{"source":"state","environment":"dev","project":"` + project + `","type":"kubernetes:helm.sh/v3:Release","inputs":{},"outputs":{` + outputs + `}}`
}

func helmed(name, release string) string {
	return `{"source":"live","environment":"dev","object":{"kind":"Service","metadata":{"name":"` + name + `","namespace":"shop","annotations":{` +
		`"meta.helm.sh/release-name":"` + release + `","meta.helm.sh/release-namespace":"shop"}}}}`
}

func service(name, kind, spec, ip, annotation string) string {
	return `{"source":"live","environment":"dev","namespace":"shop","name":"` + name + `","object":{"kind":"Service","metadata":{"name":"` + name +
		`","annotations":{` + annotation + `}},"spec":{"type":"` + kind + `",` + spec + `},"status":` + balancer(ip) + `}}`
}

func ingress(name, backend, ip string) string {
	return `{"source":"live","environment":"dev","namespace":"shop","name":"` + name + `","object":{"kind":"Ingress","metadata":{"name":"` + name +
		`"},"spec":{"rules":[{"http":{"paths":[{"backend":{"service":{"name":"` + backend + `"}}}]}}]},"status":` + balancer(ip) + `}}`
}

func balancer(ip string) string {
	if ip == "" {
		return `{}`
	}
	return `{"loadBalancer":{"ingress":[{"ip":"` + ip + `"}]}}`
}

func slice(service string, pods ...string) string {
	var endpoints []string
	for _, pod := range pods {
		endpoints = append(endpoints, `{"targetRef":{"kind":"Pod","name":"`+pod+`"}}`)
	}
	return `{"source":"live","environment":"dev","namespace":"shop","name":"` + service + `-x","object":{"kind":"EndpointSlice","metadata":{"labels":{` +
		`"kubernetes.io/service-name":"` + service + `"}},"endpoints":[` + strings.Join(endpoints, ",") + `]}}`
}

func exposed(pod, service, via string) string {
	return `{"address":"203.0.113.7","environment":"dev","namespace":"shop","pod":"` + pod + `","service":"` + service + `","via":"` + via + `"}`
}

// TestUnreadableDir: rules and queries that cannot be listed are an error.
func TestUnreadableDir(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "queries")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if files, err := filesIn(os.DirFS(file), nil); err == nil {
		t.Errorf("%v, and no error", files)
	}
	if files, err := filesIn(os.DirFS(file+"-missing"), nil); err != nil || len(files) > 0 {
		t.Errorf("a missing one: %v, %v", files, err)
	}
}
