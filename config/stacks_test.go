package config

import (
	"testing"
	"testing/fstest"
)

func TestStackOfFile(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{
		"Pulumi.dev.yaml": {}, "Pulumi.eu.prod.yaml": {}, "Pulumi.yaml": {}, "Pulumi.dev.yml": {}, "pulumi.dev.yaml": {},
		"notes.yaml": {}, "Pulumi.directory.yaml/x": {},
	}
	want := map[string]string{"Pulumi.dev.yaml": "dev", "Pulumi.eu.prod.yaml": "eu.prod"}
	entries, err := files.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		stack, ok := StackOfFile(entry)
		if ok != (want[entry.Name()] != "") || ok && stack != want[entry.Name()] {
			t.Errorf("%s: %q, %t", entry.Name(), stack, ok)
		}
	}
}
