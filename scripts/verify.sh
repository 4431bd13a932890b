#!/bin/sh
# What a change has to pass: nothing to format or tidy, lint, tests, race, and
# the other platforms compile.
set -eu
cd "$(dirname "$0")/.."
unformatted=$(gofmt -l config projects providers runner scripts)
if [ -n "$unformatted" ]; then
  echo "gofmt would change: $unformatted" >&2
  exit 1
fi
scripts/tidy.sh -diff
make lint
make test-all
make race
scripts/cross.sh
