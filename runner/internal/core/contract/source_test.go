package contract

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sourceOf reads a program of one file.
func sourceOf(t *testing.T, text string) (Source, error) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "Pulumi.yaml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return ReadSource(dir, "net")
}

func TestTokens(t *testing.T) {
	t.Parallel()
	s, err := sourceOf(t, `runtime: yaml
config: {type: {type: string}}
variables:
  a: {fn::invoke: {function: "aws:getZone", arguments: {type: x:y}}}
  b: {"fn::aws:getRegion": {}}
  c: {fn::toJSON: {function: x:y}}
resources:
  p: {type: random:RandomPassword, properties: {type: a:b}}
  q:
    type: "aws:ec2/vpc:Vpc" # a network
  r: {type: pulumi:providers:aws}
`)
	if err != nil {
		t.Fatal(err)
	}
	types, functions := s.Tokens()
	if diff := cmp.Diff([]Token{{"random:RandomPassword", 8}, {"aws:ec2/vpc:Vpc", 10}}, types); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Token{{"aws:getZone", 4}, {"aws:getRegion", 5}}, functions); diff != "" {
		t.Error(diff)
	}
}

func TestUses(t *testing.T) {
	t.Parallel()
	s, err := sourceOf(t, `runtime: yaml
variables:
  zone: {fn::invoke: {function: "aws:getZone", arguments: {name: x}, return: id}}
  region: {"fn::aws:getRegion": {}}
  site: ${b.website}
resources:
  b: {type: "aws:s3:Bucket", properties: {bucket: "${region.name}", website: {index: {fn::invoke: {function: "a:f"}}}}}
  g: {type: "aws:s3:Bucket", get: {id: x, state: {acl: y}}}
  r: {type: pulumi:providers:aws}
components:
  c: {resources: {d: {type: "aws:Dns", properties: {zone: "${zone}"}}}}
outputs: {x: "${site.hosts[0].name}", y: "$${b.no}", z: "${b.arn}"}
`)
	if err != nil {
		t.Fatal(err)
	}
	want := []Use{
		{Token: "aws:s3:Bucket", Written: []string{"bucket", "website"}, Read: [][]string{{"website"}, {"website", "hosts", "0", "name"}, {"arn"}}},
		{Token: "aws:s3:Bucket", Written: []string{"acl"}},
		{Token: "aws:getZone", Function: true, Written: []string{"name"}, Read: [][]string{{"id"}}},
		{Token: "aws:getRegion", Function: true, Read: [][]string{{"name"}}},
		{Token: "a:f", Function: true},
		{Token: "aws:Dns", Written: []string{"zone"}},
	}
	if diff := cmp.Diff(want, s.Uses()); diff != "" {
		t.Error(diff)
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, program, want string }{
		{"good", "config: {size: {type: string}}\nvariables: {a: '${size}', d: '$${x}'}\nresources: {v: {type: a:B, options: {dependsOn: []}}}\noutputs: {x: '${v.id}-${a}-${pulumi.stack}-${configured}-${aws:region}'}\n", ""},
		{"a reference", "outputs: {x: '${nowhere.id}'}\n", "net/Pulumi.yaml:2: refers to ${nowhere}, and there is no resource"},
		{"a section", "resourses: {}\n", `net/Pulumi.yaml:2: the program has "resourses", which nothing reads; did you mean "resources"?`},
		{"a field", "resources: {v: {type: a:B, propertys: {}}}\n", `the resource v has "propertys", which nothing reads; did you mean "properties"?`},
		{"no type", "resources: {v: {properties: {}}}\n", "net/Pulumi.yaml:2: the resource v has no type"},
		{"subscripts", "config: {v: {type: string}}\noutputs: {x: '${v[0][\"a b\"].c} ${v[\"a\\\"b\"]}'}\n", ""},
		{"a shell's", "variables: {a: 'echo $${arr[@]}'}\n", ""},
		{"single quotes", "config: {v: {type: string}}\noutputs: {x: \"${v['a']}\"}\n", `net/Pulumi.yaml:3: has an expression that Pulumi YAML cannot read: ['a'] is neither a number nor a name in double quotes, as in ["a"]`},
		{"a shell's array", "variables: {a: 'echo ${arr[@]}'}\n", "[@] is neither a number"},
		{"no end", "config: {v: {type: string}}\noutputs: {x: '${v'}\n", "${ has no }; to write a dollar sign, double it: $${"},
		{"no bracket", "config: {v: {type: string}}\noutputs: {x: '${v[0}'}\n", "[ has no ]"},
		{"no quote", "config: {v: {type: string}}\noutputs: {x: '${v[\"a]}'}\n", `has to end with "]`},
		{"a number first", "outputs: {x: '${[0].a}'}\n", "has to follow a name"},
		{"a circle", "variables: {a: '${v.id}'}\nresources: {v: {type: a:B, properties: {x: '${a}'}}}\n", "net/Pulumi.yaml:2: a needs itself: a -> v -> a"},
		{"a configured name", "resources: {configured: {type: a:B, properties: {x: '${configured}'}}}\n", ""},
		{"one argument", "variables: {a: {'fn::join': [x]}}\n", "net/Pulumi.yaml:2: fn::join takes a list of two values"},
		{"an option", "resources: {v: {type: a:B, options: {protekt: true}}}\n", `the options of v has "protekt"`},
	} {
		s, err := sourceOf(t, "runtime: yaml\n"+test.program)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, problem := range s.Validate([]string{"configured"}) {
			got += problem.String() + "\n"
		}
		if test.want == "" && got != "" || !strings.Contains(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
	for program, want := range map[string]string{
		"runtime: yaml\nmain: src\n":    "net/Pulumi.yaml:2: main names src, and there is no such directory",
		"runtime: yaml\noutputs: [\n":   "net/Pulumi.yaml:",
		"runtime: yaml\na: &a [*a]\n":   "the alias *a stands within its own value",
		"runtime: nodejs\noutputs: x\n": "",
	} {
		if _, err := sourceOf(t, program); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: got %v, want %q", program, err, want)
		}
	}
}
