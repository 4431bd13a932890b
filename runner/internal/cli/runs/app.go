package runs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"mara/config"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/session"
	"mara/runner/internal/kube/examine"
	"mara/runner/internal/kube/kubeapi"
	"mara/runner/internal/machine/failure"
)

// appLines is how many lines of each Pod are printed.
const appLines = 100

// runAppLogs prints what the Pods of an application say, and how they are.
func runAppLogs(ctx context.Context, d cmd.Deps, o options) error {
	if o.Output == "json" {
		return failure.Usagef("logs", "--app prints what Pods say, which is no JSON; remove -o json")
	}
	if o.Simulation.On {
		return failure.Usagef("logs", "--app asks a cluster, and a simulated one has no Pods; remove --simulate")
	}
	return session.Use(d.Deps, o.Options, session.Resolve, func(s *session.Resolved) error {
		project, err := o.application(s)
		if err != nil {
			return err
		}
		cluster, _, err := cmd.ConnectCluster(ctx, s)
		if err != nil {
			return err
		}
		pods, err := examine.Application(ctx, cluster, project)
		if err != nil {
			return err
		}
		if len(pods) == 0 {
			return &failure.Environment{
				Text: fmt.Sprintf("%s has no Pods in the cluster of %s", project, s.Settings.Stack.Text),
				Next: "`" + s.Command("up") + "` deploys it",
			}
		}
		for _, pod := range pods {
			fmt.Fprintln(d.Stderr, s.Masker.Mask(pod.String()))
		}
		return podLogs{cluster, project, s.Masker.Mask, o.Follow, d.Stdout}.print(ctx, pods)
	})
}

// application returns the application that --app names.
func (o options) application(s *session.Resolved) (string, error) {
	var names []string
	for _, step := range s.Plan.Steps {
		if step.Project.IsApplication() {
			names = append(names, step.Project.Name)
		}
	}
	if slices.Contains(names, o.App) {
		return o.App, nil
	}
	return "", failure.Usagef("logs", "--app names %q, which is no application of this environment%s", o.App, config.DidYouMean(o.App, names))
}

// podLogs prints the logs of Pods.
type podLogs struct {
	cluster *kubeapi.Cluster
	name    string // of the application, its namespace and its container
	mask    func(string) string
	follow  bool
	out     io.Writer
}

// print prints the last lines of each Pod, one Pod after the other; those that are followed at the same time.
func (l podLogs) print(ctx context.Context, pods []examine.AppPod) error {
	if !l.follow {
		var failed []error
		for _, pod := range pods {
			failed = append(failed, l.copy(ctx, pod, func(line string) { fmt.Fprint(l.out, line) }))
		}
		return errors.Join(failed...)
	}
	var mu sync.Mutex // protects out
	failed := make([]error, len(pods))
	var all sync.WaitGroup
	for i, pod := range pods {
		all.Go(func() {
			failed[i] = l.copy(ctx, pod, func(line string) {
				mu.Lock()
				defer mu.Unlock()
				fmt.Fprint(l.out, line)
			})
		})
	}
	all.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return errors.Join(failed...)
}

// copy copies the lines of a Pod. Each begins with the Pod's name, and secrets that the runner knows are masked.
func (l podLogs) copy(ctx context.Context, pod examine.AppPod, print func(string)) error {
	stream, err := l.cluster.Logs(ctx, l.name, pod.Name, l.name, kubeapi.Log{Lines: appLines, Follow: l.follow && !pod.Finished})
	if err != nil {
		return err
	}
	defer stream.Close()
	lines := bufio.NewReader(stream)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			print(pod.Name + ": " + l.mask(line))
		}
		if err != nil {
			return endOf(err)
		}
	}
}

// endOf returns nil for the end of a log.
func endOf(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
