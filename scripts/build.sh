#!/bin/sh
# Builds what belongs together in bin: runner, the engine, the language hosts and the resource
# provider kind. Go relinks only what has changed.
set -eu
cd "$(dirname "$0")/.."
mkdir -p bin
# One after the other: each link takes gigabytes of memory.
scripts/gobuild.sh bin/runner ./runner
scripts/gobuild.sh bin/mara-engine ./runner/mara-engine
scripts/gobuild.sh bin/pulumi-language-mara ./projects/pulumi-language-mara
scripts/gobuild.sh bin/pulumi-language-go ./projects/pulumi-language-go
scripts/gobuild.sh bin/pulumi-language-yaml ./projects/pulumi-language-yaml
scripts/gobuild.sh bin/pulumi-resource-kind ./runner/pulumi-resource-kind
