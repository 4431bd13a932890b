package providers

import (
	"slices"
	"strings"
	"testing"

	"mara/projects/model"
	"mara/projects/model/operation"
)

// TestNeededFor: what each operation needs, with ? behind what is only useful.
func TestNeededFor(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		provider       string
		operation      operation.Operation
		projects, want string
	}{
		{"kind", "up", "all", "kind-runtime kind-nodes kind-resources kind-limits? kind-ports docker kubectl?"},
		{"kind", "up", "kubeconfig", "kind-limits? kubectl?"},
		{"kind", "up", "certmgr", "kind-runtime kind-limits? kubectl?"},
		{"kind", "refresh", "logstore", "kind-runtime"},
		{"linode", "up", "kic-image-build", "docker kubectl?"},
		{"linode", "up", "certmgr", "kubectl?"},
		{"linode", "refresh", "kic-image-push", "docker?"},
		{"linode", "destroy", "certmgr", ""},
		{"aws", "preview", "certmgr", "account aws-cli"},
		{"aws", "drift", "all", "account aws-cli docker?"},
		{"aws", "destroy", "aws-vpc", "account"},
		{"linode", "destroy", "linode-lke", "account"},
		{"kind", "destroy", "", ""},
	} {
		p, err := ByName(test.provider)
		if err != nil {
			t.Fatal(err)
		}
		projects := strings.Fields(test.projects)
		if test.projects == "all" {
			projects = nil
			for _, step := range p.Steps {
				projects = append(projects, step.Project.Name)
			}
		}
		names, needed := p.NeededFor(test.operation, projects)
		for i, name := range names {
			if !needed[name] {
				names[i] += "?"
			}
		}
		if got := strings.Join(names, " "); got != test.want {
			t.Errorf("%s %s %s: got %q, want %q", test.provider, test.operation, test.projects, got, test.want)
		}
	}
}

// TestPluginsFor: only what the projects' programs use is wanted.
func TestPluginsFor(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ provider, projects, want string }{
		{"kind", "kind-cluster kubeconfig", "kind"},
		{"kind", "certmgr", "kubernetes"},
		{"kind", "", ""},
		{"aws", "aws-vpc aws-eks", "aws"},
		{"aws", "kic-image-push", "aws docker"},
		{"linode", "linode-harbor", "linode kubernetes"},
		{"linode", "linode-lke kic-image-build certmgr", "linode kubernetes docker"},
	} {
		p, err := ByName(test.provider)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(p.PluginsFor(strings.Fields(test.projects)), " "); got != test.want {
			t.Errorf("%s, %q: plugins %q, want %q", test.provider, test.projects, got, test.want)
		}
	}
}

// TestChecksFitTheLists: checks are about projects and operations that exist.
func TestChecksFitTheLists(t *testing.T) {
	t.Parallel()
	for _, p := range Complete() {
		for _, check := range p.Checks {
			for _, name := range check.Projects {
				if !slices.ContainsFunc(p.Steps, func(s model.Step) bool { return s.Project.Name == name }) {
					t.Errorf("%s: the check %s is about %s, which is not in the list", p.Name, check.Name, name)
				}
			}
			operations := slices.Concat(check.Needed, check.Useful)
			for i, op := range operations {
				if !slices.Contains(operation.All(), op) || slices.Contains(operations[:i], op) {
					t.Errorf("%s: the check %s is about %s", p.Name, check.Name, op)
				}
			}
		}
		for _, plugin := range p.Plugins {
			for _, name := range plugin.Projects {
				if !slices.ContainsFunc(p.Steps, func(s model.Step) bool { return s.Project.Name == name }) {
					t.Errorf("%s: the plugin %s is used by %s, which is not in the list", p.Name, plugin.Name, name)
				}
			}
		}
	}
}
