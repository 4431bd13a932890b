package simulated

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"mara/projects/model"
	"mara/runner/internal/feature/simulate"
	"mara/runner/internal/machine/failure"
)

// TestTypesWithoutASchema: a program in YAML hears of the missing schema before Pulumi calls its type unknown.
func TestTypesWithoutASchema(t *testing.T) {
	t.Parallel()
	part := []byte(`{"name":"aws","resources":{"aws:ec2/vpc:Vpc":{},"aws:index/thing:Thing":{}},"functions":{"aws:ec2/getVpc:getVpc":{},"aws:index/getRegion:getRegion":{}}}`)
	whole := []byte(`{"name":"aws","resources":{"aws:s3/bucket:Bucket":{}}}`)
	isCustom := func(token string) (simulate.Resource, bool) { return simulate.Resource{}, strings.Contains(token, ".") }
	for _, test := range []struct {
		name, program string
		schemas       [][]byte
		want          string // "" for none
	}{
		{"known types", "resources:\n  a: {}\n  b:\n    type: aws:ec2/vpc:Vpc\n  c:\n    type: aws:ec2:Vpc\n  d:\n    type: aws:Thing\n", [][]byte{part}, ""},
		{"another type", "config:\n  size:\n    type: string\nresources:\n  b:\n    type: aws:s3:Bucket\n", [][]byte{part},
			"store/Pulumi.yaml:7: aws:s3:Bucket is none of the 2 types of aws that the simulation knows"},
		{"a type in braces", "resources: {b: {type: aws:s3:Bucket, properties: {}}}\n", [][]byte{part}, "store/Pulumi.yaml:2: aws:s3:Bucket"},
		{"a misspelled short type", "resources:\n  b: {type: \"aws:ec2:Vpx\"}\n", [][]byte{part}, `did you mean "aws:ec2:Vpc"?`},
		{"a misspelled type", "resources:\n  b:\n    type: \"aws:ec2/vpx:Vpc\" # the network\n", [][]byte{part}, `did you mean "aws:ec2/vpc:Vpc"?`},
		{"its plugin is installed, or the user names its schema", "resources:\n  b:\n    type: aws:s3:Bucket\n", [][]byte{part, whole}, ""},
		{"a custom type", "resources:\n  b:\n    type: aws:cert-manager.io/v1:Issuer\n", [][]byte{part}, ""},
		{"a package without a schema", "resources:\n  b:\n    type: aws:s3:Bucket\n", nil, "store/Pulumi.yaml:4: aws:s3:Bucket"},
		{"known functions", "variables:\n  a:\n    fn::invoke:\n      function: aws:ec2:getVpc\n  b: {\"fn::aws:getRegion\": {}}\n  c:\n    fn::invoke: {function: aws:index/getRegion:getRegion}\n  d:\n    fn::toJSON: {function: x}\n", [][]byte{part}, ""},
		{"another function", "variables:\n  a:\n    fn::invoke:\n      function: aws:ec2/getVcp:getVcp\n", [][]byte{part},
			`store/Pulumi.yaml:5: aws:ec2/getVcp:getVcp is none of the 2 functions of aws that the simulation knows; did you mean "aws:ec2/getVpc:getVpc"?`},
		{"a function of a package without a schema", "variables:\n  a:\n    fn::invoke:\n      function: aws:ec2:getVpc\n", nil, "store/Pulumi.yaml:5: aws:ec2:getVpc"},
		{"another way to write it", "variables:\n  a:\n    \"fn::aws:getZone\": {name: x}\n", nil, "store/Pulumi.yaml:4: aws:getZone"},
		{"a function in braces", "variables:\n  a: {fn::invoke: {function: \"aws:getZone\", arguments: {}}}\n", nil, "store/Pulumi.yaml:3: aws:getZone"},
		{"Pulumi's own function", "variables:\n  a:\n    fn::invoke: {function: pulumi:pulumi:getResource}\n", nil, ""},
		{"another package", "resources:\n  b:\n    type: random:RandomPassword\n", [][]byte{part}, ""},
		{"Pulumi's own", "resources:\n  b:\n    type: pulumi:providers:aws\n", [][]byte{part}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, dir, "Pulumi.yaml", "runtime: yaml\n"+test.program)
			store := model.Project{Name: "store", Own: &model.Own{Dir: dir, Path: "store"}}
			packages := []simulate.Package{{Name: "aws", Partial: true, Schemas: test.schemas, Dynamic: isCustom}}
			found, _ := checkTypes([]model.Project{store}, packages)
			err := refusal(found)
			if test.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			var around *failure.Environment
			if !errors.As(err, &around) || !strings.Contains(err.Error(), test.want) ||
				strings.Contains(err.Error(), "and the simulation has not that of aws:\n  ") == strings.Contains(test.want, "did you mean") {
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

// TestImports: a program that imports is refused before the run.
func TestImports(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	own := []model.Project{{Name: "store", Own: &model.Own{Dir: dir, Path: "store"}}}
	for program, want := range map[string]string{
		"resources:\n  v:\n    type: aws:ec2:Vpc\n    options: {protect: true}\n":       "",
		"resources:\n  v:\n    type: aws:ec2:Vpc\n    options:\n      import: vpc-1\n":  "store/Pulumi.yaml:6: the resource v has the option import",
		"components: {c: {resources: {w: {type: a:B, options: {import: \"${x}\"}}}}}\n": "store/Pulumi.yaml:2: the resource w has the option import",
	} {
		write(t, dir, "Pulumi.yaml", "runtime: yaml\n"+program)
		err := checkImports(own)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", program, err)
		}
	}
}

// TestComponents: a component of a package is no type without a schema, and it is named.
func TestComponents(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "Pulumi.yaml", "runtime: yaml\nresources:\n  s: {type: acme:Site, properties: {}}\n")
	packages := []simulate.Package{{Name: "acme", Schemas: [][]byte{[]byte(`{"name":"acme","resources":{"acme:index:Site":{"isComponent":true}}}`)}}}
	found, components := checkTypes([]model.Project{{Name: "store", Own: &model.Own{Dir: dir, Path: "store"}}}, packages)
	if len(found) > 0 || !slices.Equal(components, []usedType{{resources, "acme:Site", "store/Pulumi.yaml:3"}}) {
		t.Errorf("got %v and %q", found, components)
	}
}
