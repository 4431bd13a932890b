package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"
	"golang.org/x/sync/errgroup"

	"mara/runner/internal/plan"
)

func statusCommand(d Deps) *cli.Command {
	return &cli.Command{
		Name:  "status",
		Usage: "show what is deployed",
		Description: "One line per project: never deployed, deployed, destroyed, failed, or locked by an operation; the last\n" +
			"operation and when it ended; the number of resources. Reads only, and needs no passphrase.\n\n" +
			"Example:\n  runner status -s dev\n\n" + exitText(exitDone, exitFailed, exitUsage, exitConfig),
		Flags: joinFlags(outputFlag("table", "json"), environmentFlags(), simulationFlags(), pulumiFlags(), baseFlags()),
		Action: func(c *cli.Context) error {
			options, err := parseSession(c, d)
			if err != nil {
				return err
			}
			if _, err := arguments(c, 0); err != nil {
				return err
			}
			return runStatus(c.Context, d, options)
		},
	}
}

// projectStatus is one line of the status.
type projectStatus struct {
	Project   string     `json:"project"`
	Title     string     `json:"title"`
	State     string     `json:"state"`
	Operation string     `json:"operation,omitempty"`
	Ended     *time.Time `json:"ended,omitempty"`
	Resources int        `json:"resources"`
	Lock      string     `json:"lock,omitempty"`
}

// The states of a project.
const (
	stateNever     = "never deployed"
	stateDeployed  = "deployed"
	stateDestroyed = "destroyed"
	stateFailed    = "failed"
	stateLocked    = "locked"
)

// environmentStatus is the whole status.
type environmentStatus struct {
	Provider  string          `json:"provider"`
	Stack     string          `json:"stack"`
	Backend   string          `json:"backend"`
	Simulated bool            `json:"simulated"`
	Projects  []projectStatus `json:"projects"`
}

func runStatus(ctx context.Context, d Deps, o sessionOptions) (err error) {
	s, err := openSession(ctx, d, o, toLook)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	status := environmentStatus{
		Provider: s.provider.Name, Stack: s.settings.Stack.Text, Backend: s.settings.Backend.Text,
		Simulated: o.Simulation.On, Projects: make([]projectStatus, len(s.plan.Steps)),
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(defaultParallel)
	for i, step := range s.plan.Steps {
		group.Go(func() error {
			var err error
			status.Projects[i], err = s.statusOf(ctx, step)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if o.Output == "json" {
		return writeJSON(d.Stdout, status)
	}
	return writeStatus(d.Stdout, status, d.Now())
}

func (s *session) statusOf(ctx context.Context, step plan.Step) (projectStatus, error) {
	project := step.Project.Name
	summary := s.stacks.Summary(project)
	status := projectStatus{Project: project, Title: step.Project.Title, State: stateNever, Resources: summary.Resources}
	update, ok, err := s.stacks.LastUpdate(ctx, project)
	if err != nil {
		return status, err
	}
	if ok {
		status.Operation = update.Operation
		if !update.End.IsZero() { // it is not going on
			status.Ended = &update.End
		}
		status.State = stateOf(update.Operation, update.Result, summary.Resources)
	}
	if folder, isFile := s.stateFolder(); isFile {
		locks, err := s.stacks.Locks(folder, project)
		if err != nil {
			return status, err
		}
		if len(locks) > 0 {
			status.State, status.Lock = stateLocked, locks[0].String()
		}
	} else if summary.Updating {
		status.State = stateLocked
	}
	return status, nil
}

func stateOf(operation, result string, resources int) string {
	switch {
	case result == "failed":
		return stateFailed
	case resources > 0:
		return stateDeployed
	case operation == "destroy":
		return stateDestroyed
	}
	return stateNever
}

func writeStatus(w io.Writer, status environmentStatus, now time.Time) error {
	mark := ""
	if status.Simulated {
		mark = " [SIMULATED]"
	}
	fmt.Fprintf(w, "%s, stack %s%s, state in %s\n\n", status.Provider, status.Stack, mark, status.Backend)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "PROJECT\tTITLE\tSTATE\tRESOURCES\tLAST\tENDED")
	deployed := 0
	for _, p := range status.Projects {
		if p.State == stateDeployed {
			deployed++
		}
		ended := "-"
		if p.Ended != nil {
			ended = ago(now.Sub(*p.Ended))
		}
		state := p.State
		if p.Lock != "" {
			state += " by " + p.Lock
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", p.Project, p.Title, state, dash(p.Resources), orDash(p.Operation), ended)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%d of %d projects deployed\n", deployed, len(status.Projects))
	return err
}

func dash(n int) string {
	if n == 0 {
		return "-"
	}
	return strconv.Itoa(n)
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// ago says how long ago something was, the way kubectl does.
func ago(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%ds ago", int(max(d, 0).Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%dm ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh ago", int(d.Hours()))
	}
	return fmt.Sprintf("%dd ago", int(d.Hours()/24))
}

// writeJSON prints a value for machines, indented as for people.
func writeJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}
