package projects_test

import (
	"strings"
	"testing"

	"mara/config"
	"mara/projects"
	"mara/projects/model"
)

// TestUnsealed: a credential is in the stack file encrypted or not at all, and
// a secret of a project is in its own file.
func TestUnsealed(t *testing.T) {
	t.Parallel()
	file, err := config.ParseStack("f", []byte("config:\n  linode:token: hunter2hunter2\n  aws:secretKey: {secure: v1:x}\n  aws:accessKey:\n"+
		"  prometheus:admin_password: hunter2hunter2\n  harbor:admin_password: {secure: v1:x}\n  aws:region: us-east-1\n"))
	if err != nil {
		t.Fatal(err)
	}
	rest, problems := model.Unsealed(file, model.SecretsOf(projects.All()), projects.CredentialVariable)
	var kept []string
	for _, entry := range rest.Entries {
		kept = append(kept, entry.Key)
	}
	if got := strings.Join(kept, " "); got != "aws:secretKey aws:accessKey aws:region" {
		t.Errorf("left are %s", got)
	}
	want := []string{
		"f:2: linode:token is a credential in plain text; delete it, and set LINODE_TOKEN in config/pulumi/environment",
		"f:5: prometheus:admin_password is a secret, and is not read from here; delete it, and store it encrypted with `runner secrets set prometheus:admin_password`",
		"f:6: harbor:admin_password is a secret, and is not read from here",
	}
	if len(problems) != len(want) {
		t.Fatalf("got %v", problems)
	}
	for i, problem := range problems {
		if text := problem.String(); !strings.HasPrefix(text, want[i]) || strings.Contains(text, "hunter2") {
			t.Errorf("got %s", text)
		}
	}
	if len(file.Entries) != 6 {
		t.Error("the file itself was changed")
	}
}
