#!/bin/sh
# weigh.sh MOST FILE...: says what files weigh, and fails if one has more than MOST bytes.
set -eu
most=$1 heavy=0
shift
for file in "$@"; do
  bytes=$(wc -c <"$file")
  bytes=$((bytes)) # some wc print spaces
  if [ "$bytes" -gt "$most" ]; then
    echo "$file has $bytes bytes, more than $most: docs/performance.md says what is in it" >&2
    heavy=1
  else
    echo "$file: $bytes bytes of at most $most"
  fi
done
exit $heavy
