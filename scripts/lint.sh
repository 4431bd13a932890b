#!/bin/sh
# Lints with a pinned golangci-lint, which is built the first time.
set -eu
cd "$(dirname "$0")/.."
version=v2.6.2
if ! bin/golangci-lint version 2>/dev/null | grep -q "${version#v}"; then
  GOBIN="$PWD/bin" go install "github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$version"
fi
exec bin/golangci-lint run ./...
