// Command pulumi-language-go is a small language host for Pulumi programs in Go:
// it runs the projects whose Pulumi.yaml says `runtime: go`, with nothing but Go
// installed. It builds a program once and caches it; `options: {binary: PATH}` names a
// built program, which needs no Go.
//
// It only runs programs. Pulumi's own host also generates SDKs and starts debuggers.
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
		return nil, fmt.Errorf("finding the cache for built programs: %w", err)
	}
	return &host{Host: common, builder: builder{caches}}, nil
}
