package cmd

import (
	"context"
	"fmt"
	"time"

	"mara/runner/internal/core/session"
	"mara/runner/internal/core/stacks"
	"mara/runner/internal/kube/kubeapi"
	"mara/runner/internal/kube/standin"
	"mara/runner/internal/machine/failure"
)

// NoClusterError is the error of an environment that has no cluster, or none yet.
type NoClusterError struct{ failure.Environment }

// Unwrap returns the problem of the environment.
func (e *NoClusterError) Unwrap() error { return &e.Environment }

// OpenCluster opens the stacks of an environment whose settings are resolved, and returns the kubeconfig that the
// project of its cluster exports. The user's own kubeconfig is not read. It returns a NoClusterError if there is none.
func OpenCluster(ctx context.Context, s *session.Resolved) ([]byte, error) {
	project := s.Provider.ClusterProject
	if project == "" {
		return nil, &NoClusterError{failure.Environment{
			Text: "the environment has no cluster: none of its projects makes one",
		}}
	}
	open, err := s.Reveal(ctx)
	if err != nil {
		return nil, err
	}
	kubeconfig, err := open.Hooks().ClusterKubeconfig(ctx, project)
	if err == nil && kubeconfig == nil {
		err = &NoClusterError{failure.Environment{
			Text: "the environment has no cluster: " + project + " is not deployed", Next: "`" + s.Command("up") + "` deploys it",
		}}
	}
	return kubeconfig, err
}

// ConnectCluster opens the stacks as OpenCluster does, and makes clients of the cluster that may make these changes.
func ConnectCluster(
	ctx context.Context, s *session.Resolved, changes ...string,
) (cluster *kubeapi.Cluster, kubeconfig []byte, err error) {
	kubeconfig, err = OpenCluster(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	if s.Options.Simulation.On {
		cluster, err = simulatedCluster(s)
		return cluster, kubeconfig, err
	}
	cluster, err = kubeapi.Connect(kubeconfig, s.Env, changes...)
	return cluster, kubeconfig, err
}

// simulatedCluster returns the cluster of a simulated environment, with the objects that its states have.
func simulatedCluster(s *session.Resolved) (*kubeapi.Cluster, error) {
	server := &standin.Server{File: s.Directory.Clouds(s.Settings.Stack.Text) + ".backups.json", Now: time.Now}
	states := s.States()
	for _, step := range s.Plan.Steps {
		content, err := states.Read(step.Project.Name)
		if err != nil {
			return nil, err
		}
		if len(content) == 0 {
			continue
		}
		objects, err := stacks.ObjectsIn(content)
		if err != nil {
			return nil, fmt.Errorf("the state of %s: %w", step.Project.Name, err)
		}
		for _, object := range objects {
			server.Objects = append(server.Objects, object)
		}
	}
	return server.Connect()
}
