package contract

import (
	"strings"

	"mara/config"
	"mara/config/lists"
	"mara/projects/model"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/stacks"
)

// Reads has the programs in Pulumi YAML of an environment, and the outputs that they read.
type Reads struct {
	Programs map[string]Program           // by project
	Of       map[string]map[string][]Read // by reader, then by owner
	Unsure   map[string]bool              // readers that read a stack whose name is not known before they run
}

// ReadsOf reads the programs of a plan. The names of the stacks that they read may contain values of the configuration.
func ReadsOf(p plan.Plan, file config.StackFile, exports stacks.Exports) Reads {
	reads := Reads{map[string]Program{}, map[string]map[string][]Read{}, map[string]bool{}}
	for _, step := range p.Steps {
		project := step.Project
		if project.Own == nil {
			continue
		}
		program, ok := ReadProgram(project.Own.Dir, project.Directory())
		if !ok {
			continue
		}
		name := project.Name
		reads.Programs[name], reads.Of[name] = program, map[string][]Read{}
		values := interpolations(file, exports, project)
		for _, read := range program.Reads {
			stack, known := StackName(read.Stack, values)
			reads.Unsure[name] = reads.Unsure[name] || !known
			if owner, ours := exports.ProjectOf(stack); known && ours {
				reads.Of[name][owner] = append(reads.Of[name][owner], read)
			}
		}
	}
	return reads
}

// interpolations returns the variables that the name of a stack may be made of in a
// program: Pulumi's own, and the configuration unless the project has its own stack
// file over the shared one.
func interpolations(file config.StackFile, exports stacks.Exports, project model.Project) map[string]string {
	values := exports.Interpolations(project.Name)
	if project.Own.StackFiles != "" {
		return values
	}
	for _, key := range project.Keys {
		name := strings.TrimPrefix(key.Name, project.Name+":")
		if value, ok := key.Default.(string); ok {
			values[name] = value
		}
		if entry, ok := file.Lookup(key.Name); ok {
			values[name] = config.Show(entry.Value)
		}
	}
	return values
}

// DeclaredOutputs returns the names of the outputs that the catalogue or mara.yaml
// declares for a project.
func DeclaredOutputs(project model.Project) []string {
	return lists.Map(project.Outputs, func(output model.Output) string { return output.Name })
}
