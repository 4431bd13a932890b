package cluster

import (
	"fmt"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/helm"
)

// Chart says what to release. Version, repository, timeout and further values
// come from the configuration keys of its group (projects.ChartKey).
type Chart struct {
	Release   string             // name of the release, fixed because Services are named after it
	Chart     string             // name of the chart in its repository
	Group     string             // group of its configuration keys: "certmgr"
	Namespace pulumi.StringInput // where it goes
	Values    Values             // the program's own values
	SkipCRDs  bool               // skip the chart's crds/ directory
}

// Release deploys a chart and waits until all of it is ready.
func (c *Cluster) Release(ctx *pulumi.Context, chart Chart, opts ...pulumi.ResourceOption) (*helm.Release, error) {
	values, err := c.values(ctx, chart)
	if err != nil {
		return nil, err
	}
	location, repository := c.locate(chart)
	args := &helm.ReleaseArgs{
		Name:      pulumi.String(chart.Release),
		Namespace: chart.Namespace,
		Chart:     pulumi.String(location),
		Version:   pulumi.String(c.version(chart)),
		Timeout:   pulumi.Int(c.settings.Int(projects.ChartKey(chart.Group, projects.HelmTimeout))),
		Values:    values,
		// Jobs that the release consists of count as part of it being ready.
		WaitForJobs: pulumi.Bool(true),
		// An upgrade that fails takes what it had newly made away again.
		CleanupOnFail: pulumi.Bool(true),
		// History beyond this only fills the cluster with Secrets.
		MaxHistory: pulumi.Int(5),
	}
	if chart.SkipCRDs {
		args.SkipCrds = pulumi.Bool(true)
	}
	if repository != "" {
		args.RepositoryOpts = pulumi.StringMap{"repo": pulumi.String(repository)}
	}
	return helm.NewRelease(ctx, chart.Release, args, append(opts, c.Provider())...)
}

// version returns the configured version of a chart.
func (c *Cluster) version(chart Chart) string {
	return c.settings.String(projects.ChartKey(chart.Group, projects.ChartVersion))
}

// locate finds the chart: a reference and, for a classic repository, its
// address. An OCI chart is its whole address.
func (c *Cluster) locate(chart Chart) (location, repository string) {
	key := projects.ChartKey(chart.Group, projects.ChartRepository)
	repository = projects.ChartSource(c.settings.String(key), c.settings.IsSet(key), c.mirror)
	if strings.HasPrefix(repository, "oci://") {
		return repository + "/" + chart.Chart, ""
	}
	return chart.Chart, repository
}

// values merges the program's own values, the user's file and the user's map,
// the later over the earlier.
func (c *Cluster) values(ctx *pulumi.Context, chart Chart) (pulumi.Map, error) {
	merged := chart.Values
	if file := c.settings.String(projects.ChartKey(chart.Group, projects.ValuesFile)); file != "" {
		loaded, err := readValues(start(ctx), file)
		if err != nil {
			return nil, fmt.Errorf("configuration key %q: %w", projects.ChartKey(chart.Group, projects.ValuesFile), err)
		}
		merged = merge(merged, loaded)
	}
	merged = merge(merged, c.settings.Map(projects.ChartKey(chart.Group, projects.Values)))
	inputs, err := inputsOf(merged)
	if err != nil {
		return nil, fmt.Errorf("values of chart %s: %w", chart.Chart, err)
	}
	return inputs, nil
}
