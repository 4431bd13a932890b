package model_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/config"
	"mara/projects/model"
)

// TestEnviron: variables of a project have a value for each environment, or one for all others.
func TestEnviron(t *testing.T) {
	t.Parallel()
	mara, err := config.ParseMara("mara.yaml", []byte("projects: [{path: a, env: {AWS_PROFILE: 'acme-{stack}', AWS_REGION: {dev: eu, default: us}, ONLY: {prod: x}, N: 1, EMPTY: }}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	p := model.Project{Own: &model.Own{Env: mara.Projects[0].Env}}
	for environment, want := range map[string]map[string]string{
		"dev":  {"AWS_PROFILE": "acme-dev", "AWS_REGION": "eu", "N": "1", "EMPTY": ""},
		"prod": {"AWS_PROFILE": "acme-prod", "AWS_REGION": "us", "ONLY": "x", "N": "1", "EMPTY": ""},
	} {
		if diff := cmp.Diff(want, p.Environ(environment)); diff != "" {
			t.Errorf("%s: %s", environment, diff)
		}
	}
	for _, name := range []string{"PULUMI_BACKEND_URL", "PULUMI_STACK", "PATH", "RUNNER_YES", "PULUMI_CONFIG_PASSPHRASE_FILE", "GITHUB_TOKEN", "a b"} {
		if _, err := config.ParseMara("mara.yaml", []byte("projects: [{path: a, env: {'"+name+"': x}}]\n")); err == nil {
			t.Errorf("%s is allowed", name)
		}
	}
}
