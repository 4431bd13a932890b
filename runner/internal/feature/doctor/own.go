package doctor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"mara/config"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/programhost"
	"mara/runner/internal/core/session"
	"mara/runner/internal/feature/doctor/preflight"
	"mara/runner/internal/machine/typeset"
)

// ownChecks look at mara.yaml, where there is one.
func (e *Examination) ownChecks() []preflight.Check {
	if e.Options.Known().File == "" && e.broken(isOther) == nil {
		return nil
	}
	return []preflight.Check{{Name: "mara-file", Title: config.MaraFile, Group: preflight.Environment, Look: e.maraFile}}
}

func (e *Examination) maraFile(context.Context) []preflight.Finding {
	if broken := e.broken(isOther); broken != nil {
		return findings(broken)
	}
	count := map[string]int{} // own projects by runtime
	for _, project := range e.Options.Known().Projects {
		if project.Own != nil {
			count[project.Own.Runtime]++
		}
	}
	var parts []string
	for _, runtime := range slices.Sorted(maps.Keys(count)) {
		parts = append(parts, fmt.Sprintf("%d in %s", count[runtime], runtime))
	}
	if len(parts) == 0 {
		return preflight.Good("no projects of your own")
	}
	text := "projects of your own: " + strings.Join(parts, ", ") + "; " +
		typeset.Counted(len(e.Options.Known().Providers), "provider")
	return preflight.Good(text)
}

// broken returns the error of reading the root, if it is about files that isMeant
// selects; nil otherwise.
func (e *Examination) broken(isMeant func(config.Problem) bool) error {
	wrong, ok := errors.AsType[*config.Error](e.Options.Broken)
	if !ok {
		if e.Options.Broken != nil && isMeant(config.Problem{File: config.EnvironmentFile}) {
			return e.Options.Broken
		}
		return nil
	}
	problems := slices.DeleteFunc(slices.Clone(wrong.Problems), func(p config.Problem) bool { return !isMeant(p) })
	if len(problems) == 0 {
		return nil
	}
	return &config.Error{Problems: problems, Next: wrong.Next}
}

func isEnvironmentFile(p config.Problem) bool { return !isOther(p) }

// isOther reports whether a problem is in mara.yaml or in a project's manifest.
func isOther(p config.Problem) bool {
	return p.File == config.MaraFile || filepath.Base(p.File) == config.ManifestFile
}

// languageChecks look whether the own programs of a plan can be run. Simulated
// clouds run them, too.
func languageChecks(s *session.Resolved, p plan.Plan) []preflight.Check {
	if !s.Options.Operation.RunsPrograms() {
		return nil
	}
	env := s.Options.Sources.Looking()
	o := preflight.LanguageOptions{Env: env, Home: programhost.PulumiHome(env), Beside: slices.Clone(s.Deps.PluginDirs)}
	for _, path := range append(slices.Clone(s.Deps.Engines), s.Options.Pulumi) {
		if path != "" {
			o.Beside = append(o.Beside, filepath.Dir(path))
		}
	}
	for _, step := range p.Steps {
		if own := step.Project.Own; own != nil {
			program := preflight.Program{Project: step.Project.Name, Runtime: own.Runtime, Built: own.Built}
			o.Programs = append(o.Programs, program)
		}
	}
	if len(o.Programs) == 0 {
		return nil
	}
	return []preflight.Check{preflight.Languages(o)}
}
