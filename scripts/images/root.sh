#!/bin/sh
# root.sh DIR MIRROR: makes the root of a node from Debian packages. It needs root, and a mount namespace of its own.
set -eu
root=$1 mirror=$2
here=$(cd "$(dirname "$0")" && pwd)
tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
"$here/debian-tools.sh" "$tools" debootstrap
[ ! -x "$tools/usr/sbin/debootstrap" ] || export DEBOOTSTRAP_DIR="$tools/usr/share/debootstrap" PATH="$PATH:$tools/usr/sbin"

debootstrap --variant=minbase \
  --include=ca-certificates,conntrack,curl,ethtool,iproute2,iptables,jq,kmod,pigz,procps,runc,systemd \
  bookworm "$root" "$mirror"
cp "$here/node/etc/apt/preferences" "$root/etc/apt/preferences"
echo "deb $mirror forky main" >"$root/etc/apt/sources.list.d/forky.list"
in_root() { chroot "$root" env DEBIAN_FRONTEND=noninteractive "$@"; }
in_root apt-get -q -o Acquire::Check-Valid-Until=false update
in_root apt-get -qy --no-install-recommends install containerd/forky containernetworking-plugins/forky
in_root apt-get clean
rm -rf "$root"/var/lib/apt/lists/*
