package adopt

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/config/files"
	"mara/config/lists"
	"mara/projects/application"
	"mara/projects/model"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/event"
	"mara/runner/internal/machine/atomicfile"
	"mara/runner/internal/machine/failure"
)

// Eject returns `runner eject`.
func Eject(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "eject", Usage: "make a project of your own of an application in mara.yaml", ArgsUsage: "APPLICATION",
		Description: "Writes the Pulumi YAML program of the application into a directory below the root, and lists it " +
			"in mara.yaml as a project in the application's place. Its resources have the same URNs, so a preview " +
			"shows no change. It overwrites nothing.\n\n" +
			"Examples:\n  runner eject shop\n  runner eject shop --directory apps/shop\n" +
			"  runner eject shop -o json\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig),
		Flags: cmd.JoinFlags([]cli.Flag{&cli.StringFlag{
			Name: "directory", Usage: "`DIR` below the root for the project; default: the name of the application",
		}}, cmd.OutputFlag("text", "json"), cmd.RootFlags(), cmd.BaseFlags()),
		Action: cmd.CommonAction(d, parseEject, runEject),
	}
}

// ejectOptions are the options of eject.
type ejectOptions struct {
	cmd.Common
	Name, Directory string
}

func parseEject(c *cli.Context, d cmd.Deps) (o ejectOptions, err error) {
	if c.NArg() == 0 {
		return o, failure.Usagef(cmd.Path(c), "which application? They are below applications in mara.yaml")
	}
	o.Common, err = cmd.ParseKnown(c, d)
	o.Name = c.Args().First()
	o.Directory = cmp.Or(c.String("directory"), o.Name)
	return o, err
}

func runEject(_ context.Context, d cmd.Deps, o ejectOptions) error {
	found, err := cmd.FindApplication(o.Root, o.Name)
	if err != nil {
		return err
	}
	if !filepath.IsLocal(filepath.FromSlash(o.Directory)) {
		return &failure.Usage{Text: fmt.Sprintf("%s is not below the root", o.Directory), Next: "name another --directory"}
	}
	directory := filepath.Join(o.Root, filepath.FromSlash(o.Directory))
	if _, err := os.Lstat(directory); err == nil {
		return &failure.Usage{Text: o.Directory + " is there already", Next: "name another --directory"}
	}
	project, ok := o.Known().Project(o.Name)
	if !ok {
		return fmt.Errorf("the application %s is in no provider of %s", o.Name, config.MaraFile)
	}
	program, err := application.Program(found)
	if err != nil {
		return err
	}
	content, err := files.Read(filepath.Join(o.Root, config.MaraFile), files.Text)
	if err != nil {
		return &failure.Environment{Text: err.Error()}
	}
	listed := config.MaraProject{Path: config.Word{Text: filepath.ToSlash(o.Directory)}}
	listed.Reads, listed.After = everywhere(o, project.Name)
	listed.Outputs = lists.Map(project.Outputs, func(o model.Output) config.Word { return config.Word{Text: o.Name} })
	edited, err := config.Eject(content, o.Name, listed)
	if err != nil {
		return err
	}
	for _, file := range []struct {
		path string
		text []byte
	}{{filepath.Join(directory, config.ManifestFile), program}, {filepath.Join(o.Root, config.MaraFile), edited}} {
		if err := atomicfile.WriteDeep(file.path, file.text, 0o644, 0o755); err != nil {
			return &failure.Environment{Text: err.Error(), Next: failure.WriteRemedy(err, "the directory")}
		}
	}
	text := fmt.Sprintf("The project %s is in %s, and %s lists it in the application's place.\n"+
		"Its resources keep their URNs: `runner preview` shows no change.\n", o.Name, listed.Path.Text, config.MaraFile)
	done := map[string]string{"application": o.Name, "directory": listed.Path.Text}
	return o.Show(d, done, event.MaskURLs(text))
}

// everywhere returns what the application needs in all providers that have it: the file lists the project once.
func everywhere(o ejectOptions, name string) (reads, after []config.Word) {
	var all []string
	count := map[string]int{}
	providers := 0
	for _, p := range o.Known().Providers {
		for _, step := range p.Steps {
			if step.Project.Name != name {
				continue
			}
			providers++
			reads = lists.Map(step.Reads, func(read string) config.Word { return config.Word{Text: read} })
			for _, before := range step.After {
				if count[before]++; !slices.Contains(all, before) {
					all = append(all, before)
				}
			}
		}
	}
	for _, before := range all {
		if count[before] == providers {
			after = append(after, config.Word{Text: before})
		}
	}
	return reads, after
}
