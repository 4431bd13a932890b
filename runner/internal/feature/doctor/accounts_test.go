package doctor

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/config"
	"mara/projects/model"
	"mara/projects/model/cloud"
	"mara/providers"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/session"
)

// asked is a cloud that says who asks by the profile, and counts.
type asked struct {
	access cloud.Access
	count  *int
}

func (c asked) Account(context.Context) (cloud.Account, error) {
	*c.count++
	switch c.access.Env["AWS_PROFILE"] {
	case "":
		return cloud.Account{Name: "ann"}, nil
	case "offline":
		return cloud.Account{}, &cloud.Error{Text: "the cloud did not answer in time", Unsure: true}
	}
	return cloud.Account{ID: c.access.Env["AWS_PROFILE"], Name: "ann"}, nil
}

func (asked) Choices(context.Context, model.List) ([]cloud.Choice, error) { return nil, nil }

// TestAccounts: a cloud is asked once for all projects with the same credentials, and what it does not say has a reason.
func TestAccounts(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	network := "resources:\n  net: {type: \"aws:ec2:Vpc\"}\n"
	count := 0
	clients := func(_ context.Context, _ string, access cloud.Access) (cloud.Client, error) {
		return asked{access, &count}, nil
	}
	s := session.Unresolved(session.Deps{CloudClients: clients, World: session.World{BuiltIn: providers.Catalogue}}, session.Options{})
	s.Settings = config.Settings{Root: root, Stack: config.Value{Text: "dev"}}
	s.Env = map[string]string{"AWS_PROFILE": "first"}
	var names []string
	add := func(name, program, stackFile string, env []config.MaraVariable) {
		dir := filepath.Join(root, name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for file, content := range map[string]string{"Pulumi.yaml": "name: " + name + "\nruntime: yaml\n" + program, "Pulumi.dev.yaml": stackFile} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		names = append(names, name)
		s.Plan.Steps = append(s.Plan.Steps, plan.Step{Project: model.Project{Name: name, Own: &model.Own{Dir: dir, StackFiles: dir, Env: env}}})
	}
	set := func(profile string) []config.MaraVariable {
		return []config.MaraVariable{{Name: config.Word{Text: "AWS_PROFILE"}, Default: &profile}}
	}
	add("a", network, "", nil)
	add("b", network, "", nil)
	add("elsewhere", network, "", set("second"))
	add("nameless", network, "", set(""))
	add("offline", network, "", set("offline"))
	add("keys", network, "config:\n  aws:accessKey: {secure: x}\n", nil)
	add("local", "", "", nil)
	got := map[string]string{}
	for _, account := range Accounts(t.Context(), s, names) {
		got[account.Project] = account.Cloud + " " + account.ID + account.Unknown
	}
	want := map[string]string{
		"a": "aws first", "b": "aws first", "elsewhere": "aws second", "nameless": "aws the credentials may not ask for it",
		"offline": "aws the cloud did not answer in time", "keys": "aws aws:accessKey in keys/Pulumi.dev.yaml:2 is for Pulumi only, and was not tried",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if count != 4 {
		t.Errorf("the cloud was asked %d times", count)
	}
}
