#!/bin/sh
# Builds bin/runner, bin/mara-engine and bin/pulumi-resource-kind. Go relinks only what has changed.
set -eu
cd "$(dirname "$0")/.."
mkdir -p bin
# One after the other: each link takes gigabytes of memory.
scripts/gobuild.sh bin/runner ./runner
scripts/gobuild.sh bin/mara-engine ./runner/mara-engine
scripts/gobuild.sh bin/pulumi-resource-kind ./runner/pulumi-resource-kind
