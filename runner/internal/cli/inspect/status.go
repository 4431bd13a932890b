// Package inspect has the read-only commands: providers, plan, doctor, stacks, status,
// outputs, query and policy.
package inspect

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/projects/model/operation"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/encryption"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/identity"
	"mara/runner/internal/core/inventory"
	"mara/runner/internal/core/journal"
	"mara/runner/internal/core/lock"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/stacks"
	"mara/runner/internal/core/ui"
	"mara/runner/internal/core/view"
	"mara/runner/internal/kube/live"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/interrupt"
	"mara/runner/internal/machine/parallel"
)

// Status returns `runner status`.
func Status(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "status", Usage: "show what is deployed",
		Description: "Shows for each project whether it is deployed, destroyed, failed, locked or was never " +
			"deployed; its number of resources; and its last operation, with duration and end. Notes show who holds " +
			"a lock, which operations were interrupted, and whether a project is stale: outputs that it reads have " +
			"changed since it was deployed (secret outputs cannot be compared). It only reads, and needs no " +
			"passphrase.\n\n" +
			"--live also asks the environment's cluster whether the Kubernetes objects that the states list are " +
			"there and ready, with those of Helm releases, how the Pods of each application are (restarts, image by digest, " +
			"last warning), and whether its address answers. It needs the passphrase, which decrypts the kubeconfig. A " +
			"cluster that does not answer within --timeout is an error.\n\n" +
			"--watch updates the status every two seconds; with -o json it prints one document per line.\n\n" +
			"Examples:\n  runner status -s dev\n  runner status -s dev --watch\n  runner status -s dev --live\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig, cmd.ExitInterrupted),
		Flags: cmd.JoinFlags(
			cmd.OutputFlag("table", "json"),
			[]cli.Flag{
				&cli.BoolFlag{Name: "watch", Usage: "update the status until Ctrl-C"},
				&cli.BoolFlag{Name: "live", Usage: "ask the cluster whether the objects are there and ready"},
				&cli.DurationFlag{Name: "timeout", Value: 30 * time.Second, Usage: "wait up to `DURATION` for the cluster with --live"},
			},
			cmd.EnvironmentFlags(), cmd.SimulationFlags(), cmd.PulumiFlags(), cmd.BaseFlags(),
		),
		Action: cmd.Action(d, parseStatus, cmd.InSession(session.Resolve, runStatus)),
	}
}

// options are the options of status and outputs.
type options struct {
	cmd.Common
	Watch        bool
	Live         bool
	Timeout      time.Duration // for the cluster
	Project, Key string
	Secrets      bool // outputs shows their values
}

func parse(c *cli.Context, _ cmd.Deps, common cmd.Common) (options, error) {
	return options{Common: common, Watch: c.Bool("watch"), Project: c.Args().Get(0), Key: c.Args().Get(1),
		Secrets: c.Bool("show-secrets")}, nil
}

func parseStatus(c *cli.Context, d cmd.Deps, common cmd.Common) (options, error) {
	o, err := parse(c, d, common)
	o.Live, o.Timeout = c.Bool("live"), c.Duration("timeout")
	switch {
	case err != nil:
	case o.Live && o.Watch:
		err = failure.Usagef(cmd.Path(c), "--live and --watch: choose one")
	case o.Live && o.Simulation.On:
		err = failure.Usagef(cmd.Path(c), "simulated clusters have no objects: remove --live")
	case o.Timeout <= 0:
		err = failure.Usagef(cmd.Path(c), "--timeout: %s is not greater than 0", o.Timeout)
	}
	return o, err
}

// projectStatus is the status of one project.
type projectStatus struct {
	Project    string              `json:"project"`
	Title      string              `json:"title"`
	State      string              `json:"state"`
	Operation  operation.Operation `json:"operation,omitempty"`
	Result     string              `json:"result,omitempty"`
	Ended      *time.Time          `json:"ended,omitempty"`
	DurationMS int64               `json:"duration_ms,omitempty"`
	Resources  int                 `json:"resources"`
	Backend    string              `json:"backend,omitempty"` // where it is not that of the environment
	Error      string              `json:"error,omitempty"`   // why nothing is known
	Lock       string              `json:"lock,omitempty"`
	Stale      []stacks.Stale      `json:"stale,omitempty"`
	Pending    []stacks.Pending    `json:"pending,omitempty"`
	Live       *live.Health        `json:"live,omitempty"` // with --live
	// Application is how an application of mara.yaml runs, with --live.
	Application *application `json:"application,omitempty"`
}

// The states of a project.
const (
	stateNever     = "never deployed"
	stateDeployed  = "deployed"
	stateDestroyed = "destroyed"
	stateFailed    = "failed"
	stateLocked    = "locked"
	stateUnknown   = "unknown" // its backend does not answer
)

// statusVersion changes when a field changes its meaning or is removed.
const statusVersion = 1

type environmentStatus struct {
	Version   int             `json:"version"`
	Provider  string          `json:"provider"`
	Stack     string          `json:"stack"`
	Backend   string          `json:"backend"`
	Simulated bool            `json:"simulated"`
	Lock      string          `json:"lock,omitempty"` // owner of the runner's lock on the environment
	LastRun   *view.PastRun   `json:"last_run,omitempty"`
	Projects  []projectStatus `json:"projects"`
	// Orphans are the stacks that no project claims.
	Orphans []inventory.Orphan `json:"orphans,omitempty"`
}

func runStatus(ctx context.Context, d cmd.Deps, o options, resolved *session.Resolved) error {
	s, err := resolved.Read(ctx, encryption.Copies{})
	if err != nil {
		return err
	}
	if err := identity.CheckKnown(s); err != nil {
		return err
	}
	identity.WarnOfBackend(ctx, s)
	d.Note(config.Apart(s.Settings.Backend.Text))
	if o.Watch {
		return watchStatus(ctx, d, o, s)
	}
	status, err := status(ctx, s, o)
	if err != nil {
		return err
	}
	var unasked error // what the states say is shown all the same
	if o.Live {
		unasked = status.checkLive(ctx, resolved, o)
	}
	return errors.Join(o.Show(d, status, status.text(d.Now(), d.Width(), o.Color)), unasked, s.Stacks.Incomplete())
}

// watchStatus shows the status again and again, until it is interrupted or stdout has no reader.
func watchStatus(ctx context.Context, d cmd.Deps, o options, s *session.Reading) error {
	const often = 2 * time.Second
	show, leave := statusShow(d, o)
	defer leave()
	for cmd.HasReader(d.Stdout) {
		status, err := status(ctx, s, o)
		if err == nil {
			err = show(status)
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
		if interrupt.Sleep(ctx, often) != nil {
			return cmd.Exit(cmd.ExitInterrupted) // Ctrl-C ends --watch; it needs no message
		}
		if s.States().MayHaveStates() {
			if err := s.Stacks.List(ctx); err != nil && ctx.Err() == nil {
				return err
			}
		}
	}
	return nil
}

// statusShow returns a function that shows a status; on a terminal it replaces the previous
// one. Call leave at the end.
func statusShow(d cmd.Deps, o options) (show func(environmentStatus) error, leave func()) {
	leave = func() {}
	if o.Output == "json" {
		return func(status environmentStatus) error { return cmd.WriteJSONLine(d.Stdout, status) }, leave
	}
	write := func(text string) error { return d.Print(text + "\n") }
	if ui.Decide(o.Facts(d)).Mode == ui.LiveMode {
		page := ui.NewPage(d.Stdout, d.Size)
		write, leave = page.Show, func() { _ = page.Close() } // stdout may have no reader any more
	}
	return func(status environmentStatus) error { return write(status.text(d.Now(), d.Width(), o.Color)) }, leave
}

func status(ctx context.Context, s *session.Reading, o options) (environmentStatus, error) {
	status := environmentStatus{
		Version: statusVersion, Provider: s.Provider.Name, Stack: s.Settings.Stack.Text,
		Backend: event.MaskURLs(s.Settings.Backend.Text), Simulated: o.Simulation.On, LastRun: lastRun(s.Resolved),
	}
	state, owner, err := s.RunLock().Inspect()
	if err != nil {
		return status, err
	}
	if state == lock.Held {
		status.Lock = owner.String()
	}
	ask := func(ctx context.Context, step plan.Step) (projectStatus, error) { return statusOf(ctx, s, step) }
	if status.Projects, err = parallel.Each(ctx, s.Plan.Steps, ask); err != nil {
		return status, err
	}
	unreached := func(name string) bool { return s.Stacks.Reach(name) != nil }
	locks, err := s.Leftovers().Locks(ctx, slices.DeleteFunc(mayBeLocked(s, status.Projects), unreached))
	if err != nil {
		return status, err
	}
	for _, l := range locks {
		if i := slices.Index(s.Plan.Names(), l.Project); status.Projects[i].Lock == "" {
			status.Projects[i].State, status.Projects[i].Lock = stateLocked, l.Holder
		}
	}
	snapshots, err := parallel.Each(ctx, s.Plan.Names(), func(ctx context.Context, name string) (stacks.Snapshot, error) {
		if unreached(name) {
			return stacks.Snapshot{}, nil
		}
		return s.Stacks.Snapshot(ctx, name)
	})
	if err != nil {
		return status, err
	}
	now := map[string]stacks.Snapshot{}
	for i, step := range s.Plan.Steps {
		now[step.Project.Name] = snapshots[i]
	}
	for i := range status.Projects {
		status.Projects[i].Resources -= snapshots[i].Uncounted
		status.Projects[i].Pending = snapshots[i].Pending
		status.Projects[i].Stale = snapshots[i].StaleAgainst(now)
	}
	unclaimed, err := inventory.FindUnclaimed(ctx, s)
	if err != nil {
		return status, err
	}
	status.Orphans = unclaimed.Orphans
	return status, nil
}

// mayBeLocked lists the projects whose stacks may be locked. At Pulumi Cloud the history of a stack, which is known, says
// whether an update runs, and so does what is written down here about one that was cut off.
func mayBeLocked(s *session.Reading, projects []projectStatus) []string {
	at := stacks.AtService{Set: s.Stacks}
	if !at.Is() {
		return s.Plan.Names()
	}
	names := at.HasBegun(s.Plan.Names())
	for _, p := range projects {
		if p.Result == "in-progress" && !slices.Contains(names, p.Project) {
			names = append(names, p.Project)
		}
	}
	return names
}

func lastRun(s *session.Resolved) *view.PastRun {
	runs, _ := journal.Summaries(s.Directory.Runs()) // without runs there are no notes
	for run, summary := range runs {
		if s.Environment().Has(summary) {
			last := view.NewPastRun(run, summary)
			return &last
		}
	}
	return nil
}

func statusOf(ctx context.Context, s *session.Reading, step plan.Step) (projectStatus, error) {
	project, backend := step.Project.Name, ""
	if other, ok := s.Settings.Elsewhere[project]; ok {
		backend = event.MaskURLs(other.Text)
	}
	if err := s.Stacks.Reach(project); err != nil {
		return projectStatus{Project: project, Title: step.Project.Title, State: stateUnknown, Backend: backend,
			Error: err.Error()}, nil
	}
	update, _, err := s.Stacks.LastUpdate(ctx, project) // none of an imported state
	resources := s.Stacks.Summary(project).Resources
	status := projectStatus{
		Project: project, Title: step.Project.Title, State: stateOf(update.Operation, update.Result, resources),
		Operation: update.Operation, Result: update.Result, Resources: resources, Backend: backend,
	}
	if !update.End.IsZero() { // it has ended
		status.Ended, status.DurationMS = &update.End, update.End.Sub(update.Start).Milliseconds()
	}
	return status, err
}

func stateOf(op operation.Operation, result string, resources int) string {
	switch {
	case result == "failed":
		return stateFailed
	case resources > 0:
		return stateDeployed
	case op.Destroys():
		return stateDestroyed
	}
	return stateNever
}
