package providers

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/config"
	"mara/projects/model"
)

// TestWanted: defaults, zones and the sizes of pools are wanted; those of projects that do not run are not.
func TestWanted(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		provider, content string
		projects          []string
		want              []model.Wanted
		places            []string
	}{
		{"linode", "", []string{"linode-lke"}, []model.Wanted{
			{Project: "linode-lke", Key: "lke:region", List: model.Regions, Name: "us-ord"}, {Project: "linode-lke", Key: "lke:k8s_version", List: model.KubernetesVersions, Name: "1.36"},
			{Project: "linode-lke", Key: "lke:node_type", List: model.NodeTypes, Name: "g6-standard-4"},
		}, []string{"us-ord"}},
		{"linode", "lke:region: eu-central", []string{"linode-harbor"}, []model.Wanted{
			{Project: "linode-harbor", Key: "lke:region", List: model.Regions, Name: "eu-central"}, {Project: "linode-harbor", Key: "harbor:instance_type", List: model.NodeTypes, Name: "g6-standard-2"},
		}, []string{"eu-central"}},
		{"aws", "aws:region: eu-west-1\n  vpc:azs: [eu-west-1a, eu-west-1b]\n  eks:pools: {b: {size: c7i.large}, a: {size: t3.large}, odd: 7}", []string{"aws-vpc", "aws-eks"}, []model.Wanted{
			{Project: "aws-vpc", Key: "aws:region", List: model.Regions, Name: "eu-west-1"}, {Project: "aws-vpc", Key: "vpc:azs", List: model.Zones, Name: "eu-west-1a"}, {Project: "aws-vpc", Key: "vpc:azs", List: model.Zones, Name: "eu-west-1b"},
			{Project: "aws-eks", Key: "eks:k8s_version", List: model.KubernetesVersions, Name: "1.36"}, {Project: "aws-eks", Key: "eks:instance_type", List: model.NodeTypes, Name: "t3.large"},
			{Project: "aws-eks", Key: "eks:pools", List: model.NodeTypes, Name: "t3.large"}, {Project: "aws-eks", Key: "eks:pools", List: model.NodeTypes, Name: "c7i.large"},
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
