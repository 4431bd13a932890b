package session

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"mara/providers/cloud"
	"mara/runner/internal/dryrun"
	"mara/runner/internal/failure"
	"mara/runner/internal/kubeapi"
	"mara/runner/internal/kubeconfig"
	"mara/runner/internal/layout"
	"mara/runner/internal/mirror"
	"mara/runner/internal/simulate"
)

// askCluster has a real cluster say what it thinks of simulated objects.
func (s *Session) askCluster(ctx context.Context) (simulate.Admission, error) {
	path := s.Options.Simulation.Cluster
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.Deps.Dir, path)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, &failure.Environment{Text: fmt.Sprintf("--simulate-cluster: %v", err), Next: "name a file with a kubeconfig"}
	}
	s.Masker.Add(kubeconfig.Secrets(content)...)
	if err := kubeconfig.Probe(ctx, content, s.Env); err != nil {
		return nil, &failure.Environment{Text: fmt.Sprintf("--simulate-cluster: the cluster does not answer: %v", err)}
	}
	cluster, err := kubeapi.Connect(content, s.Env)
	if err != nil {
		return nil, err
	}
	charts := mirror.NewNetwork(cloud.Proxy(s.Env), layout.Of(s.Settings.Root, false).Charts())
	s.OnClose(charts.Close)
	checker := dryrun.Checker{Cluster: cluster, Charts: charts, Note: s.warn}
	return func(ctx context.Context, o simulate.Object, _ bool) error {
		return checker.Check(ctx, o.URN.Project().String(), o.Token, o.Inputs())
	}, nil
}
