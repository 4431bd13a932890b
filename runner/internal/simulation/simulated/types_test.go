package simulated

import (
	"errors"
	"strings"
	"testing"

	"mara/projects/model"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/simulation/simulate"
)

// TestTypesWithoutASchema: a program in YAML hears of the missing schema before Pulumi calls its type unknown.
func TestTypesWithoutASchema(t *testing.T) {
	t.Parallel()
	part := []byte(`{"name":"aws","resources":{"aws:ec2/vpc:Vpc":{},"aws:index/thing:Thing":{}}}`)
	whole := []byte(`{"name":"aws","resources":{"aws:s3/bucket:Bucket":{}}}`)
	isCustom := func(token string) (simulate.Resource, bool) { return simulate.Resource{}, strings.Contains(token, ".") }
	for _, test := range []struct {
		name, program string
		schemas       [][]byte
		want          string // "" for none
	}{
		{"known types", "resources:\n  a: {}\n  b:\n    type: aws:ec2/vpc:Vpc\n  c:\n    type: aws:ec2:Vpc\n  d:\n    type: aws:Thing\n", [][]byte{part}, ""},
		{"another type", "config:\n  size:\n    type: string\nresources:\n  b:\n    type: aws:s3:Bucket\n", [][]byte{part},
			"store/Pulumi.yaml:6: aws:s3:Bucket is none of the 2 types of aws that the simulation knows"},
		{"a misspelled type", "resources:\n  b:\n    type: \"aws:ec2/vpx:Vpc\" # the network\n", [][]byte{part}, `did you mean "aws:ec2/vpc:Vpc"?`},
		{"its plugin is installed, or the user names its schema", "resources:\n  b:\n    type: aws:s3:Bucket\n", [][]byte{part, whole}, ""},
		{"a custom type", "resources:\n  b:\n    type: aws:cert-manager.io/v1:Issuer\n", [][]byte{part}, ""},
		{"a package without a schema", "resources:\n  b:\n    type: aws:s3:Bucket\n", nil, "store/Pulumi.yaml:3: aws:s3:Bucket"},
		{"another package", "resources:\n  b:\n    type: random:RandomPassword\n", [][]byte{part}, ""},
		{"Pulumi's own", "resources:\n  b:\n    type: pulumi:providers:aws\n", [][]byte{part}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, dir, "Pulumi.yaml", test.program)
			store := model.Project{Name: "store", Own: &model.Own{Dir: dir, Path: "store"}}
			packages := []simulate.Package{{Name: "aws", Partial: true, Schemas: test.schemas, Dynamic: isCustom}}
			err := checkTypes([]model.Project{store}, packages)
			if test.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			var around *failure.Environment
			if !errors.As(err, &around) || !strings.Contains(err.Error(), test.want) ||
				!strings.Contains(err.Error(), "and there is none of aws:\n  ") {
				t.Fatalf("got %v, want %q", err, test.want)
			}
			for _, way := range []string{"pulumi plugin install resource aws", "--simulate-schema", "plugins: providers:"} {
				if !strings.Contains(around.NextStep(), way) {
					t.Errorf("the hint %q does not name %s", around.NextStep(), way)
				}
			}
		})
	}
}
