package upgrade

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"mara/config/lists"
	"mara/projects"
	"mara/projects/model"
	"mara/projects/model/operation"
	"mara/projects/offers"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/cli/configuration"
	"mara/runner/internal/cli/operations"
	"mara/runner/internal/core/inventory"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/query"
	"mara/runner/internal/core/request"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/view"
	"mara/runner/internal/feature/backup"
	"mara/runner/internal/kube/kubeapi"
	"mara/runner/internal/kube/live"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/interrupt"
	"mara/runner/internal/machine/typeset"
)

// Upgrade returns `runner upgrade` with its subcommand plan.
func Upgrade(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "upgrade", Usage: "upgrade Kubernetes and charts, step by step",
		Description: "Upgrades Kubernetes one minor version at a time, the control plane before its nodes, and then the\n" +
			"charts to the versions of the catalogue. Each step is a change in the stack file and an up of the project and\n" +
			"of what is deployed after it, which is previewed and confirmed like any other. The steps are found from\n" +
			"what runs: after a failure or Ctrl-C, run it again, and it continues.\n\n" +
			"It refuses to begin while something stands against the upgrade: API versions that go, nodes that cannot\n" +
			"be drained, no backup of the last day. `runner upgrade plan` lists that. --despite-obstacles begins all\n" +
			"the same.\n\n" +
			"--probe asks an address of your application ten times a second, stops after a step in which more answers\n" +
			"failed than --probe-failures allows, and says in the end how many did.\n\n" +
			"Examples:\n  runner upgrade plan -s prod\n  runner upgrade -s prod --kubernetes 1.36 " +
			"--probe https://shop.example.com/healthz\n" +
			"  runner upgrade -s dev --simulate --yes\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig, cmd.ExitLocked, cmd.ExitInterrupted),
		Flags: cmd.JoinFlags(
			[]cli.Flag{
				KubernetesFlag(),
				&cli.StringFlag{Name: "probe", Usage: "ask `URL` ten times a second meanwhile"},
				&cli.IntFlag{Name: "probe-failures", Usage: "continue with up to `N` answers of the probe that failed"},
				DespiteFlag(),
			},
			operations.FlagsOf("allow", "auto-approve-if", "diff", "full"), operations.ExecutionFlags(), cmd.LockFlags(), cmd.OutputFlag("text", "json"),
			operations.ShowFlags(), cmd.EnvironmentFlags(), cmd.ConfirmFlags(), cmd.SimulationFlags(), cmd.PulumiFlags(), cmd.BaseFlags(),
		),
		Action: cmd.Action(d, parseUpgrade, runUpgrade),
		Subcommands: []*cli.Command{{
			Name: "plan", Usage: "list what can be upgraded, the steps, and what stands against it",
			Description: "Lists for each control plane, group of nodes and chart which versions run, by the states; what is\n" +
				"configured; what the catalogue of this runner has, with which it is tested; and the newest version that\n" +
				"the cloud offered on the day of the built-in list (`runner doctor` asks the cloud). Then the steps, and\n" +
				"what stands against them: objects of API versions that go, by the list in Kubernetes' own code; disruption\n" +
				"budgets that allow no disruption; workloads with one replica; no backup of the last day. The cluster is\n" +
				"asked, so that it sees what charts and others have made; a simulated cluster is not. It changes nothing.\n\n" +
				"Examples:\n  runner upgrade plan -s prod\n" +
				"  runner upgrade plan -s prod --kubernetes 1.36 -o json\n" +
				"  runner upgrade plan -s dev --simulate\n\n" +
				cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig, cmd.ExitInterrupted),
			Flags: cmd.JoinFlags([]cli.Flag{KubernetesFlag()}, cmd.OutputFlag("text", "json"), cmd.EnvironmentFlags(),
				cmd.SimulationFlags(), cmd.PulumiFlags(), cmd.BaseFlags()),
			Action: cmd.Action(d, parseUpgradePlan, runUpgradePlan),
		}},
	}
}

func KubernetesFlag() cli.Flag {
	return &cli.StringFlag{Name: "kubernetes",
		Usage: "upgrade Kubernetes to `VERSION`, such as 1.36 (default: that of the catalogue)"}
}

func DespiteFlag() cli.Flag {
	return &cli.BoolFlag{Name: "despite-obstacles", Usage: "begin although something stands against it"}
}

// upgradeOptions are those of an upgrade, whose steps are ups.
type upgradeOptions struct {
	operations.Options
	To       string
	Despite  bool   // begin in spite of obstacles
	Probe    *Probe // nil for none
	Failures int    // that the probe may have
}

func parseUpgrade(c *cli.Context, d cmd.Deps, common cmd.Common) (upgradeOptions, error) {
	up, err := operations.ParseOperate(c, d, common, operation.Up)
	o := upgradeOptions{Options: up, To: c.String("kubernetes"), Despite: c.Bool("despite-obstacles"),
		Failures: c.Int("probe-failures")}
	switch {
	case o.Failures < 0:
		return o, failure.Usagef("upgrade", "--probe-failures: %d is less than 0", o.Failures)
	case c.IsSet("probe-failures") && c.String("probe") == "":
		return o, failure.Usagef("upgrade", "--probe-failures needs --probe")
	}
	if address := c.String("probe"); address != "" && err == nil {
		u, parseErr := url.Parse(address)
		if parseErr != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
			return o, failure.Usagef("upgrade",
				"--probe: it takes an address such as https://shop.example.com/, without a password")
		}
		o.Probe = &Probe{URL: address, Interval: 100 * time.Millisecond, Patience: 2 * time.Second}
	}
	return o, err
}

// upgradePlanOptions are those of a plan.
type upgradePlanOptions struct {
	cmd.Common
	To string
}

func parseUpgradePlan(c *cli.Context, _ cmd.Deps, common cmd.Common) (upgradePlanOptions, error) {
	return upgradePlanOptions{Common: common, To: c.String("kubernetes")}, nil
}

// Plan is what was found, and its JSON form.
type Plan struct {
	Environment string     `json:"environment"`
	Provider    string     `json:"provider"`
	Simulated   bool       `json:"simulated"`
	To          string     `json:"to,omitempty"` // version of Kubernetes
	Parts       []Part     `json:"parts"`
	Steps       []Step     `json:"steps"`
	Obstacles   []Obstacle `json:"obstacles"`

	deployed []string // projects with resources, in the order of the plan
}

func runUpgradePlan(ctx context.Context, d cmd.Deps, o upgradePlanOptions) error {
	found, err := FindPlan(ctx, d, o.Options, o.To)
	if err != nil {
		return err
	}
	return o.Show(d, found, found.text(d.Width()))
}

// FindPlan finds what can be upgraded in an environment.
func FindPlan(ctx context.Context, d cmd.Deps, o session.Options, asked string) (found Plan, err error) {
	values, err := view.OpenValues(o.Request)
	if err != nil {
		return found, err
	}
	err = session.Use(d.Deps, o, session.Resolve, func(s *session.Resolved) error {
		e := Environment{Provider: s.Provider.Name, States: map[string][]map[string]any{},
			Value: func(key string) any {
				declared, _ := values.Key(key)
				if layers := values.Layers(declared); len(layers) > 0 {
					return layers[0].Value
				}
				return nil
			},
			Projects: lists.Map(s.Plan.Steps, func(step plan.Step) model.Project { return step.Project })}
		if newest := offers.Of(e.Provider).Kubernetes.Names; len(newest) > 0 {
			e.Newest = newest[len(newest)-1]
		}
		if err := readStates(ctx, s, &e); err != nil {
			return err
		}
		found = Plan{Environment: s.Settings.Stack.Text, Provider: e.Provider, Simulated: o.Simulation.On,
			Parts: e.Parts(), Steps: []Step{}, Obstacles: []Obstacle{}}
		found.deployed = slices.DeleteFunc(s.Plan.Names(), func(name string) bool { return len(e.States[name]) == 0 })
		var err error
		if found.To, err = Target(found.Parts, asked); err != nil {
			return &failure.Usage{Text: "--kubernetes: " + err.Error(), Next: "`runner upgrade plan` lists what can be upgraded"}
		}
		found.Steps = append(found.Steps, Steps(found.Parts, found.To)...)
		if len(found.Steps) > 0 {
			found.Obstacles = append(found.Obstacles, e.pinned(found.To)...)
			found.Obstacles = append(found.Obstacles, obstaclesOf(ctx, d, s, e, found.To)...)
			found.Obstacles = append(found.Obstacles, Untested(found.Parts, found.To)...)
		}
		return ctx.Err()
	})
	return found, err
}

// readStates reads the states of an environment.
func readStates(ctx context.Context, s *session.Resolved, e *Environment) error {
	if !s.States().MayHaveStates() {
		return nil
	}
	states, err := inventory.OfEnvironment(ctx, s)
	if err != nil {
		return err
	}
	at := query.Environment{Stack: s.Settings.Stack.Text, Provider: e.Provider}
	for project, state := range states {
		items, err := query.FromState(at, project, state)
		if err != nil {
			return err
		}
		for _, item := range items {
			if item, ok := item.(map[string]any); ok {
				e.States[project] = append(e.States[project], item)
			}
		}
	}
	return nil
}

// obstaclesOf returns what stands against an upgrade. A cluster that cannot be asked does.
func obstaclesOf(ctx context.Context, d cmd.Deps, s *session.Resolved, e Environment,
	to string) []Obstacle {
	if s.Options.Simulation.On {
		return Obstacles(e.Items(), e.Items(), to)
	}
	objects, more, err := askCluster(ctx, d, s, e, to)
	if err != nil {
		return append(Obstacles(e.Items(), e.Items(), to), Obstacle{Stops: true, Where: "cluster",
			Text: fmt.Sprintf("it cannot be asked what runs in it: %v", err)})
	}
	return append(more, Obstacles(append(objects, e.Items()...), objects, to)...)
}

// askLimit is how long a cluster may take to answer one question of an upgrade.
const askLimit = 2 * time.Minute

// askCluster returns the objects in the cluster, and what is to be said about its clients and its backups.
func askCluster(ctx context.Context, d cmd.Deps, s *session.Resolved, e Environment, to string) (
	items []map[string]any, more []Obstacle, err error) {
	cluster, kubeconfig, err := cmd.ConnectCluster(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	objects, err := live.List(ctx, live.Options{Kubeconfig: kubeconfig, Env: s.Env, Timeout: askLimit})
	if err != nil {
		return nil, nil, err
	}
	at := query.Environment{Stack: s.Settings.Stack.Text, Provider: e.Provider}
	for _, object := range objects {
		item, err := query.FromObject(at, object)
		if err != nil {
			return nil, nil, err
		}
		items = append(items, item)
	}
	more = requested(ctx, cluster, to)
	if _, ok := e.States[projects.Backup().Name]; !ok {
		return items, append(more, Obstacle{Where: "backup", Text: "the environment has no backups; the optional " +
			"project backup makes them (`runner plan --optional`)"}), nil
	}
	all, err := backup.Server{Cluster: cluster, Namespace: projects.Backup().Namespace}.List(ctx)
	if err != nil {
		return nil, nil, err
	}
	newest := time.Time{}
	for _, b := range all {
		if b.Problem == "" && b.Started.After(newest) {
			newest = b.Started
		}
	}
	return items, append(more, BackupObstacle(newest, d.Now())...), nil
}

// requested returns which deprecated versions the clients of a cluster request.
func requested(ctx context.Context, cluster *kubeapi.Cluster, to string) []Obstacle {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	metrics, err := cluster.Metrics(ctx)
	if err != nil {
		return []Obstacle{{Where: "cluster",
			Text: "which deprecated versions clients request is not known: " + err.Error()}}
	}
	return Requested(metrics, to)
}

// Stopping returns the obstacles that stop an upgrade.
func (p Plan) Stopping() []Obstacle {
	return slices.DeleteFunc(slices.Clone(p.Obstacles), func(o Obstacle) bool { return !o.Stops })
}

// text describes the plan.
func (p Plan) text(width int) string {
	table := typeset.Table{Columns: []typeset.Column{
		{Title: "PART", Min: 12}, {Title: "PROJECT"}, {Title: "RUNS"}, {Title: "CONFIGURED"}, {Title: "CATALOGUE"},
		{Title: "CLOUD"}, {Title: "KEY", Optional: true},
	}}
	var notes []string
	for _, part := range p.Parts {
		table.Rows = append(table.Rows, []string{
			part.What, part.Project, cmd.OrDash(strings.Join(part.Running, ", ")), cmd.OrDash(part.Configured),
			cmd.OrDash(part.Catalogue), cmd.OrDash(part.Newest), part.Key,
		})
		if part.Note != "" {
			notes = append(notes, typeset.Wrap(part.What+": "+part.Note+".", width, 0)+"\n")
		}
	}
	text := table.Text(width)
	if len(p.Steps) == 0 {
		return text + "\nNothing of what is deployed is older than the catalogue.\n"
	}
	text += "\nSteps, each an up that is previewed and confirmed:\n" + p.stepLines()
	if len(notes) > 0 {
		text += "\n" + strings.Join(notes, "")
	}
	return text + p.obstacleText(width)
}

// stepLines lists the steps.
func (p Plan) stepLines() string {
	var b strings.Builder
	for i, step := range p.Steps {
		fmt.Fprintf(&b, "%3d. %s  (%s)\n", i+1, step.Title, step.Project)
	}
	return b.String()
}

// obstacleText lists the obstacles, and counts the ones that stop the upgrade.
func (p Plan) obstacleText(width int) string {
	if len(p.Obstacles) == 0 {
		if p.Simulated {
			return "\nNothing in the states stands against it. A simulated cluster was not asked.\n"
		}
		return "\nNothing stands against it.\n"
	}
	stops := len(p.Stopping())
	return fmt.Sprintf("\nWhat stands against it: %d to remove first (✗), %d to know.\n%s", stops, len(p.Obstacles)-stops,
		p.obstacleLines(width))
}

// obstacleLines lists the obstacles. The ones that stop the upgrade have a cross.
func (p Plan) obstacleLines(width int) string {
	var b strings.Builder
	for _, o := range p.Obstacles {
		mark := "-"
		if o.Stops {
			mark = "✗"
		}
		line := fmt.Sprintf("  %s %s: %s", mark, typeset.Visible(o.Where), typeset.Visible(o.Text))
		b.WriteString(typeset.Wrap(line, width, 4) + "\n")
	}
	return b.String()
}

func runUpgrade(ctx context.Context, d cmd.Deps, o upgradeOptions) error {
	if o.Request.Refusal != nil {
		return o.Request.Refusal // before anything is written
	}
	found, err := FindPlan(ctx, d, o.Request.Options, o.To)
	if err != nil {
		return err
	}
	_, _ = io.WriteString(d.Stderr, found.text(d.Width()))
	if len(found.Steps) == 0 {
		return nil
	}
	if stops := found.Stopping(); len(stops) > 0 && !o.Despite {
		return &failure.Environment{Text: fmt.Sprintf("%s against the upgrade", typeset.Counted(len(stops), "obstacle")),
			Next: "remove what is marked with ✗, and run it again; --despite-obstacles begins all the same"}
	}
	if o.Probe == nil {
		return o.takeSteps(ctx, d, found)
	}
	probing, stop := context.WithCancel(ctx)
	var probe sync.WaitGroup
	probe.Go(func() { o.Probe.Run(probing) })
	err = o.takeSteps(ctx, d, found)
	stop()
	probe.Wait()
	fmt.Fprintf(d.Stderr, "\n%s\n", o.Probe.Result())
	return err
}

// settling is how long the probe continues after a step: replaced Pods end in the background. With a load balancer,
// Pods of the ingress controller take 30 seconds.
const settling = 40 * time.Second

// settle waits until the probe has seen the end of a step. A simulated one ends at once.
func (o upgradeOptions) settle(ctx context.Context, d cmd.Deps) error {
	if o.Request.Options.Simulation.On {
		return nil
	}
	fmt.Fprintf(d.Stderr, "\nThe probe continues for %s, while the replaced Pods end.\n", settling)
	return interrupt.Sleep(ctx, settling)
}

// After lists what is deployed, from the project of a step on.
func (p Plan) After(step Step) []string {
	return p.deployed[slices.Index(p.deployed, step.Project):]
}

// WriteStep writes the changes of a step into the stack file of an environment, and returns the file; "" if the step
// has none.
func WriteStep(r request.Request, step Step) (file string, err error) {
	if len(step.Changes) == 0 {
		return "", nil
	}
	return configuration.Write(r, step.Settings()...)
}

// takeSteps takes one step after the other, as long as the probe gets answers. A step is an up of its project and of
// what is deployed and comes after it: an upgrade deploys nothing that was not there.
func (o upgradeOptions) takeSteps(ctx context.Context, d cmd.Deps, found Plan) error {
	steps := found.Steps
	for i, step := range steps {
		fmt.Fprintf(d.Stderr, "\nStep %d of %d: %s\n", i+1, len(steps), step.Title)
		file, err := WriteStep(o.Request.Options.Request, step)
		if err != nil {
			return err
		}
		if file != "" {
			fmt.Fprintf(d.Stderr, "%s: %s\n", file, step.Words())
		}
		up := o.Options
		up.Request.Selection = plan.Selection{Only: found.After(step)}
		if err := operations.RunOperation(ctx, d, up); err != nil {
			fmt.Fprintf(d.Stderr, "\nnote: the upgrade stopped in step %d of %d; run it again to continue\n", i+1, len(steps))
			return err
		}
		if o.Probe == nil {
			continue
		}
		if err := o.settle(ctx, d); err != nil {
			return err
		}
		if r := o.Probe.Result(); r.Failed > o.Failures {
			return failure.Advise(fmt.Errorf("step %d of %d is done, but %s", i+1, len(steps), r),
				"find out why before you continue; --probe-failures allows a number")
		}
	}
	return nil
}

// Summary describes the plan of one of many environments.
func (p Plan) Summary(width int) string {
	if len(p.Steps) == 0 {
		return p.Environment + ": nothing of what is deployed is older than the catalogue\n"
	}
	return fmt.Sprintf("%s: %s\n", p.Environment, typeset.Counted(len(p.Steps), "step")) + p.stepLines() +
		p.obstacleLines(width)
}
