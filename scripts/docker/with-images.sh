#!/bin/sh
# with-images.sh ARCHIVES COMMAND...: runs a command where docker has the images of archives.
set -eu
for archive in $1; do
  docker load --quiet --input "$archive" >&2
done
shift
exec "$@"
