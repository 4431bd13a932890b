package scripts

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mara/config"
	"mara/providers"
)

// renovateManager is what the tests read of a manager of the preset for Renovate.
type renovateManager struct {
	Description, DepNameTemplate, PackageNameTemplate, RegistryURLTemplate, DatasourceTemplate string
	ManagerFilePatterns, MatchStrings                                                          []string
}

// find returns what the manager reads from a file with a path and a content, by the names of groups.
func (m renovateManager) find(t *testing.T, path, content string) map[string]string {
	t.Helper()
	if !slices.ContainsFunc(m.ManagerFilePatterns, func(pattern string) bool { return compile(t, strings.Trim(pattern, "/")).MatchString(path) }) {
		return nil
	}
	for _, text := range m.MatchStrings {
		expression := compile(t, text)
		if match := expression.FindStringSubmatch(content); match != nil {
			found := map[string]string{}
			for i, name := range expression.SubexpNames() {
				if name != "" {
					found[name] = match[i]
				}
			}
			return found
		}
	}
	return nil
}

// compile compiles an expression of Renovate, which uses RE2 as Go does, but for the slashes around patterns.
func compile(t *testing.T, text string) *regexp.Regexp {
	t.Helper()
	expression, err := regexp.Compile(text)
	if err != nil {
		t.Fatal(err)
	}
	return expression
}

// TestRenovatePreset checks that the preset for Renovate knows the version of every chart of the catalogue, with its
// repository, and tags of git projects.
func TestRenovatePreset(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("../.github/renovate/mara.json")
	if err != nil {
		t.Fatal(err)
	}
	var preset struct{ CustomManagers []renovateManager }
	if err := json.Unmarshal(content, &preset); err != nil {
		t.Fatal(err)
	}
	keys := map[string]config.Key{}
	for _, key := range providers.Keys() {
		keys[key.Name] = key
	}
	charts := 0
	for name, key := range keys {
		prefix, isChart := strings.CutSuffix(name, "chart_version")
		if !isChart {
			continue
		}
		charts++
		index := slices.IndexFunc(preset.CustomManagers, func(m renovateManager) bool { return m.Description == name })
		if index < 0 {
			t.Errorf("nothing raises %s", name)
			continue
		}
		manager := preset.CustomManagers[index]
		for _, line := range []string{"config:\n  %s: %v\n", "pulumiConfig:\n    %q: \"%v\" # why\n"} {
			found := manager.find(t, "config/pulumi/Pulumi.dev.yaml", fmt.Sprintf(line, name, key.Default))
			if found["currentValue"] != key.Default {
				t.Errorf("%s: found %v in %q", name, found, line)
			}
		}
		repository, chart := fmt.Sprint(keys[prefix+"chart_repository"].Default), manager.DepNameTemplate
		want := renovateManager{RegistryURLTemplate: repository, DatasourceTemplate: "helm"}
		if registry, isOCI := strings.CutPrefix(repository, "oci://"); isOCI {
			want = renovateManager{PackageNameTemplate: registry + "/" + chart, DatasourceTemplate: "docker"}
		}
		if manager.RegistryURLTemplate != want.RegistryURLTemplate || manager.PackageNameTemplate != want.PackageNameTemplate ||
			manager.DatasourceTemplate != want.DatasourceTemplate {
			t.Errorf("%s is looked for in %+v; its repository is %s", name, manager, repository)
		}
		if _, err := os.Stat("../projects/programs/testdata/charts/" + chart + ".yaml"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if charts != len(preset.CustomManagers)-1 || charts < 8 {
		t.Errorf("%d charts, %d managers", charts, len(preset.CustomManagers))
	}
	for content, want := range map[string]string{
		"  - git: https://github.com/acme/platform.git\n    ref: v1.4.0\n    path: network\n":                 "https://github.com/acme/platform.git v1.4.0",
		"  - path: network\n    ref: \"1.4.0\" # pinned\n    git: \"https://github.com/acme/platform.git\"\n": "https://github.com/acme/platform.git 1.4.0",
		"  - git: https://github.com/acme/platform.git\n    ref: main\n":                                      " ",
		"  - git: a\n  - path: b\n    ref: v1.4.0\n":                                                          " ",
	} {
		found := preset.CustomManagers[0].find(t, "mara.yaml", content)
		if got := found["packageName"] + " " + found["currentValue"]; got != want {
			t.Errorf("found %q in %q", got, content)
		}
	}
}

// TestDevcontainer checks that the container has the Go of go.mod, and runs what is there.
func TestDevcontainer(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("../.devcontainer/devcontainer.json")
	if err != nil {
		t.Fatal(err)
	}
	var container struct{ Image, OnCreateCommand, PostAttachCommand string }
	_, text, _ := strings.Cut(string(content), "\n") // a comment
	if err := json.Unmarshal([]byte(text), &container); err != nil {
		t.Fatal(err)
	}
	module, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(module)
	if version == nil || !strings.HasPrefix(container.Image, "golang:"+string(version[1])+"-") {
		t.Errorf("go.mod asks for Go %s, the container has %s", version[1], container.Image)
	}
	makefile, err := os.ReadFile("../Makefile")
	if err != nil || !strings.Contains(string(makefile), "demo:   ; "+container.OnCreateCommand+" && ") {
		t.Errorf("%q is not how the demo is built: %v", container.OnCreateCommand, err)
	}
	if container.PostAttachCommand != "bin/runner demo" {
		t.Errorf("it starts %q", container.PostAttachCommand)
	}
}
