#!/bin/sh
# debian-tools.sh DIR PACKAGE...: unpacks Debian packages into a directory, with what they need and this machine lacks.
# Nothing is installed. It changes nothing outside the directory, not even the lists of packages.
set -eu
directory=$1
shift
[ -e "$directory/complete" ] && exit
command -v apt-get >/dev/null || { echo "there is no apt-get here to fetch $* with" >&2; exit 1; }
mkdir -p "$directory/lists/partial" "$directory/archives/partial"
apt() {
  apt-get -q -o Debug::NoLocking=true -o Dir::State::lists="$directory/lists" -o Dir::Cache::archives="$directory/archives" \
    -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= "$@" >"$directory/log" 2>&1 || { cat "$directory/log" >&2; exit 1; }
}
apt update
apt install --yes --download-only --no-install-recommends "$@"
for package in "$directory"/archives/*.deb; do
  [ ! -e "$package" ] || dpkg-deb --extract "$package" "$directory"
done
rm -rf "$directory/lists" "$directory/archives"
: >"$directory/complete"
