package configuration

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"mara/providers"
	"mara/runner/internal/cli/cmd"
)

func referenceCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "reference", Usage: "print a page about all projects: keys, secrets, outputs and what each waits for",
		Description: "The page is Markdown. Where there is a mara.yaml, it has the projects that this names, your own among them:\n" +
			"what the section config of their Pulumi.yaml declares, and what mara.yaml adds. -p leaves those of one provider.\n\n" +
			"Examples:\n  runner config reference > docs/projects.md\n  runner config reference -p kind\n\n" + cmd.ExitText(cmd.ExitDone, cmd.ExitUsage, cmd.ExitConfig),
		Flags:  cmd.JoinFlags(cmd.EnvironmentFlags(), cmd.BaseFlags()),
		Action: cmd.CommonAction(d, cmd.ParseKnown, runReference),
	}
}

// referenceHead begins the page.
const referenceHead = `# The projects

Made by ` + "`runner config reference`" + `. Configuration keys are set in ` + "`config/pulumi/Pulumi.<stack>.yaml`" + `, or beside a project that has
stack files of its own; secrets with ` + "`runner secrets`" + `.

`

func runReference(_ context.Context, d cmd.Deps, o cmd.Common) error {
	all, listed := o.Known().Providers, o.Known().Projects
	if o.Provider.IsSet() {
		p, err := o.ProviderOf(o.Provider)
		if err != nil {
			return err
		}
		all, listed = []providers.Provider{p}, p.Projects()
	}
	_, err := fmt.Fprint(d.Stdout, string(providers.Reference(referenceHead, all, listed)))
	return err
}
