package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mara/config"
)

const maraExample = `
projects:
  - path: shop/network
    title: Shop Network
    phase: foundations
    outputs: [address]
    config:
      shop-network:size: {allowed: [small, large], question: How large is the network}
      shop-network:hosts: {min: 1, max: 9}
  - path: app
    reads: network
    after: [kubeconfig]
    providers: [kind]
    when: .config["shop:app"] != false
    stackFile: own
    timeout: 10m
    estimate: 90s
    hooks:
      - kubeconfig
      - {name: smoke, on: success, operations: [up], run: ./smoke.sh --fast "a b", timeout: 1m, retry: 2, simulate: true}
providers:
  kind:
    without: [bank-of-anthos]
    after: {prometheus: [app]}
  mine:
    title: Mine
    extends: kind
    projects:
      - project: kind-cluster
hooks:
  - {on: always, run: [notify, "$HOME"]}
`

func TestParseMara(t *testing.T) {
	t.Parallel()
	got, err := config.ParseMara("mara.yaml", []byte(maraExample))
	if err != nil {
		t.Fatal(err)
	}
	one, nine := 1, 9
	want := config.Mara{
		File: "mara.yaml",
		Projects: []config.MaraProject{
			{
				Line: 3, Path: config.Word{Text: "shop/network", Line: 3}, Title: "Shop Network", Phase: "foundations",
				Outputs: []config.Word{{Text: "address", Line: 6}},
				Config: []config.MaraKey{
					{Key: config.Word{Text: "shop-network:size", Line: 8}, Allowed: []string{"small", "large"}, Question: "How large is the network"},
					{Key: config.Word{Text: "shop-network:hosts", Line: 9}, Min: &one, Max: &nine},
				},
			},
			{
				Line: 10, Path: config.Word{Text: "app", Line: 10}, Reads: []config.Word{{Text: "network", Line: 11}},
				After: []config.Word{{Text: "kubeconfig", Line: 12}}, Edges: true, Providers: []config.Word{{Text: "kind", Line: 13}},
				When: config.Word{Text: `.config["shop:app"] != false`, Line: 14}, StackFile: config.Word{Text: "own", Line: 15},
				MaraTimes: config.MaraTimes{Timeout: 10 * time.Minute, Estimate: 90 * time.Second},
				Hooks: []config.MaraHook{
					{Line: 19, BuiltIn: config.Word{Text: "kubeconfig", Line: 19}},
					{
						Line: 20, Name: config.Word{Text: "smoke", Line: 20}, On: config.Word{Text: "success", Line: 20},
						Operations: []config.Word{{Text: "up", Line: 20}}, Run: []string{"./smoke.sh", "--fast", "a b"}, RunLine: 20,
						Timeout: time.Minute, Retry: 2, Simulate: true,
					},
				},
			},
		},
		Providers: []config.MaraProvider{
			{
				Name: config.Word{Text: "kind", Line: 22}, Without: []config.Word{{Text: "bank-of-anthos", Line: 23}},
				After: []config.MaraOrder{{Project: config.Word{Text: "prometheus", Line: 24}, After: []config.Word{{Text: "app", Line: 24}}}},
			},
			{
				Name: config.Word{Text: "mine", Line: 25}, Title: "Mine", Extends: config.Word{Text: "kind", Line: 27}, Listed: true,
				Projects: []config.MaraProject{{Line: 29, Project: config.Word{Text: "kind-cluster", Line: 29}}},
			},
		},
		Hooks: []config.MaraHook{{Line: 31, On: config.Word{Text: "always", Line: 31}, Run: []string{"notify", "$HOME"}, RunLine: 31}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestParseMaraRefuses: all problems are reported at once, with their lines.
func TestParseMaraRefuses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, in, want string }{
		{"unknown key", "projcts: []", `mara.yaml:1: projcts is not a known key; allowed: backend, environments, projects, providers, applications, hooks, harmless, preview, fingerprint; did you mean "projects"?`},
		{"no map", "- a", `mara.yaml:1: must be a map, not a list`},
		{"a project's name", "projects: [net]", `mara.yaml:1: projects[0] must be a map, not the string "net": write {path: net} for a directory, or {project: net} for a project that comes with the runner`},
		{"no list", "projects: {a: b}", `mara.yaml:1: projects must be a list, not a map`},
		{"no place", "projects:\n  - title: A", `mara.yaml:2: projects[0] has no path; write path: DIR for a project of your own, or project: NAME for one that comes with the runner`},
		{"two places", "projects: [{path: a, project: b}]", `mara.yaml:1: projects[0] has both path and project; a project of the catalogue has no path`},
		{"git without ref", "projects:\n- git: https://a/b\n  path: c", `mara.yaml:2: projects[0] has git and no ref; write ref: with a tag, a branch or a commit`},
		{"ref without git", "projects:\n- path: c\n  ref: v1", `mara.yaml:3: projects[0] has ref and no git; write git: with the URL of a repository`},
		{"git and project", "projects: [{git: a, ref: b, project: c}]", `mara.yaml:1: projects[0] has both git and project; a project of the catalogue comes with the runner`},
		{"an option for git", "projects: [{git: a, ref: --upload-pack=x}]", `mara.yaml:1: projects[0] has a git or ref that begins with a hyphen`},
		{"out of the root", "projects: [{path: ../c}]", `mara.yaml:1: projects[0] has the path ../c, which is not below the root; use git: for projects of other repositories`},
		{"out of the repository", "projects: [{git: a, ref: b, path: ../c}]", `mara.yaml:1: projects[0] has the path ../c, which is not in the repository`},
		{"stack file", "projects: [{path: a, stackFile: owm}]", `mara.yaml:1: projects[0].stackFile is "owm"; allowed: shared, own; did you mean "own"?`},
		{"timeout", "projects: [{path: a, timeout: 10}]", `mara.yaml:1: projects[0].timeout must be a time such as 90s or 10m, not 10; did you mean 10s?`},
		{"nothing", "projects: [{path: }]", `mara.yaml:1: projects[0].path must be a string, not nothing`},
		{"hook without command", "hooks: [{on: always}]", `mara.yaml:1: hooks[0] runs nothing; write run: COMMAND, or the name of a built-in hook`},
		{"moment", "hooks: [{on: sucess, run: a}]", `mara.yaml:1: hooks[0].on is "sucess"; allowed: before, success, failure, always; did you mean "success"?`},
		{"quotes", `hooks: [{run: "a 'b"}]`, `mara.yaml:1: hooks[0].run is not a command: the string "a 'b"`},
		{"retry", "hooks: [{run: a, retry: -1}]", `mara.yaml:1: hooks[0].retry must be a whole number of 0 or more, not -1`},
		{"simulate", "hooks: [{run: a, simulate: maybe}]", `mara.yaml:1: hooks[0].simulate must be true or false, not the string "maybe"`},
		{"twice", "hooks: []\nhooks: []", `mara.yaml:2: hooks is set a second time; the first time is line 1`},
		{"no YAML", "a: [", `mara.yaml:1: is not valid YAML: did not find expected node content`},
		{"several", "a: b\nprojects:\n  - pth: c", "2 problems in the configuration:\n" +
			"  mara.yaml:1: a is not a known key; allowed: backend, environments, projects, providers, applications, hooks, harmless, preview, fingerprint\n" +
			"  mara.yaml:3: projects[0].pth is not a known key; allowed: path, git, ref and 19 more; did you mean \"path\"?"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := config.ParseMara("mara.yaml", []byte(test.in))
			if err == nil {
				t.Fatal("no error")
			}
			if diff := cmp.Diff(test.want, err.Error()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReadMaraMissing(t *testing.T) {
	t.Parallel()
	if m, err := config.ReadMara(t.TempDir()); err != nil || m.File != "" {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestParseManifest(t *testing.T) {
	t.Parallel()
	got, err := config.ParseManifest("net/Pulumi.yaml", []byte(`
name: net
runtime: {name: yaml}
description: A network
stackConfigDir: stacks
config:
  cidr: {type: string, default: 10.0.0.0/16, description: "the range\n  of addresses"}
  hosts: {type: integer}
  public: {type: boolean, default: false}
  zones: {type: array, items: {type: string}, default: [a, b]}
  pairs: {type: array, items: {type: array, items: {type: string}}}
  size: 3
  net:token: {type: string, secret: true}
  aws:region: {value: eu-west-1}
resources: {}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := config.Manifest{
		Name: "net", Runtime: "yaml", Description: "A network", StackConfigDir: "stacks",
		Keys: []config.Key{
			{Name: "net:cidr", Kind: config.String, Default: "10.0.0.0/16", Doc: "the range of addresses"},
			{Name: "net:hosts", Kind: config.Int, Required: true, Doc: "a value of the project net"},
			{Name: "net:public", Kind: config.Bool, Default: false, Doc: "a value of the project net"},
			{Name: "net:zones", Kind: config.List, Default: []string{"a", "b"}, Typed: true, Doc: "a value of the project net"},
			{Name: "net:pairs", Kind: config.Items, Required: true, Typed: true, Doc: "a value of the project net"},
			{Name: "net:size", Kind: config.Int, Default: 3},
		},
		Secrets: []config.Key{{Name: "net:token", Kind: config.String, Required: true, Doc: "a value of the project net"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for in, want := range map[string]string{
		"runtime: go": "p:1: name is missing",
		"":            "p: is not the description of a Pulumi project: name and runtime are missing",
		"name: a\nruntime: go\nconfig: {b: {type: strng}}": `p:3: config.b has the type "strng"; allowed: string, integer, boolean, array, object`,
	} {
		if _, err := config.ParseManifest("p", []byte(in)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", in, err, want)
		}
	}
}
