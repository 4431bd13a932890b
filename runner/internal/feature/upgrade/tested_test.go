package upgrade

import (
	"testing"

	"mara/config"
	"mara/projects"
	"mara/projects/model"
)

// certificates returns an environment with a control plane and cert-manager, of which a version runs and one is the catalogue's.
func certificates(control, running, catalogue string) Environment {
	return Environment{
		Projects: []model.Project{
			{Name: "cluster", Keys: []config.Key{{Name: "c:version", Default: "1.38"}}, Versions: []model.Version{
				{What: "control plane", Key: "c:version", Type: "c:Cluster", Property: "version"},
			}},
			{Name: "certmgr", Keys: []config.Key{{Name: "certmgr:chart_version", Default: catalogue}}, Charts: []model.Chart{{Group: "certmgr", Name: "cert-manager"}}},
		},
		States: map[string][]map[string]any{
			"cluster": {item("c:Cluster", "version", control)},
			"certmgr": {{"type": "kubernetes:helm.sh/v3:Release", "inputs": map[string]any{"chart": "oci://x/cert-manager", "version": running}}},
		},
		Value: func(key string) any {
			return map[string]any{"c:version": control, "certmgr:chart_version": running}[key]
		},
	}
}

// TestTestedCharts: a chart goes before the version of Kubernetes with which its makers did not test what runs, as soon as
// they tested the new one with the version that is there. What no version is tested with is said.
func TestTestedCharts(t *testing.T) {
	t.Parallel()
	const (
		chart = "chart cert-manager v1.18.0 → v1.20.1 [certmgr:chart_version=v1.20.1]"
		to32  = "control plane 1.31 → 1.32 [c:version=1.32]"
		to33  = "control plane 1.32 → 1.33 [c:version=1.33]"
		to34  = "control plane 1.33 → 1.34 [c:version=1.34]"
		to36  = "control plane 1.35 → 1.36 [c:version=1.36]"
	)
	for name, test := range map[string]struct {
		environment Environment
		to, want    string
		untested    string
	}{
		"what runs is tested with the next version":          {certificates("1.31", "v1.18.0", "v1.20.1"), "1.32", to32 + "; " + chart, ""},
		"it is not tested with the next but one":             {certificates("1.32", "v1.18.0", "v1.20.1"), "1.34", to33 + "; " + chart + "; " + to34, ""},
		"the new chart is not tested with what is there yet": {certificates("1.31", "v1.16.0", "v1.21.1"), "1.32", to32 + "; chart cert-manager v1.16.0 → v1.21.1 [certmgr:chart_version=v1.21.1]", "the makers of chart cert-manager have tested v1.21.1 with Kubernetes 1.33 to 1.36, and not with 1.32 (list of " + testedDay + ")"},
		"no version is tested with it":                       {certificates("1.35", "v1.20.1", "v1.20.1"), "1.36", to36, "the makers of chart cert-manager have tested v1.20.1 with Kubernetes 1.32 to 1.35, and not with 1.36 (list of " + testedDay + ")"},
		"versions that the list does not know":               {certificates("1.35", "v1.2.0", "v9.9.9"), "1.36", to36 + "; chart cert-manager v1.2.0 → v9.9.9 [certmgr:chart_version=v9.9.9]", ""},
	} {
		parts := test.environment.Parts()
		if got := words(Steps(parts, test.to)); got != test.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, test.want)
		}
		got := ""
		for _, o := range Untested(parts, test.to) {
			got += o.Text
		}
		if got != test.untested {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, test.untested)
		}
	}
}

// TestTestedCatalogue: the list knows the charts of the catalogue for which there is one.
func TestTestedCatalogue(t *testing.T) {
	t.Parallel()
	judged := map[string]bool{}
	for _, known := range testedWith() {
		judged[known.chart] = true
	}
	found := 0
	for _, project := range projects.All() {
		for _, chart := range project.Charts {
			version := textOf(defaultOf(project, projects.ChartKey(chart.Group, projects.ChartVersion)))
			if !judged[chart.Name] {
				continue
			}
			found++
			if _, isKnown := testedWithOf(chart.Name, version); !isKnown {
				t.Errorf("%s %s of the catalogue is not in the list: say with which versions of Kubernetes its makers test it", chart.Name, version)
			}
		}
	}
	if found < len(judged) {
		t.Errorf("%d of %d charts are in the catalogue", found, len(judged))
	}
}

// TestPinnedAutoscaler: a fixed version of the autoscaler stops an upgrade to another version of Kubernetes.
func TestPinnedAutoscaler(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		deployed    bool
		version, to string
		want        int
	}{
		{true, "1.36.1", "1.37", 1},
		{true, "1.36.1", "1.36", 0},
		{true, "", "1.37", 0},
		{false, "1.36.1", "1.37", 0},
	} {
		e := Environment{States: map[string][]map[string]any{}, Value: func(string) any { return test.version }}
		if test.deployed {
			e.States["cluster-autoscaler"] = []map[string]any{{}}
		}
		if got := e.pinned(test.to); len(got) != test.want {
			t.Errorf("%+v: %v", test, got)
		}
	}
}
