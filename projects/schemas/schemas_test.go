package schemas_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"

	"mara/projects/schemas"
)

var update = flag.Bool("update", false, "write the schemas anew")

// current fails when the schema of a package is not what its SDK says.
func current(t *testing.T, name string, bridged bool, parts ...part) {
	t.Helper()
	s := &sdk{t: t, name: name, bridged: bridged, modules: map[string]string{}, spec: schema.PackageSpec{
		Name: name, Meta: &schema.MetadataSpec{ModuleFormat: "(.*)"},
		Types: map[string]schema.ComplexTypeSpec{}, Resources: map[string]schema.ResourceSpec{}, Functions: map[string]schema.FunctionSpec{},
	}}
	if bridged {
		s.spec.Meta.ModuleFormat = "(.*)(?:/[^/]*)"
	}
	for _, p := range parts {
		p(s)
	}
	want, err := format(s.spec)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(name+".json", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(want, schemas.Of(name)) {
		t.Errorf("%s.json is not what the SDK says; run `go test ./projects/schemas -update`", name)
	}
}

// depth is how far the schemas are indented.
const depth = 4

// format writes a schema with a property a line, and a list a line.
func format(spec schema.PackageSpec) ([]byte, error) {
	text, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	var indented, short bytes.Buffer
	if err := json.Indent(&indented, text, "", " "); err != nil {
		return nil, err
	}
	inList := false
	for line := range strings.SplitSeq(indented.String(), "\n") {
		content := strings.TrimLeft(line, " ")
		level := len(line) - len(content)
		switch {
		case level <= depth && !inList && (level < depth || content[0] != '}'):
			fmt.Fprintf(&short, "\n%s", line)
		case bytes.HasSuffix(short.Bytes(), []byte(",")):
			fmt.Fprint(&short, " ", content)
		default:
			fmt.Fprint(&short, content)
		}
		if level < depth {
			inList = strings.HasSuffix(content, "[")
		}
	}
	return append(bytes.TrimLeft(short.Bytes(), "\n"), '\n'), nil
}

// noLoader fails where a schema refers to another package.
type noLoader struct{ schema.Loader }

// TestSchemasAreValid has Pulumi itself read the schemas.
func TestSchemasAreValid(t *testing.T) {
	t.Parallel()
	for name, version := range schemas.Packages() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var spec schema.PackageSpec
			if err := json.Unmarshal(schemas.Of(name), &spec); err != nil {
				t.Fatal(err)
			}
			_, problems, err := schema.BindSpec(spec, noLoader{}, schema.ValidationOptions{})
			if err != nil || problems.HasErrors() {
				t.Errorf("%v, %v", err, problems)
			}
			if spec.Name != name || version == "" {
				t.Errorf("it is the schema of %q in version %q", spec.Name, version)
			}
		})
	}
}

// TestVersionsInTheDocs: the table of versions in docs/standalone.md has the ones of the SDKs.
func TestVersionsInTheDocs(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/standalone.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, version := range schemas.Versions() {
		row := regexp.MustCompile(`(?m)^\| ` + name + ` \| [^|]+ \| ([^|]+) \|`).FindSubmatch(text)
		if row == nil || string(row[1]) != version {
			t.Errorf("%s is %s; its row: %q", name, version, row)
		}
	}
}
