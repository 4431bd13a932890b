#!/bin/sh
# Builds bin/runner, bin/mara-engine and bin/pulumi-resource-kind. Go relinks only what has changed.
set -eu
cd "$(dirname "$0")/.."
mkdir -p bin
# One after the other: each link takes gigabytes of memory.
go build -buildvcs=false -ldflags='-s -w' -o bin/runner ./runner
go build -buildvcs=false -ldflags='-s -w' -o bin/mara-engine ./runner/mara-engine
go build -buildvcs=false -ldflags='-s -w' -o bin/pulumi-resource-kind ./runner/pulumi-resource-kind
