package operate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mara/config"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/guard"
	"mara/runner/internal/core/refusal"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/updateplan"
	"mara/runner/internal/machine/prompt"
	"mara/runner/internal/machine/typeset"
)

// CheckProtection refuses to destroy a protected environment, unless the user can be
// asked for its name.
func (r Request) CheckProtection(d session.Deps, s *session.Resolved) error {
	_, canAsk := r.Terminal(d)
	if !r.Operation.Destroys() || !r.isProtected(s) || r.NeedsApproval() && canAsk {
		return nil
	}
	return refusal.By(refusal.Protection, &config.Error{
		Problems: []config.Problem{
			s.Settings.Config.Problem(config.ProtectKey, "protects this environment from being destroyed"),
		},
		Next: fmt.Sprintf("to destroy it anyway, add --allow %s, or set it to false there first", s.Settings.Stack.Text),
	})
}

// losses is what an up would lose that a person has to agree to.
type losses struct {
	data     []string // resources of a protected environment
	clusters []string // clusters, with everything in them
	nodes    []string // clusters whose nodes go before new ones are ready
	held     string   // what projects have in the cluster
}

func (l losses) any() bool { return len(l.data)+len(l.clusters)+len(l.nodes) > 0 }

// guard returns which guard refuses them: the protection, if it is one of two.
func (l losses) guard() refusal.Guard {
	if len(l.data) > 0 {
		return refusal.Protection
	}
	return refusal.Cluster
}

// lossesIn returns what an up would lose, except what is harmless or allowed: the resources of a protected environment
// that it replaces or deletes, and of any environment its cluster.
func (g judge) lossesIn(document updateplan.Document, emit func(event.Event)) losses {
	mara, _ := config.ReadMara(g.Root) // what cannot be read declares nothing harmless
	more := config.Words(mara.Harmless)
	lost := losses{held: g.holds()}
	isAllowed := func(step updateplan.Step) bool {
		names := []string{step.Name, step.Type, step.URN, g.s.Settings.Stack.Text}
		return slices.ContainsFunc(names, func(name string) bool { return slices.Contains(g.Allow, name) })
	}
	for _, project := range document.Projects {
		for _, step := range project.Steps {
			name := step.Type + " " + step.Name
			rule, text := refusal.Cluster, ""
			switch pools := step.LosesNodes(); {
			case isAllowed(step) || step.IsComponent:
				continue
			case step.LosesCluster():
				lost.clusters = append(lost.clusters, name)
				text = g.clusterLossText(step)
			case len(pools) > 0:
				lost.nodes = append(lost.nodes, name)
				text = fmt.Sprintf("%s: the cloud deletes the nodes of a pool whose type changes before new nodes are ready "+
					"(%s)", name, strings.Join(pools, ", "))
			case !g.isProtected(g.s.Resolved) || !step.IsLoss() || updateplan.IsHarmless(step.Type, more):
				continue
			default:
				lost.data = append(lost.data, name)
				consequence := "would be lost in a " + step.Op
				if step.Stateful {
					consequence = "holds data that a " + step.Op + " loses"
				}
				rule = refusal.Protection
				text = fmt.Sprintf("the environment is protected (%s), and %s %s", g.s.Settings.Config.Protected(), name,
					consequence)
			}
			g.emitFinding(emit, event.Finding{
				Rule: string(rule), Level: event.LevelWarn, Project: project.Name, URN: step.URN,
				Resource: event.Resource{Type: step.Type, Name: step.Name}, Message: text,
			}, "")
		}
	}
	return lost
}

// clusterLossText says that a step loses a cluster, why, and what is in it.
func (g judge) clusterLossText(step updateplan.Step) string {
	did, again := "deleted", ""
	if step.Op == "replace" {
		did, again = "replaced", " and made anew in the new cluster"
		if len(step.Replaces) > 0 {
			did += ", because " + strings.Join(step.Replaces, ", ") + " changes"
		}
	}
	return fmt.Sprintf("the cluster %s %s would be %s; everything in it is deleted first%s: %s",
		step.Type, step.Name, did, again, g.holds())
}

// forbid refuses losses that no user can be asked about.
func (l losses) forbid(s *session.Resolved) *guard.Refused {
	advice := "to lose them anyway, add --allow NAME for each resource"
	if len(l.data) > 0 {
		advice += ", or set " + config.ProtectKey + " to false first; mara.yaml declares types that are harmless"
	}
	return &guard.Refused{By: l.guard(), What: strings.Join(l.texts(s), ", and "), Next: advice}
}

// forbidLater refuses losses that are found during the run, in a project of which parts have changed since it was
// previewed.
func (l losses) forbidLater(j *job, changed []string) *secondLookError {
	advice := fmt.Sprintf("`%s` shows it and asks on a terminal; to lose them, add --allow NAME for each resource",
		next{j}.resume())
	if len(l.data) > 0 {
		advice += ", or set " + config.ProtectKey + " to false first"
	}
	return &secondLookError{l.guard(), strings.Join(l.texts(j.s.Resolved), ", and "), advice, changed}
}

// texts says what each kind of loss is.
func (l losses) texts(s *session.Resolved) []string {
	var texts []string
	if len(l.data) > 0 {
		texts = append(texts, fmt.Sprintf("the protection of the environment (%s): %s would be replaced or deleted",
			s.Settings.Config.Protected(), strings.Join(l.data, ", ")))
	}
	if len(l.clusters) > 0 {
		texts = append(texts, fmt.Sprintf("the loss of a cluster: %s would be replaced or deleted with everything in "+
			"it: %s", strings.Join(l.clusters, ", "), l.held))
	}
	if len(l.nodes) > 0 {
		texts = append(texts, fmt.Sprintf("the loss of running nodes: %s would delete them before new ones are ready",
			strings.Join(l.nodes, ", ")))
	}
	return texts
}

// confirmLosses asks for the stack's name before an up that loses data of a
// protected environment, or a cluster. Without a terminal, --allow has to name the resources.
func (j *job) confirmLosses(ctx context.Context, lost losses) error {
	if !lost.any() {
		return nil
	}
	terminal, canAsk := j.Terminal(j.d)
	if !canAsk || !j.NeedsApproval() {
		return lost.forbid(j.s.Resolved)
	}
	return refusal.By(lost.guard(), prompt.Agreed(askForStack(ctx, terminal, j.s.Settings.Stack.Text, lost)))
}

// askForStack asks for the name of a stack, before something with data is lost.
func askForStack(ctx context.Context, terminal prompt.Terminal, stack string, lost losses) (agreed bool, err error) {
	var texts []string
	if n := len(lost.data); n > 0 {
		texts = append(texts, fmt.Sprintf("This environment is protected, and this deletes or replaces %s: %s.",
			typeset.Counted(n, "resource"), strings.Join(lost.data, ", ")))
	}
	if len(lost.clusters) > 0 {
		texts = append(texts, fmt.Sprintf("This deletes or replaces the cluster %s with everything in it: %s.",
			strings.Join(lost.clusters, ", "), lost.held))
	}
	if len(lost.nodes) > 0 {
		texts = append(texts, fmt.Sprintf("This deletes nodes of %s before new ones are ready.",
			strings.Join(lost.nodes, ", ")))
	}
	answer, err := terminal.Text(ctx, strings.Join(texts, " ")+" Type the stack's name to continue:")
	return answer == stack, err
}
