#!/bin/sh
# dist.sh VERSION [OS/ARCHITECTURE...]: makes a release in dist/: archives, Linux packages, checksums, what it is made
# of, a Homebrew formula and a Scoop manifest. The same source makes the same bytes, wherever it lies.
#
# RELEASES is the web directory that it will be published in. DIST_PROGRAMS is a directory with programs of this machine's
# kind to pack instead of building them, to try everything else; DIST_PACKAGES are the kinds of packages for Linux; MOST is
# what an archive may weigh, in bytes.
set -eu
cd "$(dirname "$0")/.."
version=${1:?usage: dist.sh VERSION [OS/ARCHITECTURE...]}
version=${version#v}
shift
case $version in
*[!0-9A-Za-z.-]*) echo "dist.sh: $version is no version such as 1.2.3" >&2 && exit 2 ;;
[0-9]*.[0-9]*.[0-9]*) ;;
*) echo "dist.sh: $version is no version such as 1.2.3" >&2 && exit 2 ;;
esac
[ $# -gt 0 ] || set -- linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64
if [ -z "${RELEASES:-}" ] && [ -n "${GITHUB_REPOSITORY:-}" ]; then
  RELEASES=$GITHUB_SERVER_URL/$GITHUB_REPOSITORY/releases
fi
: "${RELEASES:?dist.sh: RELEASES has to name the web directory of the releases, such as https://github.com/OWNER/REPOSITORY/releases}"
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export RELEASES SOURCE_DATE_EPOCH
host=$(go env GOHOSTOS)/$(go env GOHOSTARCH)

rm -rf dist
mkdir -p dist/stage
tools=$PWD/dist/stage/tools
mkdir "$tools"
(cd scripts/release && go build -o "$tools/" ./materials github.com/goreleaser/nfpm/v2/cmd/nfpm)

# build PLATFORM OUTPUT PACKAGE builds a program for a release.
build() {
  CGO_ENABLED=0 GOOS=${1%/*} GOARCH=${1#*/} go build -buildvcs=false -trimpath -tags=disable_grpc_modules \
    -ldflags "-s -w -buildid= -X main.version=$version -X main.releases=$RELEASES" -o "$2" "$3"
}

# What tells of commands is the same for all: the runner of this machine prints it.
if [ -n "${DIST_PROGRAMS:-}" ]; then
  cp -L "$DIST_PROGRAMS/runner" "$tools/"
else
  build "$host" "$tools/runner" ./runner
fi

# packages prints what a platform gets. On Windows the runner takes an installed Pulumi: the engine is handed its
# pipes as Windows cannot, and programs for it have not been tried.
packages() {
  echo ./runner
  [ "$1" = windows ] || echo ./runner/mara-engine ./projects/pulumi-language-mara ./projects/pulumi-language-go \
    ./projects/pulumi-language-yaml ./runner/pulumi-resource-kind
}

# stage PLATFORM makes the directory of an archive.
stage() {
  system=${1%/*} processor=${1#*/}
  name=mara_${version}_${system}_$processor
  directory=dist/stage/$name
  mkdir -p "$directory/bin" "$directory/share/man/man1" "$directory/share/bash-completion/completions" \
    "$directory/share/zsh/site-functions" "$directory/share/fish/vendor_completions.d"
  for package in $(packages "$system"); do
    if [ -n "${DIST_PROGRAMS:-}" ] && [ "$1" = "$host" ]; then
      cp -L "$DIST_PROGRAMS/${package##*/}" "$directory/bin/"
      continue
    fi
    # One after the other: each link takes gigabytes of memory.
    build "$1" "$directory/bin/" "$package"
  done
  MANUALS=$PWD/$directory/share/man/man1 go test -count=1 -run '^TestManuals$' ./runner/internal/cli >/dev/null
  "$tools/runner" completion bash >"$directory/share/bash-completion/completions/runner"
  "$tools/runner" completion zsh >"$directory/share/zsh/site-functions/_runner"
  "$tools/runner" completion fish >"$directory/share/fish/vendor_completions.d/runner.fish"
  cp LICENSE "$directory/"
  "$tools/materials" "$version" "$directory" "$directory"/bin/*
  cp "$directory/sbom.cdx.json" "dist/$name.sbom.cdx.json"
  find "$directory" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
  chmod -R u=rwX,go=rX "$directory"
}

# archive NAME packs a directory, the same way every time.
archive() {
  case $1 in
  *_windows_*) (cd dist/stage && find "$1" -type f | LC_ALL=C sort | TZ=UTC zip -q -X "../$1.zip" -@) ;;
  *) tar -C dist/stage --sort=name --owner=0 --group=0 --numeric-owner --format=ustar -cf - "$1" | gzip -n >"dist/$1.tar.gz" ;;
  esac
}

# linux_packages NAME PROCESSOR makes packages for the managers of Linux.
linux_packages() {
  gzip -9n "dist/stage/$1"/share/man/man1/*.1 # as Debian wants them; the archive is packed already
  for kind in ${DIST_PACKAGES-deb rpm apk}; do
    (cd "dist/stage/$1" && VERSION=$version PROCESSOR=$2 HOMEPAGE=${RELEASES%/releases} "$tools/nfpm" package -f ../../../scripts/release/nfpm.yaml -p $kind -t ../../) >/dev/null
  done
}

for platform in "$@"; do
  stage "$platform"
  archive "$name"
  [ "$system" != linux ] || linux_packages "$name" "$processor"
done
echo "$version" >dist/VERSION
scripts/release/notes.sh "$version" >dist/NOTES.md || echo "mara $version" >dist/NOTES.md
find dist -maxdepth 1 '(' -name '*.tar.gz' -o -name '*.zip' ')' -exec scripts/release/weigh.sh "${MOST:-150000000}" {} +
for script in install.sh install.ps1; do sed "s|@RELEASES@|$RELEASES|" scripts/$script >dist/$script; done
"$tools/runner" schema project >dist/mara.schema.json # its address is in what adopt writes
sums() {
  (cd dist && find . -maxdepth 1 -type f ! -name checksums.txt -printf '%P\n' | LC_ALL=C sort | xargs sha256sum >../dist.sums && mv ../dist.sums checksums.txt)
}
sums # the manifests have those of the archives
VERSION=$version scripts/release/manifests.sh
sums
rm -rf dist/stage
ls -l dist
