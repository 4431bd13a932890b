#!/bin/sh
# archive.sh ARCHIVE DIR CONFIG NAME...: makes an image of one layer from a directory, as `docker load` and
# `ctr images import` read it. CONFIG is the image's configuration in JSON.
set -eu
archive=$1 layer=$2 config=$3
shift 3
work=$(mktemp -d "$archive.XXXXXX")
trap 'rm -rf "$work"' EXIT
tar --directory="$layer" --numeric-owner --sort=name --xattrs --create --file="$work/layer.tar" .
sum=$(sha256sum "$work/layer.tar" | cut -d' ' -f1)
jq --null-input --arg arch "$(go env GOARCH)" --arg sum "$sum" --argjson config "$config" \
  '{architecture: $arch, os: "linux", config: $config, rootfs: {type: "layers", diff_ids: ["sha256:" + $sum]}}' >"$work/config.json"
jq --null-input '[{Config: "config.json", RepoTags: $ARGS.positional, Layers: ["layer.tar"]}]' --args "$@" >"$work/manifest.json"
tar --directory="$work" --create --file="$work/archive" manifest.json config.json layer.tar
mv "$work/archive" "$archive"
