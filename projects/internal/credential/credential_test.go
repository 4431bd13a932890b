package credential

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/internal/programtest"
)

func TestGenerate(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 200 {
		got, err := generate(24)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != 24 || !strong(got) {
			t.Errorf("%q is not a strong password of 24 characters", got)
		}
		if seen[got] {
			t.Errorf("%q came twice", got)
		}
		seen[got] = true
	}
	if _, err := generate(7); err == nil {
		t.Error("a short password was made")
	}
}

func TestStrong(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"aB2-cdef": true, "aB2cdefg": false, "ab2-cdef": false, "aBc-defg": false, "-aB2cdef": false, "aB2cdef.": false,
	} {
		if got := strong(text); got != want {
			t.Errorf("strong(%q) = %v", text, got)
		}
	}
}

func TestPasswordIsKeptAndSecret(t *testing.T) {
	t.Parallel()
	result := programtest.Run(t, programtest.Case{
		Project: projects.Project{Name: "example"},
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
		Project: projects.Project{Name: "example"},
		Program: func(ctx *pulumi.Context) error {
			_, err := Password(ctx, "admin", 3)
			return err
		},
	})
	if result.Err == nil || !strings.Contains(result.Err.Error(), "making the password admin") {
		t.Errorf("error %v", result.Err)
	}
}
