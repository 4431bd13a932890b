package environments

import (
	"cmp"
	"crypto/sha1" //nolint:gosec // Pulumi's name of a file, no protection
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"strings"

	"mara/config"
	"mara/config/files"
	"mara/projects/model"
	"mara/runner/internal/core/catalogue"
)

// Selected returns the environment whose stacks `pulumi stack select` has chosen in the projects that have one, if they
// agree; "" otherwise. home is Pulumi's directory, and backend the address of the states.
func Selected(home, backend string, known catalogue.Catalogue) string {
	selected := ""
	for _, project := range known.Projects {
		if project.Own == nil || home == "" {
			continue
		}
		stack := selectedStack(home, backend, project)
		environment, ok := model.StackNamesOf([]model.Project{project}).Environment(project.Name, stack)
		switch {
		case stack == "" || !ok || config.CheckStackName(environment) != nil:
		case selected != "" && selected != environment:
			return ""
		default:
			selected = environment
		}
	}
	return selected
}

// selectedStack reads the stack that Pulumi has recorded for a project, without its organization.
func selectedStack(home, backend string, project model.Project) string {
	sum := sha1.Sum([]byte(filepath.Join(project.Own.Dir, config.ManifestFile)))
	name := project.Name + "-" + hex.EncodeToString(sum[:]) + "-workspace.json"
	content, err := files.Read(filepath.Join(home, "workspaces", name), files.Text)
	var recorded struct {
		Stack  string            `json:"stack"`
		Stacks map[string]string `json:"stacks"`
	}
	if err != nil || json.Unmarshal(content, &recorded) != nil {
		return ""
	}
	stack := recorded.Stack
	for address, name := range recorded.Stacks {
		if len(recorded.Stacks) == 1 || config.SameBackend(address, backend) {
			stack = cmp.Or(name, stack)
		}
	}
	return stack[strings.LastIndex(stack, "/")+1:]
}
