#!/bin/sh
# docs.sh [serve]: makes the site of the documentation in bin/site with Hugo, which is built the first time; serve shows it, and
# follows changes, until Ctrl-C.
#
# SOURCE is the web address of the repository, to which pages link, and ADDRESS that of the site, which previews of links
# need; on GitHub both are known.
set -eu
cd "$(dirname "$0")/site"
version=$(go list -m -f '{{.Version}}' github.com/gohugoio/hugo)
if [ "$(cat ../../bin/hugo.version 2>/dev/null)" != "$version" ] || [ ! -x ../../bin/hugo ]; then
  CGO_ENABLED=0 go build -buildvcs=false -ldflags='-s -w' -o ../../bin/hugo github.com/gohugoio/hugo
  echo "$version" >../../bin/hugo.version
fi
HUGO_PARAMS_REPOSITORY=$(cd ../.. && pwd)
if [ -n "${GITHUB_REPOSITORY:-}" ]; then
  SOURCE=${SOURCE:-$GITHUB_SERVER_URL/$GITHUB_REPOSITORY}
  ADDRESS=${ADDRESS:-https://${GITHUB_REPOSITORY%/*}.github.io/${GITHUB_REPOSITORY#*/}/}
fi
[ -z "${SOURCE:-}" ] || export HUGO_PARAMS_SOURCE="$SOURCE"
[ -z "${ADDRESS:-}" ] || export HUGO_PARAMS_ADDRESS="$ADDRESS"
export HUGO_PARAMS_REPOSITORY HUGO_CACHEDIR="$HUGO_PARAMS_REPOSITORY/bin/hugo.cache"
case "${1:-}" in
"")
  said=$(../../bin/hugo --quiet --noBuildLock --cleanDestinationDir --destination ../../bin/site 2>&1) || { echo "$said" >&2; exit 1; }
  if [ -n "$said" ]; then # a warning
    echo "$said" >&2
    exit 1
  fi
  ;;
serve) exec ../../bin/hugo server --baseURL http://localhost:1313/ --noBuildLock --renderToMemory --navigateToChanged ;;
*) echo "docs.sh [serve]" >&2; exit 2 ;;
esac
