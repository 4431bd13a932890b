package providers

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/config"
)

// TestWanted: defaults, zones and the sizes of pools are wanted; those of projects that do not run are not.
func TestWanted(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		provider, content string
		projects          []string
		want              []Wanted
		places            []string
	}{
		{"linode", "", []string{"linode-lke"}, []Wanted{
			{"linode-lke", "lke:region", Regions, "us-ord"}, {"linode-lke", "lke:k8s_version", KubernetesVersions, "1.36"},
			{"linode-lke", "lke:node_type", NodeTypes, "g6-standard-4"},
		}, []string{"us-ord"}},
		{"linode", "lke:region: eu-central", []string{"linode-harbor"}, []Wanted{
			{"linode-harbor", "lke:region", Regions, "eu-central"}, {"linode-harbor", "harbor:instance_type", NodeTypes, "g6-standard-2"},
		}, []string{"eu-central"}},
		{"aws", "aws:region: eu-west-1\n  vpc:azs: [eu-west-1a, eu-west-1b]\n  eks:pools: {b: {size: c7i.large}, a: {size: t3.large}, odd: 7}", []string{"aws-vpc", "aws-eks"}, []Wanted{
			{"aws-vpc", "aws:region", Regions, "eu-west-1"}, {"aws-vpc", "vpc:azs", Zones, "eu-west-1a"}, {"aws-vpc", "vpc:azs", Zones, "eu-west-1b"},
			{"aws-eks", "eks:k8s_version", KubernetesVersions, "1.36"}, {"aws-eks", "eks:instance_type", NodeTypes, "t3.large"},
			{"aws-eks", "eks:pools", NodeTypes, "t3.large"}, {"aws-eks", "eks:pools", NodeTypes, "c7i.large"},
		}, []string{"eu-west-1a", "eu-west-1b"}},
		{"aws", "", []string{"aws-ecr"}, nil, nil},
		{"kind", "", []string{"kind-cluster"}, nil, nil},
	} {
		p, err := ByName(test.provider)
		if err != nil {
			t.Fatal(err)
		}
		file, err := config.ParseStack("f", []byte("config:\n  kubernetes:infra_type: "+test.provider+"\n  "+test.content+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		got, places := p.Wanted(file, test.projects)
		if diff := cmp.Diff(test.want, got) + cmp.Diff(test.places, places); diff != "" {
			t.Errorf("%s, %q: %s", test.provider, test.content, diff)
		}
	}
}
