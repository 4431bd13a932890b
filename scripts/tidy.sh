#!/bin/sh
# tidy.sh [-diff]: tidies every module, or says what would change.
set -eu
cd "$(dirname "$0")/.."
for directory in . scripts/tools scripts/site scripts/release scripts/requests scripts/images/kube scripts/images/dns scripts/images/registry; do
  (cd "$directory" && go mod tidy "$@")
done
