package doctor

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/projects/model"
	"mara/projects/model/cloud"
	"mara/runner/internal/core/session"
	"mara/runner/internal/feature/doctor/preflight"
)

// TestOffersOfACloudThatIsNotAsked: it has denied nothing.
func TestOffersOfACloudThatIsNotAsked(t *testing.T) {
	t.Parallel()
	for name, clients := range map[string]func(context.Context, string, cloud.Access) (cloud.Client, error){
		"no credentials": func(context.Context, string, cloud.Access) (cloud.Client, error) { return nil, errors.New("no token") },
		"no catalogue":   func(context.Context, string, cloud.Access) (cloud.Client, error) { return nil, nil },
	} {
		s := session.Unresolved(session.Deps{CloudClients: clients}, session.Options{})
		o := offers{session: s, wanted: []model.Wanted{{Project: "vpc", Key: "aws:region", List: model.Regions, Name: "eu-central-1"}}}
		if diff := cmp.Diff(preflight.Unseen("not asked: the account shows why"), o.look(t.Context())); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
