package main

import (
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"mara/projects"
	"mara/projects/internal/programtest"
)

func TestDispatch(t *testing.T) {
	t.Parallel()
	result := programtest.Run(t, programtest.Case{
		Project: projects.IngressControllerNamespace(),
		Program: dispatch,
		Config:  map[string]string{"kubernetes:infra_type": "kind"},
		Stacks: map[string]resource.PropertyMap{
			"kubeconfig": {"kubeconfig": resource.MakeSecret(resource.NewProperty("k"))},
		},
	})
	if result.Err != nil {
		t.Fatal(result.Err)
	}
	result.One(t, "kubernetes:core/v1:Namespace", "nginx-ingress")
}

func TestUnknownProject(t *testing.T) {
	t.Parallel()
	result := programtest.Run(t, programtest.Case{Project: projects.Project{Name: "nothing"}, Program: dispatch})
	if result.Err == nil || !strings.Contains(result.Err.Error(), `no program for project "nothing"`) ||
		!strings.Contains(result.Err.Error(), "bank-of-anthos") {
		t.Errorf("error %v, want one that lists the projects", result.Err)
	}
}
