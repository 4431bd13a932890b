package credential

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects/internal/programtest"
	"mara/projects/model"
)

func TestPasswordIsKeptAndSecret(t *testing.T) {
	t.Parallel()
	result := programtest.Run(t, programtest.Case{
		Project: model.Project{Name: "example"},
		Program: func(ctx *pulumi.Context) error {
			password, err := Password(ctx, "admin", 24)
			ctx.Export("password", password)
			return err
		},
	})
	if result.Err != nil {
		t.Fatal(result.Err)
	}
	stash := result.One(t, "pulumi:index:Stash", "admin")
	if !stash.IsSecret("input") {
		t.Error("the input is not secret")
	}
	if diff := cmp.Diff([]string{"input"}, stash.IgnoreChanges); diff != "" {
		t.Errorf("a later run would change the stash:\n%s", diff)
	}
	export := result.Export(t, "password")
	if !export.Secret || export.Value != stash.Value("input") {
		t.Errorf("output %+v, want the secret %v", export, stash.Value("input"))
	}
}

func TestPasswordTooShort(t *testing.T) {
	t.Parallel()
	result := programtest.Run(t, programtest.Case{
		Project: model.Project{Name: "example"},
		Program: func(ctx *pulumi.Context) error {
			_, err := Password(ctx, "admin", 3)
			return err
		},
	})
	result.CheckRefused(t, "making the password admin")
}
