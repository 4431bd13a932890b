package kindprovider_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/projects/infrastructure/kind/kindsdk"
	"mara/runner/internal/feature/kind/kindprovider"
)

var update = flag.Bool("update", false, "write the generated files anew")

const (
	schemaFile = "../../../../../projects/schemas/kind.json"
	docsFile   = "../../../../../docs/kind.md"
	docsBegin  = "<!-- generated: go test ./runner/internal/feature/kind/kindprovider -run Generated -update -->\n"
	docsEnd    = "<!-- end of what is generated -->\n"
)

// TestGenerated keeps the committed schema, and the reference in the
// documentation, in step with the provider.
func TestGenerated(t *testing.T) {
	t.Parallel()
	text, err := kindprovider.Schema(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, []byte(text), "", "  "); err != nil {
		t.Fatal(err)
	}
	generated(t, schemaFile, indented.String()+"\n")

	docs, err := os.ReadFile(docsFile)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(docs), docsBegin)
	_, tail, ok2 := strings.Cut(rest, docsEnd)
	if !ok || !ok2 {
		t.Fatalf("%s has lost the marks around what is generated", docsFile)
	}
	generated(t, docsFile, head+docsBegin+reference(readSchema(t))+docsEnd+tail)
}

func generated(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("run `go test ./runner/internal/feature/kind/kindprovider -run Generated -update`: %s: %s", path, diff)
	}
}

// reference describes the resources as tables.
func reference(spec schemaSpec) string {
	var b strings.Builder
	for _, token := range []string{kindsdk.ClusterToken, kindsdk.RegistryToken} {
		r := spec.Resources[token]
		fmt.Fprintf(&b, "\n### %s\n\n%s\n\n", token, r.Description)
		fmt.Fprint(&b, "| input | type | when it changes | |\n|---|---|---|---|\n")
		for _, name := range slices.Sorted(maps.Keys(r.InputProperties)) {
			p := r.InputProperties[name]
			typ, change := p.name(), "updated"
			if slices.Contains(r.RequiredInputs, name) {
				typ += ", required"
			}
			if p.ReplaceOnChanges {
				change = "replaced"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", name, typ, change, p.Description)
		}
		fmt.Fprint(&b, "\n| output | type | |\n|---|---|---|\n")
		for _, name := range slices.Sorted(maps.Keys(r.Properties)) {
			if _, input := r.InputProperties[name]; !input {
				fmt.Fprintf(&b, "| `%s` | %s | %s |\n", name, r.Properties[name].name(), r.Properties[name].Description)
			}
		}
	}
	fmt.Fprint(&b, "\n### The provider\n\n| configuration | type | |\n|---|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(spec.Provider.InputProperties)) {
		p := spec.Provider.InputProperties[name]
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", name, p.name(), p.Description)
	}
	b.WriteString("\n")
	return b.String()
}
