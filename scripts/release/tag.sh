#!/bin/sh
# tag.sh TAG [BRANCH]: prints the version of a tag such as v1.2.3 or v1.2.3-rc.1. It refuses any other name, before a
# shell or a web address is made of it, and a tag whose commit is not on BRANCH (default: origin/main).
set -eu
tag=${1:?usage: tag.sh TAG [BRANCH]}
branch=${2:-origin/main}
case $tag in
*[!v0-9A-Za-z.-]*) matches='' ;;
*) matches=$(printf '%s' "$tag" | grep -E '^v(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-[0-9A-Za-z]+(\.[0-9A-Za-z]+)*)?$' || true) ;;
esac
if [ -z "$matches" ]; then
  echo "tag.sh: the tag is not of the form v1.2.3 or v1.2.3-rc.1" >&2
  exit 2
fi
if ! git merge-base --is-ancestor "refs/tags/$tag^{commit}" "$branch"; then
  echo "tag.sh: the commit of $tag is not on $branch" >&2
  exit 1
fi
echo "${tag#v}"
