#!/bin/sh
# gobuild.sh PROGRAM PACKAGE [LDFLAGS]: builds a program. One that has not changed keeps its
# time, which Go would renew: the tests that run it then count as passed already.
set -eu
program=$1 package=$2
stamp=$(mktemp)
trap 'rm -f "$stamp"' EXIT
before=$(go tool buildid "$program" 2>/dev/null || true)
[ -z "$before" ] || touch -r "$program" "$stamp"
go build -buildvcs=false -ldflags="-s -w ${3:-}" -o "$program" "$package"
if [ "$(go tool buildid "$program")" = "$before" ]; then
  touch -r "$stamp" "$program"
fi
