// Package schema holds the JSON Schemas of the runner's output for programs and of
// the files that it reads. Each names the version of the format that it describes;
// a new version gets a new schema.
package schema

import (
	"embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mara/providers"
)

//go:embed *.json
var files embed.FS

// ErrUnknown is the error for a schema that does not exist.
var ErrUnknown = errors.New("unknown schema")

// Config is the schema of the stack file. The other schemas are files; this one is
// generated from the keys that the projects declare, so that the two cannot differ.
const Config = "config"

// Names returns the names of the schemas.
func Names() []string {
	return []string{
		"events", "summary", "plan", "status", "history", "doctor", "project", "mirror", "saved-plan", "query",
		"policy", Config,
	}
}

// Get returns a schema as JSON text with a line end. That of mara.yaml has the file's name, too.
func Get(name string) ([]byte, error) {
	if name == "mara" || name == "mara.yaml" {
		name = "project"
	}
	if name == Config {
		return providers.StackSchema(providers.Keys())
	}
	if slices.Contains(Names(), name) {
		return files.ReadFile(name + ".json")
	}
	return nil, fmt.Errorf("%w %q: choose one of %s", ErrUnknown, name, strings.Join(Names(), ", "))
}
