// Package export has the commands that write an environment down for other
// programs: as plain manifests, as pipelines, and for the Pulumi Kubernetes Operator.
package export

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"mara/config/files"
	"mara/projects/model"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/encryption"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/updateplan"
	"mara/runner/internal/feature/export/render"
	"mara/runner/internal/feature/mirror"
	"mara/runner/internal/feature/simulate"
	"mara/runner/internal/feature/simulate/rehearsal"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/outdir"
	"mara/runner/internal/machine/typeset"
)

// Render returns `runner render`.
func Render(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "render", Usage: "write what the projects would create in the cluster as plain manifests",
		Description: "For Argo CD, Flux, kubectl, or tools that check manifests. Prints the manifests, or writes " +
			"them to a directory with a directory for each project, numbered so that definitions and namespaces " +
			"come first. Helm's own library renders charts. The same programs and configuration give the same " +
			"files, so the difference of two renders can be reviewed; chart objects that differ each time are " +
			"listed.\n\n" +
			"Secrets, and objects with a secret value, are skipped and listed. With --secret-store they become " +
			"ExternalSecrets of a store, whose entry STACK/NAMESPACE/NAME has a property for each key. With " +
			"--sealed-cert they become SealedSecrets, encrypted for the controller in the cluster, if their values " +
			"come from the configuration alone. Sealing needs the passphrase, and its result differs each time.\n\n" +
			"The programs run on simulated clouds, in a temporary directory; values of a real cloud, such as the " +
			"address of a registry, are placeholders, and are listed. With --plan the values come from a plan of " +
			"the real environment, which `runner preview --save-plan FILE` wrote: there are no placeholders, and objects " +
			"with unknown values are skipped.\n\n" +
			"The directory is replaced in one step. A directory with files that this command did not write is an " +
			"error.\n\n" +
			"Examples:\n  runner render -s dev --out manifests/dev\n" +
			"  runner render -s dev --only certmgr | kubeconform -\n" +
			"  runner preview -s dev --save-plan plan.json && runner render --plan plan.json --out manifests/dev\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig, cmd.ExitInterrupted),
		Flags: cmd.JoinFlags(
			[]cli.Flag{
				&cli.StringFlag{Name: "out", Usage: "write to `DIR` instead of stdout"},
				&cli.StringFlag{Name: "secret-store", Usage: "make ExternalSecrets of the store `KIND/NAME`, such as " +
					"ClusterSecretStore/vault"},
				&cli.StringFlag{Name: "sealed-cert", Usage: "seal Secrets with the certificate in `FILE`, which kubeseal " +
					"--fetch-cert prints"},
				&cli.StringFlag{Name: "plan", Usage: "render what the plan in `FILE` would create"},
			},
			cmd.OutputFlag("text", "json"), cmd.SelectionFlags(), cmd.EnvironmentFlags(), cmd.PulumiFlags(), cmd.BaseFlags(),
		),
		Action: cmd.Action(d, parseRender, runRender),
	}
}

type renderOptions struct {
	cmd.Common
	Selection plan.Selection
	Out       string               // "" for stdout
	Store     *render.Store        // nil leaves Secrets out
	Sealer    *render.Sealer       // nil leaves them out, too
	Plan      *updateplan.Document // nil for a simulated run
}

func parseRender(c *cli.Context, d cmd.Deps, common cmd.Common) (o renderOptions, err error) {
	o = renderOptions{Common: common, Selection: cmd.ParseSelection(c), Out: d.Absolute(c.String("out"))}
	if store := c.String("secret-store"); store != "" {
		kind, name, _ := strings.Cut(store, "/")
		if kind != "SecretStore" && kind != "ClusterSecretStore" || name == "" {
			return o, failure.Usagef(cmd.Path(c), "--secret-store: %q is not SecretStore/NAME or ClusterSecretStore/NAME", store)
		}
		o.Store = &render.Store{Kind: kind, Name: name}
	}
	if file := c.String("sealed-cert"); file != "" {
		switch {
		case o.Store != nil:
			return o, failure.Usagef(cmd.Path(c), "--sealed-cert and --secret-store both say where Secrets come from; give one")
		case c.String("plan") != "":
			return o, failure.Usagef(cmd.Path(c), "--sealed-cert: a plan has no secret values; remove --plan")
		}
		if o.Sealer, err = readSealer(d, file); err != nil {
			return o, err
		}
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
			return o, failure.Usagef(cmd.Path(c), "--plan: the plan selects the environment and the projects; remove %s",
				cmd.Dashed(flag))
		}
	}
	o.Plan = &document
	return o, nil
}

func readSealer(d cmd.Deps, file string) (*render.Sealer, error) {
	content, err := files.Read(d.Absolute(file), files.Data)
	if err != nil {
		return nil, &failure.Environment{Text: "--sealed-cert: " + err.Error(),
			Next: "`kubeseal --fetch-cert` prints the certificate"}
	}
	sealer, err := render.NewSealer(content, d.Now())
	if err != nil {
		return nil, &failure.Environment{Text: fmt.Sprintf("--sealed-cert: %s %v", file, err)}
	}
	return sealer, nil
}

func runRender(ctx context.Context, d cmd.Deps, o renderOptions) (err error) {
	charts := mirror.NewNetwork(o.Proxy(), o.Charts())
	defer func() { err = errors.Join(err, charts.Close()) }()
	var about render.About
	var manifests render.Manifests
	if o.Plan == nil {
		about, manifests, err = renderPrograms(ctx, d, o, charts)
	} else {
		about, manifests, err = renderPlan(ctx, d, o, charts)
	}
	if err != nil {
		return err
	}
	if o.Out != "" {
		files, err := manifests.Files(about)
		if err != nil {
			return err
		}
		if err := outdir.Write(o.Out, "runner render", files); err != nil {
			return err
		}
	}
	return writeRender(d, o, about, manifests)
}

// renderPrograms runs the programs on simulated clouds and renders what they declare.
func renderPrograms(ctx context.Context, d cmd.Deps, o renderOptions, charts mirror.Fetcher) (about render.About,
	m render.Manifests, err error) {
	fmt.Fprintln(d.Stderr, "Running the programs on simulated clouds.")
	var mu sync.Mutex // protects declared
	var declared []render.Resource
	values := map[string]map[string]any{} // of Secrets, by URN
	programs := rehearsal.Options{Parallel: cmd.DefaultParallel, Selection: o.Selection, Opened: o.refusePlaceholders,
		Saw: func(object simulate.Object) {
			r := render.Resource{
				Project: object.URN.Project().String(), Token: object.Token, Name: object.Name(),
				Namespace: object.Config("namespace", ""), Inputs: object.Masked(render.Secret), URN: string(object.URN),
			}
			mu.Lock()
			defer mu.Unlock()
			if o.Sealer != nil && r.IsSecret() {
				values[r.URN] = object.Inputs()
			}
			declared = append(declared, r)
		}}
	err = rehearsal.Run(ctx, d.Deps, o.Options, programs, func(s *session.Reading, selected []string) error {
		ours := slices.DeleteFunc(slices.Clone(declared), func(r render.Resource) bool {
			return !slices.Contains(selected, r.Project)
		})
		if err := readSecrets(ctx, s, ours, values); err != nil {
			return err
		}
		about = render.About{Provider: s.Provider.Name, Stack: s.Settings.Stack.Text, Simulated: true}
		m, err = o.build(ctx, d, render.Options{Charts: charts, Order: s.Plan.Names()}, about, declared, ours)
		m.TracePlaceholders(declared, func(project string) map[string]any {
			outputs, _ := s.Stacks.ReportedOutputs(project) // none for a project without outputs
			return outputs
		})
		return err
	})
	return about, m, err
}

// refusePlaceholders returns an error if secrets to be sealed are missing or cannot be decrypted.
func (o renderOptions) refusePlaceholders(s *session.Resolved, copies encryption.Copies) error {
	if o.Sealer == nil {
		return nil
	}
	if copies.Unread {
		return &failure.Environment{Text: "the secrets cannot be sealed without their passphrase",
			Next: "set PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE; what a key service encrypts cannot be sealed"}
	}
	passphrase, _, err := encryption.Passphrase(s.Env)
	if err != nil {
		return err
	}
	o.Sealer.Names = []byte(passphrase)
	missing := model.SecretKeys(s.Vault.Secrets)
	missing = slices.DeleteFunc(missing, func(key string) bool { return !slices.Contains(copies.Generated, key) })
	if len(missing) == 0 {
		return nil
	}
	return &failure.Environment{Text: "these secrets are not set, and cannot be sealed: " + strings.Join(missing, ", "),
		Next: "`runner secrets generate` or `runner secrets set` keeps them"}
}

// readSecrets sets the values of Secrets that depend on the configuration alone. Outputs of other
// resources are placeholders.
func readSecrets(ctx context.Context, s *session.Reading, resources []render.Resource,
	values map[string]map[string]any) error {
	made := map[string]map[string]map[string][]string{} // of projects
	for i := range resources {
		r := &resources[i]
		if values[r.URN] == nil {
			continue
		}
		if made[r.Project] == nil {
			var err error
			if made[r.Project], err = s.Stacks.MadeOf(ctx, r.Project); err != nil {
				return err
			}
		}
		of, known := made[r.Project][r.URN]
		if known && len(of["data"])+len(of["stringData"]) == 0 {
			r.Values = values[r.URN]
		}
	}
	return nil
}

// renderPlan renders what a plan would create or has found as it is.
func renderPlan(ctx context.Context, d cmd.Deps, o renderOptions, charts mirror.Fetcher) (render.About,
	render.Manifests, error) {
	document := *o.Plan
	about := render.About{Provider: document.Provider, Stack: document.Stack, Simulated: document.Simulated}
	var order []string
	var declared []render.Resource
	for _, project := range document.Projects {
		order = append(order, project.Name)
		for _, step := range project.Steps {
			if step.Op != "delete" && step.Op != "read" {
				declared = append(declared, render.Resource{Project: project.Name, Token: step.Type, Name: step.Name,
					Inputs: step.Inputs})
			}
		}
	}
	m, err := o.build(ctx, d, render.Options{Charts: charts, Order: order}, about, declared, declared)
	return about, m, err
}

// build renders resources for the Kubernetes version of the declared cluster, which it prints. The environment's name
// is the prefix of entries in a store.
func (o renderOptions) build(ctx context.Context, d cmd.Deps, how render.Options, about render.About,
	declared, ours []render.Resource) (render.Manifests, error) {
	var clusters mirror.Clusters
	for _, r := range declared {
		clusters.Saw(r.Project, r.Token, r.Inputs)
	}
	how.Cluster, how.Store, how.Sealer = clusters.Kubernetes(), o.Store, o.Sealer
	if how.Store != nil {
		how.Store.Prefix = about.Stack
	}
	fmt.Fprintf(d.Stderr, "Rendering charts for %s.\n", how.Cluster)
	return render.Build(ctx, how, ours)
}

// renderVersion changes when a field changes its meaning or is removed.
const renderVersion = 1

type rendered struct {
	Version int `json:"version"`
	render.About
	Directory string `json:"directory,omitempty"`
	render.Manifests
}

func writeRender(d cmd.Deps, o renderOptions, about render.About, m render.Manifests) error {
	if o.Output == "json" {
		return cmd.WriteJSON(d.Stdout, rendered{renderVersion, about, o.Out, m})
	}
	table := typeset.Table{Columns: []typeset.Column{{Title: "DIR"}, {Title: "OBJECTS"}, {Title: "SKIPPED"},
		{Title: "PLACEHOLDERS"}}}
	objects, left := 0, 0
	for _, p := range m.Projects {
		objects, left = objects+len(p.Objects), left+len(p.Skipped)
		table.Rows = append(table.Rows, []string{p.Directory, fmt.Sprint(len(p.Objects)), typeset.Dash(len(p.Skipped)),
			typeset.Dash(len(p.Placeholders))})
	}
	if o.Out == "" {
		stream, err := m.Stream()
		if err != nil {
			return err
		}
		if _, err = d.Stdout.Write(stream); err == nil {
			fmt.Fprintf(d.Stderr, "%s, %d skipped; --out or -o json lists them.\n",
				typeset.Counted(objects, "object"), left)
		}
		return err
	}
	_, err := fmt.Fprintf(d.Stdout, "%s\n%s in %s, %d skipped; README.md there lists them.\n",
		table.Text(d.Width()), typeset.Counted(objects, "object"), o.Out, left)
	return err
}
