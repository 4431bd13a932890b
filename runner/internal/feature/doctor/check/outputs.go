package check

import (
	"context"
	"maps"
	"slices"

	"mara/runner/internal/core/contract"
	"mara/runner/internal/core/engine"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/stacks"
)

// MissingOutputs returns the reads of outputs that do not exist, as far as files tell: where reader and owner are
// programs in Pulumi YAML, or the owner is built in. On Pulumi Cloud, the names of stacks are not known without asking.
func MissingOutputs(ctx context.Context, s *session.Resolved) ([]contract.Missing, error) {
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
	reads := contract.ReadsOf(s.Plan, s.Settings.Config, stacks.Exports{Set: set})
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
				missing = append(missing, contract.Check(owner, of[owner], contract.Exports{Names: contract.DeclaredOutputs(project)})...)
			}
		}
	}
	return missing, nil
}
