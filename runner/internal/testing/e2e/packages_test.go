package e2e

import (
	"path/filepath"
	"strings"
	"testing"
)

// randomSchema is a part of that of the package random.
const randomSchema = `{
  "name": "random", "version": "4.16.0", "meta": {"moduleFormat": "(.*)(?:/[^/]*)"},
  "resources": {"random:index/randomPassword:RandomPassword": {
    "inputProperties": {"length": {"type": "integer", "willReplaceOnChanges": true}, "special": {"type": "boolean"}},
    "requiredInputs": ["length"],
    "properties": {"length": {"type": "integer"}, "special": {"type": "boolean"}, "result": {"type": "string", "secret": true}},
    "required": ["length", "result"]
  }}
}`

// TestPackageOfAnOwnProject simulates a package that is not built in: by a
// schema that the user names, and without one.
func TestPackageOfAnOwnProject(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	e.write("mara.yaml", "projects:\n  - path: password\n")
	e.write("password/Pulumi.yaml", `name: password
runtime: yaml
resources:
  password:
    type: random:RandomPassword
    properties: {length: 16}
outputs:
  length: ${password.length}
  result: ${password.result}
`)
	e.write("random.json", randomSchema)
	schema := filepath.Join(e.root, "random.json")

	r := e.run("preview", "--simulate")
	for _, want := range []string{"password/Pulumi.yaml:5: random:RandomPassword", "`pulumi plugin install resource random`", "--simulate-schema"} {
		if r.code != 3 || !strings.Contains(r.stderr, want) {
			t.Errorf("a program in YAML without a schema: exit %d, want %q in %s", r.code, want, r.stderr)
		}
	}
	if texts := warnings(e.simulate(0, "up", "--simulate-schema", schema)); len(texts) > 0 {
		t.Errorf("with a schema: warned %q", texts)
	}
	if r := e.run("outputs", "--simulate", "password"); !strings.Contains(r.stdout, "length: 16") || !strings.Contains(r.stdout, "result: [secret]") {
		t.Errorf("outputs: %s%s", r.stdout, r.stderr)
	}
	e.simulate(0, "destroy", "--simulate-schema", schema)
}

// TestUnknownTypes rehearses a program in YAML of which no schema says anything, where the user allows it, and a component
// of a schema as the parent of nothing.
func TestUnknownTypes(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	e.write("mara.yaml", "projects:\n  - path: site\n")
	e.write("site/Pulumi.yaml", `name: site
runtime: yaml
variables:
  zone: {fn::invoke: {function: "cloudflare:index/getZone:getZone", arguments: {name: example.com}}}
resources:
  bucket: {type: "aws:s3:BucketV2", properties: {bucket: acme, website: {index: index.html}}}
  record: {type: cloudflare:Record, properties: {zone: "${zone.id}", name: "${bucket.website.endpoint}"}}
outputs:
  bucket: ${bucket.bucket}
  endpoint: ${bucket.website.endpoint}
  server: ${zone.nameServers[0]}
  hostname: ${record.hostname}
`)
	r := e.run("preview", "--simulate")
	if r.code != 3 || !strings.Contains(r.stderr, "aws:s3:BucketV2 is none of the") || !strings.Contains(r.stderr, "--simulate-unknown inputs") {
		t.Errorf("refused by default: exit %d, %s", r.code, r.stderr)
	}
	for _, command := range []string{"preview", "up"} {
		said := strings.Join(warnings(e.simulate(0, command, "--simulate-unknown", "inputs")), "\n")
		for _, want := range []string{"site/Pulumi.yaml:6: aws:s3:BucketV2", "site/Pulumi.yaml:7: cloudflare:Record", "site/Pulumi.yaml:4: cloudflare:index/getZone:getZone"} {
			if !strings.Contains(said, "not judged, with its inputs as outputs: "+want) {
				t.Errorf("%s: want %q in\n%s", command, want, said)
			}
		}
	}
	if r := e.run("outputs", "--simulate", "site"); !strings.Contains(r.stdout, "bucket: acme") || strings.Count(r.stdout, "simulated-") != 3 {
		t.Errorf("outputs: %s%s", r.stdout, r.stderr)
	}
	if r := e.run("preview", "--simulate", "--simulate-unknown", "inputs"); r.code != 0 || strings.Contains(r.stdout, "replace") {
		t.Errorf("a second preview: %d, %s%s", r.code, r.stdout, r.stderr)
	}
	e.simulate(0, "destroy", "--simulate-unknown", "inputs")

	e.write("acme.json", `{"name": "acme", "version": "1.0.0", "resources": {"acme:index:Site": {"isComponent": true,
		"inputProperties": {"domain": {"type": "string"}}, "requiredInputs": ["domain"],
		"properties": {"domain": {"type": "string"}, "url": {"type": "string"}}, "required": ["domain", "url"]}}}`)
	e.write("site/Pulumi.yaml", `name: site
runtime: yaml
resources:
  s: {type: acme:Site, properties: {domain: example.com}}
  n: {type: "aws:ec2/vpc:Vpc", properties: {cidrBlock: 10.0.0.0/16}, options: {parent: "${s}"}}
outputs: {domain: "${s.domain}", url: "${s.url}"}
`)
	schema := filepath.Join(e.root, "acme.json")
	for _, command := range []string{"preview", "up"} {
		said := warnings(e.simulate(0, command, "--simulate-schema", schema))
		if len(said) != 1 || !strings.Contains(said[0], "site/Pulumi.yaml:4: acme:Site is simulated without what is in it") {
			t.Errorf("%s of a component: warned %q", command, said)
		}
	}
	if r := e.run("outputs", "--simulate", "site"); !strings.Contains(r.stdout, "domain: example.com") || !strings.Contains(r.stdout, "url: simulated-") {
		t.Errorf("outputs of a component: %s%s", r.stdout, r.stderr)
	}
	e.simulate(0, "destroy", "--simulate-schema", schema)
}
