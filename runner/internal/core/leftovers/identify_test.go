package leftovers

import (
	"context"
	"errors"
	"strings"
	"testing"

	"mara/projects/model/cloud"
	"mara/runner/internal/core/stacks"
)

// TestIdentify: what a cloud lists says what has become of a creation, and what it
// cannot tell stays open.
func TestIdentify(t *testing.T) {
	t.Parallel()
	const lke, instance = "linode:index/lkeCluster:LkeCluster", "linode:index/instance:Instance"
	creation := func(name, kind string) stacks.Pending {
		urn := "urn:pulumi:dev::linode-lke::mara:x:Parent$" + kind + "::" + name
		return stacks.Pending{Project: "linode-lke", URN: urn, Resource: "LkeCluster " + name, Action: "creating"}
	}
	cluster := creation("cluster", lke)
	both := []cloud.Resource{{Type: lke, ID: "1", Name: "mara-dev"}, {Type: lke, ID: "2", Name: "mara-dev"}}
	for name, test := range map[string]struct {
		pending []stacks.Pending
		located cloud.Located
		err     error
		want    string
	}{
		"it exists":          {[]stacks.Pending{cluster}, cloud.Located{Types: []string{lke}, Resources: both[:1]}, nil, "exists as 1"},
		"it does not":        {[]stacks.Pending{cluster}, cloud.Located{Types: []string{lke}}, nil, "does not exist in the cloud"},
		"another type":       {[]stacks.Pending{cluster}, cloud.Located{Types: []string{instance}, Resources: []cloud.Resource{{Type: instance, ID: "1"}}}, nil, ""},
		"two of them":        {[]stacks.Pending{cluster}, cloud.Located{Types: []string{lke}, Resources: both}, nil, "it may be one of 1 (mara-dev), 2 (mara-dev)"},
		"two creations":      {[]stacks.Pending{cluster, creation("other", lke)}, cloud.Located{Types: []string{lke}, Resources: both[:1]}, nil, "it may be one of 1 (mara-dev)"},
		"one is in a state":  {[]stacks.Pending{cluster}, cloud.Located{Types: []string{lke}, Resources: []cloud.Resource{{Type: lke, ID: "known"}}}, nil, "does not exist"},
		"by its URN":         {[]stacks.Pending{cluster}, cloud.Located{Every: true, Resources: []cloud.Resource{{URN: cluster.URN, ID: "7"}}}, nil, "exists as 7"},
		"another URN":        {[]stacks.Pending{cluster}, cloud.Located{Every: true, Resources: []cloud.Resource{{Type: lke, URN: "urn:x", ID: "7"}}}, nil, "does not exist"},
		"there is no answer": {[]stacks.Pending{cluster}, cloud.Located{}, errors.New("no network"), "the cloud cannot be asked: no network"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := Finder{
				Stacks: withState(t, `{"resources":[{"urn":"u","type":"`+lke+`","id":"known"}]}`),
				Locate: func(_ context.Context, types []string) (cloud.Located, error) {
					if types[0] != lke {
						t.Errorf("asked for %v", types)
					}
					return test.located, test.err
				},
			}
			got, err := f.Identify(t.Context(), []string{"certmgr"}, test.pending)
			if err != nil || len(got) != len(test.pending) {
				t.Fatal(got, err)
			}
			if text := got[0].String(); !strings.Contains(text, test.want) || got[0].IsKnown() == (test.want == "" || got[0].Unclear != "") {
				t.Errorf("got %q (%+v), want %q", text, got[0], test.want)
			}
		})
	}
}
