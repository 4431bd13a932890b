package projects

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mara/projects/model"
)

// TestAccess: what programs declare is among what the rights of the user are asked for. The plural of a kind is regular,
// as far as these projects go.
func TestAccess(t *testing.T) {
	t.Parallel()
	declared, err := os.ReadFile(filepath.Join("programs", "testdata", "declared", "cluster.txt"))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, match := range regexp.MustCompile(`(?m)::([a-z-]+)::kubernetes:([a-z0-9.-]+)/v1:([A-Za-z]+)::`).FindAllStringSubmatch(string(declared), -1) {
		group, plural := match[2], strings.ToLower(match[3])+"s"
		if group == "core" || group == "helm.sh" {
			group = ""
		}
		plural = strings.NewReplacer("ingresss", "ingresses", "policys", "policies", "classs", "classes").Replace(plural)
		if plural == "releases" {
			plural = "secrets" // Helm keeps a release in Secrets
		}
		project, _ := ByName(match[1])
		found++
		if !slices.ContainsFunc(AccessOf(project), func(a model.Access) bool { return a.Group == group && a.Resource == plural }) {
			t.Errorf("%s declares %s of the group %q, and its rights are not asked for", project.Name, plural, group)
		}
	}
	if found < 20 {
		t.Errorf("only %d objects", found)
	}
}
