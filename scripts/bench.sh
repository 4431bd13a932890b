#!/bin/sh
# Measures; see docs/performance.md. Arguments go to the program, such as
# -only noop or -rounds 3.
set -eu
cd "$(dirname "$0")/.."
go build -buildvcs=false -o bin/mara-bench ./runner/bench
exec bin/mara-bench -bin bin "$@"
