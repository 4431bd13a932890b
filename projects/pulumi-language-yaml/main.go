// Command pulumi-language-yaml is a language host for Pulumi YAML: it runs the
// projects whose Pulumi.yaml says `runtime: yaml`, with nothing installed. The
// interpreter is Pulumi's own; its host does not build with the engine inside.
package main

import (
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"

	"mara/projects/internal/languagehost"
)

func main() { languagehost.Main("pulumi-language-yaml", newHost) }

func newHost(common languagehost.Host) (pulumirpc.LanguageRuntimeServer, error) {
	return &host{common}, nil
}
