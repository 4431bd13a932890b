#!/bin/sh
# packages.sh: installs what tests start and Go does not bring, the server of PostgreSQL, Chromium and strace, where Debian's packages
# can be installed. Elsewhere it says so, and those tests are skipped.
set -eu
cd "$(dirname "$0")/.."
wanted=
ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null || wanted=postgresql
scripts/chromium.sh packages 2>/dev/null || wanted="$wanted chromium"
[ "$(uname)" != Linux ] || command -v strace >/dev/null || wanted="$wanted strace"
[ -n "$wanted" ] || exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
  echo "packages: not installed, and cannot be installed here: $wanted; the tests that start it are skipped" >&2
  exit 0
fi
export DEBIAN_FRONTEND=noninteractive
apt-get -qq update >/dev/null || true # the lists that are here may do
for package in $wanted; do
  apt-get -qq install --yes --no-install-recommends "$package" >/dev/null ||
    echo "packages: $package cannot be installed; the tests that start it are skipped" >&2
done
