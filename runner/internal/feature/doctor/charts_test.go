package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"mara/config"
	"mara/projects"
	"mara/projects/model"
	"mara/providers"
	"mara/runner/internal/core/session"
	"mara/runner/internal/feature/mirror"
)

// shelf has charts by source; "down" is a registry that does not answer.
type shelf map[string]bool

func (s shelf) fetch(_ context.Context, repository, name, version string) ([]byte, error) {
	chart := mirror.Chart{Repository: repository, Name: name, Version: version}
	switch {
	case strings.Contains(chart.Repository, "down"):
		return nil, errors.New("no answer")
	case !s[chart.Source()]:
		return nil, fmt.Errorf("fetching chart %s: the registry %w", chart.Source(), session.ErrNoChart)
	}
	return []byte("chart"), nil
}

// TestCharts: a chart that is not there is a problem with the key to change, and a registry that does not answer a warning.
func TestCharts(t *testing.T) {
	t.Parallel()
	kind, err := providers.ByName("kind")
	if err != nil {
		t.Fatal(err)
	}
	certmgr := projects.CertManager()
	for content, want := range map[string]string{
		"": "ok: there are cert-manager v1.21.1",
		"certmgr:chart_version: v1.99.0": "problem: fetching chart oci://quay.io/jetstack/charts/cert-manager:v1.99.0: the registry does not have it; " +
			"set certmgr:chart_version to a version that is there",
		"kubernetes:mirror: mirror.example.com": "problem: fetching chart oci://mirror.example.com/charts/cert-manager:v1.21.1: the registry does not have it; " +
			"set certmgr:chart_version to a version that is there",
		"certmgr:chart_repository: oci://down.example.com": "warning: no answer; the operation fetches it again, and fails without it",
	} {
		file, err := config.ParseStack("Pulumi.dev.yaml", []byte("config:\n  kubernetes:infra_type: kind\n  "+content+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		s := &session.Resolved{Settings: config.Settings{Root: t.TempDir(), Config: file}}
		s.Deps.Charts = func(map[string]string, string) (session.FetchChart, func() error) {
			return shelf{"oci://quay.io/jetstack/charts/cert-manager:v1.21.1": true}.fetch, func() error { return nil }
		}
		e := &Examination{Session: s, Provider: kind}
		var charts []groupedChart
		for _, chart := range []model.Chart(certmgr.Charts) {
			charts = append(charts, e.chartOf(chart))
		}
		var got []string
		for _, f := range e.lookForCharts(t.Context(), charts) {
			got = append(got, strings.TrimSuffix(fmt.Sprintf("%s: %s; %s", f.Status, f.Text, f.Remedy), "; "))
		}
		if strings.Join(got, "\n") != want {
			t.Errorf("%s: got %q, want %q", content, got, want)
		}
	}
}
