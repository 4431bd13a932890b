package cli

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/projects/model"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/cli/help"
	"mara/runner/internal/core/catalogue"
	"mara/runner/internal/core/discover"
	"mara/runner/internal/core/environments"
	"mara/runner/internal/machine/typeset"
)

// welcome says what is in the directory that a command line without a command was typed in, and which commands come
// next. It leaves out commands of features that this program does not have.
func welcome(d cmd.Deps, all []*cli.Command) string {
	what, next := lookAround(d)
	text := help.About + ".\n\n" + what + "\n\n"
	for _, n := range next {
		name, _, _ := strings.Cut(n.command, " ")
		if _, ok := cmd.FindCommand(all, name); !ok {
			continue
		}
		text += fmt.Sprintf("  %s %-34s  # %s\n", cmd.Program, n.command, n.does)
	}
	return text + fmt.Sprintf("\n`%s --help` lists all commands.\n", cmd.Program)
}

// suggestion is a command and what it does.
type suggestion struct{ command, does string }

// lookAround tells a root, a repository with Pulumi projects, and a directory with neither.
func lookAround(d cmd.Deps) (what string, next []suggestion) {
	if root, err := config.FindRoot(d.Dir, config.Value{}); err == nil {
		var builtIn *model.Catalogue
		if d.BuiltIn != nil {
			builtIn = d.BuiltIn()
		}
		known, _ := catalogue.Load(builtIn, root, "") // other commands report the error
		stacks, err := environments.Names(root, known)
		if err != nil || len(stacks) == 0 {
			return "This is a root without an environment: " + root, []suggestion{
				{"plan", "shows the projects and their order"}, {"up --simulate", "asks for a configuration, and rehearses"},
				{"check", "judges the files that are here"},
			}
		}
		chosen := ""
		if len(stacks) > 1 {
			chosen = " -s " + stacks[0]
		}
		what := fmt.Sprintf("This root has %s: %s", typeset.Counted(len(stacks), "environment"), typeset.Few(stacks, 6))
		return what, []suggestion{
			{"status" + chosen, "shows what is deployed"}, {"preview" + chosen, "shows what up would change"},
			{"web", "shows all environments and runs in the browser"},
		}
	}
	if found, _, err := discover.Find(d.Dir); err == nil && len(found) > 0 {
		were := "were"
		if len(found) == 1 {
			were = "was"
		}
		counted := typeset.Counted(len(found), "Pulumi project")
		return fmt.Sprintf("%s %s found here that no mara.yaml orders yet.", counted, were), []suggestion{
			{"adopt --print", "shows their order, and how it was found"}, {"adopt", "writes it to mara.yaml"},
			{"demo", "shows in seconds what a run looks like"},
		}
	}
	return "There is no Pulumi project here.", []suggestion{
		{"demo", "deploys three small projects and removes them"}, {"init", "begins an environment here"},
		{"plan -p kind", "shows the built-in projects of a provider"},
	}
}
