package clouds_test

import (
	_ "embed"
	"testing"

	"gopkg.in/yaml.v3"
)

//go:embed testdata/objects.yaml
var objects []byte

// TestObjects: the simulation refuses the objects that an API server refuses, and takes those that it takes.
func TestObjects(t *testing.T) {
	t.Parallel()
	e := makeAll(t)
	var rows []struct {
		Name   string
		Valid  bool
		Object object
	}
	if err := yaml.Unmarshal(objects, &rows); err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		version, kind := row.Object["apiVersion"].(string), row.Object["kind"].(string)
		if version == "v1" {
			version = "core/v1"
		}
		if said := e.problems("kubernetes:"+version+":"+kind, row.Object); (said == "") != row.Valid {
			t.Errorf("%s: valid %v, but the simulation says %q", row.Name, row.Valid, said)
		}
	}
}
