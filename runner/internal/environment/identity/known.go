package identity

import (
	"fmt"
	"slices"
	"strings"

	"mara/config"
	"mara/projects/model"
	"mara/runner/internal/environment/session"
	"mara/runner/internal/machine/failure"
)

// CheckKnown refuses an environment that is neither configured nor deployed, for
// commands that work on deployed stacks: its name is most likely a typing error. The
// stacks of the session are open.
func CheckKnown(s *session.Session) error {
	stack := s.Settings.Stack
	if source := stack.Origin.Source; source == config.FromFile || source == config.FromOnlyStack {
		return nil
	}
	configured, err := config.Stacks(s.Settings.Root)
	if err != nil {
		return err
	}
	recorded, err := s.Directory.Stacks()
	if err != nil {
		return failure.RunnerDir(err)
	}
	known := append(configured, recorded...)
	exists := func(project model.Project) bool { return s.Stacks.Summary(project.Name).Exists }
	if slices.Contains(known, stack.Text) || slices.ContainsFunc(s.Options.Known().Projects, exists) {
		return nil
	}
	slices.Sort(known)
	known = slices.Compact(known)
	text := fmt.Sprintf("there is no environment %q: it has no configuration, and nothing of it is deployed", stack.Text)
	if len(known) > 0 {
		text += "; known: " + strings.Join(known, ", ")
	}
	return &failure.Environment{
		Text: text + config.DidYouMean(stack.Text, known),
		Next: "`runner stacks" + s.Options.Simulation.Flag() + "` lists the environments",
	}
}
