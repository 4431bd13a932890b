package operate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mara/config"
	"mara/runner/internal/environment/session"
	"mara/runner/internal/guard/updateplan"
	"mara/runner/internal/machine/prompt"
	"mara/runner/internal/machine/typeset"
	"mara/runner/internal/run/event"
)

// CheckProtection refuses to destroy a protected environment, unless the user can be
// asked for its name.
func (r Request) CheckProtection(d session.Deps, s *session.Session) error {
	_, terminal := prompt.NewTerminal(d.Stdin, d.Stderr)
	if !r.Operation.Destroys() || !r.isProtected(s) || r.NeedsApproval() && r.Interactive && terminal {
		return nil
	}
	return &config.Error{
		Problems: []config.Problem{
			s.Settings.Config.Problem(config.ProtectKey, "protects this environment from being destroyed"),
		},
		Next: fmt.Sprintf("to destroy it anyway, add --allow %s, or set it to false there first", s.Settings.Stack.Text),
	}
}

// lossesIn returns the resources of a protected environment that an up would replace or
// delete, except harmless and allowed ones.
func (g judge) lossesIn(document updateplan.Document, emit func(event.Event)) []string {
	if !g.isProtected(g.s) {
		return nil
	}
	mara, _ := config.ReadMara(g.Root) // what cannot be read declares nothing harmless
	more := config.Words(mara.Harmless)
	var lost []string
	for _, project := range document.Projects {
		for _, step := range project.Steps {
			allowed := slices.ContainsFunc(
				[]string{step.Name, step.Type, step.URN}, func(name string) bool { return slices.Contains(g.Allow, name) },
			)
			if !isLoss(step) || step.IsComponent || allowed || updateplan.IsHarmless(step.Type, more) {
				continue
			}
			consequence := "would be lost in a " + step.Op
			if step.Stateful {
				consequence = "holds data that a " + step.Op + " loses"
			}
			lost = append(lost, step.Type+" "+step.Name)
			g.emitFinding(emit, event.Finding{
				Rule: event.RuleProtection, Level: event.LevelWarn, Project: project.Name, URN: step.URN,
				Resource: event.Resource{Type: step.Type, Name: step.Name}, Message: fmt.Sprintf(
					"the environment is protected (%s), and %s %s %s", g.s.Settings.Config.Protected(), step.Type, step.Name,
					consequence),
			}, "")
		}
	}
	return lost
}

// confirmLosses asks for the stack's name before an up that loses data of a
// protected environment. Without a terminal, --allow has to name the resources.
func (j *job) confirmLosses(ctx context.Context, lost []string, q question) error {
	if len(lost) == 0 {
		return nil
	}
	if !q.possible || !j.NeedsApproval() {
		return &forbiddenError{
			fmt.Sprintf(
				"the protection of the environment (%s): %s would be replaced or deleted", j.s.Settings.Config.Protected(),
				strings.Join(lost, ", "),
			),
			"to lose them anyway, add --allow NAME for each resource, or set " + config.ProtectKey + " to false first; " +
				"mara.yaml declares types that are harmless",
		}
	}
	return prompt.Agreed(askForStack(ctx, q.terminal, j.s.Settings.Stack.Text, lost))
}

// askForStack asks for the name of a protected stack, before resources with data are lost.
func askForStack(ctx context.Context, terminal prompt.Terminal, stack string, lost []string) (agreed bool, err error) {
	answer, err := terminal.Text(ctx,
		fmt.Sprintf("This environment is protected, and this deletes or replaces %s: %s. Type the stack's name to continue:",
			typeset.Counted(len(lost), "resource"), strings.Join(lost, ", ")))
	return answer == stack, err
}
