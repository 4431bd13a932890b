#!/bin/sh
# image.sh: makes the image that runs the runner in CI, and workspaces of the Pulumi Kubernetes Operator, as an archive that
# `docker load` and `ctr images import` read, with a list of what is in it (SPDX) beside. It needs no Docker. The system in it
# is busybox, libc and certificates, from Debian packages; libc is that which the programs were linked with.
# TAG names it, PUSH=1 pushes it, PLUGINS is a directory of Pulumi's plugins to put into it, OUT the archive, BIN the directory
# with the programs.
set -eu
cd "$(dirname "$0")/.."
bin=${BIN:-bin}
lacks() { echo "no image can be made here: $*" >&2; exit 3; }
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || lacks "it needs apt-get and dpkg-deb, for Debian packages"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
mkdir "$work/debs" "$work/base"
chmod 755 "$work" "$work/debs"
(cd "$work/debs" && apt-get -q -o APT::Sandbox::User=root download busybox-static ca-certificates libc6 >"$work/log" 2>&1) || { cat "$work/log" >&2; lacks "Debian's packages could not be had"; }
for package in "$work"/debs/*.deb; do
  dpkg-deb --extract "$package" "$work/base"
  dpkg-deb --show --showformat '${Package} ${Version}\n' "$package"
done | sort >"$work/packages"
# Of the packages' documentation and translations nothing is needed.
rm -rf "$work/base/usr/share/doc" "$work/base/usr/share/man" "$work/base/usr/share/locale" "$work/base/usr/share/lintian" "$work"/base/usr/lib/*/gconv "$work/base/var" "$work/base/usr/share/initramfs-tools"
for name in sh ln ls cat cp mkdir rm mv env head tail sleep test true false; do
  ln -s busybox "$work/base/bin/$name"
done
go build -buildvcs=false -o "$work/image" ./scripts/image
"$work/image" -base "$work/base" -packages "$work/packages" -bin "$bin" -projects projects ${PLUGINS:+-plugins "$PLUGINS"} \
  -version "$("$bin/runner" version -o json | sed -n 's/.*"runner": "\(.*\)".*/\1/p')" -tag "${TAG:-mara-workspace:dev}" -out "${OUT:-bin/image.tar}" ${PUSH:+-push} -made "${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}"
