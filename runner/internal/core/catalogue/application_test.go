package catalogue_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/config"
	"mara/providers"
	"mara/runner/internal/core/catalogue"
)

// load reads a mara.yaml in a directory of its own.
func loadMara(t *testing.T, text string) (catalogue.Catalogue, string, error) {
	t.Helper()
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "mara.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	known, err := catalogue.Load(providers.Catalogue(), root, "")
	return known, root, err
}

// TestApplications: each application is a project of every provider, with a program that the runner has written.
func TestApplications(t *testing.T) {
	t.Parallel()
	known, root, err := loadMara(t, "providers:\n  kind: {without: [certmgr, observability, bank-of-anthos]}\n  linode: {}\n"+
		"applications:\n  shop: {image: \"shop:1\", host: shop.example.com, secrets: TOKEN, connects: cache}\n  cache: {image: \"redis:8\", port: 6379}\n")
	if err != nil {
		t.Fatal(err)
	}
	for provider, after := range map[string][]string{"kind": {"ingress-controller"}, "linode": {"ingress-controller", "certmgr"}} {
		p, err := known.ByName(provider)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"shop", "cache"} {
			i := slices.Index(p.Names(), name)
			if i < 0 {
				t.Fatalf("%s is not in %v", name, p.Names())
			}
			if diff := cmp.Diff(after, p.Steps[i].After); diff != "" {
				t.Errorf("%s on %s: %s", name, provider, diff)
			}
			if diff := cmp.Diff([]string{"kubeconfig"}, p.Steps[i].Reads); diff != "" {
				t.Errorf("%s on %s: %s", name, provider, diff)
			}
		}
	}
	shop, _ := known.Project("shop")
	if _, ok := shop.Key("shop:image"); !ok || len(shop.Secrets) != 1 || shop.Secrets[0].Key != "shop:TOKEN" || !shop.Own.Generated {
		t.Errorf("%+v", shop)
	}
	if _, ok := shop.Output("url"); !ok {
		t.Error("the address is no output")
	}
	file := filepath.Join(root, ".runner", "applications", "shop", "Pulumi.yaml")
	before, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := catalogue.Load(providers.Catalogue(), root, ""); err != nil {
		t.Fatal(err)
	}
	if after, err := os.Stat(file); err != nil || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("the program was written again: %v", err)
	}
}

// TestWhereApplications: an application is part of the providers that it names, and of the environments for which its
// condition is true.
func TestWhereApplications(t *testing.T) {
	t.Parallel()
	known, _, err := loadMara(t, "providers: {kind: , linode: }\napplications:\n"+
		"  shop: {image: 'shop:1', providers: linode, when: '.stack | startswith(\"prod\")'}\n  cache: {image: 'redis:8', port: 6379}\n")
	if err != nil {
		t.Fatal(err)
	}
	for provider, has := range map[string]bool{"kind": false, "linode": true} {
		p, err := known.ByName(provider)
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Contains(p.Names(), "shop"); got != has || !slices.Contains(p.Names(), "cache") {
			t.Errorf("%s has %v", provider, p.Names())
		}
		for stack, skipped := range map[string]bool{"dev": has, "prod-eu": false} {
			reasons, err := catalogue.LeftOut(p, stack, config.StackFile{})
			if _, got := reasons["shop"]; err != nil || got != skipped {
				t.Errorf("%s, %s: skipped %v, %v", provider, stack, reasons, err)
			}
		}
	}
}

// TestApplicationsThatDoNotFit: names that are taken or missing, and providers without a cluster.
func TestApplicationsThatDoNotFit(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"providers: {kind: }\napplications: {certmgr: {image: 'a:1'}}":                `mara.yaml:2: the application "certmgr" has the name of a built-in project of kind`,
		"providers: {kind: }\napplications: {shop: {image: 'a:1', connects: shap}}":   `mara.yaml:2: applications.shop.connects names "shap", which is no application of this file; did you mean "shop"?`,
		"providers: {kind: }\napplications: {shop: {image: 'a:1', providers: aws}}":   `mara.yaml:2: providers names "aws", which is not a provider of this file`,
		"providers: {kind: }\napplications: {shop: {image: 'a:1', when: '.stack ='}}": `mara.yaml:2: when is not a jq expression: `,
		"applications: {shop: {image: 'a:1'}}":                                        `mara.yaml:1: the application "shop" runs in a Kubernetes cluster, and nothing in own has one: name a provider, as in  providers: {kind: {}}`,
	} {
		_, _, err := loadMara(t, text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestOnly: an application goes to a cluster that is there with what it needs, and with a host name that is more.
func TestOnly(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ only, more, want, problem string }{
		{only: "[shop]", want: "cluster-connection kubeconfig shop"},
		{only: "[shop, logagent]", want: "cluster-connection kubeconfig logstore logagent shop"},
		{only: "[shop]", more: ", host: shop.example.com", want: "cluster-connection cluster-registry kubeconfig kic-image-build kic-image-push ingress-controller-namespace ingress-controller certmgr shop"},
		{only: "[shpo]", problem: `only names "shpo", which is not a project of cluster; did you mean "shop"?`},
		{only: "[shop], without: [logagent]", problem: "only and without exclude each other"},
	} {
		known, _, err := loadMara(t, "providers: {cluster: {only: "+test.only+"}}\napplications: {shop: {image: 'shop:1'"+test.more+"}, other: {image: 'o:1'}}\n")
		if test.problem != "" {
			if err == nil || !strings.Contains(err.Error(), test.problem) {
				t.Errorf("%s: %v", test.only, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", test.only, err)
			continue
		}
		p, err := known.ByName("cluster")
		if err != nil {
			t.Fatal(err)
		}
		got := p.Names()
		slices.Sort(got)
		want := strings.Fields(test.want)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", test.only, diff)
		}
	}
}
