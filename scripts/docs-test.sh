#!/bin/sh
# Makes the site of the documentation and goes through it with a headless Chromium. Without one it ends with 3.
set -eu
cd "$(dirname "$0")/.."
scripts/chromium.sh docs-test
scripts/docs.sh
# With MARA_AXE, the path of axe.min.js from the npm package axe-core, axe judges the pages, too.
MARA_SITE=$PWD/bin/site exec go test -count=1 ./runner/internal/testing/browser -run TestSite
