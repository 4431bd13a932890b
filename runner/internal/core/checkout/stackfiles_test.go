package checkout

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/config"
	"mara/projects/model"
	"mara/runner/internal/core/plan"
)

const encrypted = "encryptionsalt: v1:abc:v1:def:ghi\nconfig:\n  shop:token:\n    secure: v1:xyz\n  shop:size: 3\n"

// shop returns an own project with stack files beside it.
func shop(t *testing.T, root, content string) model.Project {
	t.Helper()
	dir := filepath.Join(root, "shop")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if content != "" {
		if err := os.WriteFile(filepath.Join(dir, "Pulumi.dev.yaml"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return model.Project{
		Name: "shop", Own: &model.Own{Dir: dir, StackFiles: dir},
		Keys:    []config.Key{{Name: "shop:size"}, {Name: "shop:colour"}},
		Secrets: []model.Secret{{Key: "shop:token"}, {Key: "shop:password", Doc: "of the shop"}, {Key: "shop:hint", Optional: true}},
	}
}

func TestInPlan(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	step := plan.Step{Project: shop(t, root, encrypted)}
	files, covered := Files{Root: root, Stack: "dev"}.InPlan(plan.Plan{Steps: []plan.Step{step}})
	if len(files) != 1 || files["shop"].File != "shop/Pulumi.dev.yaml" || !covered {
		t.Errorf("one of one: %v, %v", files, covered)
	}
	builtIn := plan.Step{Project: model.Project{Name: "vpc"}}
	files, covered = Files{Root: root, Stack: "dev"}.InPlan(plan.Plan{Steps: []plan.Step{step, builtIn}})
	if len(files) != 1 || covered {
		t.Errorf("one of two: %v, %v", files, covered)
	}
	files, covered = Files{Root: root, Stack: "prod"}.InPlan(plan.Plan{Steps: []plan.Step{step}})
	if len(files) != 0 || covered {
		t.Errorf("of another environment: %v, %v", files, covered)
	}
	if _, covered = (Files{}).InPlan(plan.Plan{}); covered {
		t.Error("a plan of nothing is covered")
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	missing := []config.Key{{Name: "shop:size", Required: true}, {Name: "shop:colour", Required: true}, {Name: "vpc:cidr", Required: true}}
	for name, test := range map[string]struct {
		content  string
		rest     []string
		problems string // in their texts, one a line
	}{
		"no file":            {"", []string{"shop:size", "shop:colour", "vpc:cidr"}, ""},
		"its own encryption": {encrypted, []string{"shop:colour", "vpc:cidr"}, ""},
		"none of its own":    {"config:\n  shop:colour: red\n", []string{"shop:size", "vpc:cidr"}, ""},
		"the wrong kind":     {"config:\n  shop:size: three\n", []string{"shop:colour", "vpc:cidr"}, "whole number"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			project := shop(t, root, test.content)
			declared := []config.Key{{Name: "shop:size", Kind: config.Int}, {Name: "shop:colour", Kind: config.String}}
			rest, problems, err := Files{Root: root, Stack: "dev"}.Check([]model.Project{project}, declared, missing)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, key := range rest {
				names = append(names, key.Name)
			}
			if diff := cmp.Diff(test.rest, names); diff != "" {
				t.Errorf("missing still (-want +got):\n%s", diff)
			}
			if test.problems == "" && len(problems) > 0 || test.problems != "" && (len(problems) != 1 || !strings.Contains(problems[0].Text, test.problems)) {
				t.Errorf("problems: %v", problems)
			}
		})
	}
}

func TestCheckOfFilesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	_, _, err := Files{Root: root, Stack: "dev"}.Check([]model.Project{shop(t, root, "config: [")}, nil, nil)
	if err == nil || !strings.Contains(err.Error(), "shop/Pulumi.dev.yaml") {
		t.Errorf("error: %v", err)
	}
}
