package stacks

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/runner/internal/event"
)

func TestSecureKeys(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, file string
		want       []string
	}{
		{"secrets and others", "config:\n  a:key: {secure: v1:x}\n  a:plain: secure\n  b:key:\n    secure: v1:y\n  a:map: {x: y}\n  a:list: [1]\n", []string{"a:key", "b:key"}},
		{"nothing", "", nil},
		{"comments", "# secure\n", nil},
		{"no YAML", "config: [", nil},
		{"an empty one", "config:\n  a:key: {secure: ''}\n", nil},
	} {
		got := secureKeys([]byte(test.file))
		slices.Sort(got)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

// TestSecretsAreLearned when a program starts, before it can say them.
func TestSecretsAreLearned(t *testing.T) {
	t.Parallel()
	const shared, own = "config:\n  a:key: {secure: v1:x}\n  a:plain: visible-value\n", "config:\n  b:key: {secure: v1:x}\n"
	values := map[string]string{"a:key": "hunter2-hunter2", "b:key": "swordfish-swordfish", "a:plain": "visible-value"}
	for project, want := range map[string]string{
		"vpc":     "[secret] swordfish-swordfish visible-value",
		"secrets": "hunter2-hunter2 [secret] visible-value",
	} {
		t.Run(project, func(t *testing.T) {
			t.Parallel()
			e := &Set{options: Options{StackFile: []byte(shared), SecretsFile: []byte(own), Masker: event.NewMasker()}}
			ran := false
			program := func(*pulumi.Context) error {
				ran = true
				if got := e.options.Masker.Mask("hunter2-hunter2 swordfish-swordfish visible-value"); got != want {
					t.Errorf("got %q, want %q", got, want)
				}
				return nil
			}
			err := pulumi.RunErr(e.learnSecrets(project, program), pulumi.WithMocks(project, "dev", mocks{}),
				func(info *pulumi.RunInfo) { info.Config = values })
			if err != nil || !ran {
				t.Errorf("the program ran: %v, %v", ran, err)
			}
		})
	}
}

// mocks is a cloud that is never used.
type mocks struct{}

func (mocks) NewResource(args pulumi.MockResourceArgs) (string, resource.PropertyMap, error) {
	return args.Name, args.Inputs, nil
}

func (mocks) Call(pulumi.MockCallArgs) (resource.PropertyMap, error) { return nil, nil }
