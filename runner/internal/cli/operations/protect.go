package operations

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mara/config"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/environment/session"
	"mara/runner/internal/guard/updateplan"
	"mara/runner/internal/machine/prompt"
	"mara/runner/internal/machine/typeset"
	"mara/runner/internal/run/event"
)

// isProtected reports whether an environment is protected from losing data.
func (o operateOptions) isProtected(s *session.Session) bool {
	return s.Settings.Config.Protected() != (config.Origin{}) && !slices.Contains(o.Allow, s.Settings.Stack.Text)
}

// checkProtection refuses to destroy a protected environment, unless the user can be
// asked for its name.
func (o operateOptions) checkProtection(d cmd.Deps, s *session.Session) error {
	_, terminal := prompt.NewTerminal(d.Stdin, d.Stderr)
	if !o.Operation.Destroys() || !o.isProtected(s) || o.needsApproval() && o.Interactive && terminal {
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
func (o operateOptions) lossesIn(s *session.Session, document updateplan.Document, emit func(event.Event)) []string {
	if !o.isProtected(s) {
		return nil
	}
	mara, _ := config.ReadMara(o.Root) // what cannot be read declares nothing harmless
	more := config.Words(mara.Harmless)
	var lost []string
	for _, project := range document.Projects {
		for _, step := range project.Steps {
			allowed := slices.ContainsFunc(
				[]string{step.Name, step.Type, step.URN}, func(name string) bool { return slices.Contains(o.Allow, name) },
			)
			if !isLoss(step) || step.IsComponent || allowed || updateplan.IsHarmless(step.Type, more) {
				continue
			}
			consequence := "would be lost in a " + step.Op
			if step.Stateful {
				consequence = "holds data that a " + step.Op + " loses"
			}
			lost = append(lost, step.Type+" "+step.Name)
			o.emitFinding(s, emit, event.Finding{
				Rule: event.RuleProtection, Level: event.LevelWarn, Project: project.Name, URN: step.URN,
				Resource: event.Resource{Type: step.Type, Name: step.Name}, Message: fmt.Sprintf(
					"the environment is protected (%s), and %s %s %s", s.Settings.Config.Protected(), step.Type, step.Name,
					consequence),
			}, "")
		}
	}
	return lost
}

// confirmLosses asks for the stack's name before an up that loses data of a
// protected environment. Without a terminal, --allow has to name the resources.
func (o operateOptions) confirmLosses(ctx context.Context, s *session.Session, q question) error {
	lost := *o.losses
	if len(lost) == 0 {
		return nil
	}
	if !q.possible || !o.needsApproval() {
		return &forbiddenError{
			fmt.Sprintf(
				"the protection of the environment (%s): %s would be replaced or deleted", s.Settings.Config.Protected(),
				strings.Join(lost, ", "),
			),
			"to lose them anyway, add --allow NAME for each resource, or set " + config.ProtectKey + " to false first; " +
				"mara.yaml declares types that are harmless",
		}
	}
	return cmd.Agreed(askForStack(ctx, q.terminal, s.Settings.Stack.Text, lost))
}

// askForStack asks for the name of a protected stack, before resources with data are lost.
func askForStack(ctx context.Context, terminal prompt.Terminal, stack string, lost []string) (agreed bool, err error) {
	answer, err := terminal.Text(ctx,
		fmt.Sprintf("This environment is protected, and this deletes or replaces %s: %s. Type the stack's name to continue:",
			typeset.Counted(len(lost), "resource"), strings.Join(lost, ", ")))
	return answer == stack, err
}
