#!/bin/sh
# debian-tools.sh FOLDER PACKAGE...: unpacks Debian packages into a folder, with what they need and this machine lacks.
# Nothing is installed. It changes nothing outside the folder, not even the lists of packages.
set -eu
folder=$1
shift
[ -e "$folder/complete" ] && exit
command -v apt-get >/dev/null || { echo "there is no apt-get here to fetch $* with" >&2; exit 1; }
mkdir -p "$folder/lists/partial" "$folder/archives/partial"
apt() {
  apt-get -q -o Debug::NoLocking=true -o Dir::State::lists="$folder/lists" -o Dir::Cache::archives="$folder/archives" \
    -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= "$@" >"$folder/log" 2>&1 || { cat "$folder/log" >&2; exit 1; }
}
apt update
apt install --yes --download-only --no-install-recommends "$@"
for package in "$folder"/archives/*.deb; do
  [ ! -e "$package" ] || dpkg-deb --extract "$package" "$folder"
done
rm -rf "$folder/lists" "$folder/archives"
: >"$folder/complete"
