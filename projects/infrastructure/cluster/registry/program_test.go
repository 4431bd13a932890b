package registry_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/projects"
	"mara/projects/infrastructure/cluster/registry"
	"mara/projects/internal/programtest"
)

func run(t *testing.T, config map[string]string) programtest.Result {
	t.Helper()
	config["kubernetes:infra_type"] = "cluster"
	return programtest.Run(t, programtest.Case{Project: projects.ClusterRegistry(), Program: registry.Program, Config: config})
}

func TestProgram(t *testing.T) {
	t.Parallel()
	result := run(t, map[string]string{
		"cluster:registry": "registry.example.com/team", "cluster:registry_user": "robot", "cluster:registry_password": "hidden",
	})
	if result.Err != nil {
		t.Fatal(result.Err)
	}
	want := map[string]programtest.Export{
		"address":  {Value: "registry.example.com/team", Known: true},
		"user":     {Value: "robot", Known: true},
		"password": {Value: "hidden", Known: true, Secret: true},
	}
	if diff := cmp.Diff(want, result.Exports); diff != "" {
		t.Error(diff)
	}
	result.CheckOutputs(t, projects.ClusterRegistry())
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	run(t, map[string]string{"cluster:registry": "r.example.com", "cluster:registry_user": "robot"}).
		CheckRefused(t, "the registry has half a login")
	run(t, map[string]string{"cluster:registry": "r.example.com", "cluster:registry_password": "hidden"}).
		CheckRefused(t, "the registry has half a login")
}
