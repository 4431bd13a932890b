#!/bin/sh
# Makes the image registry:3 from the registry's Go module, for machines that
# cannot pull it: the tests on a real docker use it when it is there.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir -p module root/bin root/etc root/tmp
cat > module/main.go <<'GO'
package main

import (
	"os"

	"github.com/distribution/distribution/v3/registry"
	_ "github.com/distribution/distribution/v3/registry/storage/driver/filesystem"
)

func main() {
	if registry.RootCmd.Execute() != nil {
		os.Exit(1)
	}
}
GO
cat > root/etc/registry.yml <<'YAML'
version: 0.1
storage:
  filesystem: {rootdirectory: /var/lib/registry}
http: {addr: ":5000"}
YAML
cd module
go mod init registry
go get github.com/distribution/distribution/v3@v3.0.0
go mod tidy
CGO_ENABLED=0 go build -ldflags='-s -w' -o ../root/bin/registry .
tar -C ../root -c . | docker import \
  --change 'ENTRYPOINT ["/bin/registry", "serve", "/etc/registry.yml"]' --change 'VOLUME /var/lib/registry' - registry:3
