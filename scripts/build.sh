#!/bin/sh
# build.sh [kind]: builds what belongs together in bin: runner, the engine, the language hosts and the resource
# provider kind. Go relinks only what has changed. With "kind" the built-in programs are those of kind's plan, without
# the clouds' SDKs, unless all of them are there already. The engine goes without gRPC to Google's storage, which is an
# option of Google's client that Pulumi does not use, and takes a tenth of the time to build it.
set -eu
cd "$(dirname "$0")/.."
mkdir -p bin
tags=''
if [ "${1:-}" = kind ] && { ! [ -e bin/pulumi-language-mara ] || go version -m bin/pulumi-language-mara | grep -q 'build.-tags=kindonly'; }; then
  tags='-tags=kindonly'
fi
# One after the other: each link takes gigabytes of memory.
scripts/gobuild.sh bin/runner ./runner
GOFLAGS="$(go env GOFLAGS) -tags=disable_grpc_modules" scripts/gobuild.sh bin/mara-engine ./runner/mara-engine
GOFLAGS="$(go env GOFLAGS) $tags" scripts/gobuild.sh bin/pulumi-language-mara ./projects/pulumi-language-mara
scripts/gobuild.sh bin/pulumi-language-go ./projects/pulumi-language-go
scripts/gobuild.sh bin/pulumi-language-yaml ./projects/pulumi-language-yaml
scripts/gobuild.sh bin/pulumi-resource-kind ./runner/pulumi-resource-kind
