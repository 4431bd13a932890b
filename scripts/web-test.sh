#!/bin/sh
# Walks through the pages of runner web with a headless Chromium, during rollouts. Without one it ends with 3.
set -eu
cd "$(dirname "$0")/.."
scripts/chromium.sh web-test
# axe-core, for tests only: once downloaded it is kept, and it is that of this digest or none.
version=4.11.0 digest=e9e5863c33a874f09bc01acd9234b7e3c871479f5eef8802fa582544465e6d01
axe=${MARA_AXE:-${XDG_CACHE_HOME:-$HOME/.cache}/mara/axe-core-$version.min.js}
if ! [ -e "$axe" ]; then
  command -v npm >/dev/null || { echo "web-test: npm is not installed; it brings axe-core $version, or MARA_AXE names its axe.min.js" >&2; exit 3; }
  work=$(mktemp -d "${TMPDIR:-/tmp}/mara-axe-XXXXXX")
  trap 'rm -rf "$work"' EXIT
  (cd "$work" && npm pack --silent "axe-core@$version" >/dev/null && tar xzf "axe-core-$version.tgz") ||
    { echo "web-test: axe-core $version cannot be downloaded; MARA_AXE names an axe.min.js" >&2; exit 3; }
  mkdir -p "$(dirname "$axe")"
  cp "$work/package/axe.min.js" "$axe"
fi
[ -n "${MARA_AXE:-}" ] || [ "$(sha256sum <"$axe" | cut -d' ' -f1)" = "$digest" ] ||
  { echo "web-test: $axe is not axe-core $version; remove it" >&2; exit 1; }
MARA_AXE=$axe MARA_WEB=1 go test -count=1 -timeout 30m ./runner/internal/testing/browser -run TestWeb
