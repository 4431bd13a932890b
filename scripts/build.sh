#!/bin/sh
# Builds bin/runner and bin/mara-engine. Go relinks only what has changed.
set -eu
cd "$(dirname "$0")/.."
mkdir -p bin
# One after the other: each link takes gigabytes of memory.
go build -buildvcs=false -ldflags='-s -w' -o bin/runner ./runner
go build -buildvcs=false -ldflags='-s -w' -o bin/mara-engine ./runner/mara-engine
