package projects_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/config"
	"mara/projects"
	"mara/projects/model"
)

// problemsOf runs the rules of a project over one key.
func problemsOf(t *testing.T, key string, value map[string]any) []string {
	t.Helper()
	var found []string
	for _, project := range projects.All() {
		if _, ok := project.Key(key); !ok {
			continue
		}
		for _, rule := range project.Rules {
			get := func(name string) any {
				if name == key {
					return value
				}
				declared, _ := project.Key(name)
				return declared.Default
			}
			for _, finding := range rule(config.Values{Get: get, IsSet: func(name string) bool { return name == key }}) {
				if finding.Key == key && !slices.Contains(found, finding.Text) {
					found = append(found, finding.Text)
				}
			}
		}
	}
	return found
}

// TestMapsByName: what is wrong in maps of pools, namespaces, groups and principals is found, all at once.
func TestMapsByName(t *testing.T) {
	t.Parallel()
	type fields = map[string]any
	for _, test := range []struct {
		name, key string
		value     fields
		want      []string
	}{
		{"good pools", "eks:pools", fields{
			"batch": fields{"size": "m7g.large", "architecture": "arm64", "spot": true, "min": 0, "max": 5.0, "labels": fields{"a": "b"},
				"taints": []any{"role=batch:NoSchedule", "x:NoExecute"}},
			"large": fields{"size": "m6i.2xlarge", "count": "2"},
		}, nil},
		{"bad pools", "eks:pools", fields{
			"default": fields{"size": "m6i.large"}, "A": fields{"size": "m6i.large", "count": 1, "max": 2},
			"b": fields{"min": 3, "taints": []any{"x"}}, "c": fields{"size": "m6i.large", "min": 3, "max": 2, "cuont": 1}, "d": "x",
		}, []string{
			"A is no name for a pool: write up to 20 small letters, digits and hyphens", "A has count, and min and max; write either",
			"b has taints: [x], which is not a list, each item a taint such as dedicated=batch:NoSchedule", "b has no size; write the type of its nodes",
			`c has cuont, which is not known; known: architecture, count, labels, max, min, size, spot, taints; did you mean "count"?`,
			"c has min 3, which is more than max 2", "d is no map", "d has no size; write the type of its nodes",
			"default is the name of the first pool, which has keys of its own",
		}},
		{"no spot on LKE", "lke:pools", fields{"a": fields{"size": "g6-standard-4", "spot": true, "min": 0, "max": 2}}, []string{
			"a has min: 0, which is not a whole number from 1 to 450",
			"a has spot, which is not known; known: count, labels, max, min, size, taints",
		}},
		{"size of another cloud", "doks:pools", fields{"a": fields{"size": "g6_standard"}}, []string{
			"a has size: g6_standard, which is not a size such as s-4vcpu-8gb",
		}},
		{"good namespaces", "guardrails:namespaces", fields{"team-a": fields{"cpu": 4, "memory": "8Gi", "pods": 20}, "team-b": nil}, nil},
		{"bad namespaces", "guardrails:namespaces", fields{"kube-x": fields{}, "team": fields{"memory": "much"}}, []string{
			"kube-x is no name for a namespace of a team", "team has memory: much, which is not a size such as 10Gi",
		}},
		{"good groups", "access:groups", fields{
			"platform": fields{"role": "admin"}, "oidc:Team": fields{"role": "viewer"}, "Ops Team/EU": fields{"role": "viewer"}, "team-a": fields{"role": "developer", "namespaces": []any{"team-a"}},
		}, nil},
		{"bad groups", "access:groups", fields{
			"system:masters": fields{"role": "admin"}, "a": fields{"role": "developer"}, "b": fields{"role": "boss"},
			"c": fields{"role": "viewer", "namespaces": []any{"x"}},
		}, []string{
			"a is a developer of no namespace; write namespaces: [NAME]", "b has role: boss, which is not admin, developer or viewer",
			"c has namespaces, which only a developer has",
			"system:masters is no name for a group: write it as the cluster's login does; system: is for Kubernetes",
		}},
		{"principals", "eks:group_principals", fields{"team-a": []any{"arn:aws:iam::123456789012:role/a"}, "b": "x"}, []string{
			"b is no list of ARNs of IAM users and roles",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, problemsOf(t, test.key, test.value)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestNodeVersion: nodes are not newer than the control plane, and not much older.
func TestNodeVersion(t *testing.T) {
	t.Parallel()
	for nodes, want := range map[string]string{"1.36": "", "1.33": "", "1.37": "may not be newer", "1.32": "3 versions older"} {
		var found string
		for _, rule := range projects.AWSEKS().Rules {
			get := func(name string) any {
				return map[string]any{"eks:node_version": nodes, "eks:k8s_version": "1.36"}[name]
			}
			for _, finding := range rule(config.Values{Get: get, IsSet: func(string) bool { return false }}) {
				if finding.Key == "eks:node_version" {
					found += finding.Text
				}
			}
		}
		if (found == "") != (want == "") || !strings.Contains(found, want) {
			t.Errorf("nodes with %s: %q", nodes, found)
		}
	}
}

// TestPools: what is missing has its default, and taints are split.
func TestPools(t *testing.T) {
	t.Parallel()
	type fields = map[string]any
	got := projects.EKSPools(fields{
		"a": fields{"size": "m6i.large"}, "b": fields{"size": "m6i.large", "max": 4},
		"c": fields{"size": "m6i.large", "min": 0, "max": 4, "taints": []any{"k=v:NoSchedule", "k:NoExecute"}},
	})
	pool := func(name string, count, least, most int, taints ...projects.Taint) projects.Pool {
		return projects.Pool{Name: name, Size: "m6i.large", Count: count, Min: least, Max: most, Architecture: "amd64",
			Labels: map[string]string{}, Taints: taints}
	}
	want := []projects.Pool{
		pool("a", 1, 0, 0), pool("b", 0, 1, 4),
		pool("c", 0, 0, 4, projects.Taint{Key: "k", Value: "v", Effect: "NoSchedule"}, projects.Taint{Key: "k", Effect: "NoExecute"}),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestOptional: each optional project says what it needs.
func TestOptional(t *testing.T) {
	t.Parallel()
	for _, project := range projects.All() {
		isOptional := slices.ContainsFunc(projects.Optional(), func(o model.Project) bool { return o.Name == project.Name })
		if isOptional != (project.Needs != "") {
			t.Errorf("%s needs %q", project.Name, project.Needs)
		}
	}
}

// TestVeleroPluginIsTested: what is deployed is what docs/tested.json says was tested.
func TestVeleroPluginIsTested(t *testing.T) {
	t.Parallel()
	tested, err := os.ReadFile(filepath.Join("..", "docs", "tested.json"))
	if err != nil {
		t.Fatal(err)
	}
	_, version, _ := strings.Cut(projects.VeleroPlugin, ":v")
	if !strings.Contains(string(tested), "its plugin for AWS "+version+" ") {
		t.Errorf("the plugin %s is deployed, and docs/tested.json has another version", projects.VeleroPlugin)
	}
}

// TestGroupObjects: the objects of a group have its name, or one that Kubernetes takes and no other group has.
func TestGroupObjects(t *testing.T) {
	t.Parallel()
	isName, seen := regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`), map[string]bool{}
	for _, name := range []string{"team-a", "oidc:Team", "oidc-team", "oidc:team", "Ops Team/EU", "團隊", strings.Repeat("x", 200)} {
		object := projects.Group{Name: name}.Object()
		if !isName.MatchString(object) || seen[object] {
			t.Errorf("%s has the objects %q, among %v", name, object, seen)
		}
		seen[object] = true
	}
	if object := (projects.Group{Name: "team-a"}).Object(); object != "team-a" {
		t.Errorf("a plain name became %q", object)
	}
}
