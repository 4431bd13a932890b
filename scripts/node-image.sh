#!/bin/sh
# node-image.sh [--made]: makes the image of a kind node from Go modules and Debian packages, and the image registry:3 from its Go
# module. Nothing is pulled. They are kept as archives, by what they are made from; docker gets them if it answers. The
# archives' paths are what it prints. DEBIAN_MIRROR names another mirror than that of this machine's apt. --made makes
# nothing, and ends with 3 if they are not there.
set -eu
cd "$(dirname "$0")/images"
cache=${XDG_CACHE_HOME:-$HOME/.cache}/mara/images
begun=$(date +%s)

say() { echo "node-image: [$(($(date +%s) - begun))s] $*" >&2; }

# missing says what this machine lacks to make a node image.
missing() {
  [ "$(uname -s)" = Linux ] || echo "it is made on Linux"
  [ "$(id -u)" = 0 ] || echo "it needs root, for a root directory with Debian's packages"
  for program in apt-get flock jq unshare; do
    command -v "$program" >/dev/null || echo "it needs the program $program"
  done
  isolated true 2>/dev/null || echo "it needs namespaces of its own for mounts and processes (unshare)"
}

# lacks ends where something that is not of this project is out of reach.
lacks() {
  echo "no node image can be made here: $*" >&2
  exit 3
}

# modules fetches the modules that a program is built from.
modules() { (cd "$1" && go mod download) || lacks "Go modules of scripts/images/$1 cannot be fetched"; }

# sum is a checksum of what files are and hold.
sum() { { go env GOVERSION GOARCH && (cd ../.. && go list -m sigs.k8s.io/kind) && find "$@" -type f | sort | xargs sha256sum; } | sha256sum | cut -c1-12; }

# isolated runs a command whose mounts and processes end with it.
isolated() { unshare --mount --pid --fork --kill-child --mount-proc "$@"; }

mirror() {
  found=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Label: Debian' 2>/dev/null | head -n 1)
  echo "${DEBIAN_MIRROR:-${found:-http://deb.debian.org/debian}}"
}

make_root() {
  say "the root, from Debian packages of $(mirror)"
  isolated ./root.sh "$work/root" "$(mirror)" >"$work/log" 2>&1 || { tail -n 30 "$work/log" >&2; lacks "Debian's packages could not be had"; }
  tar --directory="$work/root" --numeric-owner --create --file="$work/root.tar" .
  mv "$work/root.tar" "$root"
}

make_node() {
  mkdir -p "$programs" "$work/images" "$work/node"
  [ -e "$root" ] || make_root
  say "the programs, from Go modules"
  modules kube
  modules dns
  ./programs.sh "$programs"
  tar --directory="$work/node" --numeric-owner --extract --file="$root"
  say "the images of Kubernetes"
  ./kubernetes-images.sh "$work/images" "$programs" "$work/node"
  say "the node"
  isolated ./node.sh "$work/node" "$programs" "$work/images"
  ./archive.sh "$node" "$work/node" \
    '{"Env": ["container=docker"], "StopSignal": "SIGRTMIN+3", "Entrypoint": ["/usr/local/bin/entrypoint", "/sbin/init"]}' \
    "mara-node:$(cat "$programs/version")"
}

make_registry() {
  say "the registry"
  modules registry
  mkdir -p "$work/registry/etc" "$work/registry/tmp"
  (cd registry && CGO_ENABLED=0 go build -buildvcs=false -ldflags='-s -w' -o "$work/registry/bin/registry" .)
  cp registry/registry.yml "$work/registry/etc/"
  ./archive.sh "$registry" "$work/registry" \
    '{"Entrypoint": ["/bin/registry", "serve", "/etc/registry.yml"], "Volumes": {"/var/lib/registry": {}}}' registry:3
}

programs=$cache/programs # Go links again only what has changed
root=$cache/root-$(sum root.sh node/etc/apt).tar
node=$cache/node-$(sum kube dns node *.sh).tar
registry=$cache/registry-$(sum registry archive.sh).tar
if [ "${1:-}" = --made ] && { [ ! -e "$node" ] || [ ! -e "$registry" ]; }; then
  echo "there is no node image: make node-image makes one, in 20 to 30 minutes on two cores" >&2
  exit 3
fi
if [ ! -e "$node" ] && [ -n "$(missing)" ]; then
  lacks "$(missing | paste -s -d ';' -)"
fi

mkdir -p "$cache"
exec 9>"$cache/lock"
flock 9
rm -rf "$cache"/work.*
work=$(mktemp -d "$cache/work.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
[ -e "$registry" ] || make_registry
[ -e "$node" ] || make_node
# Of earlier states of the sources nothing is kept.
find "$cache" -name '*.tar' ! -path "$root" ! -path "$node" ! -path "$registry" -delete
for archive in "$node" "$registry"; do
  if docker info >/dev/null 2>&1; then docker load --quiet --input "$archive" >&2; fi
  echo "$archive"
done
say "done"
