// Command pulumi-language-go is a small language host for Pulumi programs in Go:
// it runs the projects whose Pulumi.yaml says `runtime: go`, with nothing but Go
// installed. It builds a program once and keeps it; `options: {binary: PATH}`
// names one that is built already, which takes no Go.
//
// It does what it takes to run programs. What Pulumi's own host does besides,
// such as writing SDKs and starting debuggers, it leaves to that.
package main

import (
	"fmt"
	"os"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"

	"mara/projects/internal/languagehost"
)

func main() { languagehost.Main("pulumi-language-go", newHost) }

func newHost(common languagehost.Host) (pulumirpc.LanguageRuntimeServer, error) {
	caches, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("looking for a place to keep built programs: %w", err)
	}
	return &host{Host: common, builder: builder{caches}}, nil
}
