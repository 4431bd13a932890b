#!/bin/sh
# Makes the image of a release (see scripts/image.sh) from its archive for Linux on this machine's processor, which has to
# be in dist/, and from the stock Pulumi CLI, which make tools leaves in bin/. TAG, PUSH, PLUGINS and OUT are as there.
set -eu
cd "$(dirname "$0")/../.."
archive=$(find dist -name "mara_*_linux_$(go env GOHOSTARCH).tar.gz")
[ -f "$archive" ] || { echo "dist/ has no archive for linux/$(go env GOHOSTARCH): make dist makes it" >&2 && exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
tar -xzf "$archive" -C "$work"
mv "$work"/mara_*/bin "$work/bin"
cp -L bin/pulumi "$work/bin/"
BIN=$work/bin scripts/image.sh
