package export

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/config/lists"
	"mara/projects/model"
	"mara/projects/model/operation"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/encryption"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/fleet"
	"mara/runner/internal/core/gitsource"
	"mara/runner/internal/feature/operator"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/outdir"
	"mara/runner/internal/machine/typeset"
)

func operatorCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "operator", Usage: "write Stacks for the Pulumi Kubernetes Operator", ArgsUsage: cmd.FleetArguments,
		Description: "Writes a Stack for each project with its prerequisites, a service account, and a README that " +
			"describes how to apply, watch and delete them. Secret values refer to keys of Secrets, which you " +
			"create. Built-in projects come from the image. Your projects in Pulumi YAML become Programs; all other " +
			"projects, or all of yours with --repo or --flux, come from there. The README lists the projects that " +
			"the operator cannot run, with the reasons, and what it does differently: it does not run hooks.\n\n" +
			"--within is the maximal age of a prerequisite's last success. After a new commit the operator orders " +
			"only Stacks whose prerequisites are older, so it should be short; but it has to be longer than the " +
			"whole chain takes, or the Stacks would wait for one another forever.\n\n" +
			"Several environments of a fleet, by name or by labels, get a directory each, and a README with their " +
			"waves.\n\n" +
			"Examples:\n" +
			"  runner export operator -s dev --image registry.example.com/workspace:1 --out operator/dev\n" +
			"  runner export operator -s dev --image registry.example.com/workspace:1 --repo " +
			"https://github.com/acme/infra\n" +
			"  runner export operator -l stage=prod --image registry.example.com/workspace:1\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitUsage, cmd.ExitConfig),
		Flags: cmd.JoinFlags(
			[]cli.Flag{
				&cli.StringFlag{Name: "image", Usage: "run the programs in this `IMAGE`"},
				&cli.StringFlag{Name: "out", Usage: "write to `DIR` (default: operator/STACK below the root, or operator for " +
					"several)"},
				&cli.StringFlag{Name: "namespace", Aliases: []string{"n"}, Value: "pulumi",
					Usage: "create the objects in the namespace `NAME`; {stack} in it is replaced by the environment"},
				&cli.StringFlag{Name: "backend", Usage: "store the state at `URL`, as the cluster reaches it",
					DefaultText: "the configured one"},
				&cli.StringFlag{Name: "claim", Usage: "mount the volume claim `NAME` where --backend file://... is"},
				&cli.StringFlag{Name: "repo", Usage: "take own projects from the git repository at `URL`"},
				&cli.StringFlag{Name: "branch", Usage: "follow `BRANCH` of the repository (default: main)"},
				&cli.StringFlag{Name: "commit", Usage: "use this `COMMIT` of the repository"},
				&cli.StringFlag{Name: "repo-secret", Usage: "log in to repositories with the Secret `NAME`; its key is " +
					"accessToken, or sshPrivateKey for ssh"},
				&cli.StringFlag{Name: "flux", Usage: "take own projects from Flux's source `KIND/NAME`, such as " +
					"GitRepository/infra"},
				&cli.DurationFlag{Name: "within", Usage: "run a prerequisite again if its last success is older than `DURATION`",
					DefaultText: "twice what the chain of projects takes"},
				&cli.DurationFlag{Name: "resync", Usage: "run every project each `DURATION`, also without a new commit",
					DefaultText: "never"},
				&cli.BoolFlag{Name: "refresh", Usage: "refresh before each update"},
				&cli.BoolFlag{Name: "destroy", Usage: "destroy a Stack's resources when the Stack is deleted"},
				&cli.BoolFlag{Name: "preview", Usage: "only preview, and fail if there are changes; `runner operator adopt` " +
					"continues from there"},
				&cli.BoolFlag{Name: "retain", Usage: "keep a pod for each Stack"},
				&cli.BoolFlag{Name: "retry-on-conflict", Usage: "set retryOnUpdateConflict, which the operator 2.9 ignores"},
				&cli.StringSliceFlag{Name: "variable", Usage: "set the environment variable `NAME`, from the Secret; may be " +
					"repeated"},
				&cli.StringSliceFlag{Name: "account-annotation", Usage: "annotate the service account, `KEY=VALUE`; may be " +
					"repeated"},
			},
			cmd.FleetFlags(), cmd.OutputFlag("text", "json"), cmd.EnvironmentFlags(), cmd.BaseFlags(),
		),
		Action: cmd.Action(d, parseOperator, runOperator),
	}
}

type operatorOptions struct {
	cmd.Common
	operator.Options
	Fleet     fleet.Selection // empty for the stack alone
	Variables []string
	Out       string // "" for the usual place
}

var namespaces = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

func parseOperator(c *cli.Context, d cmd.Deps, common cmd.Common) (o operatorOptions, err error) {
	o = operatorOptions{Common: common, Variables: c.StringSlice("variable"), Out: d.Absolute(c.String("out")),
		Options: operator.Options{
			Namespace: c.String("namespace"), Image: c.String("image"), Backend: c.String("backend"), Claim: c.String("claim"),
			Repo: c.String("repo"), Branch: c.String("branch"), Commit: c.String("commit"), RepoSecret: c.String("repo-secret"),
			Within: c.Duration("within"), Resync: c.Duration("resync"), Refresh: c.Bool("refresh"), Destroy: c.Bool("destroy"),
			Retain:  c.Bool("retain"),
			Preview: c.Bool("preview"), RetryOnUpdateConflict: c.Bool("retry-on-conflict"),
		}}
	o.Operation = operation.Up
	if o.Fleet, err = cmd.ParseFleet(c, c.Args().Slice()); err != nil {
		return o, err
	}
	if !o.Fleet.IsEmpty() && o.Stack.IsSet() {
		return o, failure.Usagef(cmd.Path(c), "-s names one environment; leave it out to choose several")
	}
	if kind, name, ok := strings.Cut(c.String("flux"), "/"); ok {
		o.Flux = operator.SourceRef{APIVersion: "source.toolkit.fluxcd.io/v1", Kind: kind, Name: name}
	} else if kind != "" {
		return o, failure.Usagef(cmd.Path(c), "--flux: %q is not KIND/NAME, such as GitRepository/infra", kind)
	}
	for _, text := range c.StringSlice("account-annotation") {
		key, value, err := cmd.KeyValue(cmd.Path(c), "--account-annotation", text)
		if err != nil {
			return o, err
		}
		if o.AccountAnnotations == nil {
			o.AccountAnnotations = map[string]string{}
		}
		o.AccountAnnotations[key] = value
	}
	return o, o.check(cmd.Path(c))
}

// check refuses options that do not go together.
func (o *operatorOptions) check(path string) error {
	const least = time.Minute // the operator takes nothing shorter
	if o.Repo != "" {
		if err := operator.CheckRepository(o.Repo); err != nil {
			return failure.Usagef(path, "--repo: %s", err)
		}
	}
	switch {
	case o.Image == "":
		return failure.Usagef(path, "--image is missing: the image that the programs run in; `make image` makes one")
	case !namespaces.MatchString(namespaceOf(o.Namespace, "x")):
		return failure.Usagef(path, "--namespace: %q is no name for a namespace", o.Namespace)
	case o.Repo != "" && o.Flux.Name != "":
		return failure.Usagef(path, "--repo and --flux both say where own projects are; give one")
	case o.Repo == "" && (o.Branch != "" || o.Commit != ""):
		return failure.Usagef(path, "--branch and --commit need --repo")
	case o.Branch != "" && o.Commit != "":
		return failure.Usagef(path, "--branch follows a branch and --commit does not; give one")
	case o.Claim != "" && !strings.HasPrefix(o.Backend, "file:///"):
		return failure.Usagef(path, "--claim needs --backend file:///DIR, where it is mounted")
	case o.Within < 0 || o.Resync < 0 || o.Resync > 0 && o.Resync < least:
		return failure.Usagef(path, "--within and --resync have to be more than 0, and --resync at least %s", least)
	}
	if o.Repo != "" && o.Commit == "" && o.Branch == "" {
		o.Branch = "main"
	}
	return nil
}

func runOperator(ctx context.Context, d cmd.Deps, o operatorOptions) (err error) {
	var waves [][]string
	if !o.Fleet.IsEmpty() {
		if waves, _, err = wavesOf(o.Request, o.Fleet); err != nil {
			return err
		}
	}
	all, err := resolveAll(d, o.Common.Options, waves, config.Origin{Source: config.FromFleet}, o.Backend == "")
	defer func() { err = errors.Join(err, closeAll(all)) }()
	if err != nil {
		return err
	}
	var done []operatorDocument
	var problems []error
	files := map[string][]byte{}
	for _, e := range all {
		one, dir := o, ""
		if waves != nil {
			dir = e.name() + "/"
		}
		document, made, err := exportOne(ctx, e, &one)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", e.name(), err))
		}
		for name, content := range made {
			files[dir+name] = content
		}
		done = append(done, document)
	}
	if err := errors.Join(problems...); err != nil {
		return &failure.Environment{Text: err.Error()}
	}
	if err := checkShared(done); err != nil {
		return err
	}
	if waves != nil {
		files["README.md"] = fleetReadme(waves, o.Namespace)
	}
	if o.Out == "" {
		o.Out = filepath.Join(o.Root, "operator")
		if waves == nil {
			o.Out = filepath.Join(o.Out, all[0].name())
		}
	}
	read := lists.Map(all, func(e environment) []string { return e.projectFiles(o.readsFromGit) })
	notes, err := uncommittedNotes(ctx, all[0], "the operator", slices.Concat(read...))
	if err != nil {
		return err
	}
	if err := outdir.Write(o.Out, "runner export operator", files); err != nil {
		return err
	}
	for _, note := range notes {
		fmt.Fprintf(d.Stderr, "warning: %s\n", note)
	}
	return writeOperator(d, o, waves != nil, done)
}

func exportOne(ctx context.Context, e environment, o *operatorOptions) (operatorDocument, map[string][]byte, error) {
	described, problems := e.describe(ctx, *o)
	o.Backend = cmp.Or(o.Backend, e.Settings.Backend.Text)
	o.Namespace = namespaceOf(o.Namespace, e.name())
	if o.Within == 0 {
		const short = 30 * time.Minute // a pod has to start for each project, too
		o.Within = max(short, 2*e.Plan.CriticalPath(e.Plan.Declared()).Total).Round(time.Minute)
	}
	if dir, err := filepath.Rel(topOf(o.Root), o.Root); err == nil && dir != "." {
		o.RepoDir = filepath.ToSlash(dir)
	}
	exported, err := operator.Export(described, o.Options)
	if err := errors.Join(problems, err); err != nil {
		return operatorDocument{}, nil, err
	}
	files, err := exported.Files(described, o.Options)
	return documentOf(*o, described, exported), files, err
}

// fleetReadme says in which order several environments are applied.
func fleetReadme(waves [][]string, namespace string) []byte {
	var b strings.Builder
	b.WriteString("# Environments on the Pulumi Kubernetes Operator\n\nA directory for each, with a README of its own. " +
		"In waves:\n\n")
	for _, wave := range waves {
		for _, name := range wave {
			fmt.Fprintf(&b, "    kubectl apply --server-side -k %s\n", name)
		}
		for _, name := range wave {
			fmt.Fprintf(&b, "    runner operator wait -s %s -n %s\n", name, namespaceOf(namespace, name))
		}
	}
	return []byte(b.String())
}

// describe returns the environment for the export.
func (e environment) describe(ctx context.Context, o operatorOptions) (operator.Environment, error) {
	var problems []error
	described := operator.Environment{
		Name: e.name(), Organization: "organization", Plan: e.Plan, Config: map[string]map[string]any{},
		Secrets: map[string][]string{}, Programs: map[string]map[string]any{},
		Cloud: e.Provider.Account, RunHooks: e.Provider.Hooks, StackNames: o.Known().StackNames(), Repositories: map[string]operator.Repository{},
		Backends: map[string]string{},
	}
	if o.Backend == "" {
		for project, backend := range e.Settings.Elsewhere {
			described.Backends[project] = backend.Text
		}
	}
	if e.Settings.Managed() { // the user's choice of an organization is not the operator's: the export names it
		organization, err := e.Organization(ctx, e.Settings.Root)
		described.Organization, problems = organization, append(problems, err)
	}
	passphrase, err := e.needsPassphrase()
	problems = append(problems, err)
	if header, err := e.Settings.Config.Header(); err == nil && !passphrase {
		described.SecretsProvider = header.SecretsProvider
	}
	described.Variables = e.variables(o, passphrase)
	if existing := e.Provider.Existing; existing != nil && !e.Vault.Has(existing.Content) {
		problems = append(problems, fmt.Errorf("a Pod has no file %s: store a kubeconfig with a token, in base64, with "+
			"`runner secrets set %s -`", existing.Kubeconfig, existing.Content))
	}
	declared := map[string]bool{}
	for _, key := range o.Known().Keys() {
		declared[key.Name] = true
	}
	for _, step := range e.Plan.Steps {
		p := step.Project
		described.Config[p.Name], described.Secrets[p.Name] = e.valuesOf(p, declared)
		if p.Own != nil && p.Own.Git != "" {
			from, err := repositoryOf(o.Root, p)
			described.Repositories[p.Name], problems = from, append(problems, err)
			continue
		}
		if p.Own == nil || o.readsFromGit(p) {
			continue
		}
		if described.Programs[p.Name], err = operator.ReadProgram(p.Own.Dir, p.Own.Generated); err != nil {
			problems = append(problems, fmt.Errorf("%s cannot be a Program: %w; say with --repo or --flux where it is", p.Name,
				err))
			described.Programs[p.Name] = map[string]any{} // one problem is enough
		}
	}
	return described, errors.Join(problems...)
}

// readsFromGit reports whether the operator takes a project below the root from the repository, and not from a Program.
func (o *operatorOptions) readsFromGit(p model.Project) bool {
	return !p.Own.Generated && (p.Own.Runtime != "yaml" || o.Repo != "" || o.Flux.Name != "")
}

// repositoryOf returns the repository of a project that mara.yaml takes from git, at the fetched
// commit, so that the operator runs what the runner runs.
func repositoryOf(root string, p model.Project) (operator.Repository, error) {
	source := gitsource.Source{URL: p.Own.Git, Ref: p.Own.Ref}
	commit, ok := source.Commit(root)
	if !ok || strings.HasPrefix(source.URL, ".") || strings.HasPrefix(source.URL, "/") {
		return operator.Repository{}, fmt.Errorf("%s is in %s, which the cluster cannot reach", p.Name,
			event.MaskURLs(source.String()))
	}
	if event.MaskURLs(source.URL) != source.URL {
		return operator.Repository{}, fmt.Errorf("%s is in %s, whose address has a password in it", p.Name,
			event.MaskURLs(source.String()))
	}
	return operator.Repository{URL: source.URL, Commit: commit, Directory: p.Own.Path}, nil
}

// variables returns the variables in the Secret: those of the environment file, the passphrase,
// and those of --variable.
func (e environment) variables(o operatorOptions, passphrase bool) []string {
	ours := []string{config.StackVariable, config.BackendVariable, encryption.PassphraseFileVariable}
	names := slices.Clone(o.Variables)
	if passphrase {
		names = append(names, encryption.PassphraseVariable)
	}
	if e.Settings.Managed() {
		names = append(names, config.TokenVariable)
	}
	for _, variable := range o.Sources.File.Variables() {
		if !slices.Contains(ours, variable.Name) && !strings.HasPrefix(variable.Name, "RUNNER_") {
			names = append(names, variable.Name)
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(names)))
}

// valuesOf returns the configuration of a project: the keys that it declares, and keys that no
// project declares, such as a provider's. Scalars are strings, as in Pulumi.
func (e environment) valuesOf(p model.Project, declared map[string]bool) (values map[string]any, secrets []string) {
	values = map[string]any{config.InfraType: e.Provider.InfraType()}
	for _, entry := range e.Settings.Config.Entries {
		if _, own := p.Key(entry.Key); declared[entry.Key] && !own || entry.Value == nil {
			continue
		}
		switch value := entry.Value.(type) {
		case config.Ciphertext:
			_, isKnown := e.Options.Known().Secret(entry.Key)
			if !isKnown || slices.ContainsFunc(p.Secrets, func(s model.Secret) bool { return s.Key == entry.Key }) {
				secrets = append(secrets, entry.Key)
			}
		case map[string]any, []any:
			values[entry.Key] = value
		default:
			values[entry.Key] = fmt.Sprint(value)
		}
	}
	secrets = append(secrets, e.neededSecrets(p)...)
	return values, slices.Compact(slices.Sorted(slices.Values(secrets)))
}

// neededSecrets returns the secrets that a project reads from its configuration: a user's project
// its own secrets, the project secrets the secrets of all other projects.
func (e environment) neededSecrets(p model.Project) []string {
	var keys []string
	add := func(of model.Project) {
		for _, secret := range of.Secrets {
			if e.Vault.Has(secret.Key) || !secret.Optional && secret.Default == "" {
				keys = append(keys, secret.Key)
			}
		}
	}
	switch {
	case p.Own != nil || len(model.InCluster(p)) < len(p.Secrets):
		add(p)
	case p.Name == model.SecretsProject:
		for _, step := range e.Plan.Steps {
			if step.Project.Own == nil && len(model.InCluster(step.Project)) == len(step.Project.Secrets) {
				add(step.Project)
			}
		}
	}
	return keys
}

// operatorVersion changes when a field changes its meaning or is removed.
const operatorVersion = 1

type operatorDocument struct {
	Version   int               `json:"version"`
	Stack     string            `json:"stack"`
	Directory string            `json:"directory"`
	Namespace string            `json:"namespace"`
	Within    string            `json:"within"`
	Stacks    map[string]string `json:"stacks"` // project -> name of its Stack
	Skipped   map[string]string `json:"left_out"`
	Variables []string          `json:"variables"`
	Secrets   []string          `json:"secrets"` // keys
	programs  []string          // names of objects
}

func documentOf(o operatorOptions, e operator.Environment, x operator.Exported) operatorDocument {
	document := operatorDocument{
		Version: operatorVersion, Stack: e.Name, Namespace: o.Namespace, Within: o.Within.String(),
		Stacks: map[string]string{}, Skipped: map[string]string{}, Variables: append([]string{}, e.Variables...),
		Secrets:  append([]string{}, e.SecretKeys()...),
		programs: lists.Map(x.Programs, func(p operator.Program) string { return p.Metadata.Name }),
	}
	for _, stack := range x.Stacks {
		document.Stacks[stack.Metadata.Labels[operator.ProjectLabel]] = stack.Metadata.Name
	}
	for _, left := range x.Skipped {
		document.Skipped[left.Project] = left.Text
	}
	return document
}

// writeOperator tells what was written: one document, or a list for several environments.
func writeOperator(d cmd.Deps, o operatorOptions, several bool, done []operatorDocument) error {
	text := ""
	for i := range done {
		e := &done[i]
		e.Directory = o.Out
		if several {
			e.Directory = filepath.Join(o.Out, e.Stack)
		}
		text += fmt.Sprintf("%s of %s in %s; README.md there describes the next steps.\n",
			typeset.Counted(len(e.Stacks), "Stack"), e.Stack, e.Directory)
		for _, project := range lists.Keys(e.Skipped) {
			text += fmt.Sprintf("skipped: %s %s\n", project, e.Skipped[project])
		}
	}
	if several {
		return o.Show(d, done, text)
	}
	if len(done[0].programs) > 0 {
		text += fmt.Sprintf("Export no other environment to the namespace %s: it would share the Programs.\n",
			done[0].Namespace)
	}
	return o.Show(d, done[0], text)
}
