package survey_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/config"
	"mara/projects"
	"mara/projects/model"
	"mara/projects/model/cloud"
	"mara/providers"
	"mara/runner/internal/feature/survey"
)

// surveyed is a cluster that answers for two keys.
type surveyed struct{ cloud.Client }

func (surveyed) Survey(context.Context, cloud.Question) (cloud.Survey, error) {
	return cloud.Survey{Answers: []config.Answer{{Key: projects.SmallKey, Value: true}, {Key: projects.DistributionKey, Value: "k3s"}}}, nil
}

// TestRead: a cluster answers for keys that projects of the environment read, and for no others.
func TestRead(t *testing.T) {
	t.Parallel()
	all, err := providers.ByName("cluster")
	if err != nil {
		t.Fatal(err)
	}
	bare := all.Narrow([]string{"cluster-connection", "kubeconfig"})
	clients := func(context.Context, string, cloud.Access) (cloud.Client, error) { return surveyed{}, nil }
	for _, c := range []struct {
		name            string
		provider        model.Provider
		asked, imagined []string
	}{
		{"all projects", all, []string{projects.SmallKey, projects.DistributionKey}, []string{projects.EntryKey, projects.SmallKey, projects.DistributionKey}},
		{"few projects", bare, []string{projects.DistributionKey}, []string{projects.DistributionKey}},
	} {
		found, err := survey.Ask(t.Context(), clients, c.provider, "dev", config.StackFile{}, nil)
		if diff := cmp.Diff(c.asked, keys(found)); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", c.name, err, diff)
		}
		if diff := cmp.Diff(c.imagined, keys(survey.Simulated(c.provider))); diff != "" {
			t.Errorf("%s, simulated:\n%s", c.name, diff)
		}
	}
}

func keys(found []config.Answer) []string {
	var names []string
	for _, a := range found {
		names = append(names, a.Key)
	}
	return names
}
