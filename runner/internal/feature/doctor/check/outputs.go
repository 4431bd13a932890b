package check

import (
	"context"
	"maps"
	"slices"
	"strings"

	"mara/config"
	"mara/config/lists"
	"mara/projects/model"
	"mara/runner/internal/core/contract"
	"mara/runner/internal/core/engine"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/stacks"
)

// Reads has the programs in Pulumi YAML of an environment, and the outputs that they read.
type Reads struct {
	Programs map[string]contract.Program           // by project
	Of       map[string]map[string][]contract.Read // by reader, then by owner
	Unsure   map[string]bool                       // readers that read a stack whose name is not known before they run
}

// ReadsOf reads the programs of an environment.
func ReadsOf(s *session.Session, exports stacks.Exports) Reads {
	reads := Reads{map[string]contract.Program{}, map[string]map[string][]contract.Read{}, map[string]bool{}}
	for _, step := range s.Plan.Steps {
		project := step.Project
		if project.Own == nil {
			continue
		}
		program, ok := contract.ReadProgram(project.Own.Dir, project.Directory())
		if !ok {
			continue
		}
		name := project.Name
		reads.Programs[name], reads.Of[name] = program, map[string][]contract.Read{}
		values := interpolations(s, exports, project)
		for _, read := range program.Reads {
			stack, known := contract.StackName(read.Stack, values)
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
func interpolations(s *session.Session, exports stacks.Exports, project model.Project) map[string]string {
	values := exports.Interpolations(project.Name)
	if project.Own.StackFiles != "" {
		return values
	}
	for _, key := range project.Keys {
		name := strings.TrimPrefix(key.Name, project.Name+":")
		if value, ok := key.Default.(string); ok {
			values[name] = value
		}
		if entry, ok := s.Settings.Config.Lookup(key.Name); ok {
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

// MissingOutputs returns the reads of outputs that do not exist, as far as files tell: where reader and owner are
// programs in Pulumi YAML, or the owner is built in. On Pulumi Cloud, the names of stacks are not known without asking.
func MissingOutputs(ctx context.Context, s *session.Session) ([]contract.Missing, error) {
	if s.Settings.Managed() {
		return nil, nil
	}
	own := s.Scope()
	set, err := stacks.Open(ctx, stacks.Options{
		Stack: own.Environment, Names: own.Names, Projects: own.Projects, Organization: "organization", Env: s.Env,
		Masker: s.Masker, Standings: map[string]stacks.Standing{}, Command: engine.None{},
	})
	if err != nil {
		return nil, err
	}
	reads := ReadsOf(s, stacks.Exports{Set: set})
	var missing []contract.Missing
	for _, step := range s.Plan.Steps {
		of := reads.Of[step.Project.Name]
		for _, owner := range slices.Sorted(maps.Keys(of)) {
			project, known := s.Plan.Project(owner)
			program, inYAML := reads.Programs[owner]
			switch {
			case known != nil:
			case inYAML:
				missing = append(missing, contract.Check(owner, of[owner], program.Exports)...)
			case project.Own == nil:
				missing = append(missing, contract.Check(owner, of[owner], contract.Exports{Names: DeclaredOutputs(project)})...)
			}
		}
	}
	return missing, nil
}
