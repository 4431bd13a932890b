package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// TestBill makes the bill of a program that is at hand, this test, and checks that it has what NTIA's minimum asks for.
func TestBill(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	var bills [2][]byte
	for i := range bills {
		directory := t.TempDir()
		if err := run("1.2.3", directory, []string{self}); err != nil {
			t.Fatal(err)
		}
		if bills[i], err = os.ReadFile(filepath.Join(directory, "sbom.cdx.json")); err != nil {
			t.Fatal(err)
		}
		notices, err := os.ReadFile(filepath.Join(directory, "THIRD-PARTY-NOTICES.txt"))
		if err != nil || len(notices) < 1000 {
			t.Errorf("notices of %d bytes, %v", len(notices), err)
		}
	}
	if string(bills[0]) != string(bills[1]) {
		t.Error("the same source has two bills")
	}
	var bom cdx.BOM
	if err := json.Unmarshal(bills[0], &bom); err != nil {
		t.Fatal(err)
	}
	if bom.SerialNumber == "" || bom.Metadata.Timestamp != "2023-11-14T22:13:20Z" || len(*bom.Metadata.Authors) != 1 || bom.Metadata.Tools == nil {
		t.Errorf("the bill itself: %s, %+v", bom.SerialNumber, bom.Metadata)
	}
	components := map[string]cdx.Component{bom.Metadata.Component.BOMRef: *bom.Metadata.Component}
	for _, c := range *bom.Components {
		components[c.BOMRef] = c
		if c.Supplier == nil || c.Supplier.Name == "" || c.Name == "" || c.Version == "" || c.BOMRef == "" || len(*c.Licenses) == 0 {
			t.Errorf("%s lacks something: %+v", c.Name, c)
		}
		if c.Name != "std" && (c.Hashes == nil || len((*c.Hashes)[0].Value) != 64) {
			t.Errorf("%s has no sum", c.Name)
		}
	}
	edges := 0
	for _, d := range *bom.Dependencies {
		if _, ok := components[d.Ref]; !ok {
			t.Errorf("dependencies of %s, which is no component", d.Ref)
		}
		delete(components, d.Ref)
		if d.Dependencies != nil {
			edges += len(*d.Dependencies)
		}
	}
	if len(components) > 0 || edges < 10 {
		t.Errorf("%d edges; nothing says what these depend on: %v", edges, components)
	}
}
