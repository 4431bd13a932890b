package doctor

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"mara/config/lists"
	"mara/projects"
	"mara/projects/model"
	"mara/runner/internal/core/session"
	"mara/runner/internal/feature/doctor/preflight"
	"mara/runner/internal/machine/layout"
	"mara/runner/internal/machine/parallel"
)

// chartsTime is how long registries and repositories may take to deliver charts.
const chartsTime = 20 * time.Second

// groupedChart is a chart with what its keys begin with.
type groupedChart struct {
	Name, Version, Repository string

	group string
}

// chartsCheck asks where charts come from whether they are there, once: a chart that was fetched is kept, and a version
// of a chart never changes.
func (e *Examination) chartsCheck() []preflight.Check {
	var charts []groupedChart
	if e.unresolved == nil && e.Session.Deps.Charts != nil && e.Options.Operation.RunsPrograms() {
		for _, step := range e.plan.Steps {
			for _, chart := range step.Project.Charts {
				charts = append(charts, e.chartOf(chart))
			}
		}
	}
	if len(charts) == 0 {
		return nil
	}
	look := func(ctx context.Context) []preflight.Finding { return e.lookForCharts(ctx, charts) }
	return []preflight.Check{{
		Name: "charts", Title: "Helm charts", Group: preflight.Environment, Limit: chartsTime + time.Second, Look: look,
	}}
}

// chartOf returns a chart as it is configured.
func (e *Examination) chartOf(chart model.Chart) groupedChart {
	values := e.Provider.Values(e.Session.Settings.Config)
	repository := projects.ChartKey(chart.Group, projects.ChartRepository)
	return groupedChart{
		Name: chart.Name, group: chart.Group, Version: values.Text(projects.ChartKey(chart.Group, projects.ChartVersion)),
		Repository: projects.ChartSource(values.Text(repository), values.IsSet(repository), values.Text(projects.Mirror)),
	}
}

// lookForCharts fetches charts that are not kept yet.
func (e *Examination) lookForCharts(ctx context.Context, charts []groupedChart) []preflight.Finding {
	cache := layout.Of(e.Session.Settings.Root, false).Charts()
	fetch, release := e.Session.Deps.Charts(e.environ(), cache)
	defer func() { _ = release() }() // it only closes idle connections
	ctx, cancel := context.WithTimeout(ctx, chartsTime)
	defer cancel()
	found, _ := parallel.Each(ctx, charts, func(ctx context.Context, chart groupedChart) ([]preflight.Finding, error) {
		_, err := fetch(ctx, chart.Repository, chart.Name, chart.Version)
		switch {
		case err == nil:
			return nil, nil
		case errors.Is(err, session.ErrNoChart):
			key := projects.ChartKey(chart.group, projects.ChartVersion)
			return preflight.Bad(err.Error(), "set "+key+" to a version that is there"), nil
		}
		return preflight.Doubtful(err.Error(), "the operation fetches it again, and fails without it"), nil
	})
	names := lists.Map(charts, func(chart groupedChart) string { return chart.Name + " " + chart.Version })
	if all := slices.Concat(found...); len(all) > 0 {
		return all
	}
	return preflight.Good("there are " + strings.Join(names, ", "))
}
