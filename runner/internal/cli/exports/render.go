// Package exports has the commands that write an environment down for other
// programs: as plain manifests, as pipelines, and for the Pulumi Kubernetes Operator.
package exports

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"mara/providers/cloud"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/failure"
	"mara/runner/internal/layout"
	"mara/runner/internal/mirror"
	"mara/runner/internal/outfolder"
	"mara/runner/internal/plan"
	"mara/runner/internal/rehearsal"
	"mara/runner/internal/render"
	"mara/runner/internal/simulate"
	"mara/runner/internal/typeset"
	"mara/runner/internal/updateplan"
)

// Render is `runner render`.
func Render(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name:  "render",
		Usage: "write what the projects would create in the cluster as plain manifests",
		Description: "For Argo CD, Flux, kubectl, or tools that check manifests. Prints them, or writes them to a folder with a folder\n" +
			"for each project, numbered so that definitions and namespaces come first. Charts are rendered with Helm's own\n" +
			"library. The same programs and configuration give the same files, so that the difference of two renders can be\n" +
			"reviewed; objects of charts that make something up each time are named.\n\n" +
			"Secrets, and objects with a secret value, are left out and listed; with --secret-store there are objects that\n" +
			"have Secrets made from a store, whose entry STACK/NAMESPACE/NAME has a property for each key. The programs run on simulated clouds, in a\n" +
			"folder that is thrown away; values that a real cloud would give, such as the address of a registry, are made up,\n" +
			"and listed. With --plan they are those of a plan, which `runner preview --save-plan` has made of the real\n" +
			"environment: there is nothing made up, and what is not known yet is left out.\n\n" +
			"The folder is replaced in one step. One with files that this command has not written is refused.\n\n" +
			"Examples:\n  runner render -s dev --out manifests/dev\n  runner render -s dev --only certmgr | kubeconform -\n" +
			"  runner preview -s dev --save-plan plan.json && runner render --plan plan.json --out manifests/dev\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig, cmd.ExitInterrupted),
		Flags: cmd.JoinFlags(
			[]cli.Flag{
				&cli.StringFlag{Name: "out", Usage: "write to `FOLDER` instead of stdout"},
				&cli.StringFlag{Name: "secret-store", Usage: "have the External Secrets Operator make Secrets from its store `KIND/NAME`, such as ClusterSecretStore/vault"},
				&cli.StringFlag{Name: "plan", Usage: "render what the plan in `FILE` would create"},
			},
			cmd.OutputFlag("text", "json"), cmd.SelectionFlags(), cmd.EnvironmentFlags(), cmd.PulumiFlags(), cmd.BaseFlags(),
		),
		Action: cmd.Action(d, parseRender, runRender),
	}
}

type renderOptions struct {
	cmd.SessionOptions
	Selection plan.Selection
	Out       string               // "" for stdout
	Store     *render.Store        // nil leaves Secrets out
	Plan      *updateplan.Document // nil for a simulated run
}

func parseRender(c *cli.Context, d cmd.Deps) (renderOptions, error) {
	common, err := cmd.ParseSession(c, d)
	o := renderOptions{SessionOptions: common, Selection: cmd.ParseSelection(c), Out: d.Absolute(c.String("out"))}
	if err != nil {
		return o, err
	}
	if store := c.String("secret-store"); store != "" {
		kind, name, _ := strings.Cut(store, "/")
		if kind != "SecretStore" && kind != "ClusterSecretStore" || name == "" {
			return o, failure.Usagef(cmd.Path(c), "--secret-store: %q is not SecretStore/NAME or ClusterSecretStore/NAME", store)
		}
		o.Store = &render.Store{Kind: kind, Name: name}
	}
	if c.String("plan") == "" {
		return o, nil
	}
	document, err := updateplan.Read(d.Absolute(c.String("plan")))
	if err != nil {
		return o, failure.Usagef(cmd.Path(c), "--plan: %v", err)
	}
	for _, flag := range []string{"stack", "provider", "only", "skip", "from", "until"} {
		if cmd.HasFlag(c.Command, flag) && c.IsSet(flag) {
			return o, failure.Usagef(cmd.Path(c), "--plan: the plan says which environment and projects are meant; leave out %s", cmd.Dashed(flag))
		}
	}
	o.Plan = &document
	return o, nil
}

func runRender(ctx context.Context, d cmd.Deps, o renderOptions) (err error) {
	cache := ""
	if o.Root != "" {
		cache = layout.Of(o.Root, false).Charts()
	}
	charts := mirror.NewNetwork(cloud.Proxy(o.Sources.File.Merge(o.Sources.Process)), cache)
	defer func() { err = errors.Join(err, charts.Close()) }()
	var about render.About
	var manifests render.Manifests
	if o.Plan == nil {
		about, manifests, err = renderPrograms(ctx, d, o, charts)
	} else {
		about, manifests, err = renderPlan(ctx, o, charts)
	}
	if err != nil {
		return err
	}
	if o.Out != "" {
		files, err := manifests.Files(about)
		if err != nil {
			return err
		}
		if err := outfolder.Write(o.Out, "runner render", files); err != nil {
			return err
		}
	}
	return writeRender(d, o, about, manifests)
}

// renderPrograms runs the programs on simulated clouds and renders what they declare.
func renderPrograms(ctx context.Context, d cmd.Deps, o renderOptions, charts mirror.Fetcher) (about render.About, m render.Manifests, err error) {
	fmt.Fprintln(d.Stderr, "Running the programs on simulated clouds, to see what they declare.")
	var mu sync.Mutex // protects declared
	var declared []render.Resource
	s, err := rehearsal.Run(ctx, d.Deps, o.Options, rehearsal.Options{Parallel: cmd.DefaultParallel, Saw: func(object simulate.Object) {
		r := render.Resource{
			Project: object.URN.Project().String(), Token: object.Token, Name: object.Name(),
			Namespace: object.Config("namespace", ""), Inputs: object.Masked(render.Secret),
		}
		mu.Lock()
		defer mu.Unlock()
		declared = append(declared, r)
	}})
	defer func() { err = errors.Join(err, s.Close()) }()
	if err != nil {
		return about, m, err
	}
	selected, err := plan.Select(s.Plan, o.Selection)
	if err != nil {
		return about, m, err
	}
	wanted := map[string]bool{}
	for _, name := range selected.Names() {
		wanted[name] = true
	}
	var ours []render.Resource
	for _, r := range declared {
		if wanted[r.Project] {
			ours = append(ours, r)
		}
	}
	about = render.About{Provider: s.Provider.Name, Stack: s.Settings.Stack.Text, Simulated: true}
	m, err = render.Build(ctx, render.Options{Charts: charts, Order: s.Plan.Names(), Store: o.storeOf(about.Stack)}, ours)
	m.TraceMadeUp(declared, func(project string) map[string]any {
		outputs, _ := s.Stacks.Told(project) // a project without outputs has none that were made up
		return outputs
	})
	return about, m, err
}

// storeOf is the store for Secrets, whose entries begin with the environment's name.
func (o renderOptions) storeOf(stack string) *render.Store {
	if o.Store == nil {
		return nil
	}
	store := *o.Store
	store.Prefix = stack
	return &store
}

// renderPlan renders what a plan would create or has found as it is.
func renderPlan(ctx context.Context, o renderOptions, charts mirror.Fetcher) (render.About, render.Manifests, error) {
	document := *o.Plan
	about := render.About{Provider: document.Provider, Stack: document.Stack, Simulated: document.Simulated}
	var order []string
	var declared []render.Resource
	for _, project := range document.Projects {
		order = append(order, project.Name)
		for _, step := range project.Steps {
			if step.Op != "delete" && step.Op != "read" {
				declared = append(declared, render.Resource{Project: project.Name, Token: step.Type, Name: step.Name, Inputs: step.Inputs})
			}
		}
	}
	m, err := render.Build(ctx, render.Options{Charts: charts, Order: order, Store: o.storeOf(document.Stack)}, declared)
	return about, m, err
}

// renderVersion changes when a field changes its meaning or is removed.
const renderVersion = 1

// rendered is the result for machines.
type rendered struct {
	Version   int    `json:"version"`
	Provider  string `json:"provider"`
	Stack     string `json:"stack"`
	Simulated bool   `json:"simulated"`
	Folder    string `json:"folder,omitempty"`
	render.Manifests
}

func writeRender(d cmd.Deps, o renderOptions, about render.About, m render.Manifests) error {
	if o.Output == "json" {
		return cmd.WriteJSON(d.Stdout, rendered{renderVersion, about.Provider, about.Stack, about.Simulated, o.Out, m})
	}
	table := typeset.Table{Columns: []typeset.Column{{Title: "FOLDER"}, {Title: "OBJECTS"}, {Title: "LEFT OUT"}, {Title: "MADE UP"}}}
	objects, left := 0, 0
	for _, p := range m.Projects {
		objects, left = objects+len(p.Objects), left+len(p.LeftOut)
		table.Rows = append(table.Rows, []string{p.Folder, fmt.Sprint(len(p.Objects)), cmd.Dash(len(p.LeftOut)), cmd.Dash(len(p.MadeUp))})
	}
	if o.Out == "" {
		stream, err := m.Stream()
		if err != nil {
			return err
		}
		if _, err = d.Stdout.Write(stream); err == nil {
			fmt.Fprintf(d.Stderr, "%s, %d left out; with --out or -o json they are listed.\n", typeset.Counted(objects, "object"), left)
		}
		return err
	}
	_, err := fmt.Fprintf(d.Stdout, "%s\n%s in %s, %d left out; README.md there says what and why.\n",
		table.Text(d.Width()), typeset.Counted(objects, "object"), o.Out, left)
	return err
}
