#!/bin/sh
# notes.sh [VERSION]: prints what CHANGELOG.md says of a version, as the notes of its release; those of 1.2.3 stand for 1.2.3-rc.1, too.
# Without one it prints the newest version, which is written down there and nowhere else.
set -eu
changelog=$(dirname "$0")/../../CHANGELOG.md
if [ $# -eq 0 ]; then
  exec sed -n 's/^## \([0-9][0-9.]*\).*/\1/p;t end;b;:end;q' "$changelog"
fi
version=${1#v}
version=${version%%-*}
notes=$(awk -v version="$version" '/^## /{inside = $2 == version; next} inside' "$changelog")
if [ -z "$notes" ]; then
  echo "notes.sh: CHANGELOG.md has no heading \"## $version\"" >&2
  exit 1
fi
printf '%s\n' "$notes" | sed '/./,$!d'
