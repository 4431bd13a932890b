package plan

import (
	"fmt"

	"mara/config"
	"mara/runner/internal/core/event"
)

// ReadsAcross returns the projects that read one in another backend, where Pulumi does not find its stack.
func (p Plan) ReadsAcross(settings config.Settings) (problems []config.Problem) {
	if len(settings.Elsewhere) == 0 {
		return nil
	}
	for _, step := range p.Steps {
		reader := settings.BackendOf(step.Project.Name)
		for _, name := range step.Reads {
			if read := settings.BackendOf(name); !config.SameBackend(reader.Text, read.Text) {
				line := 0
				if step.Project.Own != nil {
					line = step.Project.Own.Line
				}
				problems = append(problems, config.Problem{File: config.MaraFile, Line: line, Text: fmt.Sprintf(
					"%[1]s reads %[2]s, and references of Pulumi do not cross backends: %[1]s is in %[3]s (%[4]s), and %[2]s in %[5]s (%[6]s); pass the value on as configuration, and write  after:  in place of reads",
					step.Project.Name, name, event.MaskURLs(reader.Text), reader.Origin, event.MaskURLs(read.Text), read.Origin)})
			}
		}
	}
	return problems
}
