package inspect

import (
	"fmt"
	"path/filepath"
	"strings"

	"mara/config"
	"mara/config/files"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/discover"
	"mara/runner/internal/core/journal"
	"mara/runner/internal/machine/atomicfile"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/layout"
)

// runLearn adds to mara.yaml the references that the projects were seen to make.
func runLearn(d cmd.Deps, o planOptions) error {
	file := filepath.Join(o.Root, config.MaraFile)
	content, err := files.ReadCommitted(file, files.Text)
	if err != nil {
		return &failure.Environment{Text: err.Error(), Next: "`runner adopt` writes " + config.MaraFile}
	}
	paths, names := map[string]string{}, map[string]string{}
	for _, step := range o.provider.Steps {
		if step.Project.Own != nil {
			paths[step.Project.Name], names[step.Project.Path] = step.Project.Path, step.Project.Name
		}
	}
	edges, err := seen(o.Root, paths)
	if err != nil {
		return err
	}
	text, added, err := discover.AddReads(content, edges, names)
	if err != nil {
		return &failure.Environment{Text: fmt.Sprintf("%s: %v", file, err)}
	}
	if text != string(content) {
		if err := atomicfile.Write(file, []byte(text), 0o644); err != nil {
			return &failure.Environment{Text: err.Error(), Next: failure.WriteRemedy(err, "the directory")}
		}
	}
	return o.Show(d, append([]discover.Addition{}, added...), learned(file, added))
}

// seen returns the references that the newest run of each project has made without a declaration, by the path of the
// project. paths are the paths of projects by their names.
func seen(root string, paths map[string]string) (map[string][]discover.Edge, error) {
	edges := map[string][]discover.Edge{}
	known := map[string]bool{} // projects whose newest run was read
	for _, simulated := range []bool{false, true} {
		runs, err := journal.Summaries(layout.Of(root, simulated).Runs())
		if err != nil {
			return nil, err
		}
		for run, summary := range runs {
			ran := map[string]bool{}
			for _, step := range summary.Steps {
				ran[step.Name] = step.Ran() && !known[step.Name]
			}
			for _, alert := range summary.Warnings {
				if path := paths[alert.Project]; alert.Undeclared != "" && path != "" && ran[alert.Project] {
					evidence := fmt.Sprintf("seen in the %s of %s, run %s", summary.Operation, summary.Stack, run.ID)
					edges[path] = append(edges[path], discover.Edge{Project: alert.Undeclared, Evidence: evidence})
				}
			}
			for name, did := range ran {
				known[name] = known[name] || did
			}
		}
	}
	return edges, nil
}

// learned lists what was added to a mara.yaml.
func learned(file string, added []discover.Addition) string {
	if len(added) == 0 {
		return file + " declares every reference that was seen; nothing was changed\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "updated %s:\n", file)
	for _, a := range added {
		for _, e := range a.Reads {
			fmt.Fprintf(&b, "  %s reads %s: %s\n", a.Name, e.Project, e.Evidence)
		}
	}
	return b.String()
}
