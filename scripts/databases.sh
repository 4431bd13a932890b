#!/bin/sh
# databases.sh: installs the PostgreSQL server that the tests start, where Debian's packages can be installed. Elsewhere it
# says so, and those tests are skipped.
set -eu
if ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null; then exit 0; fi
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
  echo "databases: PostgreSQL is not installed, and cannot be installed here; its tests are skipped" >&2
  exit 0
fi
export DEBIAN_FRONTEND=noninteractive
{ apt-get -qq update && apt-get -qq install --yes --no-install-recommends postgresql; } >/dev/null ||
  echo "databases: PostgreSQL cannot be installed; its tests are skipped" >&2
