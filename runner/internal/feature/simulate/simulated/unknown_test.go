package simulated

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/projects/model"
	"mara/runner/internal/feature/simulate"
)

// TestTakeUnknown: what no schema has is shown to programs with what they write and read of it, beside what a schema has.
func TestTakeUnknown(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "Pulumi.yaml", `runtime: yaml
variables:
  zone: {fn::invoke: {function: "aws:dns:getZone", arguments: {name: x}}}
resources:
  b: {type: "aws:s3:Bucket", properties: {bucket: x, website: {index: a}}}
  p: {type: random:RandomPassword, properties: {length: 16}}
outputs: {x: "${b.website.url}", y: "${p.result}", z: "${zone.servers[0].name}", i: "${b.id}"}
`)
	own := []model.Project{{Name: "store", Own: &model.Own{Dir: dir, Path: "store"}}}
	part := `{"name":"aws","version":"7.0.0","resources":{"aws:ec2/vpc:Vpc":{}},"functions":{}}`
	packages := []simulate.Package{{Name: "aws", Partial: true, Schemas: [][]byte{[]byte(part)}}, {Name: "random"}}
	found, _ := checkTypes(own, packages)
	if said := notJudged(found); len(said) != 3 || !strings.Contains(said[0], "store/Pulumi.yaml:3: aws:dns:getZone") {
		t.Errorf("warned %q", said)
	}
	taken := takeUnknown(own, packages, found)
	untyped := map[string]any{"$ref": "pulumi.json#/Any"}
	for i, want := range []map[string]any{
		{
			"name": "aws", "version": "7.0.0",
			"resources": map[string]any{
				"aws:ec2/vpc:Vpc": map[string]any{},
				"aws:s3:Bucket": map[string]any{
					"inputProperties": map[string]any{"bucket": untyped, "website": untyped}, "properties": map[string]any{"bucket": untyped, "website": untyped},
				},
			},
			"functions": map[string]any{"aws:dns:getZone": map[string]any{
				"inputs":  map[string]any{"type": "object", "properties": map[string]any{"name": untyped}},
				"outputs": map[string]any{"type": "object", "properties": map[string]any{"name": untyped, "servers": untyped}},
			}},
		},
		{
			"name": "random", "functions": map[string]any{},
			"resources": map[string]any{"random:index:RandomPassword": map[string]any{
				"inputProperties": map[string]any{"length": untyped}, "properties": map[string]any{"length": untyped, "result": untyped},
			}},
		},
	} {
		var got map[string]any
		if err := json.Unmarshal(taken[i].Shown, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", taken[i].Name, diff)
		}
		if packages[i].Shown != nil || !taken[i].TakesUnknown {
			t.Errorf("%s: the packages that were given have changed, or these are not the ones", taken[i].Name)
		}
	}
}

// TestMade: values are made for what is read and not given, and for nothing else.
func TestMade(t *testing.T) {
	t.Parallel()
	read := fields{}
	for _, path := range [][]string{{"url"}, {"bucket"}, {"website", "url"}, {"website", "index"}, {"nodes", "0", "ip"}, {"names", "1"}} {
		read.add(path)
	}
	given := map[string]any{"bucket": "x", "website": map[string]any{"index": "a"}}
	made := read.made(simulate.Object{}, given, "")
	website, _ := made["website"].(map[string]any)
	nodes, _ := made["nodes"].([]any)
	if len(made) != 4 || made["bucket"] != nil || len(website) != 1 || website["url"] == nil || len(nodes) != 1 ||
		!strings.HasPrefix(made["url"].(string), "simulated-") || nodes[0].(map[string]any)["ip"] == nil {
		t.Errorf("made %v", made)
	}
}

// TestWarnOnce: a type is named once, and not again after its warning with a place.
func TestWarnOnce(t *testing.T) {
	t.Parallel()
	var said []string
	o := Options{Warn: func(text string) { said = append(said, text) }}
	warn := o.warnOnce([]usedType{{kind: resources, token: "random:RandomPassword"}}, func(token string) string { return "no schema has " + token })
	for _, token := range []string{"random:index:RandomPassword", "aws:s3/bucket:Bucket", "aws:s3/bucket:Bucket"} {
		warn(token)
	}
	if len(said) != 1 || !strings.Contains(said[0], "aws:s3/bucket:Bucket") {
		t.Errorf("said %q", said)
	}
}
