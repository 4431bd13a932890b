package operations

import (
	"errors"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/pulumi/stacks"
	"mara/runner/internal/repo/request"
	"mara/runner/internal/run/executor"
	"mara/runner/internal/run/plan"
)

// firstWait is the delay before the first retry.
const firstWait = 5 * time.Second

// policyOptions say how a plan runs.
type policyOptions struct {
	Parallel  int
	Resources int // at once in one project; 0 leaves it to Pulumi
	OnError   executor.OnError
	Retry     int
	Timeouts  []timeout
}

// timeout limits how long projects may take.
type timeout struct {
	Term  string // which projects; "" for all
	Limit time.Duration
}

func policyFlags() []cli.Flag {
	policies := executor.Policies()
	return []cli.Flag{
		&cli.IntFlag{
			Name: "parallel", Value: cmd.DefaultParallel,
			Usage: "run up to `N` projects at once; 1 follows the listed order exactly",
		},
		&cli.IntFlag{
			Name: "parallel-resources", Usage: "work on up to `N` resources of a project at once", DefaultText: "as Pulumi does",
		},
		&cli.GenericFlag{Name: "on-error", Value: &cmd.Choice{Allowed: policies, Value: policies[0]},
			Usage: "when a project fails, follow `POLICY`: stop starts nothing new, continue runs what does not depend on it"},
		&cli.IntFlag{
			Name: "retry",
			Usage: "retry a project up to `N` times if its error is known to be transient: " + strings.Join(
				stacks.TransientKinds(), ", ",
			),
		},
		&cli.StringSliceFlag{
			Name: "timeout", Usage: "cancel a project after `DURATION`; PROJECT=DURATION for one of them; may be repeated",
		},
	}
}

func parsePolicy(c *cli.Context) (policyOptions, error) {
	o := policyOptions{
		Parallel: c.Int("parallel"), Resources: c.Int("parallel-resources"), Retry: c.Int("retry"),
		OnError: executor.OnError(cmd.Chosen(c, "on-error")),
	}
	command := c.Command.Name
	switch {
	case o.Parallel < 1:
		return o, failure.Usagef(command, "--parallel: %d is not a number above 0", o.Parallel)
	case o.Resources < 0:
		return o, failure.Usagef(command, "--parallel-resources: %d is less than 0", o.Resources)
	case o.Retry < 0:
		return o, failure.Usagef(command, "--retry: %d is less than 0", o.Retry)
	}
	for _, text := range c.StringSlice("timeout") {
		t, err := parseTimeout(text)
		if err != nil {
			return o, failure.Usagef(command, "--timeout: %q is neither a duration such as 30m nor PROJECT=DURATION", text)
		}
		o.Timeouts = append(o.Timeouts, t)
	}
	return o, nil
}

func parseTimeout(text string) (timeout, error) {
	term, limit, one := strings.Cut(text, "=")
	if !one {
		term, limit = "", text
	}
	duration, err := time.ParseDuration(limit)
	if err == nil && (duration <= 0 || one && term == "") {
		err = errors.New("no time limit")
	}
	return timeout{Term: term, Limit: duration}, err
}

// timeouts returns the limit for all projects and the limits for single ones: from
// mara.yaml, overridden by the last limit of the command line that names the project.
func (o policyOptions) timeouts(p plan.Plan) (all time.Duration, single map[string]time.Duration, err error) {
	single = map[string]time.Duration{}
	for _, step := range p.Steps {
		if own := step.Project.Own; own != nil && own.Timeout > 0 {
			single[step.Project.Name] = own.Timeout
		}
	}
	for _, t := range o.Timeouts {
		if t.Term == "" {
			all = t.Limit
			continue
		}
		names, err := p.Match("--timeout", t.Term)
		if err != nil {
			return 0, nil, err
		}
		for _, name := range names {
			single[name] = t.Limit
		}
	}
	return all, single, nil
}

// retry returns when to retry a project, and how long to wait for a locked one. The
// delay is shorter on simulated clouds.
func (o policyOptions) retry(s request.Simulation, lockWait time.Duration) executor.Retry {
	wait := firstWait
	if s.On {
		wait = time.Duration(float64(firstWait) / s.Speed)
	}
	return executor.Retry{
		Max: o.Retry, Backoff: wait, Transient: stacks.Transient, Locked: stacks.Locked, LockWait: lockWait,
	}
}
