#!/bin/sh
# Tests everything concurrent under the race detector. The programs and the types
# that they use are skipped: they have no goroutines of their own, and
# compiling the clouds' SDKs once more, instrumented, takes many minutes.
set -eu
cd "$(dirname "$0")/.."
packages=$(go list ./config/... ./providers/... ./runner/internal/... | grep -v /e2e)
exec go test -race -timeout 30m $packages
