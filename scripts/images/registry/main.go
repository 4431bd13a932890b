// The command registry is the registry of the image registry:3, with files for its
// storage, and logins from a file of htpasswd's, where its settings ask for them.
package main

import (
	"os"

	"github.com/distribution/distribution/v3/registry"
	_ "github.com/distribution/distribution/v3/registry/auth/htpasswd"
	_ "github.com/distribution/distribution/v3/registry/storage/driver/filesystem"
)

func main() {
	if registry.RootCmd.Execute() != nil {
		os.Exit(1) // it has said why
	}
}
