#!/bin/sh
# Walks through the pages of runner web with a headless Chromium, while rollouts go on. Without one it ends with 3.
set -eu
cd "$(dirname "$0")/.."
found=
for browser in chromium chromium-browser google-chrome; do
  if command -v "$browser" >/dev/null; then found=$browser; fi
done
[ -n "$found" ] || { echo "web-test: no Chromium is installed; on Debian: apt-get install chromium" >&2; exit 3; }
MARA_WEB=1 exec go test -count=1 -timeout 20m ./runner/internal/testing/browser -run TestWeb
