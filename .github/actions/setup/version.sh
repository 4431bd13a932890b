#!/bin/sh
# version.sh prints the version that the setup action installs: VERSION if it is set, or that of the release which REF
# names, the ref that a workflow uses the action by. A tag such as v1.2.3 is one; of v1 or v1.2 it is the newest release of
# these numbers, of a commit the release that was made of it. For a branch, and without a ref, it prints the newest release.
# REPOSITORY is the address of the action's repository, whose tags it asks for only if it has to.
set -eu

fail() {
  echo "setup: $*" >&2
  exit 1
}

# tags prints COMMIT VERSION for each release in $listed, the newest last. An annotated tag has the commit in its line with "^{}".
tags() {
  sed -n 's|^\([0-9a-f]*\)[[:space:]]*refs/tags/v\([0-9]*\.[0-9]*\.[0-9]*\)\(\^{}\)\{0,1\}$|\1 \2|p' "$listed" |
    sort -t . -k 1.42,1n -k 2,2n -k 3,3n
}

listed=$(mktemp)
trap 'rm -f "$listed"' EXIT
version=${VERSION#v} ref=${REF:-}
case $ref in
v[0-9]*.[0-9]*.[0-9]*) version=${version:-${ref#v}} ;;
esac
if [ -z "$version" ]; then
  git ls-remote --tags "$REPOSITORY" >"$listed" || fail "the tags of $REPOSITORY cannot be listed: name a version with the input version"
  case $ref in
  v[0-9] | v[0-9][0-9] | v[0-9]*.[0-9]*)
    version=$(tags | awk -v start="${ref#v}." 'index($2, start) == 1 { print $2 }' | tail -n 1)
    [ -n "$version" ] || fail "there is no release of $ref in $REPOSITORY"
    ;;
  *)
    if [ ${#ref} = 40 ] && [ -z "$(printf %s "$ref" | tr -d 0-9a-f)" ]; then
      version=$(tags | awk -v commit="$ref" '$1 == commit { print $2 }' | tail -n 1)
      [ -n "$version" ] || fail "no release was made of the commit $ref: pin the commit of a release, or name one with the input version"
    else
      version=$(tags | awk '{ print $2 }' | tail -n 1)
      [ -n "$version" ] || fail "there is no release in $REPOSITORY yet"
    fi
    ;;
  esac
fi
case $version in
*[!0-9A-Za-z.-]*) fail "that is no version such as 1.2.3" ;;
[0-9]*.[0-9]*.[0-9]*) echo "$version" ;;
*) fail "\"$version\" is no version such as 1.2.3" ;;
esac
