package session

import (
	"context"
	"testing"

	"mara/config"
	"mara/projects/model/cloud"
	"mara/providers"
)

// locating is the client of a cloud that locates resources.
type locating struct{ cloud.Client }

// Locate implements cloud.Locator.
func (locating) Locate(_ context.Context, stack string) (cloud.Located, error) {
	return cloud.Located{Resources: []cloud.Resource{{ID: "1", Name: stack}}}, nil
}

// TestLocateForAProviderOfItsOwn: a provider in mara.yaml has the resources of the cloud that it extends.
func TestLocateForAProviderOfItsOwn(t *testing.T) {
	t.Parallel()
	asked := ""
	provider, err := providers.ByName("linode")
	if err != nil {
		t.Fatal(err)
	}
	provider.Name, provider.Extends = "acme", "linode"
	s := Unresolved(Deps{CloudClients: func(_ context.Context, name string, _ cloud.Access) (cloud.Client, error) {
		asked = name
		return locating{}, nil
	}}, Options{})
	s.Provider, s.Settings.Stack = provider, config.Value{Text: "dev"}
	for _, test := range []struct{ resource, asked, found string }{
		{"linode:index/lkeCluster:LkeCluster", "linode", "dev"},
		{"aws:eks/cluster:Cluster", "", ""},
	} {
		asked = ""
		located, err := locator(s)(t.Context(), []string{test.resource})
		found := ""
		for _, r := range located.Resources {
			found += r.Name
		}
		if err != nil || asked != test.asked || found != test.found {
			t.Errorf("%s: asked %q, found %q, %v", test.resource, asked, found, err)
		}
	}
}
