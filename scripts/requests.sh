#!/bin/sh
# Tests the requests to clouds in scripts/requests, a module of its own. Go does not see that its tests run the
# programs in bin, so it must not take a cached result.
set -eu
cd "$(dirname "$0")/requests"
exec go test -count=1 ./...
