#!/bin/sh
# Vets and builds the runner for the systems that it is not tested on: macOS and
# Windows. A first time compiles what it links, for each of them.
set -eu
cd "$(dirname "$0")/.."

# packages prints what the runner is made of on $GOOS, but those whose tests match $1.
packages() {
  go list -deps -f '{{if and .Module (eq .Module.Path "mara")}}{{.ImportPath}}{{end}}' ./runner | grep -vE "/($1)\$"
}

export CGO_ENABLED=0
for system in darwin/arm64 windows/amd64; do
  export GOOS="${system%/*}" GOARCH="${system#*/}"
  echo "$system: build"
  go build -o /dev/null ./runner
  echo "$system: vet"
  case "$GOOS" in
  # The tests of these use what only Unix has: pipes with names, signals, terminals.
  windows) packages 'config|pulumicli|preflight|cli|operations|e2e|prompt' ;;
  *) packages 'no such package' ;;
  esac | xargs go vet
done
