package simulated

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"mara/providers/cloud"
	"mara/runner/internal/kube/kubeapi"
	"mara/runner/internal/kube/kubeconfig"
	"mara/runner/internal/kube/mirror"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/simulation/dryrun"
	"mara/runner/internal/simulation/simulate"
)

// connectCluster returns an admission that asks a real cluster about simulated objects.
func (o Options) connectCluster(ctx context.Context) (simulate.Admission, error) {
	path := o.Flags.Cluster
	if !filepath.IsAbs(path) {
		path = filepath.Join(o.Dir, path)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		text := fmt.Sprintf("--simulate-cluster: %v", err)
		return nil, &failure.Environment{Text: text, Next: "name a file with a kubeconfig"}
	}
	o.Masker.Add(kubeconfig.Secrets(content)...)
	if err := kubeconfig.Probe(ctx, content, o.Env); err != nil {
		return nil, &failure.Environment{Text: fmt.Sprintf("--simulate-cluster: the cluster does not answer: %v", err)}
	}
	cluster, err := kubeapi.Connect(content, o.Env)
	if err != nil {
		return nil, err
	}
	charts := mirror.NewNetwork(cloud.Proxy(o.Env), o.Charts)
	o.OnClose(charts.Close)
	checker := dryrun.Checker{Cluster: cluster, Charts: charts, Note: o.Warn}
	return func(ctx context.Context, object simulate.Object, _ bool) error {
		return checker.Check(ctx, object.URN.Project().String(), object.Token, object.Inputs())
	}, nil
}
