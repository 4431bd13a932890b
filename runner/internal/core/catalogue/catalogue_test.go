package catalogue_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"mara/config"
	"mara/projects"
	"mara/projects/model"
	"mara/projects/model/operation"
	"mara/providers"
	"mara/runner/internal/core/catalogue"
)

// root returns a directory with a mara.yaml and projects of these names.
func root(t *testing.T, mara string, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	write := func(path, content string, mode os.FileMode) {
		file := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("mara.yaml", mara, 0o644)
	for _, name := range names {
		write(name+"/Pulumi.yaml", "name: "+name+"\nruntime: yaml\ndescription: The "+name+"\nconfig:\n"+
			"  size: {type: string, default: small, description: how large}\n  hosts: {type: integer}\n  token: {type: string, secret: true, description: the token}\n", 0o644)
		write(name+"/hook.sh", "#!/bin/sh\n", 0o755)
		write(name+"/notes.txt", "", 0o644)
	}
	return dir
}

// lists returns the providers with their steps: name | reads | after.
func lists(c catalogue.Catalogue) string {
	var b strings.Builder
	for _, p := range c.Providers {
		fmt.Fprintf(&b, "%s (%s)\n", p.Name, p.Title)
		for _, s := range p.Steps {
			fmt.Fprintln(&b, strings.TrimRight("  "+s.Project.Name+" | "+strings.Join(s.Reads, " ")+" | "+strings.Join(s.After, " "), " |"))
		}
	}
	return b.String()
}

func TestWithoutMaraFile(t *testing.T) {
	t.Parallel()
	c, err := catalogue.Load(providers.Catalogue(), t.TempDir(), "")
	if err != nil || len(c.Providers) != len(providers.All()) || len(c.Projects) != len(projects.All()) || c.Default() != "" {
		t.Errorf("got %d providers, %d projects, default %q, %v", len(c.Providers), len(c.Projects), c.Default(), err)
	}
}

func TestLists(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, mara, standard, want string }{
		{
			"own projects only", "projects: [{path: app, reads: [db], after: net}, {path: net}, {path: db, reads: net}]", "own",
			"own (Own projects)\n  net\n  db | net\n  app | db | net\n",
		},
		{
			"titles and directories", "projects: [{path: app, title: The App, reads: [./db], after: 'the net'}, {path: net, title: The Net}, {path: db, reads: The Net}]", "own",
			"own (Own projects)\n  net\n  db | net\n  app | db | net\n",
		},
		{
			"a provider of one's own", "providers: {shop: {title: Shop}}\nprojects: [{path: net}, {path: db, providers: [shop]}]", "shop",
			"shop (Shop)\n  net\n  db\n",
		},
		{
			"several", "providers: {a: {}, b: {projects: [{path: db}]}}\nprojects: [{path: net}, {path: app, providers: a}]", "",
			"a (a)\n  net\n  app\nb (b)\n  db\n  net\n",
		},
		{
			"into a built-in list", "providers: {kind: {without: [Bank of Anthos, kubernetes/observability, prometheus, logagent, certmgr, logstore, ingress-controller, kic-image-push, " +
				"kic-image-build, ingress-controller-namespace], after: {secrets: [net]}}}\nprojects: [{path: net, reads: kind-cluster}, {path: app, reads: [kubeconfig, secrets]}]", "kind",
			"kind (Kubernetes in Docker)\n  kind-cluster\n  kind-registry | kind-cluster\n  kubeconfig | kind-cluster\n  net | kind-cluster\n  secrets | kubeconfig | net\n  app | kubeconfig secrets\n",
		},
		{
			"optional projects", "providers: {kind: {without: [Bank of Anthos, kubernetes/observability, prometheus, logagent, certmgr, logstore, ingress-controller, kic-image-push, " +
				"kic-image-build, ingress-controller-namespace], with: [access, Guardrails]}}\nprojects: [{path: net, after: access}]", "kind",
			"kind (Kubernetes in Docker)\n  kind-cluster\n  kind-registry | kind-cluster\n  kubeconfig | kind-cluster\n  secrets | kubeconfig\n  guardrails | kubeconfig\n  access | kubeconfig | guardrails\n  net |  | access\n",
		},
		{
			"optional projects of a list", "providers: {mine: {extends: aws, with: access, projects: [{project: aws-vpc}, {project: aws-eks}, {project: kubeconfig}, {project: cluster-autoscaler}, {project: guardrails}]}}", "mine",
			"mine (mine)\n  aws-vpc\n  aws-eks | aws-vpc\n  kubeconfig | aws-eks\n  cluster-autoscaler | kubeconfig aws-eks\n  guardrails | kubeconfig\n  access | kubeconfig | guardrails\n",
		},
		{
			"a list of catalogue projects", "providers: {mine: {extends: kind, projects: [{project: kind-cluster}, {project: kubeconfig}, {project: certmgr, after: kind-cluster}]}}", "mine",
			"mine (mine)\n  kind-cluster\n  kubeconfig | kind-cluster\n  certmgr |  | kind-cluster\n",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c, err := catalogue.Load(providers.Catalogue(), root(t, test.mara, "net", "db", "app"), "")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, lists(c)); diff != "" {
				t.Error(diff)
			}
			if c.Default() != test.standard {
				t.Errorf("default %q, want %q", c.Default(), test.standard)
			}
		})
	}
}

// TestReplace: others wait for the new project, whose name may be the old one.
func TestReplace(t *testing.T) {
	t.Parallel()
	dir := root(t, "providers: {kind: {without: [bank-of-anthos, prometheus]}}\nprojects:\n- {path: certs, replaces: certmgr}\n- {path: logstore, replaces: logstore, reads: [kubeconfig, certs]}", "certs", "logstore")
	c, err := catalogue.Load(providers.Catalogue(), dir, "")
	if err != nil {
		t.Fatal(err)
	}
	want := `  logstore | kubeconfig certs
  logagent | kubeconfig logstore
  observability | kubeconfig | certs
`
	got := lists(c)
	for line := range strings.Lines(want) {
		if !strings.Contains(got, line) {
			t.Errorf("%q is not in\n%s", line, got)
		}
	}
	if strings.Contains(got, "certmgr") {
		t.Errorf("it is still there:\n%s", got)
	}
	for _, q := range c.Providers[0].Questions {
		c.Providers[0].Key(q.Key) // panics for an unknown key
	}
}

// TestProject: what is in the files becomes a project like any other.
func TestProject(t *testing.T) {
	t.Parallel()
	dir := root(t, `
projects:
  - path: net
    title: Network
    phase: base
    when: .config["net:size"] == "large"
    stackFile: own
    outputs: [address]
    timeout: 5m
    estimate: 90s
    config:
      size: {allowed: [small, large], question: "How large?"}
      net:hosts: {min: 1, max: 9, example: "3"}
      token: {question: "The token?", generate: password}
    hooks:
      - kubeconfig
      - {run: ./hook.sh, on: always, operations: [up, destroy], retry: 2}
      - {run: ./hook.sh}
hooks:
  - {name: tell, run: sh -c true, on: before}
`, "net")
	c, err := catalogue.Load(providers.Catalogue(), dir, os.Getenv("PATH"))
	if err != nil {
		t.Fatal(err)
	}
	one, nine := 1, 9
	net := filepath.Join(dir, "net")
	want := model.Project{
		Name: "net", Path: "net", Title: "Network", Summary: "The net", Estimate: 90 * time.Second,
		Own: &model.Own{Dir: net, Runtime: "yaml", When: `.config["net:size"] == "large"`, Timeout: 5 * time.Minute, StackFiles: net, Path: "net", Line: 3, WhenLine: 6},
		Keys: []config.Key{
			{Name: "net:size", Kind: config.String, Default: "small", Allowed: []string{"small", "large"}, Doc: "how large"},
			{Name: "net:hosts", Kind: config.Int, Required: true, Min: &one, Max: &nine, Example: "3", Doc: "a value of the project net"},
		},
		Secrets: []model.Secret{{Key: "net:token", Prompt: "The token?", Generate: model.Password, Own: true, Doc: "the token"}},
		Outputs: []model.Output{{Name: "address", Highlight: true, Doc: "output of your own project", Line: 8}},
		Hooks: []model.Hook{
			model.BuiltInHooks()[0],
			{Name: "hook.sh", On: model.Always, Operations: []operation.Operation{operation.Up, operation.Destroy}, Command: []string{"./hook.sh"}, Dir: net, Retry: 2},
			{Name: "hook.sh-2", On: model.OnSuccess, Operations: []operation.Operation{operation.Up}, Command: []string{"./hook.sh"}, Dir: net},
		},
	}
	got, _ := c.Project("net")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	p := c.Providers[0]
	if p.Steps[0].Phase != "base" || p.ClusterProject != "net" || len(p.Hooks) != 1 || p.Hooks[0].Dir != dir {
		t.Errorf("got %+v", p)
	}
	if diff := cmp.Diff([]model.Question{{Key: "net:size", Text: "How large?"}, {Key: "net:hosts", Text: "net:hosts"}}, p.Questions); diff != "" {
		t.Error(diff)
	}
	if _, ok := c.Secret("net:token"); !ok || len(c.Keys()) != 2 {
		t.Errorf("keys %v", c.Keys())
	}
}

// TestRefused: each mistake is one clear error with its place.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, mara, want string }{
		{"missing directory beside something else", "projects:\n- path: nett\n  colour: red",
			"2 problems in the configuration:\n  mara.yaml:3: projects[0].colour is not a known key; allowed: config, hooks, after and 19 more\n  mara.yaml:2: path names nett, and there is no such directory"},
		{"missing directory", "projects:\n- path: nett", "mara.yaml:2: path names nett, and there is no such directory"},
		{"no Pulumi.yaml", "projects:\n- path: .", "mara.yaml:2: path names ., and there is no Pulumi.yaml in it"},
		{"cycle", "projects:\n- {path: net, reads: db}\n- {path: db, after: net}", "mara.yaml:2: projects form a cycle: net -> db -> net"},
		{"itself", "projects:\n- {path: net, reads: net}", "mara.yaml:2: projects form a cycle: net -> net"},
		{"unknown project", "projects:\n- path: net\n- path: db\n  reads: [nett]", `mara.yaml:4: reads names "nett", which is not a project of own; did you mean "net"?`},
		{"no word like it", "projects:\n- path: net\n- path: db\n  reads: [shop]", `mara.yaml:4: reads names "shop", which is not a project of own; it has net, db`},
		{"git without ref", "projects:\n- git: https://example.com/acme/infra.git\n  path: net", "mara.yaml:2: projects[0] has git and no ref; write ref: with a tag, a branch or a commit"},
		{"a title of two", "projects:\n- {path: net, title: T}\n- {path: db, title: T}\n- {path: certmgr, reads: t}", `mara.yaml:4: reads names "t", which is not a project of own; it may be net or db`},
		{"two of one name", "projects:\n- path: net\n- path: ./net", `mara.yaml:3: the project "net" is there twice; the first time is line 2`},
		{"name of a built-in one", "providers: {kind: {}}\nprojects:\n- path: certmgr", `mara.yaml:3: the project "certmgr" has the name of a built-in one of kind; give it another name, or say  replaces: certmgr`},
		{"bad when", "projects:\n- path: net\n  when: .config[", `mara.yaml:3: when is not a jq expression: unexpected EOF`},
		{"unknown function", "projects:\n- path: net\n  when: foo(1)", `mara.yaml:3: when is not a jq expression: function not defined: foo/1`},
		{"no program", "projects:\n- path: net\n  hooks:\n  - run: no-such-program -x", "mara.yaml:4: the hook no-such-program cannot be run: there is no no-such-program on the PATH"},
		{"not executable", "projects:\n- path: net\n  hooks:\n  - run: ./notes.txt", "mara.yaml:4: the hook notes.txt cannot be run: ROOT/net/notes.txt is not executable: `chmod +x ROOT/net/notes.txt`"},
		{"unknown hook", "projects:\n- path: net\n  hooks: [kubeconfg]", `mara.yaml:3: the runner has no hook "kubeconfg"; known: kubeconfig, answers; did you mean "kubeconfig"?; for a command write  run: COMMAND`},
		{"hook of a run", "hooks: [kubeconfig]", `mara.yaml:1: "kubeconfig" is not a hook of a run; write  run: COMMAND`},
		{"hook twice", "projects:\n- path: net\n  hooks: [{name: a, run: ./hook.sh}, {name: a, run: ./hook.sh}]", `mara.yaml:3: a hook "a" is there twice`},
		{"operation", "projects:\n- path: net\n  hooks: [{run: ./hook.sh, operations: [destory]}]", `mara.yaml:3: operations names "destory"; allowed: up, preview, refresh, drift, destroy; did you mean "destroy"?`},
		{"unknown provider", "providers: {kind: {}}\nprojects:\n- {path: net, providers: [kin]}", `mara.yaml:3: providers names "kin", which is not a provider of this file; known: kind; did you mean "kind"?`},
		{"extends", "providers:\n  a:\n    extends: kid", `mara.yaml:3: extends names an unknown provider "kid"; known: ` + strings.Join(providers.Names(), ", ") + `; did you mean "kind"?`},
		{"extends of a built-in one", "providers: {aws: {extends: kind}}", "mara.yaml:1: aws is a built-in provider, and extends none; give yours another name"},
		{"provider's name", "providers: {a/b: {}}", `mara.yaml:1: "a/b" cannot be the name of a provider: write small letters, digits and hyphens`},
		{"without", "providers: {kind: {without: [certmgrs]}}", `mara.yaml:1: without names "certmgrs", which kind does not have; did you mean "certmgr"?`},
		{"with", "providers: {kind: {with: [metric-server]}}", `mara.yaml:1: with names "metric-server", which is no optional project; known: metrics-server, guardrails, access, dashboard, external-dns, backup, cluster-autoscaler; did you mean "metrics-server"?`},
		{"with what is there", "providers: {kind: {with: [certmgr]}}", `mara.yaml:1: with names "certmgr", which is part of kind already`},
		{"with twice", "providers: {kind: {with: [backup, Backup]}}", `mara.yaml:1: with names "backup" twice`},
		{"with what the provider cannot have", "providers:\n  linode:\n    with: cluster-autoscaler", `mara.yaml:3: with: cluster-autoscaler is not there for linode: its cluster changes the number of nodes itself, with lke:min_nodes and lke:max_nodes`},
		{"with and no cluster", "providers: {mine: {with: backup}}\nprojects: [{path: net}]", `mara.yaml:1: with: backup is not there for mine: it needs a cluster; write extends: with a built-in provider`},
		{"an optional project in a list", "providers:\n  mine:\n    extends: kind\n    projects: [{project: kind-cluster}, {project: kubeconfig}, {project: external-dns}]", `mara.yaml:4: external-dns is not there for mine: no DNS leads to a cluster on this machine`},
		{"without what others read", "providers: {kind: {without: [logstore]}}", "mara.yaml:1: logagent reads the outputs of logstore, which is excluded by without; exclude it, too"},
		{"after of an unknown project", "providers: {kind: {after: {net: [certmgr], certmgr: [net]}}}", `mara.yaml:1: after names "net", which kind does not have`},
		{"replaces", "projects: [{path: net, replaces: certmgr}]", `mara.yaml:1: replaces names "certmgr", which own does not have`},
		{"replaces what is read", "providers: {kind: {}}\nprojects:\n- {path: net, replaces: logstore}", "mara.yaml:3: logagent reads the outputs of logstore by that name; give the project that replaces it the name logstore, or exclude logagent"},
		{"catalogue", "projects: [{project: certmgrs}]", `mara.yaml:1: project names "certmgrs", which does not come with the runner; did you mean "certmgr"?; for a project of your own write  path: DIR`},
		{"needs of a catalogue project", "providers: {mine: {extends: kind, projects: [{project: kubeconfig}]}}", "mara.yaml:1: kubeconfig needs kind-cluster, which is not a project of mine; add it, or write reads and after"},
		{"when of a catalogue project", "providers: {mine: {extends: kind, projects: [{project: kind-cluster, when: 'true'}]}}", "mara.yaml:1: when is for projects of your own; kind-cluster comes with the runner"},
		{"config", "projects: [{path: net, config: {sise: {}}}]", `mara.yaml:1: config names "net:sise", which the section config of net/Pulumi.yaml does not declare; did you mean "net:size"?`},
		{"allowed", "projects: [{path: net, config: {hosts: {allowed: [a]}}}]", "mara.yaml:1: net:hosts is of the type integer, but allowed has \"a\""},
		{"default", "projects: [{path: net, config: {size: {allowed: [a]}}}]", `mara.yaml:1: the default of net:size is "small"; allowed: a`},
		{"generate", "projects: [{path: net, config: {token: {generate: pasword}}}]", `mara.yaml:1: generate is "pasword"; allowed: password, alphanumeric, rsa-key; did you mean "password"?`},
		{"git that is not here", "projects:\n- git: https://example.com/acme/infra.git\n  ref: v1\n  path: net", "mara.yaml:2: the project is in infra@v1, which is not here yet; fetch it with `runner fetch`"},
		{"stack without a place", "projects:\n- path: net\n  stackFile: own\n  stack: net", `mara.yaml:4: stack is "net"; write {stack} where the name of the environment comes, as in  stack: "net-{stack}"`},
		{"stack with a space", "projects: [{path: net, stackFile: own, stack: 'a {stack}'}]", `mara.yaml:1: stack is "a {stack}": the stack name "a x" contains ' '; allowed are letters, digits, hyphen, underscore and period`},
		{"stack in the shared file", "projects: [{path: net, stack: 'net-{stack}'}]", `mara.yaml:1: stack needs  stackFile: own, since stack files are named by their stacks`},
		{"phase", "projects: [{path: net, phase: a b}]", `mara.yaml:1: phase is "a b"; write letters, digits and hyphens`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := root(t, test.mara, "net", "db", "certmgr")
			_, err := catalogue.Load(providers.Catalogue(), dir, "")
			if err == nil {
				t.Fatal("no error")
			}
			lines := strings.Split(strings.ReplaceAll(err.Error(), dir, "ROOT"), "\n")
			if test.name == "after of an unknown project" { // twice, from both sides
				lines = lines[1:2]
			}
			if diff := cmp.Diff(test.want, strings.TrimSpace(strings.Join(lines, "\n"))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestByName(t *testing.T) {
	t.Parallel()
	c, err := catalogue.Load(providers.Catalogue(), root(t, "providers: {kind: {}, shop: {}}"), "")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"kind": "<nil>",
		"shp":  `unknown provider "shp"; known: kind, shop; did you mean "shop"?`,
		"aws":  `the provider "aws" is not listed in mara.yaml; known: kind, shop; to use it, write there below providers:  aws: {}`,
	} {
		if _, err := c.ByName(name); fmt.Sprint(err) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLeftOut(t *testing.T) {
	t.Parallel()
	for when, want := range map[string]string{
		`.config["net:size"] == "small"`:                  "",
		`.config["net:hosts"] > 2`:                        "",
		`.config["net:hosts"] > 3`:                        `map[net:when .config["net:hosts"] > 3]`,
		`.provider == "own" and (.stack | test("^prod"))`: "",
		`.config["none"]`:                                 `map[net:when .config["none"]]`,
		`empty`:                                           "map[net:when empty]",
		`.config["net:size"]`: `mara.yaml:3: when of net: it gives small, and must give true or false: ` +
			"compare it, as in `.config[\"net:size\"] == \"...\"`",
		`.stack | .x`: `mara.yaml:3: when of net: expected an object but got: string ("production")`,
		`def f: f; f`: "mara.yaml:3: when of net: takes longer than 1s",
	} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			c, err := catalogue.Load(providers.Catalogue(), root(t, "projects:\n- path: net\n  when: '"+when+"'", "net"), "")
			if err != nil {
				t.Fatal(err)
			}
			file := config.StackFile{Entries: []config.Entry{{Key: "net:hosts", Value: 3}}}
			reasons, err := catalogue.LeftOut(c.Providers[0], "production", file)
			got := fmt.Sprint(reasons)
			if err != nil {
				got = err.Error()
			}
			if want == "" {
				want = "map[]"
			}
			if got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// TestLeftOutBeside: a condition sees what the stack file beside a project says.
func TestLeftOutBeside(t *testing.T) {
	t.Parallel()
	dir := root(t, "projects:\n- path: net\n  stackFile: own\n  stack: net-{stack}\n  when: .config[\"net:hosts\"] > 3", "net")
	if err := os.WriteFile(filepath.Join(dir, "net", "Pulumi.net-dev.yaml"), []byte("config: {net:hosts: 4}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	c, err := catalogue.Load(providers.Catalogue(), dir, "")
	if err != nil {
		t.Fatal(err)
	}
	file := config.StackFile{Entries: []config.Entry{{Key: "net:hosts", Value: 1}}}
	for stack, want := range map[string]int{"dev": 0, "prod": 1} {
		if reasons, err := catalogue.LeftOut(c.Providers[0], stack, file); err != nil || len(reasons) != want {
			t.Errorf("%s: %v, %v", stack, reasons, err)
		}
	}
}

// TestDescribe: a provider that is described and read again has the same plan.
func TestDescribe(t *testing.T) {
	t.Parallel()
	for _, p := range providers.All() {
		text, err := catalogue.Describe(providers.Catalogue(), p)
		if err != nil {
			t.Fatal(err)
		}
		c, err := catalogue.Load(providers.Catalogue(), root(t, text), "")
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		want, got := catalogue.Catalogue{Providers: []model.Provider{p}}, c
		got.Providers[0].Name = p.Name
		if diff := cmp.Diff(lists(want), lists(got)); diff != "" {
			t.Errorf("%s: %s", p.Name, diff)
		}
	}
}

// TestDescribeOwn: what mara.yaml says about own projects is there again.
func TestDescribeOwn(t *testing.T) {
	t.Parallel()
	mara := `providers: {shop: {}}
projects:
  - path: net
    title: Network
    phase: base
    when: .stack == "dev"
    stackFile: own
    outputs: [address]
    timeout: 5m
    estimate: 90s
    hooks: [kubeconfig, {name: a, on: always, operations: [up, destroy], run: [./hook.sh, a b], timeout: 1m, retry: 2, simulate: true}]
  - {path: db, reads: net}
`
	dir := root(t, mara, "net", "db")
	c, err := catalogue.Load(providers.Catalogue(), dir, "")
	if err != nil {
		t.Fatal(err)
	}
	text, err := catalogue.Describe(providers.Catalogue(), c.Providers[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "mara.yaml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	again, err := catalogue.Load(providers.Catalogue(), dir, "")
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for i := range c.Providers[0].Steps { // but their places in the file
		c.Providers[0].Steps[i].Project.Own.Line, again.Providers[0].Steps[i].Project.Own.Line = 0, 0
	}
	lines := []cmp.Option{cmpopts.IgnoreFields(model.Own{}, "WhenLine"), cmpopts.IgnoreFields(model.Output{}, "Line")}
	if diff := cmp.Diff(c.Providers, again.Providers, lines...); diff != "" {
		t.Errorf("%s\n%s", diff, text)
	}
}
