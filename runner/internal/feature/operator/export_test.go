package operator_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"

	"mara/projects"
	"mara/projects/model"
	"mara/projects/model/needs"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/feature/operator"
)

var update = flag.Bool("update", false, "write the golden files")

// environment has built-in projects, one of them impossible, own ones, and everything
// that an export can be about.
func environment(t *testing.T) operator.Environment {
	t.Helper()
	builtIn := func(name string) model.Project {
		p, ok := projects.ByName(name)
		if !ok {
			t.Fatalf("there is no project %s", name)
		}
		return p
	}
	own := func(name, runtime string) model.Project {
		return model.Project{Name: name, Path: "teams/" + name, Title: name, Own: &model.Own{Runtime: runtime, Timeout: time.Minute}, Hooks: []model.Hook{{Name: "smoke"}}}
	}
	steps := []model.Step{
		{Project: builtIn("linode-lke")},
		{Project: builtIn("kubeconfig"), Needs: needs.Needs{Reads: []string{"linode-lke"}}},
		{Project: builtIn("kic-image-build"), Needs: needs.Needs{After: []string{"linode-lke"}}},
		{Project: own("shop", "yaml"), Needs: needs.Needs{Reads: []string{"kubeconfig"}, After: []string{"kic-image-build"}}},
		{Project: own("a-project-with-quite-a-long-name-indeed", "yaml"), Needs: needs.Needs{Reads: []string{"shop"}}},
	}
	order, err := plan.New(model.Provider{Steps: steps})
	if err != nil {
		t.Fatal(err)
	}
	program := map[string]any{
		"configuration": map[string]any{"size": map[string]any{"type": "Number", "default": 3.0}},
		"resources":     map[string]any{"r": map[string]any{"type": "random:RandomPet", "properties": map[string]any{"length": "${size}"}}},
		"outputs":       map[string]any{"name": "${r.id}"},
	}
	return operator.Environment{
		Name: "dev", Organization: "organization", Plan: order,
		Config:    map[string]map[string]any{"linode-lke": {"linode:region": "de-fra-2", "lke:tags": []any{"a", "b"}, "lke:pool": map[string]any{"count": 3.0}}, "shop": {"shop:size": "3"}},
		Secrets:   map[string][]string{"shop": {"shop:password"}},
		Variables: []string{"LINODE_TOKEN", "PULUMI_CONFIG_PASSPHRASE"},
		Programs:  map[string]map[string]any{"shop": program, "a-project-with-quite-a-long-name-indeed": program},
	}
}

// options returns several ways to export.
func options() map[string]operator.Options {
	plain := operator.Options{Namespace: "envs", Image: "registry.example/workspace:1", Backend: "s3://state", Within: 3 * time.Hour}
	all := plain
	all.Backend, all.Claim, all.Repo, all.Branch, all.RepoDir = "file:///state", "state", "https://example.com/infra", "main", "live"
	all.RepoSecret = "git-login"
	all.Destroy, all.Refresh, all.Resync, all.Retain, all.RetryOnUpdateConflict, all.Preview = true, true, time.Hour, true, true, true
	all.AccountAnnotations = map[string]string{"eks.amazonaws.com/role-arn": "arn:aws:iam::1:role/x"}
	flux := plain
	flux.Flux = operator.SourceRef{APIVersion: "source.toolkit.fluxcd.io/v1", Kind: "GitRepository", Name: "infra"}
	return map[string]operator.Options{"plain": plain, "all": all, "flux": flux}
}

func files(t *testing.T, o operator.Options) map[string][]byte {
	t.Helper()
	e := environment(t)
	x, err := operator.Export(e, o)
	if err != nil {
		t.Fatal(err)
	}
	made, err := x.Files(e, o)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for name, o := range options() {
		var all strings.Builder
		made := files(t, o)
		for _, file := range slices.Sorted(maps.Keys(made)) {
			fmt.Fprintf(&all, "== %s\n%s", file, made[file])
		}
		golden := filepath.Join("testdata", name+".txt")
		if *update {
			if err := errors.Join(os.MkdirAll("testdata", 0o755), os.WriteFile(golden, []byte(all.String()), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), all.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", golden, diff)
		}
	}
}

// TestRepositories: the operator takes https and ssh, each with a login of its own.
func TestRepositories(t *testing.T) {
	t.Parallel()
	for repository, want := range map[string]string{
		"https://example.com/acme/infra":   "accessToken",
		"ssh://git@example.com/acme/infra": "sshPrivateKey",
		"git@example.com:acme/infra.git":   "sshPrivateKey",
		"http://example.com/acme/infra":    "not by http",
		"git://example.com/acme/infra":     "not by git",
		"file:///srv/infra":                "not by file",
	} {
		e := environment(t)
		e.Repositories = map[string]operator.Repository{"shop": {URL: repository, Commit: "0123456", Directory: "shop"}}
		x, err := operator.Export(e, operator.Options{Namespace: "envs", Image: "image", Backend: "s3://state", Within: 3 * time.Hour, RepoSecret: "login"})
		if err != nil {
			if !strings.Contains(err.Error(), "shop: the operator fetches repositories by https:// and ssh:// only, "+want) {
				t.Errorf("%s: %v", repository, err)
			}
			continue
		}
		i := slices.IndexFunc(x.Stacks, func(s operator.Stack) bool { return s.Metadata.Name == "dev-shop" })
		content, err := json.Marshal(x.Stacks[i].Spec.GitAuth)
		if err != nil || !strings.Contains(string(content), `"`+want+`"`) {
			t.Errorf("%s: %s, %v", repository, content, err)
		}
		if strings.HasPrefix(want, "not") {
			t.Errorf("%s was taken", repository)
		}
	}
}

// TestBackendOfAProject: a project whose states are in another backend keeps them there, and the credentials for it are asked for.
func TestBackendOfAProject(t *testing.T) {
	t.Parallel()
	e := environment(t)
	e.Backends = map[string]string{"shop": "gs://elsewhere"}
	o := operator.Options{Namespace: "envs", Image: "image", Backend: "s3://state", Within: 3 * time.Hour}
	x, err := operator.Export(e, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, stack := range x.Stacks {
		want := "s3://state"
		if stack.Metadata.Name == "dev-shop" {
			want = "gs://elsewhere"
		}
		if stack.Spec.Backend != want {
			t.Errorf("%s has its state in %s, want %s", stack.Metadata.Name, stack.Spec.Backend, want)
		}
	}
	files, err := x.Files(e, o)
	if err != nil || !strings.Contains(string(files["README.md"]), "Credentials of the backend gs://") {
		t.Errorf("the README does not ask for credentials of gs:// (%v)", err)
	}
}

// definitions names a directory with the operator's CustomResourceDefinitions.
const definitions = "MARA_OPERATOR_CRDS"

// TestDefinitions holds what is written against the operator's own schemas, which
// refuse unknown fields here.
func TestDefinitions(t *testing.T) {
	t.Parallel()
	dir := os.Getenv(definitions)
	if dir == "" {
		t.Skip(definitions + " does not name a directory with the operator's definitions")
	}
	schemas := map[string]*jsonschema.Schema{
		"Stack": schemaOf(t, filepath.Join(dir, "pulumi.com_stacks.yaml")), "Program": schemaOf(t, filepath.Join(dir, "pulumi.com_programs.yaml")),
	}
	// The templates in a Stack have no schema there: theirs are those of other kinds.
	workspace, updates := schemaOf(t, filepath.Join(dir, "auto.pulumi.com_workspaces.yaml")), schemaOf(t, filepath.Join(dir, "auto.pulumi.com_updates.yaml"))
	checked := 0
	for name, o := range options() {
		for file, content := range files(t, o) {
			var object map[string]any
			if err := yaml.Unmarshal(content, &object); err != nil || schemas[fmt.Sprint(object["kind"])] == nil {
				continue
			}
			checked++
			if err := schemas[fmt.Sprint(object["kind"])].Validate(object); err != nil {
				t.Errorf("%s %s: %v", name, file, err)
			}
			spec, _ := object["spec"].(map[string]any)
			for field, schema := range map[string]*jsonschema.Schema{"workspaceTemplate": workspace, "updateTemplate": updates} {
				template, ok := spec[field].(map[string]any)
				if !ok {
					continue
				}
				if field == "updateTemplate" { // the operator names these itself
					template["spec"].(map[string]any)["workspaceName"], template["spec"].(map[string]any)["stackName"] = "w", "s"
				}
				if err := schema.Validate(template); err != nil {
					t.Errorf("%s %s: %s: %v", name, file, field, err)
				}
			}
			if spec != nil {
				spec["prerequisite"] = "x"
				if schemas["Stack"].Validate(object) == nil {
					t.Error("a field that there is not passes")
				}
			}
		}
	}
	if checked != 4+4+6 {
		t.Errorf("%d objects were checked", checked)
	}
}

// schemaOf returns the schema of the newest version in a definition.
func schemaOf(t *testing.T, file string) *jsonschema.Schema {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var definition struct {
		Spec struct {
			Versions []struct {
				Schema struct{ OpenAPIV3Schema any }
			}
		}
	}
	if err := yaml.Unmarshal(content, &definition); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(strict(definition.Spec.Versions[0].Schema.OpenAPIV3Schema, true))
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("definition", document); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("definition")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// strict makes a structural schema refuse fields that an API server would drop.
func strict(schema any, top bool) any {
	switch schema := schema.(type) {
	case []any:
		for i := range schema {
			schema[i] = strict(schema[i], false)
		}
	case map[string]any:
		if schema["x-kubernetes-int-or-string"] == true {
			return map[string]any{}
		}
		for name, value := range schema {
			schema[name] = strict(value, false)
		}
		if schema["properties"] != nil && schema["type"] == "object" && schema["x-kubernetes-preserve-unknown-fields"] != true && !top {
			schema["additionalProperties"] = false
		}
	}
	return schema
}

// TestOwnPlaces has a project from a repository of its own, with stacks of other names.
func TestOwnPlaces(t *testing.T) {
	t.Parallel()
	e := environment(t)
	e.StackNames = model.StackNames{"shop": "shop-{stack}"}
	e.Repositories = map[string]operator.Repository{"shop": {URL: "https://example.com/shop", Commit: "0123", Directory: "deploy"}}
	x, err := operator.Export(e, options()["all"])
	if err != nil {
		t.Fatal(err)
	}
	spec := x.Stacks[2].Spec
	if spec.Stack != "organization/shop/shop-dev" || spec.ProjectRepo != "https://example.com/shop" || spec.Commit != "0123" || spec.Branch != "" || spec.RepoDir != "deploy" {
		t.Errorf("spec %+v", spec)
	}
}

func TestExportRefuses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		change func(*operator.Environment, *operator.Options)
		want   string
	}{
		{"a duration too short", func(_ *operator.Environment, o *operator.Options) { o.Within = time.Minute }, "is not longer than"},
		{"a program that is nowhere", func(e *operator.Environment, _ *operator.Options) { delete(e.Programs, "shop") }, "shop has the runtime yaml: say with --repo or --flux"},
		{"stack files of its own", func(e *operator.Environment, _ *operator.Options) { e.Plan.Steps[3].Project.Own.StackFiles = "x" }, "shop has its own stack files"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e, o := environment(t), options()["plain"]
			test.change(&e, &o)
			if _, err := operator.Export(e, o); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestReadProgram(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, project, main, fails string
		want                       map[string]any
	}{
		{
			"two files", "name: shop\nruntime: yaml\ndescription: d\nconfig:\n  shop:size: {type: integer, default: 3}\n  colour: {}\n", "outputs: {size: '${size}'}\n", "",
			map[string]any{"configuration": map[string]any{"size": map[string]any{"type": "Number", "default": 3.0}, "colour": map[string]any{"type": "String"}}, "outputs": map[string]any{"size": "${size}"}},
		},
		{"a secret", "name: shop\nruntime: yaml\nconfig: {password: {type: string, secret: true}}\n", "", "Pulumi.yaml: the configuration password is secret", nil},
		{"a type", "name: shop\nruntime: yaml\nconfig: {on: {type: boolean}}\n", "", "has the type boolean", nil},
		{"a section", "name: shop\nruntime: yaml\n", "components: {}\n", "Main.yaml: a Program has no components", nil},
		{"no YAML", "name: [\n", "", "Pulumi.yaml: ", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			err := os.WriteFile(filepath.Join(dir, "Pulumi.yaml"), []byte(test.project), 0o600)
			if test.main != "" {
				err = errors.Join(err, os.WriteFile(filepath.Join(dir, "Main.yaml"), []byte(test.main), 0o600))
			}
			if err != nil {
				t.Fatal(err)
			}
			got, err := operator.ReadProgram(dir, false)
			if test.fails != "" {
				if err == nil || !strings.Contains(err.Error(), test.fails) {
					t.Errorf("error %v", err)
				}
				return
			}
			if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
				t.Errorf("error %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// TestReadApplication: the secret values of an application come from Secrets, so its Program may have them.
func TestReadApplication(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := "name: shop\nruntime: yaml\nconfig: {TOKEN: {type: string, secret: true}}\n"
	if err := os.WriteFile(filepath.Join(dir, "Pulumi.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := operator.ReadProgram(dir, true)
	want := map[string]any{"configuration": map[string]any{"TOKEN": map[string]any{"type": "String"}}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
}
